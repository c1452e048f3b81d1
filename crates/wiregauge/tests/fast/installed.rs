//! What who installed the program finds: completions, the manual, what it lacks and what it keeps.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{refuses, run, to_said, wiregauge};

/// The shell takes the script, and its function completes verbs and flags.
#[test]
fn bash_completes_verbs_and_flags() {
    let mut text = run(Path::new("."), &["completions", "bash"]).out;
    text += "
        complete_words() { COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
            _wiregauge wiregauge \"${COMP_WORDS[-1]}\"; echo \"${COMPREPLY[@]}\"; }
        complete_words wiregauge comp
        complete_words wiregauge trace cat --chan";
    let mut bash = Command::new("bash");
    let bash = bash.args(["--norc", "-s"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut bash = bash.stderr(Stdio::piped()).spawn().expect("bash");
    bash.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = bash.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let lines = String::from_utf8(output.stdout).unwrap();
    assert_eq!(lines, "compare completions\n--channel --channel-name\n".replace("\\n", "\n"));
}

/// A page for each verb, whose examples stand as they are written.
#[test]
fn the_manual_has_a_page_for_each_verb() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let said = run(folder, &["completions", "--manual", "."]);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    let page = fs::read_to_string(folder.join("wiregauge-trace-cat.1")).unwrap();
    let (_, examples) = page.split_once(".SH EXAMPLES\n.nf\n").unwrap();
    assert!(examples.starts_with("  wiregauge trace cat drive.mcap \\-\\-range 1000\n"), "{page}");
    let page = fs::read_to_string(folder.join("wiregauge.1")).unwrap();
    let (_, verbs) = page.split_once(".SH SUBCOMMANDS\n").unwrap();
    let verbs: Vec<&str> = verbs.lines().filter_map(|line| line.strip_suffix("(1)")).collect();
    assert!(verbs.len() > 10, "{verbs:?}");
    for verb in verbs {
        let file = format!("{}.1", verb.replace("\\-", "-"));
        assert!(folder.join(&file).exists(), "{file}");
    }
}

/// One line for all that is missing, which a script can take. Without apt's lists it fetches them
/// first, and what the release has no package of is in a comment.
#[test]
fn what_is_missing_is_installed_by_one_command() {
    let mut program = wiregauge();
    let said = program.args(["doctor", "--fix-hints"]).env("PATH", "/nowhere").output().unwrap();
    let said = to_said(said);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    let (command, comment) = said.out.split_once('\n').unwrap();
    let command = command.replace("sudo ", "");
    let words = "apt-get update && apt-get install --no-install-recommends ";
    let packages: Vec<&str> = command.strip_prefix(words).unwrap().split(' ').collect();
    for wanted in ["build-essential", "valgrind", "protobuf-compiler"] {
        assert!(packages.contains(&wanted), "{packages:?}");
    }
    assert!(packages.is_sorted(), "{command}");
    let absent = "# this release does not have rustup; https://rustup.rs installs Rust\n";
    assert_eq!(comment, if packages.contains(&"rustup") { "" } else { absent });
}

#[test]
fn what_is_kept_is_shown_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("fmus/one")).unwrap();
    let cache = |arguments: &[&str]| {
        let mut program = wiregauge();
        program.arg("cache").args(arguments).env("WIREGAUGE_BUILD", folder.path());
        to_said(program.output().unwrap())
    };
    assert!(cache(&[]).out.contains("  fmus "), "{}", cache(&[]).out);
    let kinds: serde_json::Value = serde_json::from_str(&cache(&["--format", "json"]).out).unwrap();
    assert_eq!((&kinds[0]["name"], &kinds[0]["entries"]), (&"fmus".into(), &1.into()));
    assert!(cache(&["--clear", "fmus"]).out.starts_with("removed from "));
    assert!(!folder.path().join("fmus").exists());
    refuses(folder.path(), &["cache", "--clear", "cats"], &["no 'cats'", "messages, target"]);
}

/// A disk that is only read, and one that is full, as where a file may grow to four blocks and
/// no further. The lines are the same in a locale that is not UTF-8.
#[test]
fn a_cache_that_cannot_be_written_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let run = |script: &str, cache: &Path| {
        let mut shell = Command::new("sh");
        let script = format!("{script} exec \"$0\" codecs --quick --codecs bincode -o -");
        shell.args(["-c", &script, env!("CARGO_BIN_EXE_wiregauge")]).stdin(Stdio::null());
        shell.env_remove("WIREGAUGE_BUILD").env("XDG_CACHE_HOME", cache).env("LC_ALL", "C");
        let said = to_said(shell.current_dir(folder.path()).output().unwrap());
        assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{}", said.err);
        assert_eq!(said.err.lines().count(), 1, "{}", said.err);
        said.err
    };
    let said = run("", Path::new("/proc"));
    // No other version has this folder.
    let of_version = format!("/proc/wiregauge/{}", env!("CARGO_PKG_VERSION"));
    let words = "; set WIREGAUGE_BUILD to one of your own";
    assert!(said.contains(&format!("cannot make the build folder {of_version}{words}")), "{said}");
    // A folder of that name, with a letter that is none in ASCII.
    let cache = folder.path().join("für");
    let said = run("trap '' XFSZ; ulimit -f 4;", &cache);
    assert!(said.contains(&format!("cannot write {}/wiregauge/", cache.display())), "{said}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "more than the cache is left");
}
