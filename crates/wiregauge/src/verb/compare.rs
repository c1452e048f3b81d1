//! `wiregauge compare`: what changed between two results.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{ensure, Context, Result};
use wiregauge_report::text::compare as rendering;
use wiregauge_result::run::Run;
use wiregauge_result::stats::{compare, ChangeVerdict, Limits};

use crate::output::{print, width, Form};

/// Compare two results: a verdict per cell, with its interval.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge compare before.json after.json
  wiregauge compare before.json after.json --fail-above 10%
      for CI: exit status 1 when a cell got slower
  wiregauge compare before.json after.json --fail-above 10% --fail-unsure
      when that cannot be told, too

A cell is slower or faster where its whole interval lies beyond the threshold,
without difference where it lies within, and else cannot be told. Measure with
--processes 10 or more for that.")]
pub struct Arguments {
    /// The result to compare with.
    base: PathBuf,
    /// The result to judge.
    new: PathBuf,
    /// Smallest slowdown that counts, and that makes the exit status 1.
    #[arg(long, value_name = "SHARE", value_parser = share)]
    fail_above: Option<f64>,
    /// Make the exit status 1 where the data cannot tell, too.
    #[arg(long)]
    fail_unsure: bool,
    /// Show the cells without a difference too.
    #[arg(long)]
    all: bool,
    /// Form on standard output.
    #[arg(long, value_enum, default_value = "table")]
    format: Form,
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
            !comparison.cells.is_empty(),
            "{} and {} have no cell in common: they measured different messages or codecs",
            self.base.display(),
            self.new.display()
        );
        print(&match self.format {
            Form::Table => rendering::render_terminal(&base, &new, &comparison, self.all, width()),
            Form::Md => rendering::render_markdown(&base, &new, &comparison, self.all),
            Form::Json => rendering::render_json(&comparison),
            Form::Csv => anyhow::bail!("compare has no CSV form; use --format json"),
        })?;
        let unsure = self.fail_unsure && comparison.count(ChangeVerdict::CannotTell) > 0;
        let failed = unsure || self.fail_above.is_some() && comparison.regressed();
        Ok(ExitCode::from(u8::from(failed)))
    }
}

/// `5%` or `0.05`.
fn share(text: &str) -> Result<f64> {
    let (number, scale) = match text.strip_suffix('%') {
        Some(number) => (number, 100.0),
        None => (text, 1.0),
    };
    let share = number.trim().parse::<f64>().context("wants a share such as 5%")? / scale;
    ensure!(share > 0.0 && share.is_finite(), "wants a share above 0, such as 5%");
    Ok(share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_percent_or_plain() {
        assert_eq!(share("5%").unwrap(), 0.05);
        assert_eq!(share("0.1").unwrap(), 0.1);
        assert!(share("0%").is_err());
        assert!(share("-3%").is_err());
        assert!(share("fast").is_err());
    }
}
