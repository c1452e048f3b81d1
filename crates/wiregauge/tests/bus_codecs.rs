//! Codecs on the bus: a cycle is encode, write, wire, wake-up and decode.

mod support;

use serde_json::Value;
use support::{refuses, result, run, status};

const SHORT: [&str; 8] =
    ["bus", "run", "--duration", "2s", "--window", "250ms", "--transport", "tcp,memory"];

/// The only case that is measured.
const CASE: &str = "points=100, 5 ms, discrete";

fn short<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    [&SHORT[..], arguments].concat()
}

/// The project's own example of a format that nobody else has.
fn private_format() -> String {
    let script = support::project().join("examples/private_format.py");
    format!("columns=python3 {}", script.display())
}

fn fact(run: &Value, subject: &str, metric: &str) -> Option<f64> {
    support::fact(run, CASE, subject, metric)
}

/// The samples of the first receiver: of its windows of which there are all phases, as a side that
/// stood still has fewer of them.
fn samples(run: &Value, subject: &str, metric: &str) -> Vec<f64> {
    let measurements = run["measurements"].as_array().expect("measurements");
    let of = |m: &&Value| m["subject"] == subject && m["metric"] == metric;
    let found = measurements.iter().find(of).unwrap_or_else(|| panic!("no {metric} of {subject}"));
    let rows = found["samples"][0].as_array().expect("samples");
    rows.iter().filter_map(Value::as_f64).collect()
}

#[test]
fn a_message_is_carried_as_each_codec_writes_it() {
    let folder = tempfile::tempdir().unwrap();
    let own = private_format();
    let message = ["--message", "lidar", "--length", "points=100", "--cycle", "5ms"];
    let codecs = ["--codecs", "prost,flatbuffers", "--runner", &own, "--mode", "discrete"];
    let said = run(folder.path(), &short(&[message, codecs].concat()));
    said.expect_code(0);
    let run = result(folder.path());
    let mut sizes = Vec::new();
    for codec in ["prost", "flatbuffers", "columns"] {
        for transport in ["tcp", "memory"] {
            let subject = format!("{transport}+{codec}");
            assert_eq!(fact(&run, &subject, "lost"), Some(0.0), "{subject}");
            assert_eq!(fact(&run, &subject, "damaged"), None, "{subject}");
            assert_eq!(fact(&run, &subject, "cycle/time"), Some(5e6));
            let cycles = samples(&run, &subject, "cycle");
            assert!(!cycles.is_empty());
            let phases = ["encode", "write", "wire", "wake-up", "decode"];
            let phases = phases.map(|phase| samples(&run, &subject, &format!("cycle/{phase}")));
            assert!(phases.iter().all(|phase| phase.len() == cycles.len()), "{phases:?}");
            for (window, cycle) in cycles.iter().enumerate() {
                let sum: f64 = phases.iter().map(|phase| phase[window]).sum();
                assert!((sum - cycle).abs() < 1.0, "{subject}: {sum} of {cycle}");
                assert!(phases[0][window] > 0.0 && phases[4][window] > 0.0, "{subject}");
            }
            sizes.push(fact(&run, &subject, "size").unwrap());
        }
    }
    // The same over both transports, another for each codec.
    assert!(sizes.chunks(2).all(|pair| pair[0] == pair[1]), "{sizes:?}");
    assert!(sizes[0] != sizes[2] && sizes[2] != sizes[4], "{sizes:?}");
    assert!(said.out.contains("encode") && said.out.contains("wake-up"), "{}", said.out);
}

#[test]
fn points_are_carried_as_each_row_makes_them_small() {
    let folder = tempfile::tempdir().unwrap();
    let points = ["--cloud", "scene", "--codecs", "packed-reduced,f32+lz4", "--cycle", "50ms"];
    let said = run(folder.path(), &short(&points));
    said.expect_code(0);
    let run = result(folder.path());
    let case = run["cases"][0]["id"].as_str().expect("a case");
    for transport in ["tcp", "memory"] {
        let fact = |row: &str, metric: &str| {
            let found = support::fact(&run, case, &format!("{transport}+{row}"), metric);
            found.unwrap_or_else(|| panic!("no {metric} of {transport}+{row}"))
        };
        // The bound is there unasked: two columns of doubles, and what says so.
        let rows = ["columns", "packed-reduced", "f32+lz4"];
        for row in rows {
            assert_eq!(fact(row, "points"), 131_072.0, "{row}");
            assert_eq!(fact(row, "lost"), 0.0, "{row}");
        }
        let sizes = rows.map(|row| fact(row, "size"));
        assert!((16.0..16.01).contains(&(sizes[0] / 131_072.0)), "{sizes:?}");
        assert!(sizes[1] < sizes[2] && sizes[2] < sizes[0], "{sizes:?}");
    }
    // To make points small takes longer than to copy them, so it pays below some rate.
    for row in ["TCP, Packed, reduced: pays below ", "memory, Packed, reduced: pays below "] {
        let line = said.out.lines().map(str::trim).find(|line| line.starts_with(row));
        assert!(line.is_some_and(|line| line.contains(" Gbit/s")), "{row}{}", said.out);
    }
}

#[test]
fn a_codec_that_dies_in_the_run_is_not_measured() {
    let folder = tempfile::tempdir().unwrap();
    let script = std::fs::read_to_string(support::project().join("examples/private_format.py"));
    let mine = folder.path().join("mine.py");
    // It proves itself, and is gone when it is asked to encode in the run.
    let asked = "elif verb == \"run\":\n";
    let instead = format!("{asked}        sys.exit(3)\n    elif verb == \"never\":\n");
    let dies = script.unwrap().replace(asked, &instead);
    std::fs::write(&mine, dies).unwrap();
    let own = format!("mine=python3 {}", mine.display());
    let words = ["--message", "lidar", "--length", "points=10", "--runner", &own];
    let said = run(folder.path(), &short(&words));
    said.expect_code(1);
    let run = result(folder.path());
    for subject in ["tcp+mine", "memory+mine"] {
        let status = status(&run, subject);
        assert!(status.contains("failed") && status.contains("runner ended"), "{status}");
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, words) in [
        (vec!["--codecs", "prost"], ["--codecs", "--message"]),
        (vec!["--message", "lidar", "--codecs", "semaphore"], ["semaphore", "prost"]),
        (vec!["--message", "lidar", "--length", "beams=3"], ["points", "--length"]),
        (vec!["--message", "none.msg"], ["none.msg", "cannot read"]),
        (vec!["--columns", "x"], ["--columns", "--cloud"]),
        (vec!["--cloud", "scene", "--codecs", "f33"], ["f33", "packed-reduced"]),
        (vec!["--cloud", "scene", "--channel", "/points"], ["--channel", "scene"]),
        (vec!["--cloud", "none.bin"], ["none.bin", "cannot"]),
    ] {
        refuses(folder.path(), &short(&arguments), &words);
    }
}
