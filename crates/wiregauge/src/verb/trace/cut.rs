//! `wiregauge trace cut`: a part of a trace.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;

use super::putting::Putting;
use super::selecting::Selecting;

/// Take a part of a trace file: by time, number, channel, or every n-th message.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge trace cut drive.mcap -o part.mcap --from 10s --to 20s
      of a file with a summary only the chunks of these times are read
  wiregauge trace cut drive.mcap -o part.mcap --channel '/lidar*' --every 10
  wiregauge trace cut drive_sv.osi -o part_sv.osi --range 100..200")]
pub struct Arguments {
    /// What is read: .mcap, .osi, .osi packed by gzip, xz or zstd, .bag, .db3, the folder of
    /// a ROS 2 bag, or .txth.
    input: PathBuf,
    /// What is written.
    #[arg(short, long, value_name = "PATH")]
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
