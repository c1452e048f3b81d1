//! `wiregauge trace cut`: a part of a trace.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use wiregauge_system::notice::print_notices;
use wiregauge_system::progress::byte_progress;
use wiregauge_trace_edit::copy_job::CopyInput;

use super::output_args::OutputArgs;
use super::selection_args::SelectionArgs;

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
    selecting: SelectionArgs,
    #[command(flatten)]
    putting: OutputArgs,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        let (files, filter) = ([self.input], self.selecting.filter());
        let (input, options) = (CopyInput::new(&files, &filter), self.putting.options());
        let copied = options.copy(&input, &self.output, &mut byte_progress("copying"))?;
        print_notices(&copied.notices(&self.output));
        Ok(ExitCode::SUCCESS)
    }
}
