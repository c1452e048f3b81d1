//! Points instead of the messages that hold them.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use anyhow::{ensure, Result};
use clap::ValueEnum;
use wiregauge_flatbuffers::convert::Decoder;
use wiregauge_points::{
    table, Clouds, Decode, Elevation, Found, Rays, Reading, Skipped, Source, Survey, Table,
};
use wiregauge_trace::channel::Channel;
use wiregauge_trace::osi;
use wiregauge_trace::write::{Form, Writer};

use super::encoding::{is_osi_flat, of_osi};
use super::errors::Errors;
use super::putting::{target, Outcome, Putting};
use super::selecting::Selecting;

/// The arguments that say what points become.
#[derive(clap::Args)]
pub struct Pointing {
    /// Write reflections, detections and point clouds as foxglove.PointCloud, a
    /// channel for each list.
    #[arg(long)]
    points: bool,
    /// With --points: also keep all messages.
    #[arg(long, requires = "points")]
    keep_messages: bool,
    /// For points: the direction of positive elevations. OSI defines it as down; many
    /// models mean up.
    #[arg(long, value_enum, value_name = "WAY")]
    elevation: Option<Way>,
    /// For points: where a lidar's rays are, if it gives only a grid of rays in its field
    /// of view.
    #[arg(long, value_enum, value_name = "WHERE")]
    rays: Option<Stand>,
    /// For points: what to do with a message whose points cannot be read.
    #[arg(long, value_enum, value_name = "WAY", default_value = "stop")]
    errors: Errors,
}

#[derive(Clone, Copy, ValueEnum)]
enum Way {
    /// By the right-hand rule about y, as OSI's Spherical3d has it.
    Down,
    /// The sine is the height.
    Up,
}

#[derive(Clone, Copy, ValueEnum)]
enum Stand {
    /// The first and the last one at the edges of the field of view.
    Edges,
    /// Each in the middle of its share of the field of view.
    Centers,
}

impl Pointing {
    /// Whether points are wanted: asked for, or as a table by the file's name.
    pub fn is_wanted(&self, output: &Path) -> bool {
        self.points || table::Form::of(output).is_some()
    }

    /// Writes the points in what is wanted of a file, and tells how much was read; whether
    /// the points of all messages could be read.
    pub fn write(
        &self,
        input: &Path,
        selecting: &Selecting,
        output: &Path,
        putting: &Putting,
    ) -> Result<bool> {
        let inputs = [input.to_owned()];
        let (origin, reading) = (input.display().to_string(), self.reading());
        let skips = self.errors == Errors::Skip;
        let skipped = Skipped::default();
        let counted = skips.then(|| skipped.clone());
        let outcome = match table::Form::of(output) {
            Some(form) => {
                ensure!(
                    !self.keep_messages,
                    "a table holds points alone; leave out --keep-messages"
                );
                let draft = target(output, &inputs)?.begin()?;
                // A table says its columns before its rows.
                let mut found = Found::default();
                let survey = Box::new(
                    Survey::new(&origin, reading, &mut found).with(in_flat).skipping(counted),
                );
                let surveyed = copy(&inputs, selecting, putting, Form::Osi, survey)?;
                let table = Box::new(
                    Table::begin(draft, form, reading, found)?.with(in_flat).skipping(skips),
                );
                surveyed.tell_remarks();
                copy(&inputs, selecting, putting, Form::Osi, table)?
            }
            None => {
                ensure!(
                    Form::of(output)? == Form::Mcap,
                    "{}: clouds of points are written to .mcap, and tables to .arrow or .parquet",
                    output.display()
                );
                let draft = target(output, &inputs)?.begin()?;
                let inner = Form::Mcap.begin(draft, putting.chunks.packing())?;
                // What is kept is described as in any other MCAP.
                let form = if self.keep_messages { Form::Mcap } else { Form::Osi };
                let clouds = Clouds::new(&origin, inner, self.keep_messages, reading)
                    .with(in_flat)
                    .skipping(counted);
                copy(&inputs, selecting, putting, form, Box::new(clouds))?
            }
        };
        outcome.tell_read(output);
        Ok(skipped.load(Ordering::Relaxed) == 0)
    }

    fn reading(&self) -> Reading {
        Reading {
            elevation: self.elevation.map(|way| match way {
                Way::Down => Elevation::Down,
                Way::Up => Elevation::Up,
            }),
            rays: self.rays.map(|stand| match stand {
                Stand::Edges => Rays::Edges,
                Stand::Centers => Rays::Centers,
            }),
        }
    }
}

/// What makes Protobuf of OSI's messages in FlatBuffers.
fn in_flat(channel: &Channel) -> Result<Option<Decode>> {
    if !is_osi_flat(channel) {
        return Ok(None);
    }
    let decoder = Decoder::of(channel, &of_osi(channel)?)?;
    Ok(Some(Box::new(move |message: &[u8]| decoder.decode(message))))
}

/// Hands what is wanted to a writer of points. `form` says how channels are described where
/// messages are kept; where none are it is that of `.osi`, which describes none.
fn copy(
    inputs: &[PathBuf],
    selecting: &Selecting,
    putting: &Putting,
    form: Form,
    writer: Box<dyn Writer + '_>,
) -> Result<Outcome> {
    let mut readers = putting.open(inputs)?;
    for (path, reader) in inputs.iter().zip(&readers) {
        // Only a file that has neither topics nor types lacks both.
        let is_told = reader
            .channels()
            .values()
            .all(|channel| !channel.topic.is_empty() || !channel.definition.name.is_empty());
        ensure!(is_told, osi::nameless(path));
    }
    // What is neither shown nor kept need not be unpacked.
    if form == Form::Osi && !selecting.counts() {
        let has_points = |channel: &Channel| is_osi_flat(channel) || Source::of(channel).is_some();
        readers.iter_mut().for_each(|reader| reader.choose(&has_points));
    }
    putting.copy_into(inputs, readers, selecting, None, form, writer)
}
