//! What CONTRIBUTING.md says of adding a codec, an experiment, a transport and a
//! chart, carried out on a copy of the tree.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use support::{fact, files, project, result, status, to_said, wiregauge_in, Said};

/// The sections whose examples are carried out.
const SECTIONS: [&str; 4] = ["codec", "message", "transport", "chart"];
/// What may change of the files that are there.
const CHANGED: [&str; 3] = ["crates/schema/tests/fast/builtin.rs", LOCK, "runners/rust/Cargo.toml"];
/// The lock of the measured crates.
const LOCK: &str = "runners/rust/Cargo.lock";

/// A piece of a file that an example shows.
#[derive(Debug, PartialEq)]
struct Piece {
    /// The file, from the top of the tree.
    path: PathBuf,
    text: String,
}

#[test]
fn the_examples_of_adding_something_work() {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("contributing");
    let tree = place.join("tree");
    let before = tree_of(&project());
    let guide = fs::read_to_string(project().join("CONTRIBUTING.md")).unwrap();
    let mut after = before.clone();
    for section in SECTIONS {
        let pieces = pieces(&guide, &format!("## Add a {section}"));
        assert!(!pieces.is_empty(), "CONTRIBUTING.md shows how to add a {section}");
        pieces.iter().for_each(|piece| add(&mut after, piece));
    }
    lock(&mut after, &place.join("lock"));
    // Of the fast tests only the message's are built: those of other crates add nothing.
    let is_built = |path: &Path| !is_fast_test(path) || path.starts_with("crates/schema");
    after.retain(|path, _| is_built(path));
    mirror(&after, &tree);
    formatted(&tree, after.keys().filter(|path| !before.contains_key(*path)));
    let target = warm(&place);
    build(&tree, &target);
    let changed = |(path, content): (&PathBuf, &Vec<u8>)| {
        (fs::read(tree.join(path)).ok().as_ref() != Some(content))
            .then(|| path.display().to_string())
    };
    let kept = before.iter().filter(|(path, _)| is_built(path));
    let changed: Vec<String> = kept.filter_map(changed).collect();
    assert_eq!(changed, CHANGED, "of the files that are there");

    let run = |arguments: &[&str]| {
        let program = target.join("debug/wiregauge");
        let output = wiregauge_in(&program.display().to_string())
            .args(arguments)
            .current_dir(&place)
            .output();
        succeeded(arguments.join(" "), output.unwrap())
    };
    codec_and_experiment(&place, &run);
    chart(&place, &run);
    transport(&place, &run);
}

/// The codec is listed, and carries the experiment's messages.
fn codec_and_experiment(place: &Path, run: &dyn Fn(&[&str]) -> Said) {
    assert!(run(&["codecs", "--list"]).out.contains("cbor4ii"));
    let words = ["repeat", "imu", "--codecs", "cbor4ii", "--duration", "1", "--processes", "2"];
    run(&[&words[..], &["-o", "run.json"]].concat());
    let run = result(place);
    assert!(status(&run, "cbor4ii").contains("measured"), "{}", status(&run, "cbor4ii"));
    assert_eq!(run["cases"].as_array().unwrap().len(), 3);
}

/// The page of what was measured has the chart.
fn chart(place: &Path, run: &dyn Fn(&[&str]) -> Said) {
    run(&["report", "run.json", "-o", "report.html"]);
    let page = fs::read_to_string(place.join("report.html")).unwrap();
    assert_eq!(page.matches("<h3>Round trips</h3>").count(), 3, "one for each case");
}

/// The transport is listed, and everything arrives by it.
fn transport(place: &Path, run: &dyn Fn(&[&str]) -> Said) {
    let listed = run(&["bus", "transports"]).out;
    assert!(listed.lines().any(|line| line.starts_with("unix ")), "{listed}");
    let words = ["bus", "run", "--transport", "unix", "--mode", "both", "--participants", "3"];
    let more = ["--cycle", "10ms", "--duration", "2s", "--window", "250ms", "-o", "run.json"];
    run(&[&words[..], &more].concat());
    let run = result(place);
    for case in run["cases"].as_array().unwrap() {
        let case = case["id"].as_str().unwrap();
        let fact = |metric| fact(&run, case, "unix", metric);
        assert!(fact("sent") > Some(0.0), "{case}");
        assert_eq!(fact("lost"), Some(0.0), "{case}");
        assert_eq!(["repeated", "damaged", "foreign"].map(fact), [None; 3], "{case}");
    }
}

/// Whether it is a file of a crate's fast tests.
fn is_fast_test(path: &Path) -> bool {
    path.iter().collect::<Vec<_>>().windows(2).any(|pair| pair == ["tests", "fast"])
}

/// What a section shows of files: the code blocks whose file the text before
/// names.
fn pieces(guide: &str, section: &str) -> Vec<Piece> {
    let body = guide.split_once(&format!("\n{section}\n")).map_or("", |(_, body)| body);
    let body = body.split("\n## ").next().unwrap();
    let mut parts = body.split("\n```");
    let mut before = parts.next().unwrap();
    let mut pieces = Vec::new();
    while let (Some(block), Some(after)) = (parts.next(), parts.next()) {
        let (language, text) = block.split_once('\n').unwrap();
        let paragraph = before.trim_end().rsplit("\n\n").next().unwrap();
        let names = paragraph.split('`').skip(1).step_by(2);
        let path = names.filter(|name| name.contains('/')).last();
        if let Some(path) = path.filter(|_| language != "sh") {
            pieces.push(Piece { path: path.into(), text: format!("{text}\n") });
        }
        before = after;
    }
    pieces
}

/// A new file, or a piece of one that is there: below the dependencies of a
/// manifest, at the end of others.
fn add(tree: &mut BTreeMap<PathBuf, Vec<u8>>, piece: &Piece) {
    let Some(there) = tree.get_mut(&piece.path) else {
        tree.insert(piece.path.clone(), piece.text.clone().into_bytes());
        return;
    };
    let text = String::from_utf8(there.clone()).unwrap();
    let (head, rest) = match text.split_once("\n[dependencies]\n") {
        Some((head, rest)) => (format!("{head}\n[dependencies]\n"), rest),
        None => (format!("{text}\n"), ""),
    };
    *there = [&head, &piece.text, rest].concat().into_bytes();
}

/// The files that are the project's, with their content: those that git knows,
/// or, without it, all but what was built.
fn tree_of(project: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let listed = Command::new("git").args(["ls-files", "-z"]).current_dir(project).output();
    let paths: Vec<PathBuf> = match listed {
        Ok(output) if output.status.success() && !output.stdout.is_empty() => {
            String::from_utf8(output.stdout)
                .unwrap()
                .split_terminator('\0')
                .map(PathBuf::from)
                .collect()
        }
        _ => {
            let found = files(project, &|_| true).into_iter();
            found.map(|path| path.strip_prefix(project).unwrap().to_owned()).collect()
        }
    };
    let read = |path: PathBuf| Some((path.clone(), fs::read(project.join(path)).ok()?));
    paths.into_iter().filter_map(read).collect()
}

/// Makes a folder hold these files and no others. What is the same stays, so that
/// only what changed is compiled when the test is run again.
fn mirror(tree: &BTreeMap<PathBuf, Vec<u8>>, folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    for path in files(folder, &|_| true) {
        if !tree.contains_key(path.strip_prefix(folder).unwrap()) {
            fs::remove_file(path).unwrap();
        }
    }
    for (path, content) in tree {
        let path = folder.join(path);
        if fs::read(&path).ok().as_ref() != Some(content) {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, content).unwrap();
        }
    }
}

/// Has `make lock` lock the runners' crates, in a folder with what it takes. It
/// changes no version of what is there.
fn lock(tree: &mut BTreeMap<PathBuf, Vec<u8>>, folder: &Path) {
    let wanted = |path: &Path| {
        ["Makefile", "crates/runner", "packed/rust/src", "runners"]
            .iter()
            .any(|of| path.starts_with(of))
    };
    let part = tree.iter().filter(|(path, _)| wanted(path));
    mirror(&part.map(|(path, content)| (path.clone(), content.clone())).collect(), folder);
    let path = folder.join(LOCK);
    let before = versions(&path);
    let mut make = Command::new("make");
    // Without a network it shall fail soon.
    make.arg("lock").envs([("CARGO_NET_RETRY", "1"), ("CARGO_HTTP_TIMEOUT", "20")]);
    let output = make.current_dir(folder).stdin(Stdio::null()).output().expect("make starts");
    assert!(
        output.status.success(),
        "make lock fails, which takes the example's crate from crates.io: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let after = versions(&path);
    assert!(after.is_superset(&before), "gone: {:?}", before.difference(&after));
    assert!(after.iter().any(|(name, _)| name == "cbor4ii"));
    tree.insert(LOCK.into(), fs::read(path).unwrap());
}

/// The packages of a lock, with their versions.
fn versions(lock: &Path) -> BTreeSet<(String, String)> {
    let lock: toml::Table = fs::read_to_string(lock).unwrap().parse().unwrap();
    let text = |package: &toml::Value, key: &str| package[key].as_str().unwrap().to_owned();
    let packages = lock["package"].as_array().unwrap().iter();
    packages.map(|package| (text(package, "name"), text(package, "version"))).collect()
}

/// New sources are formatted as the others are.
fn formatted<'a>(tree: &Path, new: impl Iterator<Item = &'a PathBuf>) {
    let mut rustfmt = Command::new("rustfmt");
    rustfmt.args(["--config-path", "rustfmt.toml", "--edition", "2021", "--check"]);
    rustfmt.args(new.filter(|path| path.extension().is_some_and(|end| end == "rs")));
    succeeded("rustfmt".into(), rustfmt.current_dir(tree).output().expect("rustfmt starts"));
}

/// A target folder of the copy's own, since programs of one name would replace
/// each other, with what others compiled for the tree already.
fn warm(place: &Path) -> PathBuf {
    let own = place.join("target");
    let of_the_tree = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("debug");
    if own.exists() || !of_the_tree.join("deps").exists() {
        return own;
    }
    // Aside, so that no half folder is found.
    let aside = place.join("target.new");
    let _ = fs::remove_dir_all(&aside);
    fs::create_dir_all(aside.join("debug/deps")).unwrap();
    for folder in [".fingerprint", "build"] {
        copy(&["-a"], &[of_the_tree.join(folder)], &aside.join("debug"));
    }
    let entries = fs::read_dir(of_the_tree.join("deps")).unwrap().flatten();
    let compiled: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| {
            let name = path.file_name().unwrap().to_string_lossy();
            let kind = path.extension().and_then(|end| end.to_str());
            matches!(kind, Some("rlib" | "rmeta" | "so" | "d")) && !name.contains("wiregauge")
        })
        .collect();
    copy(&["-al"], &compiled, &aside.join("debug/deps"));
    fs::rename(&aside, &own).unwrap();
    own
}

/// `cp`, which keeps the times by which cargo sees what is fresh.
fn copy(how: &[&str], from: &[PathBuf], to: &Path) {
    for from in from.chunks(1000) {
        let status = Command::new("cp").args(how).arg("-t").arg(to).args(from).status();
        assert!(status.expect("cp starts").success(), "cannot copy to {}", to.display());
    }
}

/// Builds the program and the test that the examples add, and carries that out.
fn build(tree: &Path, target: &Path) {
    let mut cargo = Command::new("cargo");
    // Features as the tree's own tests have them, so that what is compiled for
    // these is of use.
    cargo.args(["build", "--locked", "--workspace", "--bin", "wiregauge", "--test", "fast"]);
    cargo.arg("--message-format=json-render-diagnostics");
    cargo.current_dir(tree).env("CARGO_TARGET_DIR", target).stdin(Stdio::null());
    // What others compiled has none anyway. The tree's crates are all compiled once more here, and
    // run for seconds only.
    cargo.env("CARGO_PROFILE_DEV_DEBUG", "false");
    let manifest: toml::Table =
        fs::read_to_string(tree.join("Cargo.toml")).unwrap().parse().unwrap();
    let optimized = manifest["profile"]["dev"]["package"].as_table().unwrap().keys();
    for name in optimized.filter(|name| name.starts_with("wiregauge-")) {
        cargo.args(["--config", &format!("profile.dev.package.{name}.opt-level=0")]);
    }
    let built = succeeded("cargo build".into(), cargo.output().expect("cargo starts"));
    let reports = built.out.lines().filter_map(|line| serde_json::from_str(line).ok());
    let program = |report: serde_json::Value| {
        let path = report["executable"].as_str()?.to_owned();
        let is_of_schema = |id: &str| id.contains("/crates/schema#");
        let is_wanted = report["target"]["name"] == "fast"
            && report["package_id"].as_str().is_some_and(is_of_schema);
        is_wanted.then_some(path)
    };
    let test = reports.into_iter().find_map(program).expect("cargo names the test");
    let output = Command::new(test).arg("imu").current_dir(tree.join("crates/schema")).output();
    let said = succeeded("the test of the message".into(), output.expect("it starts"));
    assert!(said.out.contains("a_reading_of_the_imu_has_two_vectors ... ok"), "{}", said.out);
}

fn succeeded(what: String, output: Output) -> Said {
    let said = to_said(output);
    assert_eq!(said.code, Some(0), "{what}: {}{}", said.out, said.err);
    said
}

#[test]
fn the_file_of_a_piece_is_named_before_it() {
    let guide = "\n## Add a thing\n\nIn `a/old.toml`, below `[dependencies]`:\n\n```toml\nx = 1\n\
                 ```\n\nNothing `a/b.rs`.\n\nRun it:\n\n```sh\nmake\n```\n\nTwo, `a/b.md` and\n\
                 `a/c.rs`, a part:\n\n```rust\nfn c() {}\n\nfn d() {}\n```\n\n## Add\n\n`a/e.rs`\n\n\
                 ```rust\n```\n";
    let piece = |path: &str, text: &str| Piece { path: path.into(), text: text.into() };
    let found = pieces(guide, "## Add a thing");
    let wanted = [piece("a/old.toml", "x = 1\n"), piece("a/c.rs", "fn c() {}\n\nfn d() {}\n")];
    assert_eq!(found, wanted);
    let old = b"[package]\n\n[dependencies]\ny = 2\n".to_vec();
    let mut tree = BTreeMap::from([(PathBuf::from("a/old.toml"), old)]);
    found.iter().for_each(|piece| add(&mut tree, piece));
    assert_eq!(tree[Path::new("a/old.toml")], b"[package]\n\n[dependencies]\nx = 1\ny = 2\n");
    assert_eq!(tree[Path::new("a/c.rs")], b"fn c() {}\n\nfn d() {}\n");
}
