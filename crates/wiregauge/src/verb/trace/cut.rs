//! `wiregauge trace cut`: a part of a trace.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use wiregauge_system::notice::print_notices;

use super::copy_args::CopyArgs;

/// Copy a part of a trace file: by time, number, channel, or every n-th message.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge trace cut drive.mcap -o part.mcap --from 10s --to 20s
      reads only the chunks of these times, if the file has a summary
  wiregauge trace cut drive.mcap -o part.mcap --channel '/lidar*' --every 10
  wiregauge trace cut drive_sv.osi -o part_sv.osi --range 100..200")]
pub struct Arguments {
    /// Input: .mcap, .osi, .bag or .db3, also packed by gzip, xz or zstd; the folder of a
    /// ROS 2 bag; or .txth.
    input: PathBuf,
    /// Output file.
    #[arg(short, long, value_name = "PATH")]
    output: PathBuf,
    #[command(flatten)]
    copying: CopyArgs,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        let copied = self.copying.copy(&[self.input], &self.output, None)?;
        print_notices(&copied.notices(&self.output));
        Ok(ExitCode::SUCCESS)
    }
}
