//! The bus end to end, over the transports that need nothing: whole runs,
//! refusals, participants that are killed, users who lose patience.

mod support;

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use support::{
    has_its_form, is_gone, participants, refuses, result, run, send_signal, status, wiregauge,
};
use wiregauge_testkit::prerequisites::has_memory;

/// A run of two seconds with windows of a quarter of one.
const SHORT: [&str; 4] = ["--duration", "2s", "--window", "250ms"];

fn short<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    // Only steps can time out.
    let steps = arguments.iter().any(|word| ["discrete", "both"].contains(word));
    let timeout: &[&str] = if steps { &["--timeout", "1s"] } else { &[] };
    [&["bus", "run"], arguments, &SHORT, timeout].concat()
}

fn fact(run: &Value, case: &str, subject: &str, metric: &str) -> f64 {
    support::fact(run, case, subject, metric)
        .unwrap_or_else(|| panic!("no {metric} of {subject} at {case}"))
}

#[test]
fn all_that_is_sent_arrives_in_both_modes() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["--size", "10,100kB", "--cycle", "5ms", "--mode", "both"];
    let said = run(folder.path(), &short(&[&arguments[..], &["--transport", "memory"]].concat()));
    said.expect_code(0);
    let run = result(folder.path());
    assert_eq!(run["kind"], "bus");
    for case in ["10 B", "100 kB"] {
        for mode in ["continuous", "discrete"] {
            let case = format!("{case}, 5 ms, {mode}");
            for subject in ["tcp", "memory"] {
                let fact = |metric| fact(&run, &case, subject, metric);
                // How many were due in time is up to the machine.
                assert!(fact("sent") > 0.0);
                assert_eq!([fact("lost"), fact("reordered")], [0.0; 2], "{case} {subject}");
                assert!(fact("latency/p50") > 0.0 && fact("throughput") > 0.0);
                assert!(said.out.contains(&case));
            }
        }
    }
    // Four windows at most, of which a sign test tells nothing.
    assert!(said.out.contains("? too few windows to compare"), "{}", said.out);
    // The form is the documented one.
    let schema = fs::read(support::project().join("docs/run.schema.json")).unwrap();
    let schema = serde_json::from_slice(&schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    assert!(validator.is_valid(&run));
}

#[test]
fn several_receive_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["--participants", "4", "--cycle", "5ms", "--mode", "both"];
    let said = run(folder.path(), &short(&[&arguments[..], &["--transport", "memory"]].concat()));
    said.expect_code(0);
    let run = result(folder.path());
    for mode in ["continuous", "discrete"] {
        for subject in ["tcp", "memory"] {
            let case = format!("500 B, 5 ms, {mode}, 4 participants");
            assert_eq!(fact(&run, &case, subject, "lost"), 0.0);
        }
    }
    let measurement = &run["measurements"][0];
    assert_eq!(measurement["samples"].as_array().map(Vec::len), Some(3), "one row a receiver");
}

#[test]
fn numbers_of_participants_make_a_sweep() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["--participants", "2..8", "--cycle", "5ms", "--transport", "tcp"];
    let said = run(folder.path(), &short(&arguments));
    said.expect_code(0);
    assert!(said.out.contains("over receivers"), "{}", said.out);
    let run = result(folder.path());
    has_its_form(&run);
    let cases = run["cases"].as_array().unwrap();
    let swept: Vec<f64> =
        cases.iter().map(|case| case["parameter"]["value"].as_f64().unwrap()).collect();
    assert_eq!(swept, [1.0, 3.0, 7.0]);
    for case in cases {
        assert_eq!(case["message"], "500 B, 5 ms, continuous");
        assert_eq!(case["parameter"]["name"], "receivers");
    }
    let samples = |metric: &str| {
        let all = run["measurements"].as_array().unwrap();
        let of = |m: &&Value| m["case"] == cases[2]["id"] && m["metric"] == metric;
        all.iter().find(of).unwrap()["samples"].as_array().unwrap().clone()
    };
    let (all, slowest) = (samples("latency"), samples("slowest latency"));
    assert_eq!((all.len(), slowest.len()), (7, 1));
    assert!(all.contains(&slowest[0]), "the slowest is one of them");
}

#[test]
fn as_fast_as_possible_is_faster_than_real_time() {
    let folder = tempfile::tempdir().unwrap();
    let said = run(
        folder.path(),
        &short(&["--transport", "tcp", "--cycle", "20ms", "--mode", "discrete", "--fast"]),
    );
    said.expect_code(0);
    let case = "500 B, as fast as possible, discrete";
    assert!(fact(&result(folder.path()), case, "tcp", "steps") > 50.0);
}

#[test]
fn what_cannot_be_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for (arguments, words) in [
        (vec!["--size", "0"], ["0 B", "10 B"]),
        (vec!["--size", "1"], ["1 B", "10 B"]),
        (vec!["--size", "2GiB"], ["1 GiB", "at most"]),
        (vec!["--transport", "pigeon"], ["pigeon", "tcp"]),
        (vec!["--duration", "3s"], ["5 windows", "dropped"]),
        (vec!["--cycle", "0", "--mode", "discrete"], ["discrete", "cycle"]),
        (vec!["--fast"], ["discrete", "--cycle 0"]),
        (vec!["--option", "dds.domain=7"], ["dds", "not measured in this run"]),
    ] {
        let all = [vec!["bus", "run"], arguments].concat();
        refuses(at, &all, &words);
    }
    for (participants, words) in
        [("1", "1 participants"), ("2..257", "257"), ("8..2", "not a range")]
    {
        let said = run(at, &["bus", "run", "--participants", participants]);
        assert!(said.code == Some(2) && said.err.contains(words), "{}", said.err);
    }
}

#[test]
fn an_option_that_a_transport_does_not_know_fails_that_transport() {
    let folder = tempfile::tempdir().unwrap();
    let said = run(folder.path(), &short(&["--transport", "tcp", "--option", "tcp.speed=high"]));
    said.expect_code(1);
    let status = status(&result(folder.path()), "tcp");
    assert!(status.contains("failed") && status.contains("speed") && status.contains("port"));
}

#[test]
fn a_port_in_use_is_named() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = format!("tcp.port={}", taken.local_addr().unwrap().port());
    let folder = tempfile::tempdir().unwrap();
    let said = run(folder.path(), &short(&["--transport", "tcp", "--option", &port]));
    said.expect_code(1);
    let status = status(&result(folder.path()), "tcp");
    assert!(status.contains("failed") && status.contains(&port[9..]), "{status}");
}

/// A run of a minute, killed if it is still there in the end.
struct Long {
    child: Child,
    /// Its participants.
    there: Vec<(i32, String)>,
}

impl Long {
    /// Starts it and waits until its participants are at work.
    fn start(folder: &Path, mode: &str) -> Long {
        let words = ["--mode", mode, "--duration", "60s", "--timeout", "1s"];
        // Only steps can time out.
        let words = if mode == "continuous" { &words[..4] } else { &words };
        Long::start_with(folder, words)
    }

    fn start_with(folder: &Path, arguments: &[&str]) -> Long {
        let child = wiregauge()
            .args(["bus", "run", "--transport", "tcp"])
            .args(arguments)
            .current_dir(folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut long = Long { child, there: Vec::new() };
        let begun = Instant::now();
        while long.there.len() < 2 {
            assert!(begun.elapsed() < Duration::from_secs(60), "the participants never came up");
            std::thread::sleep(Duration::from_millis(10));
            long.there = participants(&long.child);
        }
        std::thread::sleep(Duration::from_millis(500));
        long
    }

    fn participant(&self, name: &str) -> i32 {
        self.there.iter().find(|(_, line)| line.contains(name)).expect("it is there").0
    }

    fn left_behind(&self) -> bool {
        !self.there.iter().all(|(id, _)| is_gone(*id))
    }
}

impl Drop for Long {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_participant_that_is_killed_is_missed_and_named() {
    for mode in ["continuous", "discrete"] {
        for victim in ["receiver", "sender"] {
            let folder = tempfile::tempdir().unwrap();
            let mut run = Long::start(folder.path(), mode);
            let killed = Instant::now();
            send_signal("-KILL", run.participant(victim));
            let code = run.child.wait().unwrap().code();
            // A second to notice, and some to say so.
            assert!(killed.elapsed() < Duration::from_secs(30), "{:?}", killed.elapsed());
            assert_eq!(code, Some(1));
            let status = status(&result(folder.path()), "tcp");
            let expected = format!("{victim} is lost: killed by SIGKILL");
            assert!(status.contains(&expected), "{mode}: {status}");
            assert!(!run.left_behind(), "a participant was left behind");
        }
    }
}

#[test]
fn a_load_that_fails_leaves_the_others_their_figures() {
    let folder = tempfile::tempdir().unwrap();
    let loads = ["--size", "10,500", "--cycle", "5ms"];
    let mut run = Long::start_with(folder.path(), &[&loads[..], &SHORT].concat());
    send_signal("-KILL", run.participant("receiver"));
    assert_eq!(run.child.wait().unwrap().code(), Some(1));
    let run = result(folder.path());
    has_its_form(&run);
    assert!(status(&run, "tcp").contains("measured"));
    let warnings = run["warnings"].as_array().unwrap();
    let failed: Vec<&Value> = warnings.iter().filter(|w| w["code"] == "failed").collect();
    assert_eq!(failed.len(), 1, "{warnings:?}");
    let text = failed[0]["text"].as_str().unwrap();
    let expected = "TCP at 10 B, 5 ms, continuous: failed, receiver is lost: killed by SIGKILL";
    assert!(text.contains(expected), "{text}");
    assert!(fact(&run, "500 B, 5 ms, continuous", "tcp", "sent") > 0.0);
    let facts = run["facts"].as_array().unwrap();
    assert!(facts.iter().all(|f| f["case"] != "10 B, 5 ms, continuous"));
}

#[test]
fn a_participant_that_is_silent_is_missed() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = Long::start(folder.path(), "continuous");
    let stopped = Instant::now();
    send_signal("-STOP", run.participant("receiver"));
    assert_eq!(run.child.wait().unwrap().code(), Some(1));
    assert!(stopped.elapsed() < Duration::from_secs(30), "{:?}", stopped.elapsed());
    let status = status(&result(folder.path()), "tcp");
    assert!(status.contains("receiver is lost: silent"), "{status}");
    assert!(!run.left_behind(), "a participant was left behind");
}

#[test]
fn an_interruption_leaves_nothing() {
    for signal in ["-INT", "-KILL"] {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("run.json"), "the good old result").unwrap();
        let mut run = Long::start(folder.path(), "discrete");
        send_signal(signal, run.child.id() as i32);
        let code = run.child.wait().unwrap().code();
        assert_eq!(code, (signal == "-INT").then_some(130));
        let begun = Instant::now();
        while run.left_behind() {
            assert!(begun.elapsed() < support::END_PATIENCE, "a participant was left behind");
            std::thread::sleep(Duration::from_millis(20));
        }
        let kept = fs::read_to_string(folder.path().join("run.json")).unwrap();
        assert_eq!(kept, "the good old result");
    }
}

/// Runs for a minute with windows of 50 ms, does something to it once it has some, and gives its
/// exit status.
fn disturbed(folder: &Path, disturb: impl Fn(&Long)) -> Option<i32> {
    let words = ["--size", "10,500", "--cycle", "5ms", "--window", "50ms"];
    let more = ["--duration", "60s", "--round-trips", "0"];
    let mut run = Long::start_with(folder, &[&words[..], &more].concat());
    support::await_wakeups(run.participant("receiver"), 400);
    disturb(&run);
    let code = run.child.wait().unwrap().code();
    assert!(!run.left_behind(), "a participant was left behind");
    code
}

/// That the first load broke off and has the figures of its windows.
fn broke_off(run: &Value, reason: &str) {
    let case = "10 B, 5 ms, continuous";
    assert_eq!(fact(run, case, "tcp", "complete"), 0.0);
    assert!(fact(run, case, "tcp", "throughput") > 0.0);
    assert_eq!(support::fact(run, case, "tcp", "lost"), None);
    let notes = run["cases"][0]["notes"].to_string();
    assert!(notes.contains(reason), "{notes}");
}

fn warned(run: &Value, code: &str) -> bool {
    run["warnings"].as_array().unwrap().iter().any(|warning| warning["code"] == code)
}

#[test]
fn what_was_measured_before_an_interruption_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let interrupt = |run: &Long| send_signal("-INT", run.child.id() as i32);
    assert_eq!(disturbed(folder.path(), interrupt), Some(130));
    let run = result(folder.path());
    has_its_form(&run);
    broke_off(&run, "interrupted");
    assert!(warned(&run, "interrupted") && !warned(&run, "failed"));
}

#[test]
fn a_load_that_breaks_off_keeps_its_windows() {
    let folder = tempfile::tempdir().unwrap();
    let kill = |run: &Long| {
        send_signal("-KILL", run.participant("receiver"));
        // Not the second load as well.
        std::thread::sleep(Duration::from_secs(6));
        send_signal("-INT", run.child.id() as i32);
    };
    assert_eq!(disturbed(folder.path(), kill), Some(130));
    let run = result(folder.path());
    has_its_form(&run);
    broke_off(&run, "receiver is lost: killed by SIGKILL");
    assert!(warned(&run, "failed"));
}

#[test]
fn an_outage_that_is_borne_is_told_by_the_figures() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["--cycle", "5ms", "--window", "250ms", "--alive-within", "30s"];
    let more = ["--duration", "10s", "--round-trips", "0"];
    let mut run = Long::start_with(folder.path(), &[&words[..], &more].concat());
    let receiver = run.participant("receiver");
    support::await_wakeups(receiver, 400);
    send_signal("-STOP", receiver);
    std::thread::sleep(Duration::from_secs(3));
    send_signal("-CONT", receiver);
    assert_eq!(run.child.wait().unwrap().code(), Some(0));
    let run = result(folder.path());
    let fact = |metric| fact(&run, "500 B, 5 ms, continuous", "tcp", metric);
    assert_eq!(fact("lost"), 0.0);
    assert!(fact("throughput") <= fact("offered") * 1.01, "{}", fact("throughput"));
    assert!(fact("late") > 0.0 && fact("latency/max") > 1e9, "{}", fact("latency/max"));
}

#[test]
fn a_scenario_that_has_no_end_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let endless = ["bus", "run", "--scenario", "/dev/zero"];
    refuses(folder.path(), &endless, &["/dev/zero", "is a device"]);
}

#[test]
fn a_scenario_that_nobody_writes_keeps_nobody_from_stopping() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut child = wiregauge()
        .args(["bus", "run", "--scenario", "pipe"])
        .current_dir(folder.path())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // Whether it waits already or has not begun.
    std::thread::sleep(Duration::from_millis(500));
    send_signal("-TERM", child.id() as i32);
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(begun.elapsed() < support::END_PATIENCE, "it does not end");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_sample_of_a_gibibyte_arrives() {
    // Both sides hold it, and what was sent waits in between.
    if !has_memory(8) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let words = ["--transport", "tcp", "--size", "1GiB", "--cycle", "0", "--round-trips", "1"];
    // Long enough for a few of them on a busy machine, where who holds so much may stand still.
    let more = ["--duration", "15s", "--alive-within", "60s"];
    let long = [&["bus", "run"], &words[..], &more].concat();
    let said = run(folder.path(), &long);
    said.expect_code(0);
    let run = result(folder.path());
    let fact = |metric| fact(&run, "1 GiB, unthrottled, continuous", "tcp", metric);
    assert!(fact("sent") > 0.0);
    assert_eq!([fact("lost"), fact("late")], [0.0; 2]);
    assert_eq!(run["subjects"][0]["status"]["state"], "measured");
}
