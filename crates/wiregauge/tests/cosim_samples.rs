//! Every step of a co-simulation in a file: that all are there, that they agree
//! with the figures, and what becomes of them when a run breaks off.

#[path = "../../cosim/tests/support/mod.rs"]
mod fixture;
mod support;

use std::fs::{self, File};
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{RecordBatch, StringArray};
use arrow_ipc::reader::FileReader;
use fixture::Fixture;
use serde_json::Value;
use support::{
    fact, has_its_form, processes_below, refuses, result, run, send_signal, status, wiregauge, Said,
};

const MS: i64 = 1_000_000;

/// The case of FMUs of one's own.
const OWN: &str = "own";

/// Columns of what the master's clock says, with the metrics that they are of.
const SPANS: [(&str, &str); 5] = [
    ("exchange", "exchange"),
    ("source_do_step", "exchange/source do-step"),
    ("get", "exchange/get"),
    ("set", "exchange/set"),
    ("model_do_step", "exchange/model do-step"),
];

/// The same of what the FMUs log.
const PHASES: [(&str, &str); 5] = [
    ("source_generation", "step/source generation"),
    ("source_serialization", "step/source serialization"),
    ("model_deserialization", "step/model deserialization"),
    ("model_calculation", "step/model calculation"),
    ("model_serialization", "step/model serialization"),
];

/// A row of the file.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    case: String,
    subject: String,
    process: u32,
    round: u32,
    step: u32,
    counted: bool,
    simulation_time: f64,
    cycle: i64,
    begin: i64,
    spans: [i64; 5],
    phases: [Option<i64>; 5],
    sizes: [u64; 2],
}

impl Row {
    fn exchange(&self) -> i64 {
        self.spans[0]
    }
}

fn rows(path: &Path) -> Vec<Row> {
    let reader = FileReader::try_new(File::open(path).unwrap(), None).unwrap();
    reader.flat_map(|batch| rows_of(&batch.unwrap())).collect()
}

fn rows_of(batch: &RecordBatch) -> Vec<Row> {
    let word = |name: &str, at: usize| {
        let words = batch[name].as_dictionary::<Int32Type>();
        let words = words.downcast_dict::<StringArray>().unwrap();
        words.into_iter().nth(at).unwrap().unwrap().to_owned()
    };
    let small = |name: &str, at: usize| batch[name].as_primitive::<UInt32Type>().value(at);
    let time =
        |name: &str, at: usize| batch[name].as_primitive::<Int64Type>().iter().nth(at).unwrap();
    let size = |name: &str, at: usize| batch[name].as_primitive::<UInt64Type>().value(at);
    let row = |at: usize| Row {
        case: word("case", at),
        subject: word("subject", at),
        process: small("process", at),
        round: small("round", at),
        step: small("step", at),
        counted: batch["counted"].as_boolean().value(at),
        simulation_time: batch["simulation_time"].as_primitive::<Float64Type>().value(at),
        cycle: time("cycle", at).unwrap(),
        begin: time("begin", at).unwrap(),
        spans: SPANS.map(|(name, _)| time(name, at).unwrap()),
        phases: PHASES.map(|(name, _)| time(name, at)),
        sizes: ["source_size", "model_size"].map(|name| size(name, at)),
    };
    (0..batch.num_rows()).map(row).collect()
}

/// Two FMUs in the folder, coupled so that their steps are kept.
fn couple(folder: &Path, more: &[&str]) -> Said {
    Fixture::source(2).write(&folder.join("source.fmu"));
    Fixture::model(3).write(&folder.join("model.fmu"));
    let pair =
        ["cosim", "run", "--source", "source.fmu", "--model", "model.fmu", "--duration", "1"];
    run(folder, &[&pair[..], &["--samples", "steps.arrow"], more].concat())
}

fn read_rows(folder: &Path) -> Vec<Row> {
    rows(&folder.join("steps.arrow"))
}

/// `samples[process][round]` of a metric.
fn samples(run: &Value, metric: &str) -> Vec<Vec<Option<f64>>> {
    let of = |m: &&Value| m["subject"] == "fmus" && m["metric"] == metric;
    let found = run["measurements"].as_array().unwrap().iter().find(of).unwrap();
    serde_json::from_value(found["samples"].clone()).unwrap()
}

/// The most rows one after the other that took longer than their cycle, and the
/// step of the first of them.
fn longest_run(rows: &[&Row]) -> (usize, u32) {
    let late = |row: &&&Row| row.exchange() > row.cycle;
    let mut longest = (0, 0);
    for first in 0..rows.len() {
        let count = rows[first..].iter().take_while(late).count();
        if count > longest.0 {
            longest = (count, rows[first].step);
        }
    }
    longest
}

fn of_process(rows: &[Row], process: u32) -> Vec<&Row> {
    rows.iter().filter(|row| row.process == process && row.counted).collect()
}

#[test]
fn every_step_is_in_the_file_and_agrees_with_the_figures() {
    let folder = tempfile::tempdir().unwrap();
    let more =
        ["--processes", "2", "--rounds", "6", "--epoch-steps", "4", "--set", "source.size=5000"];
    let said = couple(folder.path(), &more);
    said.expect_code(0);
    assert!(said.err.contains("60 steps in steps.arrow"), "{}", said.err);
    let run = result(folder.path());
    has_its_form(&run);
    let all = read_rows(folder.path());
    assert_eq!(all.len(), 60);
    for (at, row) in all.iter().enumerate() {
        assert_eq!((row.case.as_str(), row.subject.as_str()), (OWN, "fmus"));
        // Two to warm up, then one that leads each epoch of four.
        let (process, place) = (at / 30, at % 30);
        assert_eq!((row.process as usize, row.round as usize), (process, place / 5), "{row:?}");
        assert_eq!((row.step as usize, row.counted), (place + 2, place % 5 > 0), "{row:?}");
        assert_eq!(row.simulation_time, f64::from(row.step) * 0.1);
        assert_eq!((row.cycle, row.sizes), (100 * MS, [5000, 16]));
        assert_eq!(row.spans[1..].iter().sum::<i64>(), row.exchange());
        assert!(row.begin > 0 && row.phases.iter().all(Option::is_some), "{row:?}");
        let next = all.get(at + 1).filter(|next| next.process == row.process);
        assert!(next.is_none_or(|next| next.begin >= row.begin + row.exchange()));
    }
    for process in 0..2 {
        for round in 0..6 {
            let epoch = || of_process(&all, process).into_iter().filter(|row| row.round == round);
            let agrees = |metric: &str, of: &dyn Fn(&Row) -> i64| {
                let mean = epoch().map(of).sum::<i64>() as f64 / 4.0;
                let sample = samples(&run, metric)[process as usize][round as usize].unwrap();
                assert!((mean - sample).abs() < 1e-6 * mean, "{metric}: {mean} is not {sample}");
            };
            for (at, (_, metric)) in SPANS.into_iter().enumerate() {
                agrees(metric, &|row| row.spans[at]);
            }
            for (at, (_, metric)) in PHASES.into_iter().enumerate() {
                agrees(metric, &|row| row.phases[at].unwrap());
            }
            agrees("step", &|row| row.phases.iter().map(|phase| phase.unwrap()).sum());
        }
    }
    let fact = |metric| fact(&run, OWN, "fmus", metric);
    let mut times: Vec<i64> = all.iter().filter(|row| row.counted).map(Row::exchange).collect();
    times.sort_unstable_by(|a, b| b.cmp(a));
    assert_eq!(fact("exchange/count"), Some(48.0));
    assert_eq!(fact("exchange/max"), Some(times[0] as f64));
    assert_eq!(fact("cycle/time"), Some(100e6));
    let late = times.iter().filter(|time| **time > 100 * MS).count();
    assert_eq!(fact("late"), Some(late as f64));
    let runs = [0, 1].map(|process| longest_run(&of_process(&all, process)).0);
    assert_eq!(fact("misses/longest"), Some(*runs.iter().max().unwrap() as f64));
    the_slowest_are_told(folder.path(), &all, &times[..10]);
}

/// In the result, as statistics, in the terminal and on the page.
fn the_slowest_are_told(folder: &Path, all: &[Row], times: &[i64]) {
    let result = result(folder);
    let slowest = result["slowest"].as_array().unwrap();
    let told: Vec<i64> = slowest.iter().map(|s| s["value"].as_f64().unwrap() as i64).collect();
    assert_eq!(told, times);
    for slow in slowest {
        let number = |field: &str| slow[field].as_u64().unwrap() as u32;
        let rows = of_process(all, number("process"));
        let row = rows.iter().find(|row| row.step == number("sequence")).unwrap();
        assert_eq!(row.exchange() as f64, slow["value"].as_f64().unwrap());
        let at = (row.begin - rows[0].begin) as f64 / 1e9;
        assert!((slow["at"].as_f64().unwrap() - at).abs() < 1e-9, "{slow} at {at}");
        assert!(slow["over"].as_f64().unwrap() * 1e9 >= row.exchange() as f64, "{slow}");
        assert_eq!((&slow["subject"], &slow["metric"]), (&"fmus".into(), &"exchange".into()));
    }
    let json = run(folder, &["report", "run.json", "--format", "json"]);
    let json: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(json["runs"][0]["slowest"], result["slowest"]);
    let table = run(folder, &["report", "run.json"]).out;
    assert!(table.contains("the 3 slowest of 10") && table.contains("taken off"), "{table}");
    run(folder, &["report", "run.json", "-o", "page.html"]).expect_code(0);
    let page = fs::read_to_string(folder.join("page.html")).unwrap();
    assert!(page.contains("The slowest by exchange, and what the machine did meanwhile"));
}

#[test]
fn steps_that_take_too_long_make_a_run_of_misses() {
    let folder = tempfile::tempdir().unwrap();
    let more = ["--processes", "2", "--rounds", "12", "--epoch-steps", "1", "--step-size", "0.01"];
    let nap = ["--set", "model.fault=nap", "--set", "model.faultStep=6"];
    let require = ["--require", "misses/longest <= 2"];
    let said = couple(folder.path(), &[&more[..], &nap, &require].concat());
    said.expect_code(1);
    assert!(said.out.contains("FAIL"), "{}", said.out);
    let run = result(folder.path());
    has_its_form(&run);
    let all = read_rows(folder.path());
    assert!(all.iter().all(|row| row.counted && row.cycle == 10 * MS));
    let runs = [0, 1].map(|process| of_process(&all, process));
    for rows in &runs {
        assert_eq!(rows.len(), 12);
        assert!(rows[4..7].iter().all(|row| row.exchange() > 30 * MS), "{rows:?}");
        // The model slept for a while, and so its process waited.
        assert!(rows[4..7].iter().all(|row| row.spans[4] > 30 * MS));
    }
    let fact = |metric| fact(&run, OWN, "fmus", metric).unwrap();
    let process = fact("misses/longest/process") as usize;
    let (longest, first) = longest_run(&runs[process]);
    assert!(longest >= 3);
    assert_eq!(
        (fact("misses/longest"), fact("misses/longest/sequence")),
        (longest as f64, first.into())
    );
    let first = runs[process].iter().find(|row| row.step == first).unwrap();
    let at = (first.begin - runs[process][0].begin) as f64 / 1e9;
    assert!((fact("misses/longest/at") - at).abs() < 1e-9);
    let late = all.iter().filter(|row| row.exchange() > row.cycle).count();
    assert_eq!(fact("late"), late as f64);
    let note = run["cases"][0]["notes"].to_string();
    assert!(note.contains("steps in a row took longer than the step size"), "{note}");
    for slow in &run["slowest"].as_array().unwrap()[..6] {
        assert!(slow["voluntary"].as_u64().unwrap() >= 1, "{slow}");
    }
    let holds = ["verify", "run.json", "--require", "misses/longest >= 3, late >= 6"];
    support::run(folder.path(), &holds).expect_code(0);
}

#[test]
fn phases_are_there_as_far_as_they_are_logged() {
    let made_up = ["--set", "source.fault=made-up times", "--set", "model.fault=made-up times"];
    let without = ["--set", "source.fault=made-up times", "--set", "model.fault=no log"];
    let us = |us: i64| Some(1000 * us);
    for (set, wanted) in [
        (made_up, [us(10), us(20), us(30), us(40), us(50)]),
        (without, [us(10), us(20), None, None, None]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let more = ["--processes", "1", "--rounds", "3", "--epoch-steps", "1"];
        let said = couple(folder.path(), &[&more[..], &set].concat());
        said.expect_code(0);
        let all = read_rows(folder.path());
        assert_eq!(all.len(), 3);
        assert!(all.iter().all(|row| row.phases == wanted), "{all:?}");
    }
}

#[test]
fn what_was_done_before_a_crash_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let more = ["--processes", "2", "--rounds", "40", "--epoch-steps", "1", "--warm-up", "0"];
    let set = ["--set", "model.fault=crash", "--set", "model.faultStep=25"];
    let said = couple(folder.path(), &[&more[..], &set].concat());
    said.expect_code(1);
    assert!(status(&result(folder.path()), "fmus").contains("step 26"));
    let all = read_rows(folder.path());
    assert_eq!(all.iter().map(|row| row.step).collect::<Vec<u32>>(), (0..25).collect::<Vec<u32>>());
    assert!(all.iter().all(|row| row.exchange() > 0 && row.phases == [None; 5]));
}

#[test]
fn an_end_cuts_off_what_does_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let more = ["--processes", "1", "--rounds", "9", "--epoch-steps", "3", "--warm-up", "1"];
    let set = ["--set", "source.fault=discard", "--set", "source.faultStep=15"];
    let said = couple(folder.path(), &[&more[..], &set].concat());
    said.expect_code(0);
    let (run, all) = (result(folder.path()), read_rows(folder.path()));
    assert_eq!(all.iter().map(|row| row.step).collect::<Vec<u32>>(), (1..15).collect::<Vec<u32>>());
    let counted = all.iter().filter(|row| row.counted).count();
    assert_eq!(fact(&run, OWN, "fmus", "exchange/count"), Some(counted as f64));
    assert!(run["slowest"].as_array().unwrap().len() <= counted);
}

#[test]
fn what_cannot_be_kept_is_refused_before_it_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    Fixture::source(2).write(&folder.path().join("source.fmu"));
    let pair = ["cosim", "run", "--source", "source.fmu", "--model", "model.fmu", "--samples"];
    for (file, words) in [
        ("absent/all.arrow", ["absent/all.arrow", "folder there"]),
        (".", [".", "is a folder"]),
        ("-", ["standard output", "name a file"]),
        ("run.json", ["run.json", "already the file of the result"]),
        ("source.fmu", ["source.fmu", "is also the input"]),
    ] {
        refuses(folder.path(), &[&pair[..], &[file]].concat(), &words);
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn what_was_done_before_an_interruption_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let scratch = folder.path().join("scratch");
    fs::create_dir(&scratch).unwrap();
    Fixture::source(2).write(&folder.path().join("source.fmu"));
    Fixture::model(2).write(&folder.path().join("model.fmu"));
    // It hangs in the rounds, after what the proof does.
    let mut child = wiregauge()
        .args(["cosim", "run", "--source", "source.fmu", "--model", "model.fmu"])
        .args(["--set", "model.fault=hang", "--set", "model.faultStep=50", "--rounds", "100"])
        .args(["--epoch-steps", "1", "--samples", "steps.arrow"])
        .current_dir(folder.path())
        .env("TMPDIR", &scratch)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let patience = Instant::now() + Duration::from_secs(60);
    // Only in the rounds there is a process for each subject.
    while processes_below(&scratch) < 2 {
        assert!(Instant::now() < patience, "no rounds began");
        thread::sleep(Duration::from_millis(2));
    }
    thread::sleep(Duration::from_secs(2));
    send_signal("-INT", child.id() as i32);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let result = fs::read_to_string(folder.path().join("run.json")).expect("what was measured");
    assert!(result.contains("\"interrupted\""), "{result}");
    let all = read_rows(folder.path());
    assert!(!all.is_empty() && all.len() <= 48);
    assert_eq!(
        all.iter().map(|row| row.step).collect::<Vec<u32>>(),
        (2..all.len() as u32 + 2).collect::<Vec<u32>>()
    );
    assert!(all.iter().all(|row| row.counted && row.exchange() > 0));
}
