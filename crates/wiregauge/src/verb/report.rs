//! `wiregauge report`: results as a page, or in another form.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use wiregauge_report::page;
use wiregauge_result::run::Run;
use wiregauge_system::file::Target;

use crate::output::{print, render, Form};

/// Show results: as one self-contained page, or as text.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge report run.json -o report.html
      the page, for any browser, offline
  wiregauge report run.json --format md        Markdown on standard output
  wiregauge report monday.json friday.json -o week.html")]
pub struct Arguments {
    /// Results that wiregauge wrote.
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// Write the page here; - is standard output.
    #[arg(short, long, value_name = "PATH", conflicts_with = "format")]
    output: Option<PathBuf>,
    /// Write this to standard output instead.
    #[arg(long, value_enum)]
    format: Option<Form>,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        let runs: Vec<Run> = self.runs.iter().map(|path| Run::read(path)).collect::<Result<_>>()?;
        match (self.output, self.format) {
            (Some(path), _) => {
                let inputs: Vec<&Path> = self.runs.iter().map(PathBuf::as_path).collect();
                Target::open(&path, &inputs)?.write(page::render(&runs).as_bytes())?;
            }
            (None, form) => print(&render(&runs, form.unwrap_or(Form::Table)))?,
        }
        Ok(ExitCode::SUCCESS)
    }
}
