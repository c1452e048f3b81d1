//! `wiregauge chain`: a chain is measured end to end and by its parts.

mod support;

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use support::{fact, has_its_form, refuses, result, run, status, wiregauge};

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
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
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
    assert_eq!(said.code, Some(1), "{}{}", said.out, said.err);
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
    let deadline = Instant::now() + Duration::from_secs(20);
    while support::processes_below(folder.path()) > 0 {
        assert!(Instant::now() < deadline, "something is left");
        thread::sleep(Duration::from_millis(50));
    }
    assert!(!folder.path().join("run.json").exists());
}
