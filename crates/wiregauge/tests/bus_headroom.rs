//! The search for the headroom end to end. How much there is, is up to the
//! machine; that the result is consistent is not.

mod support;

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;
use support::{
    fact, has_its_form, is_gone, participants, refuses, result, run, send_signal, status, wiregauge,
};

/// What was found for a transport in a case, if anything.
/// The points of a curve.
fn points(run: &Value, case: &str, subject: &str, metric: &str) -> Vec<(f64, f64)> {
    let curves = run["curves"].as_array().expect("curves");
    let of = |c: &&Value| c["case"] == case && c["subject"] == subject && c["metric"] == metric;
    let curve = curves.iter().find(of).unwrap_or_else(|| panic!("no {metric} of {subject}"));
    let pair = |p: &Value| (p[0].as_f64().unwrap(), p[1].as_f64().unwrap());
    curve["points"].as_array().unwrap().iter().map(pair).collect()
}

/// That what was found for a transport is what the trials say. `cycle` is that
/// of a value, in nanoseconds.
fn is_consistent(run: &Value, case: &str, subject: &str, over: &str, cycle: impl Fn(f64) -> f64) {
    let lost = points(run, case, subject, "lost");
    assert!(lost.is_sorted_by(|a, b| a.0 <= b.0), "{lost:?}");
    let trials = fact(run, case, subject, "headroom/trials").expect("there were trials");
    assert!(lost.len() as f64 <= trials, "{lost:?}");
    let notes = run["cases"].as_array().unwrap().iter().find(|c| c["id"] == case).unwrap();
    let notes = notes["notes"].to_string();
    let Some(found) = fact(run, case, subject, &format!("headroom/{over}")) else {
        assert!(notes.contains(": even "), "{notes}");
        return;
    };
    assert!(notes.contains("passed twice"), "{notes}");
    let twice = |points: &[(f64, f64)], good: &dyn Fn(f64) -> bool| {
        points.iter().filter(|(value, figure)| *value == found && good(*figure)).count() >= 2
    };
    assert!(twice(&lost, &|lost| lost == 0.0), "{found}: {lost:?}");
    // Of fewer than a hundred samples there is no p99.
    let p99 = points(run, case, subject, "latency/p99");
    let told = p99.iter().any(|(value, _)| *value == found);
    assert!(!told || twice(&p99, &|time| time <= cycle(found)), "{found}: {p99:?}");
}

#[test]
fn a_rate_is_found_among_those_that_were_tried() {
    let folder = tempfile::tempdir().unwrap();
    let said = run(folder.path(), &["bus", "headroom", "--size", "500", "--duration", "400ms"]);
    said.expect_code(0);
    let run = result(folder.path());
    has_its_form(&run);
    assert_eq!(run["kind"], "bus");
    let case = "500 B, continuous";
    for subject in ["tcp", "memory"] {
        is_consistent(&run, case, subject, "rate", |rate| 1e9 / rate);
        let found = |metric| fact(&run, case, subject, metric);
        if let Some(rate) = found("headroom/rate") {
            let throughput = found("headroom/throughput").unwrap();
            assert!((throughput - rate * 500.0 / 1e6).abs() < 1e-9);
        }
    }
    assert!(said.out.contains("TCP: ") && said.out.contains("memory: "), "{}", said.out);
}

#[test]
fn a_size_is_found_in_discrete_mode() {
    let folder = tempfile::tempdir().unwrap();
    let search = ["bus", "headroom", "--rate", "500", "--mode", "discrete", "--timeout", "1s"];
    let said =
        run(folder.path(), &[&search[..], &["--duration", "400ms", "--transport", "tcp"]].concat());
    said.expect_code(0);
    let run = result(folder.path());
    has_its_form(&run);
    let case = "2 ms, discrete";
    is_consistent(&run, case, "tcp", "size", |_| 2e6);
    let steps = points(&run, case, "tcp", "step/p99");
    assert!(steps.iter().all(|(size, _)| size.fract() == 0.0));
    if let Some(found) = fact(&run, case, "tcp", "headroom/size") {
        let good = steps.iter().filter(|(size, p99)| *size == found && *p99 <= 2e6);
        assert!(good.count() >= 2, "{found}: {steps:?}");
    }
}

#[test]
fn what_cannot_be_searched_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for (arguments, words) in [
        (vec![], ["--size", "--rate"]),
        (
            vec!["--size", "500", "--rate", "1000"],
            ["to measure one load give both to 'wiregauge bus run'", "bus run"],
        ),
        (
            vec!["--size", "500", "--cycle", "1ms"],
            ["to measure one load give both to 'wiregauge bus run'", "bus run"],
        ),
        (vec!["--rate", "1000", "--cycle", "1ms"], ["mean the same", "one of them"]),
        (vec!["--size", "9"], ["9 B", "10 B"]),
        (vec!["--size", "2GiB"], ["1 GiB", "at most"]),
        (vec!["--cycle", "1s"], ["--duration", "10s"]),
        (vec!["--cycle", "0"], ["--cycle", "above 0"]),
        (vec!["--size", "500", "--duration", "0"], ["duration", "longer than"]),
        (vec!["--size", "500", "--transport", "pigeon"], ["pigeon", "tcp"]),
        (vec!["--size", "500", "--option", "dds.domain=7"], ["dds", "not measured in this run"]),
    ] {
        refuses(at, &[vec!["bus", "headroom"], arguments].concat(), &words);
    }
    for rate in ["--rate=0", "--rate=-5", "--rate=1e10", "--rate=10mHz"] {
        let said = run(at, &["bus", "headroom", rate]);
        assert_eq!(said.code, Some(2), "{rate}: {}", said.err);
        assert!(said.err.contains("rate"), "{rate}: {}", said.err);
    }
}

#[test]
fn a_transport_that_does_not_work_at_all_has_failed() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = format!("tcp.port={}", taken.local_addr().unwrap().port());
    let folder = tempfile::tempdir().unwrap();
    let search = ["bus", "headroom", "--size", "500", "--transport", "tcp", "--option", &port];
    let said = run(folder.path(), &search);
    said.expect_code(1);
    let status = status(&result(folder.path()), "tcp");
    assert!(status.contains("failed") && status.contains(&port[9..]), "{status}");
}

#[test]
fn an_interruption_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut search = wiregauge()
        .args(["bus", "headroom", "--size", "500", "--transport", "tcp", "--duration", "60s"])
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    let mut there = Vec::new();
    while there.len() < 2 && begun.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(10));
        there = participants(&search);
    }
    send_signal("-INT", search.id() as i32);
    assert_eq!(search.wait().unwrap().code(), Some(130));
    assert_eq!(there.len(), 2, "the participants never came up");
    assert!(there.iter().all(|(id, _)| is_gone(*id)), "a participant was left behind");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "a result where there is none");
}
