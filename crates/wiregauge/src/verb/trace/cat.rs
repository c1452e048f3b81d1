//! `wiregauge trace cat`: messages as text.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::ValueEnum;

use super::putting::Putting;
use super::selecting::Selecting;
use wiregauge_trace::write::OutputFormat;

/// Show messages as lines of JSON, as Protobuf's text, or as they are.
///
/// Messages in Protobuf, FlatBuffers, JSON, CBOR, ROS 1 and CDR are shown as JSON by the
/// definition that their channel carries, or for ROS by that of the ROS that is sourced;
/// those of OSI as Protobuf's text, too. Of packed fields the reflections and detections
/// in them are shown. A message that cannot be shown is a line that says why.
///
/// What is not wanted is hopped over where the file has lengths or an index for it.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge trace cat drive.mcap --messages 1000
  wiregauge trace cat drive_sv.osi --from 2s --to 3s --format text
  wiregauge trace cat drive.mcap --channel /gt | jq .message.timestamp
  wiregauge trace cat drive_sv.osi --format raw | my-model
      each message after its length, a little-endian number of four bytes")]
pub struct Arguments {
    /// What is read: .mcap, .osi, .bag, .db3, each also packed by gzip, xz or zstd, the folder
    /// of a ROS 2 bag, or .txth.
    input: PathBuf,
    /// Form on standard output.
    #[arg(long, value_enum, default_value = "json")]
    format: Shape,
    #[command(flatten)]
    selecting: Selecting,
    #[command(flatten)]
    putting: Putting,
}

#[derive(Clone, Copy, ValueEnum)]
enum Shape {
    /// A line a message.
    Json,
    /// Protobuf's text format, as in .txth files.
    Text,
    /// As they lie in the file, each after its length, as in .osi files.
    Raw,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        let form = match self.format {
            Shape::Json => OutputFormat::Json,
            Shape::Text => OutputFormat::Text,
            Shape::Raw => OutputFormat::LengthPrefixed,
        };
        self.putting.print(&self.input, &self.selecting, form)?;
        Ok(ExitCode::SUCCESS)
    }
}
