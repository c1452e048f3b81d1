//! `wiregauge compare`: what changed between two results.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{ensure, Context, Result};
use wiregauge_report::text::compare as rendering;
use wiregauge_report::text::ResultFormat;
use wiregauge_result::run::Run;
use wiregauge_result::stats::{compare, ChangeVerdict, Limits};
use wiregauge_system::output::{line_width, print};
use wiregauge_system::quantity::parse_share;

/// Compare two results: a verdict for each cell, with its interval.
#[derive(clap::Args)]
#[command(after_help = "\
A cell is slower or faster where its whole interval lies beyond the threshold,
without difference where it lies within, and else cannot be told. Measure with
--processes 10 or more for that.

Examples:
  wiregauge compare before.json after.json
  wiregauge compare before.json after.json --fail-above 10%
      for CI: exit status 1 when a cell got slower
  wiregauge compare before.json after.json --fail-above 10% --fail-unsure
      when that cannot be told, too")]
pub struct Arguments {
    /// The result to compare with.
    base: PathBuf,
    /// The result to judge.
    new: PathBuf,
    /// Smallest slowdown that counts: 5%, 0.05. It makes the exit status 1.
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    fail_above: Option<f64>,
    /// Make the exit status 1 also if the data cannot tell.
    #[arg(long)]
    fail_unsure: bool,
    /// Also show the cells without a difference.
    #[arg(long)]
    all_cells: bool,
    /// Format of what is printed.
    #[arg(long, value_enum, default_value = "table")]
    format: ResultFormat,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        let (base, new) = (Run::read(&self.base)?, Run::read(&self.new)?);
        let mut limits = Limits::default();
        if let Some(threshold) = self.fail_above {
            limits.threshold = threshold;
        }
        let comparison = compare(&base, &new, limits);
        ensure!(
            !comparison.cells.is_empty() || comparison.counted,
            "{} and {} cannot be compared: they measured different messages or codecs",
            self.base.display(),
            self.new.display()
        );
        let (form, all) = (self.format, self.all_cells);
        let text = rendering::render(&base, &new, &comparison, form, all, line_width());
        print(&text.context("compare has no CSV form; use --format json")?)?;
        let unsure = self.fail_unsure && comparison.count(ChangeVerdict::CannotTell) > 0;
        let failed = unsure || self.fail_above.is_some() && comparison.regressed();
        Ok(ExitCode::from(u8::from(failed)))
    }
}
