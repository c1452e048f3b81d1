//! What generated holders aim at, each as a ratio within one run of `wiregauge codecs`: beside
//! the libraries that they can replace, and beside a copy of the bytes.
//!
//!     make targets ONLY=holders
//!
//! Writing and reading alone count, where a library has structures of its own: what filling
//! those takes would flatter the holders, which need none.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{ensure, Context, Result};
use wiregauge_result::run::{Measurement, Run};
use wiregauge_result::stats::Ratio;

/// A scan as ROS has it: lists of numbers, and little else.
const SCAN: &str = "float64 stamp\nstring frame\nfloat32 angle_min\nfloat32 angle_increment\n\
                    float32[] ranges\nfloat32[] intensities\n";
/// Measured beside them; the bounds of each language come by themselves.
const CODECS: &str = "ros-msg,generated-ros-msg-cpp,fastcdr,generated-cdr-cpp,protobuf-cpp,\
                      generated-ros-msg-java,generated-cdr-java,protobuf-java,\
                      rosbags-ros1,rosbags-cdr,genpy,generated-ros-msg-python,generated-cdr-python";

/// At most so many times what another row takes, or less, in each case of these messages.
struct Aim {
    messages: &'static [&'static str],
    ours: &'static str,
    theirs: &'static str,
    metrics: &'static [&'static str],
    at_most: f64,
}

const BOTH: &[&str] = &["encode", "decode"];
const ALL: &[&str] = &["lidar", "scan", "rsb"];
const LISTS: &[&str] = &["lidar", "scan"];
/// The same scan read into objects that are used again: what Java's memory costs is left out.
const REUSED: &str = "scan, objects reused";
const SCANS: &[&str] = &["scan", REUSED];

const fn aim(
    messages: &'static [&'static str],
    (ours, theirs): (&'static str, &'static str),
    metrics: &'static [&'static str],
    at_most: f64,
) -> Aim {
    Aim { messages, ours, theirs, metrics, at_most }
}

const AIMS: &[Aim] = &[
    aim(ALL, ("generated-ros-msg-cpp", "ros-msg"), BOTH, 1.0),
    // RSB's document: 1.35 to 1.8 times as fast.
    aim(&["rsb"], ("generated-ros-msg-cpp", "protobuf-cpp"), &["roundtrip-fresh"], 1.0 / 1.35),
    aim(&["lidar"], ("generated-cdr-cpp", "fastcdr"), BOTH, 0.5),
    aim(&["scan", "rsb"], ("generated-cdr-cpp", "fastcdr"), BOTH, 1.0),
    aim(SCANS, ("generated-ros-msg-java", "generated-ros-msg-cpp"), BOTH, 1.5),
    aim(SCANS, ("generated-cdr-java", "generated-cdr-cpp"), BOTH, 1.5),
    aim(ALL, ("generated-ros-msg-java", "protobuf-java"), BOTH, 1.0),
    aim(ALL, ("generated-ros-msg-python", "rosbags-ros1"), BOTH, 1.0),
    aim(ALL, ("generated-cdr-python", "rosbags-cdr"), BOTH, 1.0),
    aim(ALL, ("generated-ros-msg-python", "genpy"), BOTH, 0.2),
    aim(LISTS, ("generated-ros-msg-python", "memcpy-python"), BOTH, 2.0),
];

fn main() -> ExitCode {
    match targets() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("holders: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn targets() -> Result<()> {
    let scratch = tempfile::tempdir()?;
    println!("| message | what | of | took of it | wanted | |\n|---|---|---|---|---|---|");
    for message in ALL.iter().chain([&REUSED]) {
        let run = measured(scratch.path(), message)?;
        for aim in AIMS.iter().filter(|aim| aim.messages.contains(message)) {
            for metric in aim.metrics {
                say(&run, message, metric, aim)?;
            }
        }
    }
    Ok(())
}

/// Measures a message in all that is compared.
fn measured(folder: &Path, message: &str) -> Result<Run> {
    let (file, scan) = (folder.join(format!("{message}.json")), folder.join("scan.msg"));
    fs::write(&scan, SCAN)?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_wiregauge"));
    match message {
        "scan" | REUSED => {
            command.arg("codecs");
            command.arg("--message").arg(scan).args(["--length", "ranges=1081"]);
            command.args(["--length", "intensities=1081"]);
            if message == REUSED {
                command.args(["--objects", "reused"]);
            }
        }
        "rsb" => {
            command.args(["repeat", "rsb"]);
        }
        _ => {
            command.arg("codecs");
        }
    }
    command.args(["--codecs", CODECS, "-o"]).arg(&file).stdin(Stdio::null()).stdout(Stdio::null());
    let status = command.status().context("wiregauge does not start")?;
    ensure!(status.success(), "measuring {message} failed: {status}");
    Run::read(&file)
}

/// Says what share of the time of theirs ours took: with its bounds, or from the least to
/// the most where the message has several sizes.
fn say(run: &Run, message: &str, metric: &str, aim: &Aim) -> Result<()> {
    let ratios: Vec<Ratio> =
        run.cases.iter().map(|case| ratio(run, &case.id, metric, aim)).collect::<Result<_>>()?;
    let medians = || ratios.iter().map(|ratio| ratio.median);
    let found = match ratios.as_slice() {
        [one] => {
            let interval = one.interval.map(|i| format!(" ({:.2}–{:.2})", i.low, i.high));
            format!("{:.2}{}", one.median, interval.unwrap_or_default())
        }
        _ => {
            let (least, most) =
                medians().fold((f64::INFINITY, 0.0_f64), |(l, m), r| (l.min(r), m.max(r)));
            format!("{least:.2}–{most:.2} at {} sizes", ratios.len())
        }
    };
    let missed = medians().filter(|median| *median > aim.at_most).count();
    let verdict = match missed {
        0 => "met".to_owned(),
        _ if ratios.len() == 1 => "**missed**".to_owned(),
        _ => format!("**missed** at {missed}"),
    };
    println!(
        "| {message} | {metric}, {} | {} | {found} | at most {:.2} | {verdict} |",
        aim.ours, aim.theirs, aim.at_most
    );
    Ok(())
}

fn ratio(run: &Run, case: &str, metric: &str, aim: &Aim) -> Result<Ratio> {
    let of = |subject: &str| -> Result<&Measurement> {
        let part = if metric == "encode" { "write" } else { "parse" };
        let alone = run.measurement(case, subject, &format!("{metric}/{part}"));
        let whole = || run.measurement(case, subject, metric);
        alone.or_else(whole).with_context(|| format!("{subject} has no {metric} of {case}"))
    };
    Ratio::between(of(aim.ours)?, of(aim.theirs)?, 1).context("no sample of both")
}
