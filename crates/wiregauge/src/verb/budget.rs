//! `wiregauge budget`: what a codec takes of a cycle, and how far a vehicle
//! gets meanwhile.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{bail, ensure, Result};
use wiregauge_report::text::budget::{json, render_markdown, terminal, Budget};
use wiregauge_result::run::Run;

use crate::output::{print, width, Form};
use crate::quantity::{rate, speed};

/// Hold a result against a cycle time and a speed.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge budget run.json --rate 10Hz --vehicle-speed 100km/h
  wiregauge budget run.json --rate 100Hz --vehicle-speed 30m/s --format json")]
pub struct Arguments {
    /// A result that wiregauge wrote.
    run: PathBuf,
    /// Messages per second: 10Hz.
    #[arg(long, value_name = "RATE", value_parser = rate)]
    rate: f64,
    /// Speed of the vehicle: 100km/h, 60mph or 30m/s.
    #[arg(long, value_name = "SPEED", value_parser = speed, default_value = "100km/h")]
    vehicle_speed: f64,
    /// Form on standard output.
    #[arg(long, value_enum, default_value = "table")]
    format: Form,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        let run = Run::read(&self.run)?;
        let budget = Budget { rate_hz: self.rate, speed_mps: self.vehicle_speed };
        ensure!(
            !budget.entries(&run).is_empty(),
            "{} has no encode or decode times to hold against a cycle",
            self.run.display()
        );
        print(&match self.format {
            Form::Table => terminal(&run, budget, width()),
            Form::Md => render_markdown(&run, budget),
            Form::Json => json(&run, budget),
            Form::Csv => bail!("budget has no CSV form; use --format json"),
        })?;
        Ok(ExitCode::SUCCESS)
    }
}
