//! What a row executes, and why two rows differ: figures that add up and agree with those that
//! are counted in another way.

mod support;

use std::fs;
use std::path::Path;

use serde_json::Value;
use support::{refuses, run, Said};

/// Explains rows on a small message.
fn explain(folder: &Path, rows: &str, words: &[&str]) -> (Said, Value) {
    let always = ["codecs", "--explain", rows, "--length", "points=20"];
    let said = run(folder, &[&always, words].concat());
    said.expect_code(0);
    let text = fs::read_to_string(folder.join("run.json")).unwrap();
    (said, serde_json::from_str(&text).unwrap())
}

fn array<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().unwrap()
}

fn fact(run: &Value, subject: &str, metric: &str) -> Option<f64> {
    let mut facts = array(run, "facts").iter();
    facts.find(|fact| fact["subject"] == subject && fact["metric"] == metric)?["value"].as_f64()
}

fn explanation<'a>(run: &'a Value, subject: &str, metric: &str) -> &'a Value {
    let mut all = array(run, "explanations").iter();
    all.find(|one| one["subject"] == subject && one["metric"] == metric).unwrap()
}

/// Calls of functions by the names that they begin with.
fn calls(explanation: &Value, names: &[&str]) -> f64 {
    let is_one = |function: &&Value| names.contains(&function["name"].as_str().unwrap());
    let of = |function: &Value| function["calls"].as_f64().unwrap();
    array(explanation, "functions").iter().filter(is_one).map(of).sum()
}

/// Instructions of a kind of work.
fn work(explanation: &Value, work: &str) -> f64 {
    let functions = array(explanation, "functions").iter();
    functions
        .filter(|function| function["work"] == work)
        .map(|function| function["counts"][0].as_f64().unwrap())
        .sum()
}

const EXPERIMENTS: [&str; 4] = ["encode", "encode/write", "decode", "decode/parse"];

#[test]
fn two_rows_are_explained_and_their_lines_add_up() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let experiments = ["--experiments", &EXPERIMENTS.join(",")];
    let (said, result) = explain(folder, "prost,protobuf-cpp", &experiments);
    for subject in ["prost", "protobuf-cpp"] {
        for metric in EXPERIMENTS {
            adds_up(&result, subject, metric);
            // Of whole experiments alone: it is slow. A loop reads what it just wrote.
            let reads = &explanation(&result, subject, metric)["store_reads"]["forwarded"];
            let is_whole = !metric.contains('/');
            assert_eq!(reads.as_f64().is_some_and(|reads| reads > 20.0), is_whole, "{metric}");
        }
        // Counted by the runner itself, in a process without valgrind.
        for metric in ["encode", "decode"] {
            let counted = fact(&result, subject, &format!("allocations/{metric}")).unwrap();
            let explained = explanation(&result, subject, metric);
            assert_eq!(explained["memory"]["allocations"], counted, "{subject}: {metric}");
            let calls = calls(explained, &["malloc", "calloc", "realloc"]);
            assert_eq!(calls, counted, "{subject}: {metric}: {explained:#}");
            // Copies, too, are counted in two ways.
            let copying = array(explained, "functions").iter().filter(|f| f["work"] == "copying");
            let calls: f64 = copying.map(|function| function["calls"].as_f64().unwrap()).sum();
            assert_eq!(explained["memory"]["copies"], calls, "{subject}: {metric}: {explained:#}");
        }
    }
    // Why the one takes longer: it allocates each point by itself, the other all together.
    let [one, other] = ["prost", "protobuf-cpp"].map(|row| explanation(&result, row, "decode"));
    assert!(other["memory"]["allocations"].as_f64() >= Some(20.0), "{other:#}");
    assert!(one["memory"]["allocations"].as_f64() < Some(10.0), "{one:#}");
    assert!(work(other, "allocating") > work(one, "allocating"));
    assert!(said.out.contains("decode: protobuf-cpp executes"), "{}", said.out);

    // Lines of a crate, of what a generator wrote, and of a header, each with what it says.
    let sources = [("prost", "prost-", ".rs"), ("protobuf-cpp", "protobuf-cpp/", ".pb.cc")];
    for (subject, begin, end) in [("protobuf-cpp", "google/protobuf/", ".h")].iter().chain(&sources)
    {
        let lines = array(explanation(&result, subject, "encode"), "lines");
        let is_one = |line: &&Value| {
            let source = line["source"].as_str().unwrap_or_default();
            source.starts_with(begin) && source.ends_with(end)
        };
        let line = lines.iter().find(is_one).unwrap_or_else(|| panic!("{begin}: {lines:#?}"));
        assert!(line["text"].as_str().is_some_and(|text| !text.is_empty()), "{line:#}");
    }

    it_is_the_same_where_nothing_is_explained(folder, &result, &experiments);
    all_forms_show_it(folder, &result);
}

/// All functions have what was counted in all, and that is the figure of the metric.
fn adds_up(result: &Value, subject: &str, metric: &str) {
    let explained = explanation(result, subject, metric);
    let events = array(explained, "events");
    assert_eq!(events.len(), 7, "{events:?}");
    for at in 0..events.len() {
        let count = |function: &Value| function["counts"][at].as_f64().unwrap();
        let sum: f64 = array(explained, "functions").iter().map(count).sum();
        let total = explained["totals"][at].as_f64().unwrap();
        assert!((sum - total).abs() < 1e-6, "{subject}, {metric}, {}: {sum}, {total}", events[at]);
    }
    let instructions = fact(result, subject, &format!("instructions/{metric}")).unwrap();
    let total = explained["totals"][0].as_f64().unwrap();
    assert!((total - instructions).abs() < 1e-6, "{subject}, {metric}: {total}, {instructions}");
    assert!(total > 200.0, "{subject}, {metric}: {total}");
    // The costliest lines have most of it, and none more than all.
    let count = |line: &Value| line["instructions"].as_f64().unwrap();
    let lines: f64 = array(explained, "lines").iter().map(count).sum();
    assert!(lines > 0.5 * total && lines < total + 1e-6, "{subject}, {metric}: {lines}, {total}");
}

/// To simulate caches and to tell functions apart changes no number.
fn it_is_the_same_where_nothing_is_explained(folder: &Path, result: &Value, words: &[&str]) {
    let always = ["codecs", "--metric", "instructions", "--codecs", "prost,protobuf-cpp"];
    let small = ["--length", "points=20", "-o", "plain.json"];
    let said = run(folder, &[&always[..], &small, words].concat());
    said.expect_code(0);
    let plain = fs::read_to_string(folder.join("plain.json")).unwrap();
    assert!(!plain.contains("explanations"));
    let plain: Value = serde_json::from_str(&plain).unwrap();
    assert_eq!(result["facts"], plain["facts"]);
}

fn all_forms_show_it(folder: &Path, result: &Value) {
    let said = run(folder, &["report", "run.json", "--format", "json"]);
    let json: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(json["runs"][0]["explanations"], result["explanations"]);
    let said = run(folder, &["report", "run.json", "-o", "report.html"]);
    said.expect_code(0);
    let page = fs::read_to_string(folder.join("report.html")).unwrap();
    for words in ["Why encode takes what it takes", "allocated bytes", "encode_varint"] {
        assert!(page.contains(words), "{words}");
    }
    let said = run(folder, &["report", "run.json", "--format", "md"]);
    assert!(said.out.contains("### Why decode takes what it takes"), "{}", said.out);
    // The lines of what is shown have the whole difference.
    let number = |text: &str| {
        text.trim().replace(',', "").replace('−', "-").replace('+', "").parse::<i64>().unwrap()
    };
    for metric in EXPERIMENTS {
        for table in ["work", "function", "line"] {
            let head = format!("| {metric}: instructions by {table} |");
            let rows = said.out.lines().skip_while(|line| !line.starts_with(&head)).skip(2);
            let rows: Vec<&str> = rows.take_while(|line| line.starts_with('|')).collect();
            let differences: Vec<i64> = rows
                .iter()
                .map(|row| number(row.split(" | ").nth(3).unwrap().trim_end_matches(" |")))
                .collect();
            let (sum, lines) = differences.split_last().unwrap();
            assert_eq!(lines.iter().sum::<i64>(), *sum, "{rows:#?}");
            let totals = ["prost", "protobuf-cpp"].map(|row| {
                explanation(result, row, metric)["totals"][0].as_f64().unwrap().round() as i64
            });
            assert_eq!(*sum, totals[1] - totals[0], "{rows:#?}");
        }
    }
}

/// FlatBuffers' structs decode by one copy of all points, of 16 bytes each.
#[test]
fn copied_bytes_are_those_of_the_points() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["--experiments", "decode"];
    let (_, result) = explain(folder.path(), "flatbuffers-cpp-structs", &words);
    let memory = &explanation(&result, "flatbuffers-cpp-structs", "decode")["memory"];
    assert_eq!((memory["copies"].as_f64(), memory["copied"].as_f64()), (Some(1.0), Some(320.0)));
}

#[test]
fn what_cannot_be_explained_is_refused_in_a_line() {
    let folder = tempfile::tempdir().unwrap();
    for (rows, more, words) in [
        ("prost,lcm,rkyv", &[][..], &["one or two rows"][..]),
        ("prost,prost", &[], &["prost twice"]),
        ("protobuff", &[], &["unknown codec 'protobuff'"]),
        ("prost@lto", &[], &["'prost@lto' is not measured", "prost"]),
        ("prost", &["--codecs", "lcm"], &["'prost' is not measured", "lcm"]),
        ("protobuf-java", &[], &["protobuf-java cannot be explained", "compiles while it runs"]),
        ("protobuf-python", &[], &["protobuf-python cannot be explained", "interpreter"]),
        ("prost", &["--quick"], &["--quick has no effect"]),
    ] {
        refuses(folder.path(), &[&["codecs", "--explain", rows], more].concat(), words);
    }
    assert!(!folder.path().join("run.json").exists());
}
