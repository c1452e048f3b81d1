//! `wiregauge trace convert`: another container, the same messages.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;

use super::putting::Putting;
use super::selecting::Selecting;

/// Write a trace file as another container, by the end of its name: .mcap, .osi,
/// .txth or .jsonl.
///
/// From .osi to .mcap and back, and between compressions, messages are the same
/// to the byte. Definitions and versions that an .osi file does not carry come from
/// OSI's official package, from the messages themselves and from you; what nobody
/// tells is left out and named. The text forms are for people and scripts: there
/// messages are parsed.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge trace convert drive_sv.osi drive.mcap --protobuf-version 3.21.12
  wiregauge trace convert drive.mcap drive_sd.osi --channel 'Lidar.OSMPSensorDataOut'
  wiregauge trace convert drive.mcap small.mcap --compression zstd --chunk 4MiB
  wiregauge trace convert drive_sv.osi.xz drive_sv.txth      for your eyes")]
pub struct Arguments {
    /// What is read: .mcap, .osi, or .osi packed by gzip, xz or zstd.
    input: PathBuf,
    /// What is written.
    output: PathBuf,
    #[command(flatten)]
    selecting: Selecting,
    #[command(flatten)]
    putting: Putting,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        self.putting.copy(&[self.input], &self.selecting, &self.output)?;
        Ok(ExitCode::SUCCESS)
    }
}
