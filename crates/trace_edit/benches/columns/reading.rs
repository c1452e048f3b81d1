//! What wiregauge reads of a recording, with what it has to be held against.

use std::path::Path;

use anyhow::{ensure, Context, Result};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::RecordBatch;
use wiregauge_columns::{TableRows, TableSelection};
use wiregauge_points::{ChannelPoints, SensorConventions};
use wiregauge_trace::open::{open, OpenHints};
use wiregauge_trace::parser::extract_definition;
use wiregauge_trace_edit::copy_job::{CopyInput, CopyOptions};
use wiregauge_trace_edit::message_filter::MessageFilter;
use wiregauge_trace_edit::points_job::PointsJob;

/// How many rows there are, and the mean of one of their columns.
#[derive(Clone, Debug, Default)]
pub struct Sum {
    pub count: u64,
    pub mean: f64,
}

impl Sum {
    pub fn check(&self, name: &str, other: &Sum) -> Result<()> {
        let is_near = (self.mean - other.mean).abs() < 1e-9 * self.mean.abs().max(1.0);
        ensure!(self.count == other.count && is_near, "{name} reads {other:?}, not {self:?}");
        Ok(())
    }

    fn add(&mut self, batch: &RecordBatch, column: &str) {
        self.count += batch.num_rows() as u64;
        let Some(values) = batch.column_by_name(column) else { return };
        self.mean += if let Some(values) = values.as_primitive_opt::<Float32Type>() {
            sum(values.values(), f64::from)
        } else if let Some(values) = values.as_primitive_opt::<Float64Type>() {
            sum(values.values(), |value| value)
        } else {
            let position = values.as_struct().column_by_name("position").expect("of a base");
            let x = position.as_struct().column_by_name("x").expect("of a position");
            sum(x.as_primitive::<Float64Type>().values(), |value| value)
        };
    }
}

fn sum<T: Copy>(values: &[T], wide: impl Fn(T) -> f64) -> f64 {
    // Several sums, which go on side by side.
    let mut sums = [0f64; 8];
    for eight in values.chunks(8) {
        sums.iter_mut().zip(eight).for_each(|(sum, value)| *sum += wide(*value));
    }
    sums.iter().sum()
}

/// The points of a channel in batches; their number, and the mean of a column.
pub fn points(path: &Path, columns: &[String], mean: &str) -> Result<Sum> {
    let mut reader = open(path, &OpenHints::default())?;
    let has_points = |name: &str| name.contains("PointCloud2") || name == "osi3.SensorView";
    reader.select_channels(&|channel| has_points(&channel.definition.name));
    let (mut read, mut sum) = (None, Sum::default());
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
            sum.add(&points.finish()?, mean);
        }
    }
    let mut points = read.context("no points")?;
    sum.add(&points.finish()?, mean);
    sum.mean /= sum.count as f64;
    Ok(sum)
}

/// All messages as they are; their number, and the mean of their length.
pub fn raw(path: &Path) -> Result<Sum> {
    let mut reader = open(path, &OpenHints::default())?;
    let mut sum = Sum::default();
    while reader.next()?.is_some() {
        sum.count += 1;
        sum.mean += reader.data()?.len() as f64;
    }
    sum.mean /= sum.count as f64;
    Ok(sum)
}

/// Copies the bytes of messages, each to memory of its own as columns are.
pub fn copy_messages(path: &Path) -> Result<Sum> {
    let mut reader = open(path, &OpenHints::default())?;
    let mut sum = Sum::default();
    while reader.next()?.is_some() {
        sum.count += 1;
        sum.mean += std::hint::black_box(reader.data()?.to_vec()).len() as f64;
    }
    Ok(sum)
}

/// Writes the points of a recording to a file of Arrow.
pub fn convert(path: &Path, out: &Path) -> Result<()> {
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
pub fn show(path: &Path, out: &Path) -> Result<()> {
    let (files, filter) = ([path.to_owned()], MessageFilter::default());
    let input = CopyInput::new(&files, &filter);
    CopyOptions::default().copy(&input, out, &mut |_, _| {}).map(drop)
}

/// The elements of lists as rows; their number, and the mean of a column or of its position's x.
pub fn elements(
    path: &Path,
    topic: &str,
    selection: &TableSelection,
    osi: Option<&[u8]>,
    column: &str,
) -> Result<Sum> {
    let mut reader = open(path, &OpenHints::default())?;
    let (mut rows, mut sum): (Option<TableRows>, _) = (None, Sum::default());
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
            sum.add(&rows.finish()?, column);
        }
    }
    let mut rows = rows.context("no such messages")?;
    sum.add(&rows.finish()?, column);
    sum.mean /= sum.count as f64;
    Ok(sum)
}
