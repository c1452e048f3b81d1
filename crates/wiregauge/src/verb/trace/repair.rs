//! `wiregauge trace repair`: what is whole of a damaged file.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use wiregauge_system::text::escape_short;
use wiregauge_trace::open;

use super::putting::Putting;
use crate::output::tell;

/// Save every message that is whole of a truncated or damaged trace file.
///
/// What could not be read is told with its place. The file that is read stays as it is.
/// The exit status is 0 when something could be saved.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge trace repair broken.mcap
      writes broken_repaired.mcap, with chunks, index and summary
  wiregauge trace repair cut_sv.osi whole_sv.osi
  wiregauge trace repair broken.mcap whole.mcap --compression lz4")]
pub struct Arguments {
    /// What is read.
    input: PathBuf,
    /// What is written; FILE_repaired in the same container, of bags in MCAP, unless it is
    /// named.
    output: Option<PathBuf>,
    #[command(flatten)]
    putting: Putting,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        let output = match self.output {
            Some(output) => output,
            None => {
                let whole = self.input.file_stem().unwrap_or_default().to_string_lossy();
                let ends = [".osi", ".mcap", ".bag", ".db3"];
                let stem = ends.iter().find_map(|end| whole.strip_suffix(end));
                let end = match open::container_name(&self.input)? {
                    "OSI" => "osi",
                    _ => "mcap",
                };
                self.input.with_file_name(format!("{}_repaired.{end}", stem.unwrap_or(&whole)))
            }
        };
        let losses = self.putting.salvage(&self.input, &output)?;
        for loss in &losses {
            let input = self.input.display();
            tell(&escape_short(&format!("{input}: byte {}: {}", loss.at, loss.what)));
        }
        if losses.is_empty() {
            tell("nothing was damaged");
        }
        Ok(ExitCode::SUCCESS)
    }
}
