//! `wiregauge budget`: what a codec takes of a cycle, and how far a vehicle
//! gets meanwhile.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{bail, ensure, Context, Result};
use wiregauge_report::text::budget::{render_json, render_markdown, render_terminal, Budget};
use wiregauge_result::run::Run;

use crate::output::{print, width, Form};

/// Hold a result against a cycle time and a speed.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge budget run.json --rate 10Hz --speed 100km/h
  wiregauge budget run.json --rate 100Hz --speed 30m/s --format json")]
pub struct Arguments {
    /// A result that wiregauge wrote.
    run: PathBuf,
    /// Messages per second: 10Hz.
    #[arg(long, value_name = "RATE", value_parser = rate)]
    rate: f64,
    /// Speed of the vehicle: 100km/h, 60mph or 30m/s.
    #[arg(long, value_name = "SPEED", value_parser = speed, default_value = "100km/h")]
    speed: f64,
    /// Form on standard output.
    #[arg(long, value_enum, default_value = "table")]
    format: Form,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        let run = Run::read(&self.run)?;
        let budget = Budget { rate_hz: self.rate, speed_mps: self.speed };
        ensure!(
            !budget.entries(&run).is_empty(),
            "{} has no encode or decode times to hold against a cycle",
            self.run.display()
        );
        print(&match self.format {
            Form::Table => render_terminal(&run, budget, width()),
            Form::Md => render_markdown(&run, budget),
            Form::Json => render_json(&run, budget),
            Form::Csv => bail!("budget has no CSV form; use --format json"),
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

fn rate(text: &str) -> Result<f64> {
    positive(text, &[("khz", 1000.0), ("hz", 1.0), ("", 1.0)]).context("wants a rate such as 10Hz")
}

fn speed(text: &str) -> Result<f64> {
    positive(text, &[("km/h", 1.0 / 3.6), ("mph", 0.44704), ("m/s", 1.0)])
        .context("wants a speed such as 100km/h, 60mph or 30m/s")
}

/// A number above 0 with one of these units; the first that fits.
fn positive(text: &str, units: &[(&str, f64)]) -> Result<f64> {
    let text = text.trim().to_lowercase();
    for (unit, factor) in units {
        if let Some(number) = text.strip_suffix(unit) {
            let value = number.trim().parse::<f64>()? * factor;
            ensure!(value > 0.0 && value.is_finite(), "{text} is not above 0");
            return Ok(value);
        }
    }
    bail!("{text} has no known unit")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_understood() {
        assert_eq!(rate("10Hz").unwrap(), 10.0);
        assert_eq!(rate("2 kHz").unwrap(), 2000.0);
        assert_eq!(rate("25").unwrap(), 25.0);
        assert!((speed("100km/h").unwrap() - 27.7778).abs() < 1e-4);
        assert!((speed("60mph").unwrap() - 26.8224).abs() < 1e-9);
        assert!(speed("100").is_err());
        assert!(rate("0Hz").is_err());
        assert!(rate("often").is_err());
    }
}
