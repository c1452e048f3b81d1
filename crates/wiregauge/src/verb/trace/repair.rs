//! `wiregauge trace repair`: what is whole of a damaged file.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use wiregauge_system::notice::{print_notice, print_notices};
use wiregauge_system::progress::byte_progress;
use wiregauge_trace_edit::output_file::repaired_path;

use super::output_args::OutputArgs;

/// Save every whole message of a truncated or damaged trace file.
///
/// It says where the input could not be read. The input stays as it is. The exit status is
/// 0 if something could be saved.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge trace repair broken.mcap
      writes broken_repaired.mcap, with chunks, index and summary
  wiregauge trace repair cut_sv.osi -o whole_sv.osi
  wiregauge trace repair broken.mcap -o whole.mcap --compression lz4")]
pub struct Arguments {
    /// Input.
    input: PathBuf,
    /// Output file [default: FILE_repaired, in the same container; for bags in MCAP].
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    #[command(flatten)]
    putting: OutputArgs,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        let output = match self.output {
            Some(output) => output,
            None => repaired_path(&self.input)?,
        };
        let (options, mut news) = (self.putting.options(), byte_progress("copying"));
        let repaired = options.salvage(&self.input, &output, &mut news)?;
        drop(news);
        print_notices(&repaired.notices(&output));
        print_notices(&repaired.loss_notices(&self.input));
        if repaired.losses.is_empty() {
            print_notice("nothing was damaged");
        }
        Ok(ExitCode::SUCCESS)
    }
}
