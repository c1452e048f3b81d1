//! Codecs that write and read samples in shared memory, and the bytes that are copied there.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use support::{result, run, status, to_said, wiregauge};
use wiregauge_testkit::prerequisites::report_left_out;

/// Short windows and cycles.
const SHORT: [&str; 10] = [
    "bus",
    "run",
    "--window",
    "140ms",
    "--cycle",
    "10ms",
    "--mode",
    "discrete",
    "--round-trips",
    "0",
];
const SECOND: [&str; 2] = ["--duration", "1s"];
const POINTS: &str = "points=20000";
const CASE: &str = "points=20000, 10 ms, discrete";

fn fact(run: &Value, subject: &str, metric: &str) -> Option<f64> {
    support::fact(run, CASE, subject, metric)
}

/// All that was sent arrived as it should.
fn assert_carried(run: &Value, subject: &str) {
    let status = status(run, subject);
    assert!(status.contains("measured"), "{subject}: {status}");
    assert!(fact(run, subject, "sent") > Some(2.0), "{subject}");
    assert_eq!(fact(run, subject, "lost"), Some(0.0), "{subject}");
    let bad = ["damaged", "foreign", "timeouts"].map(|metric| fact(run, subject, metric));
    assert_eq!(bad, [None; 3], "{subject}");
}

/// An object that counts the bytes that are copied; none on a processor that it is not for.
fn copy_counter(folder: &Path) -> Option<PathBuf> {
    if !cfg!(target_arch = "x86_64") {
        report_left_out("copies are counted on x86-64 only");
        return None;
    }
    let source = support::project().join("crates/wiregauge/tests/support/copy_counter.c");
    let object = folder.join("copies.so");
    let mut cc = Command::new("cc");
    // A loop over bytes stays one, and does not become a call of memcpy.
    cc.args(["-O2", "-std=gnu11", "-fno-builtin", "-shared", "-fPIC"]);
    assert!(cc.arg(source).arg("-o").arg(&object).status().unwrap().success());
    Some(object)
}

/// How many bytes the participants of a run over iceoryx2 copied in all, and their codecs' processes.
/// The others are of TCP, which is in every table.
fn copied(folder: &Path, counter: &Path, words: &[&str]) -> u64 {
    let copies = folder.join("copies");
    let _ = fs::remove_dir_all(&copies);
    fs::create_dir(&copies).unwrap();
    let mut command = wiregauge();
    command.args(SHORT).args(words).args(["--alive-within", "60s"]).current_dir(folder);
    command.env("COPIES", &copies).env("LD_PRELOAD", counter);
    let said = to_said(command.output().unwrap());
    said.expect_code(0);
    let mut counts = Vec::new();
    for entry in fs::read_dir(&copies).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if name.split('+').any(|program| program == "iceoryx2") {
            counts.push(u64::from_ne_bytes(fs::read(&path).unwrap().try_into().unwrap()));
        }
    }
    // A sender and a receiver, each with a codec.
    assert_eq!(counts.len(), 4, "{:?}", fs::read_dir(&copies).unwrap().collect::<Vec<_>>());
    counts.into_iter().sum()
}

/// What a sample costs: the bytes that are copied on its way from the sender's message to the
/// receiver's, as a share of the encoded message. They are the difference of two runs, of which
/// one sends twice as many, so that what is copied once a run is no part of it.
fn copies_per_sample(folder: &Path, counter: &Path, transport: &str, codec: &str) -> f64 {
    let row = ["--message", "lidar", "--length", POINTS, "--transport", transport, "--codecs"];
    let subject = format!("{transport}+{codec}");
    let [(few, sent_few), (many, sent_many)] = ["1s", "3s"].map(|duration| {
        let words = [&row[..], &[codec, "--duration", duration]].concat();
        let all = copied(folder, counter, &words);
        let run = result(folder);
        assert_carried(&run, &subject);
        (all as f64, fact(&run, &subject, "sent").unwrap())
    });
    let size = fact(&result(folder), &subject, "size").unwrap();
    assert!(size > 200_000.0 && sent_many >= sent_few + 20.0, "{size} {sent_few} {sent_many}");
    (many - few) / (sent_many - sent_few) / size
}

#[test]
fn codecs_in_place_carry_the_message_and_others_say_why_not() {
    let folder = tempfile::tempdir().unwrap();
    let codecs = ["packed-cpp", "flatbuffers-cpp", "flatbuffers-cpp-structs", "prost"];
    let names = codecs.join(",");
    let rows = "iceoryx2,iceoryx2-copy,iceoryx2:codec=in-place";
    let message = ["--message", "lidar", "--length", POINTS, "--codecs", &names];
    let said =
        run(folder.path(), &[&SHORT[..], &SECOND, &message, &["--transport", rows]].concat());
    said.expect_code(0);
    let run = result(folder.path());
    for codec in &codecs[..3] {
        for row in rows.split(',') {
            assert_carried(&run, &format!("{row}+{codec}"));
        }
    }
    assert_carried(&run, "iceoryx2+prost");
    let status = status(&run, "iceoryx2:codec=in-place+prost");
    assert!(status.contains("skipped") && status.contains("memory of its own only"), "{status}");
}

/// What is copied between the message of the sender and that of the receiver: nothing in place,
/// and by the copying way at least into shared memory and out of it.
#[test]
fn nothing_is_copied_in_place() {
    let folder = tempfile::tempdir().unwrap();
    let Some(counter) = copy_counter(folder.path()) else { return };
    let codecs = ["packed-cpp", "flatbuffers-cpp"];
    // What is built first is built without the counter, which would count compilers as well.
    let names = codecs.join(",");
    let words = ["--message", "lidar", "--length", POINTS, "--codecs", &names];
    let said = run(
        folder.path(),
        &[&SHORT[..], &SECOND, &words, &["--transport", "iceoryx2-copy"]].concat(),
    );
    said.expect_code(0);
    for codec in codecs {
        let [in_place, copied] = ["iceoryx2:codec=in-place", "iceoryx2-copy"]
            .map(|row| copies_per_sample(folder.path(), &counter, row, codec));
        println!("{codec}: {in_place:.3} of a message in place, {copied:.3} by the copying way");
        assert!(in_place.abs() < 0.02, "{codec}: {in_place} of a message is copied in place");
        assert!(copied > 1.9, "{codec}: only {copied} of a message is copied by the copying way");
    }
}

#[test]
fn what_cannot_be_in_place_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let lidar = ["--message", "lidar", "--length", "points=10", "--codecs", "packed-cpp"];
    for (words, row, why) in [
        (&["--transport", "iceoryx2:codec=in-place"][..], "iceoryx2:codec=in-place", "--message"),
        (
            &[&["--transport", "iceoryx2-copy:codec=in-place"][..], &lidar].concat(),
            "iceoryx2-copy:codec=in-place+packed-cpp",
            "leave one of them out",
        ),
        (
            &[&["--transport", "iceoryx2:codec=somewhere"][..], &lidar].concat(),
            "iceoryx2:codec=somewhere+packed-cpp",
            "copied or in-place",
        ),
        (
            &[&["--transport", "tcp:codec=in-place"][..], &lidar].concat(),
            "tcp:codec=in-place+packed-cpp",
            "no option 'codec'",
        ),
    ] {
        let said = run(folder.path(), &[&SHORT[..], &SECOND, words].concat());
        said.expect_code(1);
        let status = status(&result(folder.path()), row);
        assert!(status.contains("failed") && status.contains(why), "{row}: {status}");
    }
}
