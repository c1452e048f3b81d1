//! Bad input: one line that names the file and what to do, a non-zero exit,
//! and nothing in place of what was there.

mod support;

use std::fs;

use support::{project, recording, refuses, run};

/// A LiDAR run with one codec that is quick to build.
const QUICK: [&str; 5] = ["codecs", "--codecs", "bincode", "--time", "1"];

#[test]
fn what_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    refuses(at, &["codecs", "--message", "none.msg"], &["none.msg"]);
    refuses(at, &["codecs", "--input", "none.mcap"], &["none.mcap"]);
    refuses(at, &["report", "none.json"], &["none.json"]);
    refuses(at, &["compare", "none.json", "none.json"], &["none.json"]);
    refuses(at, &["codecs", "--codecs", "morse"], &["no codec 'morse'", "prost"]);
    refuses(at, &["codecs", "--experiments", "juggle"], &["no experiment 'juggle'", "encode"]);
    refuses(at, &["codecs", "--size", "dots=3"], &["points"]);
    refuses(at, &["codecs", "--fixed", "info.grid"], &["no field 'grid'"]);
    refuses(at, &["codecs", "--fixed", "info"], &["ends at a record"]);
}

#[test]
fn bad_definitions_are_refused_with_their_place() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("a.msg"), "uint32 x\nWheel[] wheels\n").unwrap();
    refuses(at, &["codecs", "--message", "a.msg"], &["a.msg:2", "Wheel"]);
    fs::write(
        at.join("tree.proto"),
        "syntax = \"proto3\"; message Tree { repeated Tree sub = 1; }",
    )
    .unwrap();
    refuses(at, &["codecs", "--message", "tree.proto"], &["tree.proto", "Tree", "contains itself"]);
    let shown = run(at, &["schema", "tree.proto"]);
    assert_eq!(shown.code, Some(0), "{}", shown.err);
    assert!(shown.out.contains("prost                    rejected: Tree"), "{}", shown.out);
    fs::write(
        at.join("two.proto"),
        "syntax = \"proto3\"; message A { int32 x = 1; } message B { int32 x = 1; }",
    )
    .unwrap();
    refuses(at, &["codecs", "--message", "two.proto"], &["two.proto", "A", "B"]);
    refuses(at, &["codecs", "--message", "two.proto:C"], &["two.proto", "C"]);
    fs::write(at.join("text.txt"), "hello").unwrap();
    refuses(at, &["codecs", "--message", "text.txt"], &["text.txt", ".msg"]);
}

#[test]
fn bad_recordings_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("foreign.mcap"), "this is no recording at all, however long it is").unwrap();
    refuses(at, &["codecs", "--input", "foreign.mcap"], &["foreign.mcap"]);
    let Some(path) = recording("ouster-os1-128.mcap") else { return };
    refuses(at, &["codecs", "--input", &path], &["--topic", "/ouster/points", "/ouster/scan"]);
    refuses(at, &["codecs", "--input", &path, "--topic", "/none"], &["/none", "/ouster/scan"]);
    let bytes = fs::read(&path).unwrap();
    fs::write(at.join("cut.mcap"), &bytes[..bytes.len() / 2]).unwrap();
    refuses(at, &["codecs", "--input", "cut.mcap", "--topic", "/ouster/points"], &["cut.mcap"]);
}

#[test]
fn a_result_that_is_none_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("text.json"), "hello").unwrap();
    refuses(at, &["report", "text.json"], &["text.json", "not JSON"]);
    fs::write(at.join("other.json"), "{\"format\": \"other\"}").unwrap();
    refuses(at, &["budget", "other.json", "--rate", "10Hz"], &["other.json", "not a wiregauge"]);
    fs::write(at.join("new.json"), "{\"format\": \"wiregauge.run\", \"version\": 99}").unwrap();
    refuses(at, &["report", "new.json"], &["new.json", "99", "update"]);
    fs::write(at.join("half.json"), "{\"format\": \"wiregauge.run\", \"version\": 1}").unwrap();
    refuses(at, &["report", "half.json"], &["half.json", "damaged"]);
}

#[test]
fn a_full_disk_leaves_the_old_result() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let made = run(at, &QUICK);
    assert_eq!(made.code, Some(0), "{}", made.err);
    fs::write(at.join("report.html"), "the good old page").unwrap();
    let before = fs::read_dir(at).unwrap().count();
    // A file may grow to four blocks and no further: the disk is full.
    let script = "trap '' XFSZ; ulimit -f 4; exec \"$0\" report run.json -o report.html";
    let said = support::said(
        std::process::Command::new("sh")
            .args(["-c", script, env!("CARGO_BIN_EXE_wiregauge")])
            .current_dir(at)
            .output()
            .unwrap(),
    );
    assert_eq!(said.code, Some(2), "{}", said.err);
    assert!(said.err.contains("report.html") && said.err.contains("disk"), "{}", said.err);
    assert_eq!(fs::read_to_string(at.join("report.html")).unwrap(), "the good old page");
    assert_eq!(fs::read_dir(at).unwrap().count(), before, "something was left behind");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let lidar = project().join("schemas/lidar.msg").display().to_string();
    let script = "\"$0\" schema \"$1\" | true; \"$0\" schema --json \"$1\" | head -1";
    let said = support::said(
        std::process::Command::new("bash")
            .args(["-o", "pipefail", "-c", script, env!("CARGO_BIN_EXE_wiregauge"), &lidar])
            .current_dir(folder.path())
            .output()
            .unwrap(),
    );
    assert_eq!((said.err.as_str(), said.code), ("", Some(0)));
}
