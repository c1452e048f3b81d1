//! Instructions of codecs: the same in each run, compared and required, and who is not counted.

mod support;

use std::fs;
use std::path::Path;

use serde_json::Value;
use support::{project, refuses, result, run, wiregauge, Said};
use wiregauge_build_tools::write_script;

/// Counts a small message, with these words more.
fn count(folder: &Path, output: &str, words: &[&str]) -> (Said, Value) {
    let always = ["codecs", "--metric", "instructions", "--length", "points=20", "-o", output];
    let said = run(folder, &[&always, words].concat());
    let text = fs::read_to_string(folder.join(output)).expect(&said.err);
    (said, serde_json::from_str(&text).unwrap())
}

/// The instructions in a result.
fn counted(run: &Value) -> Vec<&Value> {
    let is_counted = |fact: &&Value| fact["metric"].as_str().unwrap().starts_with("instructions");
    run["facts"].as_array().unwrap().iter().filter(is_counted).collect()
}

fn subject<'a>(run: &'a Value, id: &str) -> &'a Value {
    run["subjects"].as_array().unwrap().iter().find(|subject| subject["id"] == id).unwrap()
}

/// A runner in Python, like that of the examples but for its clock.
fn runner(folder: &Path, start: &str) -> String {
    let text = fs::read_to_string(project().join("examples/private_format.py")).unwrap();
    let clock = "total, start = 0.0, time.perf_counter_ns()";
    assert!(text.contains(clock));
    let path = folder.join("runner.py");
    fs::write(&path, text.replace(clock, &format!("total, start = 0.0, {start}"))).unwrap();
    format!("mine=/usr/bin/python3 {}", path.display())
}

#[test]
fn two_runs_count_the_same_whatever_the_environment_is() {
    let folder = tempfile::tempdir().unwrap();
    let runner = runner(folder.path(), "time.perf_counter_ns()");
    let words =
        ["--codecs", "prost,lcm,flatbuffers-cpp-object,java-serialization", "--runner", &runner];
    let (said, first) = count(folder.path(), "first.json", &words);
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
    let again = wiregauge()
        .args(["codecs", "--metric", "instructions", "--length", "points=20", "-o", "again.json"])
        .args(words)
        .env("SOMETHING", "a".repeat(1000))
        .current_dir(folder.path())
        .status();
    assert!(again.unwrap().success());
    let again = fs::read_to_string(folder.path().join("again.json")).unwrap();
    let again: Value = serde_json::from_str(&again).unwrap();
    assert_eq!(counted(&first), counted(&again));

    let of = |id: &str, metric: &str| {
        let all = counted(&first);
        let fact = all.iter().find(|fact| fact["subject"] == id && fact["metric"] == metric)?;
        fact["value"].as_f64()
    };
    for id in ["prost", "lcm", "mine"] {
        let [message, element] = ["instructions/encode", "instructions-per-element/encode"]
            .map(|metric| of(id, metric).unwrap_or_else(|| panic!("{id}: {metric}")));
        assert!(
            message > 200.0 && (element * 20.0 - message).abs() < 1e-6,
            "{id}: {message}, {element}"
        );
    }
    assert!(of("mine", "instructions/encode") > of("prost", "instructions/encode"));
    // A phase whose input takes more to prepare than to write.
    assert!(of("flatbuffers-cpp-object", "instructions/encode/write") > Some(200.0));
    // An interpreter takes what it takes, and the loop alone next to nothing.
    assert!(of("noop", "instructions/encode") < Some(100.0));
    let java = subject(&first, "java-serialization");
    assert!(java["not_counted"].as_str().unwrap().contains("compiles while it runs"), "{java}");
    assert_eq!(of("java-serialization", "instructions/encode"), None);
    // Nothing is timed, and no warning speaks of times.
    assert_eq!(first["measurements"].as_array().unwrap().len(), 0);
    assert_eq!(first["warnings"].as_array().unwrap().len(), 0);
    for words in ["instructions of a message", "instructions of an element", "nothing is timed"] {
        assert!(said.out.contains(words), "{words}: {}", said.out);
    }
    assert!(
        said.out.contains("java.io Java") && said.out.contains(": it compiles while"),
        "{}",
        said.out
    );

    a_slowdown_of_a_percent_is_found(folder.path(), &first);
    what_is_required_is_judged(folder.path(), of("prost", "instructions/encode").unwrap());
    the_page_has_them(folder.path());
}

/// In each figure by itself, and nothing where nothing changed.
fn a_slowdown_of_a_percent_is_found(folder: &Path, first: &Value) {
    let compare = |new: &str| {
        run(folder, &["compare", "first.json", new, "--fail-above", "1%", "--format", "json"])
    };
    let said = compare("again.json");
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
    let facts = first["facts"].as_array().unwrap();
    let of_messages = facts
        .iter()
        .enumerate()
        .filter(|(_, fact)| fact["metric"].as_str().unwrap().starts_with("instructions/"));
    let of_messages: Vec<usize> = of_messages.map(|(index, _)| index).collect();
    assert!(of_messages.len() > 20);
    for (share, wanted) in [(1.009, 0), (1.011, 1), (0.9, 0)] {
        for &index in &of_messages {
            let mut slower = first.clone();
            let value = slower["facts"][index]["value"].as_f64().unwrap();
            slower["facts"][index]["value"] = (value * share).into();
            fs::write(folder.join("slower.json"), slower.to_string()).unwrap();
            let said = compare("slower.json");
            assert_eq!(said.code, Some(wanted), "{share} of {}: {}", facts[index], said.out);
        }
    }
    let mut lost = first.clone();
    lost["facts"].as_array_mut().unwrap().remove(of_messages[0]);
    fs::write(folder.join("lost.json"), lost.to_string()).unwrap();
    let said = compare("lost.json");
    assert_eq!(said.code, Some(1), "{}", said.out);
    assert!(said.out.contains("is not in the new run"), "{}", said.out);
}

fn what_is_required_is_judged(folder: &Path, value: f64) {
    for (limit, wanted) in [(value * 1.001, 0), (value * 0.999, 1)] {
        let required = format!("instructions/encode of prost < {}k", limit / 1000.0);
        let said = run(folder, &["verify", "first.json", "--require", &required]);
        assert_eq!(said.code, Some(wanted), "{required}: {}{}", said.out, said.err);
    }
}

fn the_page_has_them(folder: &Path) {
    let said = run(folder, &["report", "first.json", "-o", "report.html"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    let page = fs::read_to_string(folder.join("report.html")).unwrap();
    assert!(page.contains("Instructions of a message") && page.contains("not counted"));
    let said = run(folder, &["report", "first.json", "--format", "md"]);
    assert!(said.out.contains("| instructions of an element"), "{}", said.out);
}

/// Who reads the clock another number of times is not believed.
#[test]
fn a_loop_that_is_not_between_two_readings_is_not_counted() {
    let folder = tempfile::tempdir().unwrap();
    for (start, wanted) in [
        ("max(time.perf_counter_ns(), time.perf_counter_ns())", "3 times"),
        ("int(open('/proc/uptime').read().split()[0].replace('.', '')) * 0", "1 times"),
    ] {
        let runner = runner(folder.path(), start);
        let (said, run) =
            count(folder.path(), "run.json", &["--codecs", "prost", "--runner", &runner]);
        let mine = subject(&run, "mine");
        let why = mine["not_counted"].as_str().unwrap_or_default();
        assert!(
            why.contains(wanted) || mine["status"]["state"] == "failed",
            "{mine}: {}",
            said.err
        );
        assert!(counted(&run).iter().all(|fact| fact["subject"] != "mine"));
    }
}

#[test]
fn what_has_no_effect_or_is_missing_is_said_in_a_line() {
    let folder = tempfile::tempdir().unwrap();
    for option in [&["--quick"][..], &["--duration", "1min"], &["--processes", "3"]] {
        let words = ["codecs", "--metric", "instructions"];
        refuses(folder.path(), &[&words, option].concat(), &[option[0], "has no effect"]);
    }
    let tools = folder.path().join("tools");
    fs::create_dir(&tools).unwrap();
    let without = |path: &Path| {
        let mut command = wiregauge();
        command.args(["codecs", "--metric", "instructions", "--codecs", "prost"]);
        command.env("PATH", path).current_dir(folder.path());
        support::to_said(command.output().unwrap())
    };
    let said = without(&tools);
    assert_eq!(said.code, Some(2), "{}", said.err);
    assert!(said.err.contains("apt-get install valgrind"), "{}", said.err);
    write_script(&tools.join("valgrind"), "#!/bin/sh\necho something else\n").unwrap();
    let said = without(&tools);
    assert!(said.err.contains("is no valgrind"), "{}", said.err);
    assert!(!folder.path().join("run.json").exists());
}

/// Times are measured beside, if both are wanted.
#[test]
fn times_and_instructions_stand_in_one_result() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["codecs", "--metric", "time,instructions", "--length", "points=20"];
    let more = ["--codecs", "prost", "--experiments", "encode", "--duration", "3s"];
    let said = run(folder.path(), &[&words[..], &more].concat());
    assert_eq!(said.code, Some(0), "{}", said.err);
    let run = result(folder.path());
    assert!(!run["measurements"].as_array().unwrap().is_empty());
    let all = counted(&run);
    let encode = all.iter().find(|fact| fact["subject"] == "prost").unwrap();
    assert!(encode["value"].as_f64() > Some(200.0), "{encode}");
}
