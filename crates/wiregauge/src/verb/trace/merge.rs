//! `wiregauge trace merge`: several traces in one.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use wiregauge_system::notice::{print_notice, print_notices};
use wiregauge_system::quantity::parse_nonzero_bytes;
use wiregauge_trace::message_sorter::SortOptions;

use super::copy_args::CopyArgs;

/// Merge several trace files into one, by the times of their messages.
///
/// Channels with the same topic, type and metadata become one. Several .osi files of one
/// type keep one channel each, named after their files, unless --channel-name gives one
/// name for all.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge trace merge left_sv.osi right_sv.osi -o both.mcap
  wiregauge trace merge part_*.mcap -o drive.mcap
  wiregauge trace merge a_sv.osi b_sv.osi --channel-name SensorView -o c_sv.osi")]
pub struct Arguments {
    /// Inputs.
    #[arg(required = true, value_name = "FILE")]
    inputs: Vec<PathBuf>,
    /// Output file.
    #[arg(short, long, value_name = "PATH")]
    output: PathBuf,
    /// How many bytes of messages to hold in memory for sorting, for all files together.
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = parse_nonzero_bytes)]
    sort_window: u64,
    /// Refuse files with a message that comes too late for the window. Nothing is written then.
    #[arg(long)]
    sorted: bool,
    #[command(flatten)]
    copying: CopyArgs,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        let window = self.sort_window / self.inputs.len().max(1) as u64;
        let sorting = SortOptions { window, strict: self.sorted };
        let merged = self.copying.copy(&self.inputs, &self.output, Some(sorting))?;
        print_notices(&merged.notices(&self.output));
        let Some(notice) = merged.late_notice() else { return Ok(ExitCode::SUCCESS) };
        print_notice(&notice);
        Ok(ExitCode::FAILURE)
    }
}
