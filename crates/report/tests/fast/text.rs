//! Text renderings, compared with the files under `golden/`. To accept a
//! change, run the tests with `WIREGAUGE_BLESS=1` and read the difference.

use crate::common::bus;
use wiregauge_report::text::budget::{self, Budget};
use wiregauge_report::text::{csv, json, markdown, terminal};
use wiregauge_result::run::{Run, SlowestSample};
use wiregauge_result::stats::{compare, Limits};

#[track_caller]
fn golden(name: &str, text: &str) {
    wiregauge_testkit::golden::compare(env!("CARGO_MANIFEST_DIR"), name, text);
}

/// The largest case only, which keeps the golden files short enough to read.
fn largest() -> Run {
    let mut run = crate::common::run(10);
    run.cases.retain(|case| case.id == "points=10000");
    run.measurements.retain(|m| m.case == "points=10000");
    run.facts.retain(|f| f.case == "points=10000");
    run
}

fn budget() -> Budget {
    Budget { rate_hz: 10.0, speed_mps: 100.0 / 3.6 }
}

#[test]
fn terminal_text() {
    golden("terminal.txt", &terminal::render(&[crate::common::run(10)], None));
}

#[test]
fn markdown_text() {
    golden("report.md", &markdown::render(&[largest()]));
}

#[test]
fn the_bus_as_text() {
    golden("bus.txt", &terminal::render(&[bus::bus()], None));
    golden("bus.md", &markdown::render(&[bus::bus()]));
    let text = terminal::render(&[bus::fan_out()], None);
    let fits = text.find("\nlatency over receivers").unwrap();
    golden("fan_out.txt", text[fits..].trim_start());
    golden("headroom.txt", &terminal::render(&[bus::headroom()], None));
    golden("bus_codecs.txt", &terminal::render(&[bus::codecs()], None));
}

/// One of the slowest, of so many microseconds.
fn slow(run: &Run, metric: &str, at: u64) -> SlowestSample {
    SlowestSample {
        case: run.cases[0].id.clone(),
        subject: run.subjects[at as usize % 2].id.clone(),
        metric: metric.into(),
        receiver: (metric == "latency").then_some(at % 2),
        process: (metric == "exchange").then_some(at % 3),
        sequence: 1000 * at,
        at: at as f64 / 8.0,
        unit: "ns".into(),
        value: 1e3 * at as f64,
        over: 0.25,
        steal: 0.125,
        involuntary: 1,
        voluntary: 20,
        minor_faults: 300,
        major_faults: 4,
    }
}

#[test]
fn the_slowest_are_told_in_short_and_in_full() {
    let mut run = bus::bus();
    run.slowest = [3, 7, 4, 9].map(|at| slow(&run, "latency", at)).to_vec();
    run.slowest.extend([2, 8].map(|at| slow(&run, "step", at)));
    let text = terminal::render(std::slice::from_ref(&run), None);
    let begins = text.find("\nthe 3 slowest of 4").unwrap();
    let table = text[begins..].split("\n\n").take(2).collect::<Vec<_>>().join("\n\n");
    golden("slowest.txt", table.trim_start());
    let value: serde_json::Value = serde_json::from_str(&json::render(&[run.clone()])).unwrap();
    assert_eq!(value["runs"][0]["slowest"], serde_json::to_value(&run.slowest).unwrap());
    for line in terminal::render(&[run], Some(80)).lines() {
        assert!(line.chars().count() <= 80 || !line.contains("slowest"), "{line}");
    }
    let mut run = crate::common::run(3);
    run.slowest = [5, 6].map(|at| slow(&run, "exchange", at)).to_vec();
    let text = terminal::render(&[run], None);
    assert!(text.contains("the slowest") && text.contains(", process 3"), "{text}");
    let value: serde_json::Value =
        serde_json::from_str(&json::render(&[crate::common::run(3)])).unwrap();
    assert!(value["runs"][0].get("slowest").is_none());
}

#[test]
fn csv_rows() {
    let text = csv::render(&[largest()]);
    golden("report.csv", &text);
    let columns = |line: &str| line.split(',').count();
    assert!(text.lines().all(|line| columns(line) == 32 || line.contains('"')));
}

#[test]
fn every_figure_of_the_bus_is_there_once() {
    for run in [bus::bus(), bus::fan_out(), bus::headroom(), bus::codecs()] {
        let text = csv::render(std::slice::from_ref(&run));
        assert_eq!(text.lines().count() - 1, run.measurements.len() + run.facts.len());
        let value: serde_json::Value =
            serde_json::from_str(&json::render(std::slice::from_ref(&run))).unwrap();
        let curves = value["runs"][0]["curves"].as_array().map_or(0, Vec::len);
        assert_eq!(curves, run.curves.len());
    }
}

#[test]
fn the_bus_fits_a_terminal() {
    for run in [bus::bus(), bus::fan_out(), bus::headroom(), bus::codecs()] {
        for line in terminal::render(&[run], None).lines().filter(|line| !line.contains("FAILED")) {
            let prose = line.contains(" lost over ") || line.contains(": ");
            assert!(prose || line.chars().count() <= 120, "{line}");
        }
    }
}

#[test]
fn json_rows_say_what_the_csv_says() {
    let run = crate::common::run(10);
    let value: serde_json::Value =
        serde_json::from_str(&json::render(std::slice::from_ref(&run))).unwrap();
    assert_eq!(value["format"], "wiregauge.statistics");
    let rows = value["runs"][0]["statistics"].as_array().unwrap();
    assert_eq!(rows.len() + 1, csv::render(std::slice::from_ref(&run)).lines().count());
    // Every measurement and every fact is there once.
    assert_eq!(rows.len(), run.measurements.len() + run.facts.len());
    let fields: Vec<&String> = rows[0].as_object().unwrap().keys().collect();
    assert_eq!(fields.len(), wiregauge_report::model::statistic::COLUMNS.len());
    assert!(!value["runs"][0]["fits"].as_array().unwrap().is_empty());
}

#[test]
fn budget_text() {
    let run = largest();
    golden("budget.txt", &budget::render_terminal(&run, budget(), None));
    golden("budget.md", &budget::render_markdown(&run, budget()));
    let value: serde_json::Value =
        serde_json::from_str(&budget::render_json(&run, budget())).unwrap();
    let entry = &value["entries"][2];
    assert_eq!(entry["phase"], "round trip");
    let seconds = entry["nanoseconds"].as_f64().unwrap() * 1e-9;
    assert!((entry["share"].as_f64().unwrap() - 10.0 * seconds).abs() < 1e-12);
    assert!((entry["centimetres"].as_f64().unwrap() - seconds * 100e5 / 3_600.0).abs() < 1e-9);
}

#[test]
fn comparison_text() {
    let base = largest();
    let mut new = base.clone();
    for measurement in new.measurements.iter_mut().filter(|m| m.subject == "fastcdr") {
        for sample in measurement.samples.iter_mut().flatten().flatten() {
            *sample *= 1.4;
        }
    }
    new.facts.iter_mut().filter(|f| f.subject == "prost").for_each(|f| f.value += 9.0);
    new.measurements.retain(|m| m.subject != "bincode");
    let comparison = compare(&base, &new, Limits::default());
    assert!(comparison.regressed());
    let text =
        wiregauge_report::text::compare::render_terminal(&base, &new, &comparison, false, None);
    golden("compare.txt", &text);
    golden(
        "compare.md",
        &wiregauge_report::text::compare::render_markdown(&base, &new, &comparison, false),
    );
    let same = compare(&base, &base, Limits::default());
    assert!(!same.regressed());
    let value: serde_json::Value =
        serde_json::from_str(&wiregauge_report::text::compare::render_json(&same)).unwrap();
    assert_eq!(value["regressed"], false);
}

#[test]
fn several_runs_follow_one_another() {
    let (mut a, mut b) = (largest(), largest());
    a.title = "The first".into();
    b.title = "The second".into();
    let runs = [a, b];
    let text = terminal::render(&runs, None);
    assert!(text.find("The first").unwrap() < text.find("The second").unwrap());
    assert!(markdown::render(&runs).starts_with("1. The first\n2. The second\n"));
    assert!(csv::render(&runs).lines().any(|line| line.starts_with("2,")));
}

#[test]
fn names_cannot_break_out() {
    let mut run = largest();
    run.subjects[2].title = "a|b\u{1b}[31m `c` <img>".into();
    let text = markdown::render(&[run.clone()]);
    assert!(text.contains("a\\|b\\\\u{1b}\\[31m \\`c\\` \\<img\\>"));
    assert!(!terminal::render(&[run], None).contains('\u{1b}'));
}
