//! `wiregauge trace merge`: several traces in one.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;

use super::putting::Putting;
use super::selecting::Selecting;

/// Put several trace files into one, by the times of their messages.
///
/// Channels that are alike in topic, type and metadata become one, as the parts of a
/// recording that was split have them. Several .osi files of one type keep a channel
/// each, called after their files, unless --topic says one name for all.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge trace merge left_sv.osi right_sv.osi -o both.mcap
  wiregauge trace merge part_*.mcap -o drive.mcap
  wiregauge trace merge a_sv.osi b_sv.osi --topic SensorView -o drive_sv.osi")]
pub struct Arguments {
    /// What is read.
    #[arg(required = true, value_name = "FILE")]
    inputs: Vec<PathBuf>,
    /// What is written.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    selecting: Selecting,
    #[command(flatten)]
    putting: Putting,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        self.putting.copy(&self.inputs, &self.selecting, &self.output)?;
        Ok(ExitCode::SUCCESS)
    }
}
