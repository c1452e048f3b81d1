//! `wiregauge compare`: what changed between two results.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{ensure, Context, Result};
use wiregauge_report::text::compare as rendering;
use wiregauge_report::text::ResultFormat;
use wiregauge_result::run::Run;
use wiregauge_result::stats::{compare, ChangeVerdict, Limits};
use wiregauge_system::output::{line_width, print};

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
        print(&match self.format {
            ResultFormat::Table => {
                rendering::render_terminal(&base, &new, &comparison, self.all_cells, line_width())
            }
            ResultFormat::Md => {
                rendering::render_markdown(&base, &new, &comparison, self.all_cells)
            }
            ResultFormat::Json => rendering::render_json(&comparison),
            ResultFormat::Csv => anyhow::bail!("compare has no CSV form; use --format json"),
        })?;
        let unsure = self.fail_unsure && comparison.count(ChangeVerdict::CannotTell) > 0;
        let failed = unsure || self.fail_above.is_some() && comparison.regressed();
        Ok(ExitCode::from(u8::from(failed)))
    }
}

/// `5%` or `0.05`.
fn parse_share(text: &str) -> Result<f64> {
    let (number, scale) = match text.strip_suffix('%') {
        Some(number) => (number, 100.0),
        None => (text, 1.0),
    };
    let share = number.trim().parse::<f64>().context("write a share such as 5%")? / scale;
    ensure!(share > 0.0 && share.is_finite(), "write a share above 0, such as 5%");
    Ok(share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_percent_or_plain() {
        assert_eq!(parse_share("5%").unwrap(), 0.05);
        assert_eq!(parse_share("0.1").unwrap(), 0.1);
        assert!(parse_share("0%").is_err());
        assert!(parse_share("-3%").is_err());
        assert!(parse_share("fast").is_err());
    }
}
