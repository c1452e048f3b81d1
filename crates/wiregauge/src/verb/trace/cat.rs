//! `wiregauge trace cat`: messages as text.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::ValueEnum;
use wiregauge_system::notice::print_notices;
use wiregauge_system::progress::byte_progress;
use wiregauge_trace::write::OutputFormat;
use wiregauge_trace_edit::copy_job::CopyInput;

use super::copy_args::CopyArgs;

/// Show messages as lines of JSON, as Protobuf's text, or as they are.
///
/// Messages in Protobuf, FlatBuffers, JSON, CBOR, ROS 1 and CDR become JSON, by the
/// definition in their channel, or for ROS by the ROS that is sourced. Messages of OSI can
/// also become Protobuf's text. Packed fields are shown as reflections and detections. For
/// a message that cannot be shown, a line says why.
///
/// Messages that you do not ask for are skipped without reading them, if the file has
/// lengths or an index.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge trace cat drive.mcap --range 1000
  wiregauge trace cat drive_sv.osi --from 2s --to 3s --format text
  wiregauge trace cat drive.mcap --channel /gt | jq .message.timestamp
  wiregauge trace cat drive_sv.osi --format raw | my-model
      each message after its length, a little-endian number of four bytes")]
pub struct Arguments {
    /// Input: .mcap, .osi, .bag or .db3, also packed by gzip, xz or zstd; the folder of a
    /// ROS 2 bag; or .txth.
    input: PathBuf,
    /// Format of what is printed.
    #[arg(long, value_enum, default_value = "json")]
    format: MessageFormat,
    #[command(flatten)]
    copying: CopyArgs,
}

#[derive(Clone, Copy, ValueEnum)]
enum MessageFormat {
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
            MessageFormat::Json => OutputFormat::Json,
            MessageFormat::Text => OutputFormat::Text,
            MessageFormat::Raw => OutputFormat::LengthPrefixed,
        };
        let (files, filter) = ([self.input], self.copying.filter());
        let (input, options) = (CopyInput::new(&files, &filter), self.copying.options());
        let printed = options.print(&input, form, &mut byte_progress("copying"))?;
        print_notices(&printed.map_or(Vec::new(), |printed| printed.escaped_remarks()));
        Ok(ExitCode::SUCCESS)
    }
}
