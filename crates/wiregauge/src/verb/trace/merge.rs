//! `wiregauge trace merge`: several traces in one.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use wiregauge_system::quantity::parse_nonzero_bytes;
use wiregauge_system::text::format_count;
use wiregauge_trace::message_sorter::SortOptions;

use super::putting::Putting;
use super::selecting::Selecting;
use crate::output::tell;

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
    /// How many bytes of messages are held to put them in order, of all files together.
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = parse_nonzero_bytes)]
    window: u64,
    /// Refuse files with a message that comes too late for the window; nothing is written.
    #[arg(long)]
    sorted: bool,
    #[command(flatten)]
    selecting: Selecting,
    #[command(flatten)]
    putting: Putting,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        let window = self.window / self.inputs.len().max(1) as u64;
        let sorting = Some(SortOptions { window, strict: self.sorted });
        let Arguments { inputs, selecting, output, .. } = &self;
        let outcome = self.putting.copy_sorted(inputs, selecting, sorting, output)?;
        outcome.tell(output);
        let late = outcome.late();
        if late == 0 {
            return Ok(ExitCode::SUCCESS);
        }
        let (come, are) = if late == 1 { ("comes", "is") } else { ("come", "are") };
        tell(&format!(
            "{} {come} too late for the window and {are} not in order; merge with a larger one, \
             as --window 4GiB",
            format_count(late, "message")
        ));
        Ok(ExitCode::FAILURE)
    }
}
