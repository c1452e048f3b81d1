//! What reading recordings as columns aims at, each as a ratio within one run: wiregauge beside
//! the plainest loop of Python, and beside the readers that people use.
//!
//!     make targets ONLY=columns
//!
//! What is compared takes turns; the median of the turns counts, and from the least to the
//! most of them stands behind it. All files are in the page cache. Of Python what is imported
//! does not count. Each reader tells how many rows there are and their mean, which have to be
//! the same.

use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{ensure, Context, Result};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::RecordBatch;
use wiregauge_build_tools::python::PythonEnvironment;
use wiregauge_columns::{TableRows, TableSelection};
use wiregauge_osi::descriptors::descriptors;
use wiregauge_osi::python::Python;
use wiregauge_points::{ChannelPoints, SensorConventions};
use wiregauge_trace::open::{open, OpenHints};
use wiregauge_trace::parser::extract_definition;
use wiregauge_trace_edit::copy_job::{CopyInput, CopyOptions};
use wiregauge_trace_edit::message_filter::MessageFilter;
use wiregauge_trace_edit::points_job::PointsJob;

#[path = "../../wiregauge/benches/support/turns.rs"]
mod turns;

use turns::{median, say, timed, turns, Measure};

const REQUIREMENTS: &str = include_str!("columns/requirements.txt");
const MAKE: &str = include_str!("columns/make.py");
const READ: &str = include_str!("columns/read.py");

const OBJECTS: &str = "20240101T000000Z_gt_380_32112_500_made.osi";
const REFLECTIONS: &str = "20240101T000000Z_sv_380_32112_20_made.osi";

/// Points of 120 clouds, and their bytes as they lie in the messages.
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
    let file = |name: &str| scratch.path().join(name);
    python.run(MAKE, &[scratch.path()])?;
    println!("| target | found | wanted | |\n|---|---|---|---|");

    let peer = |name: &'static str, paths: Vec<PathBuf>, wanted: Sum| -> Measure {
        let python = &python;
        Box::new(move || {
            let mut arguments = vec![Path::new(name)];
            arguments.extend(paths.iter().map(PathBuf::as_path));
            let said = python.run(READ, &arguments)?;
            let said: Vec<f64> = said.split_whitespace().filter_map(|it| it.parse().ok()).collect();
            let [seconds, count, mean] = said[..] else { anyhow::bail!("{name} told nothing") };
            wanted.check(name, &Sum { count: count as u64, mean })?;
            Ok(seconds)
        })
    };
    for (name, least) in [("plain", 0.8), ("zstd", 1.7)] {
        let path = file(&format!("{name}.mcap"));
        let wanted = points(&path, &["z".into()])?;
        ensure!(wanted.count == POINTS, "{} points", wanted.count);
        let ours = |columns: Vec<String>| -> Measure {
            let (path, wanted) = (&path, &wanted);
            Box::new(move || timed(|| wanted.check("points", &points(path, &columns)?)))
        };
        let mut read = [
            peer("loop", vec![path.clone()], wanted.clone()),
            peer("rosbags", vec![path.clone()], wanted.clone()),
            peer("roboto", vec![path.clone()], wanted.clone()),
            ours(vec!["z".into()]),
            ours(Vec::new()),
        ];
        let [theirs, rosbags, roboto, one, all] = turns(&mut read)?;
        say(
            &format!("points of clouds, {name}, z alone, beside the plain loop"),
            &theirs,
            &one,
            least,
        );
        say(
            &format!("points of clouds, {name}, all columns, beside the plain loop"),
            &theirs,
            &all,
            least,
        );
        say(&format!("points of clouds, {name}, z alone, beside rosbags"), &rosbags, &one, 1.0);
        say(
            &format!("points of clouds, {name}, z alone, beside roboto-mcap-codec"),
            &roboto,
            &one,
            1.0,
        );
        let mut write = [
            peer("loop_to_arrow", vec![path.clone(), file("theirs.arrow")], wanted.clone()),
            Box::new(|| timed(|| convert(&path, &file("ours.arrow")))),
        ];
        let [theirs, ours] = turns(&mut write)?;
        say(
            &format!("clouds, {name}, to a file of Arrow, beside the plain loop"),
            &theirs,
            &ours,
            1.0,
        );
    }

    let path = file("returns.mcap");
    let selection = TableSelection { rows: Some("returns".into()), ..TableSelection::default() };
    let wanted = elements(&path, "/returns", &selection, None, "z")?;
    let mut read = [
        peer("returns", vec![path.clone()], wanted.clone()),
        peer("roboto_returns", vec![path.clone()], wanted.clone()),
        Box::new(|| {
            timed(|| wanted.check("rows", &elements(&path, "/returns", &selection, None, "z")?))
        }),
    ];
    let [theirs, roboto, ours] = turns(&mut read)?;
    say("322,500 records in lists, beside MCAP's decoder of ROS", &theirs, &ours, 20.0);
    say("322,500 records in lists, beside roboto-mcap-codec", &roboto, &ours, 5.0);

    let osi = descriptors(&build, &Python::environment(&build)?)?;
    let path = file(OBJECTS);
    let selection =
        TableSelection { rows: Some("moving_object".into()), ..TableSelection::default() };
    let all = |fields: &[&str]| TableSelection {
        fields: fields.iter().map(|field| (*field).to_owned()).collect(),
        ..selection.clone()
    };
    let some = all(&["id", "type", "base"]);
    let wanted = elements(&path, "", &some, Some(&osi), "base")?;
    let mut read = [
        peer("parse", vec![path.clone()], Sum { count: 500, mean: 0.0 }),
        peer("objects", vec![path.clone()], wanted.clone()),
        Box::new(|| {
            timed(|| wanted.check("rows", &elements(&path, "", &some, Some(&osi), "base")?))
        }),
    ];
    let [parsed, theirs, ours] = turns(&mut read)?;
    say("100,000 objects of GroundTruth, beside osi3trace that parses them", &parsed, &ours, 5.0);
    say(
        "100,000 objects of GroundTruth, beside osi3trace and a loop over them",
        &theirs,
        &ours,
        5.0,
    );
    let mut show = [
        peer("json_lines", vec![path.clone(), file("theirs.jsonl")], Sum { count: 500, mean: 0.0 }),
        Box::new(|| timed(|| show(&path, &file("ours.jsonl")))),
    ];
    let [theirs, ours] = turns(&mut show)?;
    say("GroundTruth as lines of JSON, beside osi3trace and json_format", &theirs, &ours, 1.0);

    let path = file(REFLECTIONS);
    let bytes = path.metadata()?.len() as f64;
    let mut read: [Measure; 1] = [Box::new(|| timed(|| points(&path, &[]).map(drop)))];
    let [ours] = turns(&mut read)?;
    let speed = bytes / median(&ours) / 1e9;
    println!(
        "| 2,000,000 reflections of OSI to columns | {speed:.2} GB/s, {:.1} ms | 1 GB/s | {} |",
        median(&ours) * 1e3,
        turns::verdict(speed >= 1.0)
    );
    Ok(())
}

/// How many rows there are, and the mean of one of their columns.
#[derive(Clone, Debug, Default)]
struct Sum {
    count: u64,
    mean: f64,
}

impl Sum {
    fn check(&self, name: &str, other: &Sum) -> Result<()> {
        let is_near = (self.mean - other.mean).abs() < 1e-9 * self.mean.abs().max(1.0);
        ensure!(self.count == other.count && is_near, "{name} reads {other:?}, not {self:?}");
        Ok(())
    }
}

/// The points of a channel in batches; their number, and the mean of z.
fn points(path: &Path, columns: &[String]) -> Result<Sum> {
    let mut reader = open(path, &OpenHints::default())?;
    let has_points = |name: &str| name.contains("PointCloud2") || name == "osi3.SensorView";
    reader.select_channels(&|channel| has_points(&channel.definition.name));
    let (mut read, mut sum) = (None, Sum::default());
    let add = |batch: &RecordBatch, sum: &mut Sum| {
        sum.count += batch.num_rows() as u64;
        if let Some(z) = batch.column_by_name("z") {
            if let Some(z) = z.as_primitive_opt::<Float32Type>() {
                // Several sums, which go on side by side.
                let mut sums = [0f64; 8];
                for eight in z.values().chunks(8) {
                    sums.iter_mut().zip(eight).for_each(|(sum, z)| *sum += f64::from(*z));
                }
                sum.mean += sums.iter().sum::<f64>();
            }
        }
    };
    while let Some(head) = reader.next()? {
        let channel = &reader.channels()[&head.channel];
        if !has_points(&channel.definition.name) {
            continue;
        }
        if read.is_none() {
            read = Some(ChannelPoints::new(channel, columns, SensorConventions::default())?);
        }
        let points = read.as_mut().context("made before")?;
        points.push(&head, reader.data()?)?;
        if points.is_full() {
            add(&points.finish()?, &mut sum);
        }
    }
    let mut points = read.context("no points")?;
    add(&points.finish()?, &mut sum);
    sum.mean /= sum.count as f64;
    Ok(sum)
}

/// Writes the points of a recording to a file of Arrow.
fn convert(path: &Path, out: &Path) -> Result<()> {
    let job = PointsJob {
        input: path,
        filter: &MessageFilter::default(),
        options: &CopyOptions::default(),
        conventions: SensorConventions::default(),
        keeps_messages: false,
        skips_failed: false,
    };
    job.write(out, &mut |_, _| {}, &mut Vec::new()).map(drop)
}

/// Writes a recording as lines of JSON.
fn show(path: &Path, out: &Path) -> Result<()> {
    let (files, filter) = ([path.to_owned()], MessageFilter::default());
    let input = CopyInput::new(&files, &filter);
    CopyOptions::default().copy(&input, out, &mut |_, _| {}).map(drop)
}

/// The elements of lists as rows; their number, and the mean of a column or of its position's x.
fn elements(
    path: &Path,
    topic: &str,
    selection: &TableSelection,
    osi: Option<&[u8]>,
    column: &str,
) -> Result<Sum> {
    let mut reader = open(path, &OpenHints::default())?;
    let (mut rows, mut sum): (Option<TableRows>, _) = (None, Sum::default());
    let add = |batch: &RecordBatch, sum: &mut Sum| -> Result<()> {
        sum.count += batch.num_rows() as u64;
        let found = batch.column_by_name(column).context("no such column")?;
        if let Some(values) = found.as_primitive_opt::<Float32Type>() {
            sum.mean += values.values().iter().map(|value| f64::from(*value)).sum::<f64>();
        } else {
            let position = found.as_struct().column_by_name("position").context("no position")?;
            let x = position.as_struct().column_by_name("x").context("no x")?;
            sum.mean += x.as_primitive::<Float64Type>().values().iter().sum::<f64>();
        }
        Ok(())
    };
    while let Some(head) = reader.next()? {
        let mut channel = reader.channels()[&head.channel].clone();
        if !topic.is_empty() && channel.topic != topic {
            continue;
        }
        if rows.is_none() {
            if let Some(osi) = osi {
                channel.definition = extract_definition(osi, &channel.definition.name)?.into();
            }
            rows = Some(TableRows::new(&channel, selection)?);
        }
        let rows = rows.as_mut().context("made before")?;
        rows.push(&head, reader.data()?)?;
        if rows.is_full() {
            add(&rows.finish()?, &mut sum)?;
        }
    }
    let mut rows = rows.context("no such messages")?;
    add(&rows.finish()?, &mut sum)?;
    sum.mean /= sum.count as f64;
    Ok(sum)
}
