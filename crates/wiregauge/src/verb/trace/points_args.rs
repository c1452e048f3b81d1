//! Points instead of the messages that hold them.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use anyhow::{ensure, Result};
use clap::ValueEnum;
use wiregauge_flatbuffers::convert::Decoder;
use wiregauge_points::{
    table, CloudWriter, Elevation, PointSource, Rays, SensorConventions, SkipCounter, Survey,
    TableContents, TableWriter, ToProtobuf,
};
use wiregauge_trace::channel::Channel;
use wiregauge_trace::osi;
use wiregauge_trace::write::{OutputFormat, Writer};

use super::encoding_args::{is_osi_flat, osi_definition};
use super::error_policy::ErrorPolicy;
use super::output_args::{open_target, CopySummary, OutputArgs};
use super::selection_args::SelectionArgs;

/// The arguments that say what points become.
#[derive(clap::Args)]
pub struct PointsArgs {
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
    elevation: Option<ElevationDirection>,
    /// For points: where a lidar's rays are, if it gives only a grid of rays in its field
    /// of view.
    #[arg(long, value_enum, value_name = "WHERE")]
    rays: Option<RayPosition>,
    /// For points: what to do with a message whose points cannot be read.
    #[arg(long, value_enum, value_name = "WAY", default_value = "stop")]
    errors: ErrorPolicy,
}

#[derive(Clone, Copy, ValueEnum)]
enum ElevationDirection {
    /// By the right-hand rule about y, as OSI's Spherical3d has it.
    Down,
    /// The sine is the height.
    Up,
}

#[derive(Clone, Copy, ValueEnum)]
enum RayPosition {
    /// The first and the last one at the edges of the field of view.
    Edges,
    /// Each in the middle of its share of the field of view.
    Centers,
}

impl PointsArgs {
    /// Whether points are wanted: asked for, or as a table by the file's name.
    pub fn is_wanted(&self, output: &Path) -> bool {
        self.points || table::TableFormat::from_path(output).is_some()
    }

    /// Writes the points in what is wanted of a file, and tells how much was read; whether
    /// the points of all messages could be read.
    pub fn write(
        &self,
        input: &Path,
        selecting: &SelectionArgs,
        output: &Path,
        putting: &OutputArgs,
    ) -> Result<bool> {
        let inputs = [input.to_owned()];
        let (origin, reading) = (input.display().to_string(), self.point_options());
        let skips = self.errors == ErrorPolicy::Skip;
        let skipped = SkipCounter::default();
        let counted = skips.then(|| skipped.clone());
        let outcome = match table::TableFormat::from_path(output) {
            Some(form) => {
                ensure!(
                    !self.keep_messages,
                    "a table can hold points only; leave out --keep-messages"
                );
                let draft = open_target(output, &inputs)?.start_draft()?;
                // A table says its columns before its rows.
                let mut found = TableContents::default();
                let survey = Box::new(
                    Survey::new(&origin, reading, &mut found)
                        .with_decoders(flat_decoder)
                        .skip_failed(counted),
                );
                let surveyed = copy(&inputs, selecting, putting, OutputFormat::Osi, survey)?;
                let table = Box::new(
                    TableWriter::begin(draft, form, reading, found)?
                        .with_decoders(flat_decoder)
                        .skip_failed(skips),
                );
                surveyed.print_notices();
                copy(&inputs, selecting, putting, OutputFormat::Osi, table)?
            }
            None => {
                ensure!(
                    OutputFormat::from_path(output)? == OutputFormat::Mcap,
                    "{}: end the name in .mcap for clouds of points, or in .arrow or .parquet for \
                     tables",
                    output.display()
                );
                let draft = open_target(output, &inputs)?.start_draft()?;
                let inner = OutputFormat::Mcap.begin(draft, putting.chunks.packing())?;
                // What is kept is described as in any other MCAP.
                let form = if self.keep_messages { OutputFormat::Mcap } else { OutputFormat::Osi };
                let clouds = CloudWriter::new(&origin, inner, self.keep_messages, reading)
                    .with_decoders(flat_decoder)
                    .skip_failed(counted);
                copy(&inputs, selecting, putting, form, Box::new(clouds))?
            }
        };
        outcome.print_read(output);
        Ok(skipped.load(Ordering::Relaxed) == 0)
    }

    fn point_options(&self) -> SensorConventions {
        SensorConventions {
            elevation: self.elevation.map(|way| match way {
                ElevationDirection::Down => Elevation::Down,
                ElevationDirection::Up => Elevation::Up,
            }),
            rays: self.rays.map(|stand| match stand {
                RayPosition::Edges => Rays::Edges,
                RayPosition::Centers => Rays::Centers,
            }),
        }
    }
}

/// What makes Protobuf of OSI's messages in FlatBuffers.
fn flat_decoder(channel: &Channel) -> Result<Option<ToProtobuf>> {
    if !is_osi_flat(channel) {
        return Ok(None);
    }
    let decoder = Decoder::from_channel(channel, &osi_definition(channel)?)?;
    Ok(Some(Box::new(move |message: &[u8]| decoder.decode(message))))
}

/// Hands what is wanted to a writer of points. `form` says how channels are described where
/// messages are kept; where none are it is that of `.osi`, which describes none.
fn copy(
    inputs: &[PathBuf],
    selecting: &SelectionArgs,
    putting: &OutputArgs,
    form: OutputFormat,
    writer: Box<dyn Writer + '_>,
) -> Result<CopySummary> {
    let mut readers = putting.open(inputs)?;
    for (path, reader) in inputs.iter().zip(&readers) {
        // Only a file that has neither topics nor types lacks both.
        let is_told = reader
            .channels()
            .values()
            .all(|channel| !channel.topic.is_empty() || !channel.definition.name.is_empty());
        ensure!(is_told, osi::missing_type_message(path));
    }
    // What is neither shown nor kept need not be unpacked.
    if form == OutputFormat::Osi && !selecting.selects_by_number() {
        let has_points = |channel: &Channel| {
            is_osi_flat(channel) || PointSource::from_channel(channel).is_some()
        };
        readers.iter_mut().for_each(|reader| reader.select_channels(&has_points));
    }
    putting.copy_into(inputs, readers, selecting, None, form, writer)
}
