//! Older runners measured again beside newer ones, in one run.

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use support::{has_its_form, project, refuses, run, status, to_said, wiregauge_in, Said};

/// Builds the runner of this test whose messages take so many turns of a loop.
fn build_runner(program: &Path, turns: u32) {
    let source = project().join("crates/wiregauge/tests/support/loop_runner.c");
    let turns = format!("-DTURNS={turns}");
    let made = Command::new("cc").args(["-O2", &turns, "-o"]).arg(program).arg(source).status();
    assert!(made.unwrap().success(), "the runner compiles");
}

/// Counts the instructions of a runner, with these words more.
fn count(at: &Path, runner: &str, output: &str, words: &[&str]) -> Said {
    let always = ["codecs", "--metric", "instructions", "--length", "points=20"];
    let rest = ["--codecs", "bincode", "--experiments", "encode,decode", "--runner", runner];
    run(at, &[&always[..], &rest, &["-o", output], words].concat())
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// Changes a result.
fn edit(at: &Path, from: &str, to: &str, change: impl Fn(&mut Value)) {
    let mut run = read(&at.join(from));
    run["subjects"].as_array_mut().unwrap().iter_mut().for_each(change);
    fs::write(at.join(to), run.to_string()).unwrap();
}

#[test]
fn a_rebuilt_runner_is_measured_beside_what_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let program = at.join("mine");
    build_runner(&program, 2000);
    let said = count(at, "mine=./mine", "before.json", &[]);
    said.expect_code(0);
    has_its_form(&read(&at.join("before.json")));

    // Nothing changed: the same numbers on both sides.
    let gate = ["--against", "before.json", "--fail-above", "0.5%"];
    let said = count(at, "mine=./mine", "same.json", &gate);
    said.expect_code(0);
    assert!(!said.out.contains("LARGER"), "{}", said.out);

    // 1 % more turns. The program is written over in its place.
    build_runner(&program, 2020);
    let said = count(at, "mine=./mine", "after.json", &gate);
    said.expect_code(1);
    let after = read(&at.join("after.json"));
    has_its_form(&after);
    for id in ["mine", "mine@before", "bincode", "bincode@before"] {
        assert!(status(&after, id).contains("measured"), "{}", status(&after, id));
    }
    let larger: Vec<&str> = said.out.lines().filter(|line| line.contains("LARGER")).collect();
    assert!(larger.len() == 2 && larger.iter().all(|line| line.contains("mine")), "{larger:?}");
    let said = count(at, "mine=./mine", "x.json", &["--against", "before.json", "--fail-above=2%"]);
    said.expect_code(0);

    times_are_of_the_same_rounds(at);
    what_is_not_the_same_any_more_is_refused(at);
}

/// No verdict on times is looked at: the machine may be busy.
fn times_are_of_the_same_rounds(at: &Path) {
    let words = ["codecs", "--length", "points=20", "--codecs", "bincode", "--runner"];
    let more = ["mine=./mine", "--experiments", "encode", "--duration", "1", "--processes", "3"];
    let last = ["--against", "before.json", "-o", "times.json"];
    let said = run(at, &[&words[..], &more, &last].concat());
    said.expect_code(0);
    for words in ["Older and newer rows", "smallest slowdown that this run detects", "2 cells"] {
        assert!(said.out.contains(words), "no '{words}' in {}", said.out);
    }
    let times = read(&at.join("times.json"));
    has_its_form(&times);
    let places = |id: &str| -> Vec<Vec<bool>> {
        let all = times["measurements"].as_array().unwrap();
        let one = all.iter().find(|m| m["subject"] == id && m["metric"] == "encode").unwrap();
        let rounds = |process: &Value| {
            process.as_array().unwrap().iter().map(|sample| !sample.is_null()).collect()
        };
        one["samples"].as_array().unwrap().iter().map(rounds).collect()
    };
    assert_eq!(places("mine").len(), 3);
    assert_eq!(places("mine").concat().len(), places("mine@before").concat().len());
    for (form, word) in [("md", "## Older and newer rows"), ("json", "\"compared\"")] {
        let said = run(at, &["report", "times.json", "--format", form]);
        assert!(said.out.contains(word), "{form}: {}", said.out);
    }
    run(at, &["report", "times.json", "-o", "page.html"]).expect_code(0);
    let page = fs::read_to_string(at.join("page.html")).unwrap();
    assert!(page.contains("Older and newer rows"));
}

fn what_is_not_the_same_any_more_is_refused(at: &Path) {
    let words = ["codecs", "--metric", "instructions", "--length", "points=20"];
    let rest = ["--codecs", "bincode", "--runner", "mine=./mine", "-o", "no.json"];
    let refused = |against: &str, words_of_error: &[&str]| {
        let last = ["--against", against];
        refuses(at, &[&words[..], &rest, &last].concat(), words_of_error);
    };
    refused("nothing.json", &["nothing.json"]);
    refused("no.json", &["no.json"]);
    edit(at, "before.json", "older.json", |row| {
        row.as_object_mut().unwrap().remove("runner");
    });
    refused("older.json", &["does not say which runner", "older.json"]);
    edit(at, "before.json", "foreign.json", |row| match row["id"].as_str() {
        Some("mine") => {
            row["runner"]["command"] = serde_json::json!(["/bin/sh", "-c", "touch started"])
        }
        _ => row["id"] = "other".into(),
    });
    refused("foreign.json", &["was not measured with the build folder"]);
    assert!(!at.join("started").exists());
    edit(at, "before.json", "others.json", |row| row["id"] = "other".into());
    refused("others.json", &["others.json has no row that is measured now", "--runner"]);
    let mut other = read(&at.join("before.json"));
    other["cases"][0]["message"] = "pkg.Other".into();
    fs::write(at.join("message.json"), other.to_string()).unwrap();
    refused("message.json", &["measured pkg.Other", "--message"]);
    refuses(
        at,
        &[&words[..], &rest, &["--fail-above", "2%"]].concat(),
        &["--fail-above has no effect", "--against"],
    );

    // A library that the older one loaded is another now: that row is left out, and a gate
    // cannot tell.
    edit(at, "before.json", "library.json", |row| {
        if row["id"] == "mine" {
            let files = row["runner"]["files"].as_object_mut().unwrap();
            let libc = files.keys().find(|path| path.contains("libc.so")).unwrap().clone();
            files.insert(libc, "0".repeat(64).into());
        }
    });
    let gate = ["--against", "library.json", "--fail-above", "0.5%"];
    let said = count(at, "mine=./mine", "x.json", &gate);
    said.expect_code(3);
    for words in ["Not compared", "libc.so", "has changed since"] {
        assert!(said.out.contains(words), "no '{words}' in {}", said.out);
    }
}

/// The commands of the example, with a short message: the same runner passes, and one that takes
/// 1 % more fails.
#[test]
fn the_example_workflow_gates() {
    let text = fs::read_to_string(project().join("examples/codec_gate.yml")).unwrap();
    let (_, step) = text.split_once("- name: Count both and compare\n        run: |\n").unwrap();
    let commands: Vec<&str> =
        step.lines().map_while(|line| line.strip_prefix("          ")).collect();
    assert_eq!(commands.len(), 3, "{step}");
    let (metric, short) = ("--metric instructions", "--metric instructions --length points=20");
    let lines = commands.join("\n").replace(metric, short);
    assert!(lines.contains(short), "{lines}");
    let program = Path::new(env!("CARGO_BIN_EXE_wiregauge"));
    let path = std::env::var("PATH").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for side in ["old", "new"] {
        fs::create_dir(at.join(side)).unwrap();
    }
    build_runner(&at.join("old/mine"), 2000);
    for (turns, code) in [(2000, 0), (2020, 1)] {
        build_runner(&at.join("new/mine"), turns);
        let mut shell = wiregauge_in("sh");
        shell.args(["-ec", &lines]).current_dir(at);
        shell.env("PATH", format!("{}:{path}", program.parent().unwrap().display()));
        let said = to_said(shell.output().unwrap());
        said.expect_code(code);
    }
}

/// Whether what a script imports is still the same, nobody sees.
#[test]
fn a_script_with_the_same_command_is_not_taken_for_what_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let script = fs::read_to_string(project().join("examples/private_format.py")).unwrap();
    for name in ["old.py", "new.py"] {
        fs::write(at.join(name), &script).unwrap();
    }
    let words = ["codecs", "--codecs", "bincode", "--length", "points=5", "--experiments=encode"];
    let least = ["--duration", "1", "--processes", "1"];
    let measure = |runner: &str, last: &[&str]| {
        run(at, &[&words[..], &least, &["--runner", runner], last].concat())
    };
    let said = measure("mine=python3 old.py", &["-o", "before.json"]);
    said.expect_code(0);
    let said = measure("mine=python3 old.py", &["-o", "x.json", "--against", "before.json"]);
    said.expect_code(0);
    assert!(status(&read(&at.join("x.json")), "mine@before").contains("cannot be seen"));
    let said = measure("mine=python3 new.py", &["-o", "x.json", "--against", "before.json"]);
    said.expect_code(0);
    assert!(status(&read(&at.join("x.json")), "mine@before").contains("measured"));
    fs::write(at.join("old.py"), format!("{script}\n")).unwrap();
    let said = measure("mine=python3 new.py", &["-o", "x.json", "--against", "before.json"]);
    said.expect_code(0);
    let why = status(&read(&at.join("x.json")), "mine@before");
    assert!(why.contains("old.py has changed since") && why.contains("a folder of"), "{why}");
}
