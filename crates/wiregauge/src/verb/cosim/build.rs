//! `wiregauge cosim build`: the project's FMUs as files.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use wiregauge_cosim_run::fmu_files::write_fmus;
use wiregauge_system::output::print_escaped;
use wiregauge_system::progress::ProgressDisplay;

/// Build wiregauge's own FMUs, and write them into a folder: for any OSMP master.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge cosim build --codecs packed -o fmus
  wiregauge cosim build --windows -o fmus
      those of FlatBuffers, for 64-bit Linux and Windows in one file each")]
pub struct Arguments {
    /// Build only these encodings of messages.
    #[arg(long, value_delimiter = ',', value_name = "NAME,…", default_value = "all")]
    codecs: Vec<String>,
    /// Add libraries for 64-bit Windows, compiled by MinGW-w64: in FlatBuffers' encodings.
    #[arg(long)]
    windows: bool,
    /// Write the FMUs into this folder.
    #[arg(short, long, value_name = "PATH")]
    output: PathBuf,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        let progress = ProgressDisplay::new();
        let show = progress.stoppable();
        let written = write_fmus(&self.codecs, self.windows, &self.output, &show)?;
        drop(show);
        drop(progress);
        print_escaped(&written)?;
        Ok(ExitCode::SUCCESS)
    }
}
