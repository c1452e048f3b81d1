//! Rows of `wiregauge codecs` beside programs that are written by hand: what a careful user
//! of a library gets, and whether a row shows it.
//!
//!     make targets ONLY=rows
//!     make targets ONLY=rows ROWS=prost,rkyv
//!     make targets ONLY=rows BUNDLE=rows.tar.zst
//!     make targets ONLY=rows RESULTS=FOLDER
//!
//! The last two are for another, quiet machine: the first packs all rows and programs, and says
//! how each pair is measured there; the second makes the table of the results from there.
//!
//! A program by hand is a file in `rows/`, or one for each way to drive a library and behind
//! it what they share. It has what the library's generator makes of the
//! definition, if it has one, and nothing else of ours but what times it (`hand.rs`,
//! `hand.hpp`). It is built in one package with the row: by the same compiler, flags, crates
//! and libraries. Both are measured in one run by turns, and prove themselves as every row
//! does.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{ensure, Context, Result};
use wiregauge_formats::build::languages::{cpp::CPP, rust::RUST};
use wiregauge_formats::build::{self, BuiltRunner, Variant};
use wiregauge_formats::{Codec, Emission};
use wiregauge_result::run::{Measurement, Run};
use wiregauge_result::stats::{Ratio, Summary};
use wiregauge_schema::msg::{self, Dialect};
use wiregauge_schema::{path, Projection, Schema};

const LIDAR: &str = include_str!("../../../schemas/lidar.msg");
/// What is compared, where a row has it.
const EXPERIMENTS: [&str; 4] = ["encode", "encode/write", "decode", "decode/parse"];
/// Further apart are a row and its program not to be.
const APART: f64 = 1.05;
/// Seconds that a row and its program are measured for.
const SECONDS: &str = "15";
const TABLE_HEAD: &str = "| row | what | ours | by hand | ratio | |\n|---|---|--:|--:|--:|---|";

/// The programs by hand: each is its row's codec with another main file.
macro_rules! programs {
    ($($row:literal in $($file:literal)+,)*) => {
        vec![$(Codec {
            name: concat!($row, "-by-hand"),
            title: concat!($row, " by hand"),
            emit: |unit| {
                let program = concat!($(include_str!(concat!("rows/", $file))),+);
                by_hand($row, unit.schema, unit.projection, program)
            },
            ..*Codec::find($row).expect("there is such a row")
        }),*]
    };
}

fn programs() -> Vec<Codec> {
    programs![
        "bincode" in "bincode.rs",
        "capnproto" in "capnproto.rs" "capnproto_lidar.rs",
        "capnproto-cpp" in "capnproto_cpp.cpp",
        "capnproto-packed" in "capnproto_packed.rs" "capnproto_lidar.rs",
        "cbor" in "cbor.rs",
        "colfer" in "colfer.cpp",
        "cyclone-cdr" in "cyclone_cdr.cpp",
        "fastcdr" in "fastcdr.cpp",
        "flatbuffers" in "flatbuffers.rs",
        "flatbuffers-cpp" in "flatbuffers_cpp.cpp",
        "flatbuffers-cpp-object" in "flatbuffers_cpp_object.cpp",
        "flatbuffers-cpp-structs" in "flatbuffers_cpp_structs.cpp",
        "json" in "json.rs",
        "lcm" in "lcm.cpp",
        "messagepack" in "messagepack.rs",
        "minicbor" in "minicbor.rs",
        "packed-cpp" in "packed_cpp.cpp",
        "packed-rust" in "packed_rust.rs",
        "prost" in "prost.rs",
        "protobuf-cpp" in "protobuf_cpp.cpp",
        "protobuf-cpp-arena" in "protobuf_cpp_arena.cpp",
        "quick-protobuf" in "quick_protobuf.rs",
        "rkyv" in "rkyv.rs",
        "ros-msg" in "ros_msg.cpp",
        "sbe" in "sbe.cpp",
        "thrift" in "thrift_binary.hpp" "thrift.cpp",
        "thrift-compact" in "thrift_compact.hpp" "thrift.cpp",
        "zserio" in "zserio.rs",
    ]
}

/// A row's emission with this program in place of the runner.
fn by_hand(row: &str, schema: &Schema, projection: &Projection, program: &str) -> Result<Emission> {
    let mut emission = Codec::find(row).context("no such row")?.emission(schema, projection)?;
    for file in &mut emission.files {
        match file.path.as_str() {
            "main.rs" => {
                let hand = include_str!("rows/hand.rs");
                file.text = format!("{program}\nmod hand {{\n{hand}\n}}\n");
            }
            "main.cpp" => file.text = format!("{}\n{program}", include_str!("rows/hand.hpp")),
            _ => {}
        }
    }
    Ok(emission)
}

fn main() -> ExitCode {
    match targets() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("rows: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn targets() -> Result<()> {
    let folder = PathBuf::from(env::var_os("WIREGAUGE_BUILD").context("run it by make targets")?);
    let given = |name: &str| env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from);
    let (bundle, results) = (given("BUNDLE"), given("RESULTS"));
    // What cargo itself says of a benchmark begins with a dash.
    let wanted: Vec<String> = env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let wanted: Vec<&str> = wanted.iter().flat_map(|words| words.split(',')).collect();
    let schema = msg::read_text(LIDAR, "lidar", Dialect::Ros2, "schemas/lidar.msg")?;
    let projection = Projection {
        fixed: Some(path::parse(&schema, "info.guid")?),
        element: Some(path::parse(&schema, "points[].position[1]")?),
    };
    let programs: &'static [Codec] = programs().leak();
    let program = |row: &Codec| {
        let name = format!("{}-by-hand", row.name);
        programs.iter().find(|program| program.name == name)
    };
    let rows: Vec<&'static Codec> = Codec::all()
        .into_iter()
        .filter(|row| [&RUST, &CPP].contains(&row.language) && !row.is_bound)
        .filter(|row| !row.is_opt_in() || program(row).is_some())
        .filter(|row| wanted.is_empty() || wanted.contains(&row.name))
        .collect();
    ensure!(
        !rows.is_empty(),
        "there is no row {} in Rust or C++; leave out ROWS to compare all rows",
        wanted.join(", ")
    );
    if let Some(results) = results {
        println!("{TABLE_HEAD}");
        for row in rows {
            let file = results.join(format!("{}.json", row.name));
            match program(row) {
                Some(program) if file.exists() => print_ratios(&Run::read(&file)?, row, program)?,
                Some(_) => println!("| {} | | | | | not measured |", row.name),
                None => println!("| {} | | | | | no program by hand |", row.name),
            }
        }
        return Ok(());
    }
    let variants: Vec<Variant> =
        rows.iter().filter_map(|row| program(row)).map(Variant::from_codec).collect();
    let built = build::build_variants(&folder, &schema, &projection, &variants, &|_, _, _| Ok(()))?;
    if let Some(bundle) = bundle {
        return pack(&bundle, &built);
    }
    let scratch = tempfile::tempdir()?;
    println!("{TABLE_HEAD}");
    for row in rows {
        let Some(program) = program(row) else {
            println!("| {} | | | | | no program by hand |", row.name);
            continue;
        };
        let built = built.iter().find(|built| built.codec.name == program.name);
        match built.map(|built| built.program.as_ref()) {
            Some(Ok(made)) => {
                let run = measured(scratch.path(), row.name, program.name, made)?;
                print_ratios(&run, row, program)?
            }
            Some(Err(error)) => println!("| {} | | | | | {error:#} |", row.name),
            None => println!("| {} | | | | | was not built |", row.name),
        }
    }
    Ok(())
}

/// Packs rows and programs for another machine, and says how each pair is measured there.
fn pack(bundle: &Path, built: &[BuiltRunner]) -> Result<()> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wiregauge"));
    let mut rows = Vec::new();
    command.arg("bundle").arg("-o").arg(bundle);
    for built in built {
        match &built.program {
            Ok(program) => {
                command.arg("--runner").arg(format!("{}={}", built.codec.name, program.display()));
                rows.push(built.codec.name.trim_end_matches("-by-hand"));
            }
            Err(error) => eprintln!("{} is left out: {error:#}", built.codec.name),
        }
    }
    let status = command.args(["--codecs", &rows.join(",")]).status()?;
    ensure!(status.success(), "packing failed: {status}");
    for row in rows {
        println!(
            "./wiregauge codecs --bundle . --codecs {row},{row}-by-hand --experiments {} \
             --duration {SECONDS} -o {row}.json",
            EXPERIMENTS.join(",")
        );
    }
    Ok(())
}

/// Measures a row and its program, by turns.
fn measured(folder: &Path, row: &str, program: &str, made: &Path) -> Result<Run> {
    let file = folder.join(format!("{row}.json"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_wiregauge"));
    command.args(["codecs", "--codecs", row, "--runner"]);
    command.arg(format!("{program}={}", made.display()));
    command.args(["--experiments", &EXPERIMENTS.join(","), "--duration", SECONDS, "-o"]).arg(&file);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let status = command.status().context("wiregauge does not start")?;
    ensure!(status.success(), "measuring {row} and {program} failed: {status}");
    Run::read(&file)
}

/// Prints how many times as long as the program the row took, with its bounds.
fn print_ratios(run: &Run, row: &Codec, program: &Codec) -> Result<()> {
    let case = &run.cases.first().context("no case was measured")?.id;
    for experiment in EXPERIMENTS {
        let of = |subject: &str| run.measurement(case, subject, experiment);
        let (Some(ours), Some(theirs)) = (of(row.name), of(program.name)) else { continue };
        let ratio = Ratio::between(ours, theirs, 1).context("no sample of both")?;
        let interval =
            ratio.interval.map(|i| format!(" ({:.2}–{:.2})", i.low, i.high)).unwrap_or_default();
        let is_apart = |ratio: f64| ratio.ln().abs() > APART.ln();
        let verdict = match ratio.interval {
            _ if !is_apart(ratio.median) => "",
            Some(i) if i.low > APART || i.high < 1.0 / APART => "**apart**",
            _ => "perhaps apart",
        };
        println!(
            "| {} | {experiment} | {} | {} | {:.2}{interval} | {verdict} |",
            row.name,
            micros(ours),
            micros(theirs),
            ratio.median
        );
    }
    Ok(())
}

/// A figure in microseconds.
fn micros(measurement: &Measurement) -> String {
    let summary = Summary::from_measurement(measurement);
    summary.map_or_else(String::new, |summary| format!("{:.1} µs", summary.median / 1e3))
}
