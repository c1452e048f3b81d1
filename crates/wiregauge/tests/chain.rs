//! `wiregauge chain`: a chain is measured end to end and by its parts.

mod support;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use support::machine::Machine;
use support::{build_folder, fact, has_its_form, refuses, result, run, status, wiregauge};
use wiregauge_testkit::prerequisites::{unshare, CLOCK};

/// Three stages in two processes, over two transports and in two codecs.
const CHAIN: &str = r#"
duration = "2s"
vehicle_speed = "36km/h"
[[stage]]
name = "sensor"
rate = "200Hz"
[[stage]]
name = "fusion"
work = "100us"
[[stage]]
name = "brake"
rate = "100Hz"
[[hop]]
message = "lidar"
length = { points = 100 }
codec = "prost"
transport = "tcp"
[[hop]]
message = "rsb"
codec = "flatbuffers"
transport = "memory"
[consider]
codecs = ["flatbuffers", "prost"]
transports = ["tcp"]
faster = [2.0]
"#;

const WHOLE: &str = "end to end";

fn write(folder: &Path, text: &str) {
    fs::write(folder.join("chain.toml"), text).unwrap();
}

/// The samples of a measurement, over all runs.
fn samples(run: &Value, case: &str, metric: &str) -> Vec<f64> {
    let measurements = run["measurements"].as_array().expect("measurements");
    let of = |m: &&Value| m["case"] == case && m["subject"] == "drawn" && m["metric"] == metric;
    let found = measurements.iter().find(of).unwrap_or_else(|| panic!("no {metric} at {case}"));
    let runs = found["samples"].as_array().expect("samples").iter();
    runs.flat_map(|run| run.as_array().unwrap()).map(|sample| sample.as_f64().unwrap()).collect()
}

#[test]
fn a_chain_has_its_parts_a_prediction_and_the_best_changes() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), CHAIN);
    let said = run(folder.path(), &["chain", "chain.toml", "--require", "max chain < 10s"]);
    said.expect_code(0);
    let run = result(folder.path());
    has_its_form(&run);
    let whole = |subject: &str, metric: &str| fact(&run, WHOLE, subject, metric);
    let drawn = |metric: &str| whole("drawn", metric).unwrap_or_else(|| panic!("no {metric}"));
    // Every sample that counts came through, and nothing was lost on the way.
    assert_eq!(drawn("unfinished"), 0.0);
    assert!(drawn("chain/samples") > 50.0 && drawn("chain/count") <= drawn("chain/samples"));
    assert!(drawn("reaction/p50") > drawn("chain/p50") && drawn("chain/p50") > 100_000.0);
    assert!(drawn("predicted/chain/p50") < drawn("predicted/chain/p99"));
    // The brake looks at the half of what comes.
    assert!(drawn("overwritten") > 0.0);
    for hop in ["sensor to fusion", "fusion to brake"] {
        for part in ["encode", "carry", "decode", "overhead"] {
            let times = samples(&run, hop, &format!("hop/{part}"));
            assert!(!times.is_empty() && times.iter().all(|time| *time > 0.0), "{hop} {part}");
        }
        assert!(fact(&run, hop, "drawn", "size").unwrap() > 10.0);
    }
    // Only who has a cycle waits for it, and only who works works.
    let of = |hop: &str, part: &str| samples(&run, hop, &format!("hop/{part}"));
    assert!(of("sensor to fusion", "wait").iter().all(|time| *time == 0.0));
    assert!(of("fusion to brake", "wait").iter().any(|time| *time > 0.0));
    assert!(of("sensor to fusion", "work").iter().all(|time| *time >= 100_000.0));
    // 2:tcp and the codecs, and each stage with a rate twice as fast.
    let subjects: Vec<&str> =
        run["subjects"].as_array().unwrap().iter().map(|s| s["id"].as_str().unwrap()).collect();
    for id in ["1:flatbuffers", "2:prost", "2:tcp", "sensor:400 Hz", "brake:200 Hz"] {
        assert!(subjects.contains(&id), "{subjects:?}");
        assert!(whole(id, "predicted/reaction/p50").is_some(), "{id}");
    }
    let checked = |id: &&&str| **id != "drawn" && status(&run, id).contains(":\"measured\"");
    let checked: Vec<&&str> = subjects.iter().filter(checked).collect();
    assert!(checked.len() <= 2 && checked.iter().all(|id| whole(id, "reaction/p50").is_some()));
    // Requirements are of the chain as drawn.
    assert!(said.out.contains("PASS") && said.out.contains("1 of 1"), "{}", said.out);
    for words in
        ["at 36 km/h", "by its parts", "fusion to brake", "serialization", "brake at 200 Hz"]
    {
        assert!(said.out.contains(words), "no '{words}' in {}", said.out);
    }
}

#[test]
fn a_requirement_that_does_not_hold_fails() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &CHAIN.replace("faster = [2.0]", "faster = []"));
    let words = ["chain", "chain.toml", "--duration", "1s", "--require", "max chain < 1ns"];
    let said = run(folder.path(), &words);
    said.expect_code(1);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (from, to, words) in [
        ("lidar\"", "none.msg\"", ["none.msg", "cannot read"]),
        ("points = 100", "beams = 3", ["points", "length"]),
        ("36km/h", "fast", ["chain.toml:3", "not a speed"]),
        ("\"prost\"\ntransport", "\"morse\"\ntransport", ["chain.toml:13", "unknown codec"]),
    ] {
        write(folder.path(), &CHAIN.replacen(from, to, 1));
        refuses(folder.path(), &["chain", "chain.toml"], &words);
    }
    refuses(folder.path(), &["chain", "none.toml"], &["none.toml", "cannot read"]);
    write(folder.path(), CHAIN);
    let short = ["chain", "chain.toml", "--duration", "1ms"];
    refuses(folder.path(), &short, &["1ms", "too short"]);
}

#[test]
fn an_interruption_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &CHAIN.replace("\"2s\"", "\"60s\""));
    let mut command = wiregauge();
    command.args(["chain", "chain.toml"]).current_dir(folder.path());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    // Programs of codecs are built, and three processes of the chain and its codecs run.
    let deadline = Instant::now() + Duration::from_secs(300);
    while support::processes_below(folder.path()) < 5 {
        assert!(Instant::now() < deadline && child.try_wait().unwrap().is_none());
        thread::sleep(Duration::from_millis(50));
    }
    support::send_signal("-INT", child.id() as i32);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    await_nothing(folder.path());
    assert!(!folder.path().join("run.json").exists());
}

/// Four stages on two machines: there and back, with two of them in a process of the second.
const TWO_MACHINES: &str = r#"
duration = "2s"
listen = "127.0.0.1:0"
[[stage]]
name = "sensor"
rate = "200Hz"
machine = "front"
[[stage]]
name = "fusion"
machine = "rear"
[[stage]]
name = "planner"
rate = "100Hz"
machine = "rear"
[[stage]]
name = "brake"
machine = "front"
[[hop]]
message = "lidar"
length = { points = 100 }
codec = "prost"
transport = "tcp"
[[hop]]
message = "rsb"
codec = "flatbuffers"
transport = "memory"
[[hop]]
message = "rsb"
codec = "flatbuffers"
transport = "tcp"
[consider]
codecs = []
transports = ["tcp", "memory"]
faster = []
check = 1
"#;

/// How far the clock of the second machine is ahead, in seconds.
const AHEAD: u64 = 100_000;

/// The machine of this name, in a folder with this chain.
fn machine(mut command: Command, folder: &Path, chain: &str, words: &[&str]) -> Machine {
    write(folder, chain);
    command.args(["chain", "chain.toml", "--machine"]).args(words);
    Machine::spawn(command, folder)
}

/// The one that leads, and where it waits.
fn lead(folder: &Path, chain: &str) -> (Machine, String) {
    let leader = machine(wiregauge(), folder, chain, &["front"]);
    let line = leader.hears("waiting for fusion, planner at");
    let at = line.rsplit(' ').next().unwrap().to_owned();
    (leader, at)
}

#[test]
fn a_chain_on_two_machines_is_measured_on_the_clock_of_the_first() {
    if !CLOCK.is_met() {
        return;
    }
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (mut leader, at) = lead(here.path(), TWO_MACHINES);
    let mut joins = unshare(&["--time", "--monotonic", &AHEAD.to_string()]);
    joins.args(["--fork", "--kill-child"]).arg(wiregauge().get_program());
    joins.env("WIREGAUGE_BUILD", build_folder());
    let mut agent = machine(joins, there.path(), TWO_MACHINES, &["rear", "--peer", &at]);
    leader.expect_code(0);
    agent.expect_code(0);
    assert!(!there.path().join("run.json").exists(), "who leads has the result");
    let run = result(here.path());
    has_its_form(&run);
    let whole = |metric: &str| fact(&run, WHOLE, "drawn", metric).unwrap();
    assert_eq!(whole("unfinished"), 0.0);
    assert!(whole("chain/samples") > 50.0);
    // Far from the offset: a machine that is slow is allowed for.
    assert!(whole("chain/p50") > 100_000.0 && whole("chain/max") < 60e9);
    assert!(whole("clock/uncertainty") > 0.0 && whole("clock/uncertainty") < 1e9);
    for hop in ["sensor to fusion", "fusion to planner", "planner to brake"] {
        for part in ["encode", "carry", "decode"] {
            let times = samples(&run, hop, &format!("hop/{part}"));
            assert!(!times.is_empty() && times.iter().all(|time| *time < 60e9), "{hop} {part}");
        }
    }
    // What does not reach from one machine to the other is said, and measured between others.
    assert!(status(&run, "1:memory").contains("memory works within one process only"));
    assert!(fact(&run, WHOLE, "2:tcp", "chain/p50").is_some());
    let case = &run["cases"][0];
    assert_eq!(case["source"], "2 machines");
    let notes = case["notes"].to_string();
    assert!(notes.contains("planner: at 100 Hz") && notes.contains("on rear"), "{notes}");
}

#[test]
fn a_machine_that_does_not_belong_to_the_chain_is_refused() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(there.path(), TWO_MACHINES);
    refuses(there.path(), &["chain", "chain.toml"], &["--machine front or --machine rear"]);
    let words = ["chain", "chain.toml", "--machine", "boot"];
    refuses(there.path(), &words, &["no stage runs on 'boot'"]);
    let words = ["chain", "chain.toml", "--machine", "rear"];
    refuses(there.path(), &words, &["--peer must name", "'front'"]);
    let (leader, at) = lead(here.path(), TWO_MACHINES);
    for (from, to, why) in [
        ("100Hz", "50Hz", "its chain differs"),
        ("points = 100", "points = 99", "its chain differs"),
        ("\"planner\"", "\"plan\"", "its chain differs"),
    ] {
        let other = TWO_MACHINES.replace(from, to);
        let mut agent = machine(wiregauge(), there.path(), &other, &["rear", "--peer", &at]);
        agent.hears(&format!("refuses: {why}"));
        agent.expect_code(2);
    }
    leader.hears("'stage 2' is 'planner on rear, 20000000 ns");
    leader.hears("'values of message 0' is");
    drop(leader);
    await_nothing(here.path());
}

/// Waits until nothing that ran in this folder is left.
fn await_nothing(folder: &Path) {
    let deadline = Instant::now() + support::END_PATIENCE;
    while support::processes_below(folder) > 0 {
        assert!(Instant::now() < deadline, "something is left");
        thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_machine_that_is_lost_is_named_and_nothing_stays() {
    let long = TWO_MACHINES.replace("\"2s\"", "\"60s\"");
    for lost in ["front", "rear", "fusion and planner"] {
        let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (mut leader, at) = lead(here.path(), &long);
        let mut agent = machine(wiregauge(), there.path(), &long, &["rear", "--peer", &at]);
        // The stages of the second machine run, in a process of their own.
        let deadline = Instant::now() + Duration::from_secs(300);
        let stages = loop {
            let found = support::participants(&agent.child);
            if let [(id, _)] = &found[..] {
                break *id;
            }
            assert!(Instant::now() < deadline, "no stage ran");
            thread::sleep(Duration::from_millis(20));
        };
        match lost {
            "front" => {
                leader.signal("-KILL");
                agent.hears("is lost");
            }
            "rear" => {
                agent.signal("-KILL");
                leader.hears("wiregauge: the machine of fusion, planner at");
            }
            _ => {
                support::send_signal("-KILL", stages);
                let told = leader.hears("fusion and planner: killed by SIGKILL");
                // The second where it has not come up yet.
                let starts = ["wiregauge: fusion", "wiregauge: cannot start the process of fusion"];
                assert!(starts.iter().any(|start| told.contains(start)), "{told}");
            }
        }
        let ends = [("front", &mut leader), ("rear", &mut agent)];
        for (name, machine) in ends.into_iter().filter(|(name, _)| *name != lost) {
            assert_eq!(machine.code(), Some(2), "{name} where {lost} is lost");
        }
        await_nothing(here.path());
        await_nothing(there.path());
    }
}
