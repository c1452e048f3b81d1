//! What reading recordings as columns aims at, each as a ratio within one run: wiregauge beside
//! the plainest loop of Python, and beside the readers that people use.
//!
//!     make targets ONLY=columns
//!     cargo bench -p wiregauge-trace-edit --bench columns -- clouds records
//!
//! The second takes a part: clouds, readers, records, objects, reflections.
//!
//! What is compared takes turns; the median of the turns counts, and from the least to the
//! most of them stands behind it. All files are in the page cache. Of Python what is imported
//! does not count. Each reader tells how many rows there are and their mean, which have to be
//! the same.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{id, Command, ExitCode};

use anyhow::{bail, ensure, Context, Result};
use wiregauge_build_tools::python::PythonEnvironment;
use wiregauge_columns::TableSelection;
use wiregauge_osi::descriptors::descriptors;
use wiregauge_osi::python::Python;

#[path = "columns/reading.rs"]
mod reading;
#[path = "../../wiregauge/benches/support/turns.rs"]
mod turns;

use reading::{convert, copy_messages, elements, points, raw, show, Sum};
use turns::{median, say, timed, turns, verdict, Measure};

const REQUIREMENTS: &str = include_str!("columns/requirements.txt");
const MAKE: &str = include_str!("columns/make.py");
const READ: &str = include_str!("columns/read.py");

const OBJECTS: &str = "20240101T000000Z_gt_380_32112_2000_made.osi";

/// Points of 120 clouds.
const POINTS: u64 = 120 * 120_000;

fn main() -> ExitCode {
    match targets() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("columns: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn targets() -> Result<()> {
    let build = PathBuf::from(env::var_os("WIREGAUGE_BUILD").context("run it by make targets")?);
    let python = PythonEnvironment::create(&build, REQUIREMENTS)?;
    let scratch = tempfile::tempdir()?;
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python");
    python.run(MAKE, &[scratch.path(), &package])?;
    let peers = Peers { python, folder: scratch.path().to_owned() };
    println!("| target | found | wanted | |\n|---|---|---|---|");
    let parts: Vec<String> = env::args().skip(1).filter(|part| !part.starts_with('-')).collect();
    let wants = |part: &str| parts.is_empty() || parts.iter().any(|wanted| wanted == part);
    if wants("clouds") {
        // The plain loop uses one processor in any case.
        let all = processors(None)?;
        processors(Some(all & all.wrapping_neg()))?;
        clouds(&peers, "plain", "one processor", 0.8)?;
        clouds(&peers, "zstd", "one processor", 0.95)?;
        processors(Some(all))?;
        clouds(&peers, "plain", "all processors", 0.8)?;
        clouds(&peers, "zstd", "all processors", 1.7)?;
    }
    if wants("readers") {
        other_readers(&peers)?;
    }
    if wants("records") {
        records(&peers)?;
    }
    if wants("objects") {
        objects(&peers, &descriptors(&build, &Python::environment(&build)?)?)?;
    }
    if wants("reflections") {
        reflections(&peers)?;
    }
    Ok(())
}

/// Goes on on these processors, each a bit, where they are said, with all threads and programs
/// that begin from here on; those from before.
fn processors(wanted: Option<u128>) -> Result<u128> {
    let mask = wanted.map(|wanted| format!("{wanted:x}"));
    let said = Command::new("taskset").arg("-p").args(mask).arg(id().to_string()).output()?;
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    let before = said.lines().next().and_then(|line| line.rsplit(' ').next());
    let before = before.and_then(|mask| u128::from_str_radix(mask, 16).ok());
    before.with_context(|| format!("taskset told no processors: {said}"))
}

/// The readers in Python, and the recordings.
struct Peers {
    python: PythonEnvironment,
    folder: PathBuf,
}

impl Peers {
    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// A reader, the files that it reads or writes, and what it has to find.
    fn measure(&self, name: &'static str, paths: &[PathBuf], wanted: &Sum) -> Measure<'_> {
        let (paths, wanted) = (paths.to_vec(), wanted.clone());
        Box::new(move || {
            let mut arguments = vec![Path::new(name)];
            arguments.extend(paths.iter().map(PathBuf::as_path));
            let said = self.python.run(READ, &arguments)?;
            let said: Vec<f64> = said.split_whitespace().filter_map(|it| it.parse().ok()).collect();
            let [seconds, count, mean] = said[..] else { bail!("{name} told nothing") };
            wanted.check(name, &Sum { count: count as u64, mean })?;
            Ok(seconds)
        })
    }
}

fn read_z<'m>(path: &'m Path, wanted: &'m Sum, columns: &'static [&'static str]) -> Measure<'m> {
    let columns: Vec<String> = columns.iter().map(|name| (*name).to_owned()).collect();
    Box::new(move || timed(|| wanted.check("points", &points(path, &columns, "z")?)))
}

/// Points of clouds beside ten lines of Python.
fn clouds(peers: &Peers, name: &str, on: &str, least: f64) -> Result<()> {
    let path = peers.file(&format!("{name}.mcap"));
    let wanted = points(&path, &["z".into()], "z")?;
    ensure!(wanted.count == POINTS, "{} points", wanted.count);
    let written = [path.clone(), peers.file("theirs.arrow")];
    let mut read = [
        peers.measure("loop", std::slice::from_ref(&path), &wanted),
        read_z(&path, &wanted, &["z"]),
        read_z(&path, &wanted, &[]),
        peers.measure("loop_to_arrow", &written, &wanted),
        Box::new(|| timed(|| convert(&path, &peers.file("ours.arrow")))),
    ];
    let [plain, one, all, theirs, ours] = turns(&mut read)?;
    let what = format!("clouds, {name}, {on}");
    say(&format!("{what}: z alone, beside the plain loop"), &plain, &one, least);
    say(&format!("{what}: all columns, beside the plain loop for z"), &plain, &all, least);
    say(&format!("{what}: to a file of Arrow, beside the plain loop"), &theirs, &ours, 1.0);
    Ok(())
}

/// Points of clouds beside libraries.
fn other_readers(peers: &Peers) -> Result<()> {
    for name in ["plain", "zstd"] {
        let path = peers.file(&format!("{name}.mcap"));
        let wanted = points(&path, &["z".into()], "z")?;
        let mut read = [
            peers.measure("rosbags", std::slice::from_ref(&path), &wanted),
            peers.measure("roboto", std::slice::from_ref(&path), &wanted),
            read_z(&path, &wanted, &["z"]),
        ];
        let [rosbags, roboto, ours] = turns(&mut read)?;
        say(&format!("clouds, {name}: z alone, beside rosbags and NumPy"), &rosbags, &ours, 1.0);
        say(
            &format!("clouds, {name}: z alone, beside roboto-mcap-codec and NumPy"),
            &roboto,
            &ours,
            1.0,
        );
    }
    Ok(())
}

fn select(rows: &str, fields: &[&str]) -> TableSelection {
    TableSelection {
        rows: Some(rows.into()),
        fields: fields.iter().map(|field| (*field).to_owned()).collect(),
        skips_failed: false,
    }
}

/// Lists of records in CDR.
fn records(peers: &Peers) -> Result<()> {
    let path = peers.file("returns.mcap");
    let selection = select("returns", &[]);
    let read = || elements(&path, "/returns", &selection, None, "z");
    let wanted = read()?;
    let mut read = [
        peers.measure("returns", std::slice::from_ref(&path), &wanted),
        peers.measure("roboto_returns", std::slice::from_ref(&path), &wanted),
        Box::new(|| timed(|| wanted.check("rows", &read()?))),
    ];
    let [theirs, roboto, ours] = turns(&mut read)?;
    say("322,500 records in lists, beside MCAP's decoder of ROS", &theirs, &ours, 20.0);
    say("322,500 records in lists, beside roboto-mcap-codec", &roboto, &ours, 5.0);
    Ok(())
}

/// OSI's GroundTruth with 200 objects.
fn objects(peers: &Peers, osi: &[u8]) -> Result<()> {
    let path = peers.file(OBJECTS);
    let selection = select("moving_object", &["id", "type", "base"]);
    let read = || elements(&path, "", &selection, Some(osi), "base");
    let (wanted, messages) = (read()?, Sum { count: 2000, mean: 0.0 });
    let lines = [path.clone(), peers.file("theirs.jsonl")];
    let mut read = [
        peers.measure("parse", std::slice::from_ref(&path), &messages),
        peers.measure("objects", std::slice::from_ref(&path), &wanted),
        Box::new(|| timed(|| wanted.check("rows", &read()?))),
        Box::new(|| timed(|| raw(&path).map(drop))),
        peers.measure("json_lines", &lines, &messages),
        Box::new(|| timed(|| show(&path, &peers.file("ours.jsonl")))),
    ];
    let [parsed, looped, ours, bytes, json, shown] = turns(&mut read)?;
    let objects = "400,000 objects of GroundTruth to columns";
    say(&format!("{objects}, beside osi3trace that parses them"), &parsed, &ours, 5.0);
    say(&format!("{objects}, beside osi3trace and a loop over them"), &looped, &ours, 5.0);
    say("messages of `.osi` as they are, beside osi3trace that parses them", &parsed, &bytes, 10.0);
    say("GroundTruth as lines of JSON, beside osi3trace and json_format", &json, &shown, 1.0);
    Ok(())
}

/// Reflections of OSI, as Protobuf has them and in the packed field.
fn reflections(peers: &Peers) -> Result<()> {
    for (name, what) in [("two", "two numbers each"), ("all", "all fields")] {
        let path = peers.file(&format!("20240101T000000Z_sv_380_32112_20_{name}.osi"));
        let bytes = path.metadata()?.len() as f64;
        let read = || points(&path, &[], "signal_strength").map(drop);
        let [ours] = turns(&mut [Box::new(|| timed(read)) as Measure])?;
        let speed = bytes / median(&ours) / 1e9;
        println!(
            "| 2,000,000 reflections of OSI, {what}, to columns | {speed:.2} GB/s, {:.1} ms | \
             1 GB/s | {} |",
            median(&ours) * 1e3,
            verdict(speed >= 1.0)
        );
    }
    let path = peers.file("20240101T000000Z_sv_380_32112_20_packed.osi");
    let columns = ["signal_strength".to_owned(), "time_of_flight".to_owned()];
    let mut read: [Measure; 2] = [
        Box::new(|| timed(|| copy_messages(&path).map(drop))),
        Box::new(|| timed(|| points(&path, &columns, "").map(drop))),
    ];
    let [copied, ours] = turns(&mut read)?;
    say("2,000,000 reflections in the packed field, beside a copy of it", &copied, &ours, 0.8);
    Ok(())
}
