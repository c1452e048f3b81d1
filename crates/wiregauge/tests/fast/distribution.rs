//! What packages promise: the oldest glibc, the licences of all that is linked, and that nothing
//! is downloaded where the user says so.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::Value;
use wiregauge_build_tools::python::interpreter;

use crate::support::{project, to_said, wiregauge};

/// What stands behind these words in a file, up to one of the ends.
fn after(file: &str, words: &str, ends: &[char]) -> String {
    let text = fs::read_to_string(project().join(file)).unwrap();
    let (_, rest) = text.split_once(words).unwrap_or_else(|| panic!("{file} has no '{words}'"));
    rest.split(ends).next().unwrap().to_owned()
}

#[test]
fn the_oldest_glibc_is_the_same_everywhere() {
    let promised = after("scripts/dist-program", "\nglibc=", &['\n']);
    assert_eq!(after("docs/install.md", "It needs glibc ", &[' ']), promised);
    assert_eq!(after("packaging/old-glibc.packages", "/libc6_", &['-']), promised);
    assert_eq!(after("scripts/old-glibc", "(glibc ", &[')']), promised);
}

/// What cargo says is linked has an entry with its licence, and so have the sources in C and what
/// compilers add.
#[test]
fn all_that_is_linked_has_its_licence_in_the_packages() {
    let folder = tempfile::tempdir().unwrap();
    let target = "x86_64-unknown-linux-gnu";
    let cargo = |command: &mut Command| {
        command.env("CARGO_NET_OFFLINE", "true").current_dir(project());
        let said = to_said(command.output().unwrap());
        said.expect_code(0);
        said.out
    };
    cargo(Command::new("packaging/licences.py").arg(target).arg(folder.path()));
    let list = fs::read_to_string(folder.path().join("sbom.cdx.json")).unwrap();
    let list: Value = serde_json::from_str(&list).unwrap();
    let components = list["components"].as_array().unwrap();
    let mut known = BTreeSet::new();
    for component in components {
        let [name, version] = ["name", "version"].map(|key| component[key].as_str().unwrap_or(""));
        let licence = component["licenses"][0]["expression"].as_str().unwrap();
        assert_ne!(licence, "NOASSERTION", "{name} {version}");
        known.insert(format!("{name} {version}"));
    }
    let tree = cargo(
        Command::new("cargo")
            .args(["tree", "--locked", "--package", "wiregauge", "--target", target])
            .args(["--edges", "normal,no-proc-macro", "--prefix", "none", "--no-dedupe"]),
    );
    // `serde v1.0.229`; those of the workspace have their folder behind it.
    let linked: BTreeSet<String> = tree
        .lines()
        .filter(|line| !line.contains(" (/"))
        .map(|line| line.split(' ').take(2).collect::<Vec<_>>().join(" ").replacen(" v", " ", 1))
        .collect();
    assert!(linked.len() > 100, "{}", linked.len());
    let lost: Vec<&String> = linked.difference(&known).collect();
    assert!(lost.is_empty(), "{lost:?} are not in the list");
    for name in ["libstdc++", "libgcc", "rust-std", "sqlite", "zstd", "lz4"] {
        assert!(known.iter().any(|one| one.starts_with(name)), "{name} is not in the list");
    }
    let text = fs::read_to_string(folder.path().join("licences.txt")).unwrap();
    assert!(text.contains("GCC RUNTIME LIBRARY EXCEPTION"));
}

/// Without a compiler the rows that need none are measured; what had to be downloaded says why it
/// was not.
#[test]
fn nothing_is_downloaded_where_the_user_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    // Nothing but Python: its bounds need no package, and no other row has a compiler.
    let programs = at.join("programs");
    fs::create_dir(&programs).unwrap();
    symlink(interpreter().unwrap(), programs.join("python3")).unwrap();
    symlink("/usr/bin/install", programs.join("install")).unwrap();
    for (flags, variable) in [(&["--offline"][..], ""), (&[], "1")] {
        let said = wiregauge()
            .args(["codecs", "--duration", "1", "--codecs", "msgpack", "-o", "run.json"])
            .args(flags)
            .env("PATH", &programs)
            .env("WIREGAUGE_OFFLINE", variable)
            .env("WIREGAUGE_BUILD", at.join("build"))
            .current_dir(at)
            .output();
        let said = to_said(said.unwrap());
        said.expect_code(1);
        let words = "cannot download the Python package msgpack: --offline or WIREGAUGE_OFFLINE";
        assert!(said.out.contains(words), "{}", said.out);
        let run = fs::read_to_string(at.join("run.json")).unwrap();
        let run: Value = serde_json::from_str(&run).unwrap();
        let subjects = run["subjects"].as_array().unwrap();
        let state = |id: &str| &subjects.iter().find(|s| s["id"] == id).unwrap()["status"]["state"];
        assert_eq!(state("memcpy-python"), "measured", "{}", said.out);
        assert_eq!(state("memcpy"), "skipped", "{}", said.out);
    }
    let cargo = at.join("cargo");
    let said = wiregauge()
        .args(["bus", "transports", "--build", "--offline"])
        .env("WIREGAUGE_BUILD", at.join("build"))
        .env("CARGO_HOME", &cargo)
        .output();
    let said = to_said(said.unwrap());
    said.expect_code(2);
    assert!(said.err.contains("--offline or WIREGAUGE_OFFLINE forbids it"), "{}", said.err);
}

/// Without a compiler there is a table all the same, whose rows say what they lack.
#[test]
fn without_compilers_the_rows_say_what_they_lack() {
    let folder = tempfile::tempdir().unwrap();
    let said = wiregauge()
        .args(["codecs", "--quick", "-o", "run.json"])
        .env("PATH", "/nowhere")
        .env("WIREGAUGE_BUILD", folder.path().join("build"))
        .current_dir(folder.path())
        .output();
    let said = to_said(said.unwrap());
    for words in [
        "cargo is missing: apt-get install rustup",
        "c++ is missing: apt-get install build-essential",
    ] {
        assert!(said.out.contains(words), "{}{}", said.out, said.err);
    }
    assert!(folder.path().join("run.json").exists());
    said.expect_code(3);
    let words = "no row was measured; this installs what they lack: ";
    let command = said.err.lines().find_map(|line| line.split_once(words)).expect("it says so").1;
    assert!(command.contains("apt-get install --no-install-recommends"), "{command}");
    assert!(command.contains(" build-essential ") && command.contains(" rustup"), "{command}");
}
