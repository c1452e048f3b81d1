//! Every sample of a run in a file: that all are there, that they agree with the
//! figures, and what becomes of them when a run breaks off.

mod support;

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type, UInt32Type};
use arrow_array::{RecordBatch, StringArray};
use arrow_ipc::reader::FileReader;
use serde_json::Value;
use support::{fact, has_its_form, participants, refuses, result, run, send_signal, wiregauge};

const MS: i64 = 1_000_000;

/// A row of the file.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    case: String,
    subject: String,
    receiver: String,
    sequence: u32,
    due: Option<i64>,
    sent: i64,
    received: Option<i64>,
    latency: Option<i64>,
    write: i64,
    step: Option<i64>,
}

fn rows(path: &Path) -> Vec<Row> {
    let reader = FileReader::try_new(File::open(path).unwrap(), None).unwrap();
    reader.flat_map(|batch| rows_of(&batch.unwrap())).collect()
}

fn rows_of(batch: &RecordBatch) -> Vec<Row> {
    let column = |name: &str| batch.column_by_name(name).unwrap();
    let words = |name: &str| -> Vec<String> {
        let words = column(name).as_dictionary::<Int32Type>();
        let words = words.downcast_dict::<StringArray>().unwrap();
        words.into_iter().map(|word| word.unwrap().to_owned()).collect()
    };
    let times =
        |name: &str| column(name).as_primitive::<Int64Type>().iter().collect::<Vec<Option<i64>>>();
    let [cases, subjects, receivers] = ["case", "subject", "receiver"].map(words);
    let sequences = column("sequence").as_primitive::<UInt32Type>();
    let [due, sent, received, latency, write, step] =
        ["due", "sent", "received", "latency", "write", "step"].map(times);
    (0..batch.num_rows())
        .map(|at| Row {
            case: cases[at].clone(),
            subject: subjects[at].clone(),
            receiver: receivers[at].clone(),
            sequence: sequences.value(at),
            due: due[at],
            sent: sent[at].unwrap(),
            received: received[at],
            latency: latency[at],
            write: write[at].unwrap(),
            step: step[at],
        })
        .collect()
}

fn matching_rows<'r>(rows: &'r [Row], case: &str, subject: &str, receiver: &str) -> Vec<&'r Row> {
    let mine = |r: &&Row| r.case == case && r.subject == subject && r.receiver == receiver;
    rows.iter().filter(mine).collect()
}

/// That each sample is there once, and what it says of itself fits together.
fn is_whole(rows: &[&Row], sent: f64, cycle: Option<i64>) {
    let sequences: Vec<u32> = rows.iter().map(|row| row.sequence).collect();
    assert_eq!(sequences, (0..sent as u32).collect::<Vec<u32>>());
    for row in rows {
        let latency = row.received.map(|received| (received - row.sent).max(0));
        assert_eq!(row.latency, latency, "{row:?}");
        let due = cycle.map(|cycle| rows[0].due.unwrap() + i64::from(row.sequence) * cycle);
        assert_eq!(row.due, due, "{row:?}");
        assert!(row.due.is_none_or(|due| due <= row.sent), "sent before it is due: {row:?}");
        assert!(row.write >= 0 && row.sent > 0);
    }
}

/// The largest of the shares that a histogram of three digits takes for this.
fn agrees(figure: f64, times: impl Iterator<Item = i64>, share: f64) {
    let mut times: Vec<i64> = times.collect();
    times.sort_unstable();
    let exact = times[((times.len() as f64 * share).ceil() as usize).max(1) - 1] as f64;
    assert!((figure - exact).abs() <= exact * 0.001 + 1.0, "{figure} is not {exact}");
}

#[test]
fn every_sample_is_in_the_file_and_agrees_with_the_figures() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["--size", "10,5kB", "--cycle", "5ms", "--mode", "both", "--participants", "3"];
    let more = ["--transport", "memory", "--duration", "2s", "--window", "250ms"];
    let words = [&["bus", "run", "--samples", "all.arrow"], &words[..], &more].concat();
    let said = run(folder.path(), &words);
    said.expect_code(0);
    let run = result(folder.path());
    let rows = rows(&folder.path().join("all.arrow"));
    assert!(said.err.contains(&format!("{} samples in all.arrow", rows.len())), "{}", said.err);
    let mut all = 0.0;
    for case in run["cases"].as_array().unwrap() {
        let case = case["id"].as_str().unwrap();
        for subject in ["tcp", "memory"] {
            let fact = |metric| fact(&run, case, subject, metric).unwrap();
            let each =
                ["receiver-1", "receiver-2"].map(|name| matching_rows(&rows, case, subject, name));
            all += 2.0 * fact("sent");
            for rows in &each {
                is_whole(rows, fact("sent"), Some(5 * MS));
                let discrete = case.contains("discrete");
                assert!(rows.iter().all(|row| row.step.is_some() == discrete));
                if discrete {
                    agrees(fact("step/p50"), rows.iter().filter_map(|row| row.step), 0.5);
                }
                agrees(fact("write/p50"), rows.iter().map(|row| row.write), 0.5);
            }
            let lost = each.iter().flatten().filter(|row| row.received.is_none()).count();
            assert_eq!(lost as f64, fact("lost"));
            let late = each.iter().flatten().filter(|row| row.latency > Some(5 * MS)).count();
            assert_eq!(late as f64, fact("late"));
            // Of the slowest receiver, as the figures are.
            let median = |rows: &&Vec<&Row>| {
                let mut all: Vec<i64> = rows.iter().filter_map(|row| row.latency).collect();
                all.sort_unstable();
                all[all.len().div_ceil(2) - 1]
            };
            let slowest = each.iter().max_by_key(median).unwrap();
            let latencies = || slowest.iter().filter_map(|row| row.latency);
            agrees(fact("latency/p50"), latencies(), 0.5);
            let longest = longest_run(slowest_by_misses(&each, case), case);
            assert_eq!(fact("misses/longest"), longest as f64, "{subject} at {case}");
        }
    }
    assert_eq!(rows.len() as f64, all);
}

fn slowest_by_misses<'r>(each: &'r [Vec<&'r Row>; 2], case: &str) -> &'r [&'r Row] {
    each.iter().max_by_key(|rows| longest_run(rows, case)).unwrap()
}

fn longest_run(rows: &[&Row], case: &str) -> usize {
    let missed = |row: &&Row| match case.contains("discrete") {
        true => row.step.is_none_or(|step| step > 5 * MS),
        false => row.latency.is_none_or(|latency| latency > 5 * MS),
    };
    let runs = rows.split(|row| !missed(row));
    runs.map(<[&Row]>::len).max().unwrap_or(0)
}

#[test]
fn what_has_no_pace_is_kept_without_due_times() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["bus", "run", "--transport", "tcp", "--size", "64kB", "--samples", "all.arrow"];
    let window = ["--duration", "1s", "--window", "100ms"];
    for paces in [&["--cycle", "0"][..], &["--mode", "discrete", "--fast"]] {
        let said = run(folder.path(), &[&words[..], &window, paces].concat());
        said.expect_code(0);
        let (run, rows) = (result(folder.path()), rows(&folder.path().join("all.arrow")));
        let case = run["cases"][0]["id"].as_str().unwrap();
        let sent = fact(&run, case, "tcp", "sent").unwrap();
        is_whole(&matching_rows(&rows, case, "tcp", "receiver"), sent, None);
        let misses = fact(&run, case, "tcp", "misses/longest");
        assert_eq!(misses.is_some(), case.contains("discrete"), "{misses:?}");
    }
}

#[test]
fn a_link_is_followed_and_a_pipe_is_written_to() {
    let folder = tempfile::tempdir().unwrap();
    let short = ["bus", "run", "--transport", "tcp", "--cycle", "10ms", "--duration", "1s"];
    let short = [&short[..], &["--window", "100ms", "--samples", "link"]].concat();
    let at = |name: &str| folder.path().join(name);
    symlink("real.arrow", at("link")).unwrap();
    run(folder.path(), &short).expect_code(0);
    assert!(fs::symlink_metadata(at("link")).unwrap().is_symlink());
    assert!(!rows(&at("real.arrow")).is_empty());
    fs::remove_file(at("link")).unwrap();
    assert!(Command::new("mkfifo").arg(at("link")).status().unwrap().success());
    let (pipe, copy) = (at("link"), at("copy.arrow"));
    let reader = thread::spawn(move || fs::write(copy, fs::read(pipe).unwrap()).unwrap());
    run(folder.path(), &short).expect_code(0);
    reader.join().unwrap();
    assert!(!rows(&at("copy.arrow")).is_empty());
    // Nothing is left beside.
    let mut left: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    assert_eq!(left, ["copy.arrow", "link", "real.arrow", "run.json"]);
}

#[test]
fn what_cannot_be_kept_is_refused_before_it_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    let bus = |words: &[&'static str]| [&["bus", "run", "--samples"], words].concat();
    for (words, said) in [
        (bus(&["absent/all.arrow"]), ["absent/all.arrow", "folder there"]),
        (bus(&["."]), [".", "is a folder"]),
        (bus(&["-"]), ["standard output", "name a file"]),
        (bus(&["run.json"]), ["run.json", "already the file of the result"]),
        (bus(&["all.arrow", "--cycle", "1us", "--duration", "2m"]), ["240000000", "100000000"]),
    ] {
        refuses(folder.path(), &words, &said);
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// A run that is killed if it is still there in the end.
struct Long(Child);

impl Long {
    fn start(folder: &Path, words: &[&str]) -> Long {
        let common = ["bus", "run", "--transport", "tcp", "--round-trips", "0"];
        let child = wiregauge()
            .args(common)
            .args(words)
            .args(["--samples", "all.arrow"])
            .current_dir(folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut long = Long(child);
        let begun = Instant::now();
        while participants(&long.0).len() < 2 {
            assert!(begun.elapsed() < Duration::from_secs(60), "its participants never came up");
            assert!(long.0.try_wait().unwrap().is_none());
            thread::sleep(Duration::from_millis(10));
        }
        long
    }

    fn participant(&self, name: &str) -> i32 {
        let there = participants(&self.0);
        there.iter().find(|(_, line)| line.contains(name)).expect("it is there").0
    }
}

impl Drop for Long {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_receiver_that_stands_still_makes_a_run_of_misses() {
    const CASE: &str = "500 B, 2 ms, continuous";
    let folder = tempfile::tempdir().unwrap();
    let words = ["--cycle", "2ms", "--duration", "9s", "--window", "250ms"];
    let mut long = Long::start(folder.path(), &[&words[..], &["--alive-within", "20s"]].concat());
    let receiver = long.participant("receiver");
    support::await_wakeups(receiver, 1000);
    send_signal("-STOP", receiver);
    thread::sleep(Duration::from_millis(300));
    send_signal("-CONT", receiver);
    assert_eq!(long.0.wait().unwrap().code(), Some(0));
    let run = result(folder.path());
    has_its_form(&run);
    let over_time = |curve: &&Value| curve["over"] == "time" && curve["metric"] == "latency/max";
    let course = run["curves"].as_array().unwrap().iter().find(over_time).unwrap();
    // The window in which it stood tells of it.
    let high = |point: &&Value| point[1].as_f64().unwrap() > 250e6;
    let windows = course["points"].as_array().unwrap();
    assert!((1..windows.len()).contains(&windows.iter().filter(high).count()), "{course}");
    let page = ["report", "run.json", "-o", "page.html"];
    support::run(folder.path(), &page).expect_code(0);
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    for words in ["Longest latency of each window", "The slowest by latency", "major faults"] {
        assert!(page.contains(words), "{words}");
    }
    let fact = |metric| fact(&run, CASE, "tcp", metric).unwrap();
    let longest = fact("misses/longest");
    // It stood for 150 cycles, at least.
    assert!(longest >= 140.0, "{longest}");
    let first = fact("misses/longest/sequence");
    assert!((fact("misses/longest/at") - first * 0.002).abs() < 1e-9);
    assert!(run["cases"][0]["notes"].to_string().contains("in a row came late or never"));
    let slowest = run["slowest"].as_array().unwrap().clone();
    let rows = rows(&folder.path().join("all.arrow"));
    let rows = matching_rows(&rows, CASE, "tcp", "receiver");
    // The slowest are the slowest of all that were kept.
    let mut latencies: Vec<i64> = rows.iter().filter_map(|row| row.latency).collect();
    latencies.sort_unstable_by(|a, b| b.cmp(a));
    let told = slowest.iter().map(|slow| slow["value"].as_f64().unwrap() as i64);
    assert_eq!(told.collect::<Vec<i64>>(), latencies[..10]);
    for slow in &slowest {
        let row = rows[slow["sequence"].as_u64().unwrap() as usize];
        assert_eq!(row.latency, Some(slow["value"].as_f64().unwrap() as i64));
        // Since the first was due; the receiver takes the best of all for that.
        let at = (row.sent - rows[0].due.unwrap()) as f64 / 1e9;
        assert!((slow["at"].as_f64().unwrap() - at).abs() < 0.05, "{slow} at {at}");
    }
    let missed = |row: &&Row| row.latency.is_none_or(|latency| latency > 2 * MS);
    let run = &rows[first as usize..(first + longest) as usize];
    assert!(run.iter().all(missed));
    let before = rows[..first as usize].last();
    assert!(before.is_none_or(|row| !missed(row)));
    // What waited as long as it stood is in a run of misses: that one, unless the machine made a
    // longer one.
    let waited = |row: &Row| row.latency.is_some_and(|latency| latency > 250 * MS);
    let stood = rows.iter().position(|row| waited(row)).expect("one waited");
    let begin = rows[..stood].iter().rev().take_while(|row| missed(row)).count();
    let length = begin + rows[stood..].iter().take_while(|row| missed(row)).count();
    assert!((100..=longest as usize).contains(&length), "{length} and not {longest}");
}

#[test]
fn what_was_sent_before_an_interruption_is_kept() {
    for (signal, to) in [("-INT", ""), ("-KILL", "receiver")] {
        let folder = tempfile::tempdir().unwrap();
        let words = ["--cycle", "5ms", "--duration", "60s", "--window", "50ms"];
        let mut long = Long::start(folder.path(), &words);
        support::await_wakeups(long.participant("receiver"), 700);
        let id = if to.is_empty() { long.0.id() as i32 } else { long.participant(to) };
        send_signal(signal, id);
        let code = long.0.wait().unwrap().code();
        assert_eq!(code, Some(if to.is_empty() { 130 } else { 1 }));
        let rows = rows(&folder.path().join("all.arrow"));
        let rows = matching_rows(&rows, "500 B, 5 ms, continuous", "tcp", "receiver");
        assert!(rows.len() > 20, "{}", rows.len());
        is_whole(&rows, rows.len() as f64, Some(5 * MS));
        let arrived = rows.iter().filter(|row| row.received.is_some()).count();
        match to {
            "" => assert!(2 * arrived >= rows.len(), "{arrived} of {}", rows.len()),
            // What it kept is gone with it.
            _ => assert_eq!(arrived, 0),
        }
    }
}

#[test]
fn samples_of_another_machine_come_over_the_control_channel() {
    const SCENARIO: &str = r#"
        duration = "2s"
        window = "250ms"
        transports = ["tcp"]
        listen = "127.0.0.1:0"
        load = [{ size = 500, cycle = "5ms" }]
        participant = [
            { name = "alpha", role = "sender" },
            { name = "beta", role = "receiver" },
        ]
    "#;
    let folder = tempfile::tempdir().unwrap();
    let other = tempfile::tempdir().unwrap();
    let start = |folder: &Path, words: &[&str]| {
        fs::write(folder.join("two.toml"), SCENARIO).unwrap();
        wiregauge()
            .args(["bus", "participant", "--scenario", "two.toml"])
            .args(words)
            .current_dir(folder)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let mut leader = start(folder.path(), &["--name", "alpha", "--samples", "all.arrow"]);
    let mut lines = BufReader::new(leader.stderr.take().unwrap()).lines();
    let at = lines.find_map(|line| {
        let line = line.unwrap();
        line.contains("waiting for").then(|| line.rsplit(' ').next().unwrap().to_owned())
    });
    let reader = thread::spawn(move || lines.for_each(drop));
    let refused = ["--name", "beta", "--peer", "127.0.0.1:1", "--samples", "x"];
    let refused = start(other.path(), &refused).wait_with_output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    let agent = start(other.path(), &["--name", "beta", "--peer", &at.unwrap()]);
    assert_eq!(leader.wait().unwrap().code(), Some(0));
    assert!(agent.wait_with_output().unwrap().status.success());
    reader.join().unwrap();
    let run = result(folder.path());
    let rows = rows(&folder.path().join("all.arrow"));
    let case = "500 B, 5 ms, continuous";
    let rows = matching_rows(&rows, case, "tcp", "beta");
    is_whole(&rows, fact(&run, case, "tcp", "sent").unwrap(), Some(5 * MS));
    assert!(rows.iter().all(|row| row.received.is_some()));
    assert!(!other.path().join("all.arrow").exists());
}
