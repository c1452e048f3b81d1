//! Instructions of codecs: the same in each run, compared and required, and who is not counted.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use support::{project, refuses, result, run, wiregauge, Said};
use wiregauge_build_tools::write_script;
use wiregauge_testkit::prerequisites::report_left_out;

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
    said.expect_code(0);
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
    said.expect_code(0);
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
    said.expect_code(1);
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
    said.expect_code(0);
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
    said.expect_code(2);
    assert!(said.err.contains("apt-get install valgrind"), "{}", said.err);
    write_script(&tools.join("valgrind"), "#!/bin/sh\necho something else\n").unwrap();
    let said = without(&tools);
    assert!(said.err.contains("is no valgrind"), "{}", said.err);
    assert!(!folder.path().join("run.json").exists());
}

/// The figures of a row may differ by so much from the processor's, which counts what interrupts
/// it, too.
const DIFFERENCE: f64 = 0.01;
/// And by so many instructions for each message, as the C library copies in another way under
/// callgrind.
const INSTRUCTIONS: f64 = 5.0;

/// What processors count themselves, where they let programs read it: virtual machines seldom do.
#[test]
fn callgrind_counts_what_the_processor_counts() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let Some(counter) = processor_counter(at, &[]) else {
        report_left_out("the processor lets nobody read its counter of instructions");
        return;
    };
    let words = ["--codecs", "prost,lcm,flatbuffers-cpp-object", "--experiments", "encode,decode"];
    let (said, by_callgrind) = count(at, "callgrind.json", &words);
    said.expect_code(0);
    let by_processor = count_by(at, &counter, &words);
    assert!(counted(&by_callgrind).len() >= 28);
    for fact in counted(&by_callgrind) {
        let is_it =
            |other: &&&Value| ["subject", "metric"].iter().all(|key| other[key] == fact[key]);
        let all = counted(&by_processor);
        let other = all.iter().find(is_it).unwrap_or_else(|| panic!("no {fact}"));
        let [one, other] = [fact, other].map(|fact| fact["value"].as_f64().unwrap());
        let difference = (one - other).abs();
        assert!(difference <= (one * DIFFERENCE).max(INSTRUCTIONS), "{fact}: {other}");
    }
}

/// How the processor's counter is read is tried by one that every machine has: the kernel's, of
/// nanoseconds. It differs from run to run by more than is believed, so little is asked of it.
#[test]
fn what_a_counter_says_between_two_readings_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let kernels = "-DCOUNTED=PERF_TYPE_SOFTWARE,PERF_COUNT_SW_TASK_CLOCK";
    let Some(counter) = processor_counter(folder.path(), &[kernels]) else {
        report_left_out("the kernel lets nobody read its counters: kernel.perf_event_paranoid");
        return;
    };
    let words = ["--codecs", "lcm", "--experiments", "encode,decode"];
    let run = count_by(folder.path(), &counter, &words);
    assert_eq!(run["environment"]["tools"]["valgrind"], "valgrind-in-its-place");
    let all = counted(&run);
    let is_told = subject(&run, "lcm")["not_counted"].is_string();
    let of_lcm = all.iter().find(|fact| fact["subject"] == "lcm");
    assert!(is_told || of_lcm.is_some_and(|fact| fact["value"].as_f64() > Some(10.0)), "{run}");
}

/// A shared object that counts in place of callgrind; none where nothing can be counted so.
fn processor_counter(folder: &Path, flags: &[&str]) -> Option<PathBuf> {
    let source = project().join("crates/wiregauge/tests/support/processor_counter.c");
    let compile = |name: &str, more: &[&str]| {
        let output = folder.join(name);
        let mut command = Command::new("cc");
        command.args(["-O2", "-std=gnu11"]).args(more).args(flags).arg(&source);
        assert!(command.arg("-o").arg(&output).status().unwrap().success());
        output
    };
    let has_counter = Command::new(compile("probe", &["-DPROBE"])).status().unwrap().success();
    has_counter.then(|| compile("counter.so", &["-shared", "-fPIC"]))
}

/// Counts by a program in valgrind's place that starts the runners with this object.
fn count_by(folder: &Path, object: &Path, words: &[&str]) -> Value {
    let tools = folder.join("tools");
    fs::create_dir(&tools).unwrap();
    let script = format!(
        "#!/bin/sh\n[ \"$1\" != --version ] || exec echo valgrind-in-its-place\n\
         while case $1 in --*) ;; *) false ;; esac; do\n\
         case $1 in --callgrind-out-file=*) counts=${{1#*=}} ;; esac\nshift\ndone\n\
         COUNTS=${{counts%.%p}} LD_PRELOAD={} exec \"$@\"\n",
        object.display()
    );
    write_script(&tools.join("valgrind"), &script).unwrap();
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap());
    let mut command = wiregauge();
    command.args(["codecs", "--metric", "instructions", "--length", "points=20"]);
    command.args(words).args(["-o", "processor.json"]).env("PATH", path).current_dir(folder);
    let said = support::to_said(command.output().unwrap());
    said.expect_code(0);
    serde_json::from_str(&fs::read_to_string(folder.join("processor.json")).unwrap()).unwrap()
}

/// Times are measured beside, if both are wanted.
#[test]
fn times_and_instructions_stand_in_one_result() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["codecs", "--metric", "time,instructions", "--length", "points=20"];
    let more = ["--codecs", "prost", "--experiments", "encode", "--duration", "3s"];
    let said = run(folder.path(), &[&words[..], &more].concat());
    said.expect_code(0);
    let run = result(folder.path());
    assert!(!run["measurements"].as_array().unwrap().is_empty());
    let all = counted(&run);
    let encode = all.iter().find(|fact| fact["subject"] == "prost").unwrap();
    assert!(encode["value"].as_f64() > Some(200.0), "{encode}");
}
