//! `wiregauge doctor`: what on this machine will spoil figures.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{bail, Result};
use wiregauge_result::doctor::{examine, render};
use wiregauge_result::environment::Environment;

use crate::output::{print, Form};
use crate::{installed, tools};

/// Show what on this machine disturbs measurements, and how to fix it.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge doctor
  wiregauge doctor --format json")]
pub struct Arguments {
    /// Format of what is printed: table or json.
    #[arg(long, value_enum, default_value = "table")]
    format: Form,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        let mut environment = Environment::probe(tools::versions());
        // Steal and other load show only over time.
        std::thread::sleep(Duration::from_secs(1));
        environment.finish();
        let mut findings = vec![installed::release(&environment)];
        findings.extend(examine(&environment, &tools::missing_for_any()));
        findings.extend(installed::found());
        print(&match self.format {
            Form::Json => serde_json::to_string_pretty(&findings)?,
            Form::Table => render(&findings),
            Form::Md | Form::Csv => bail!("doctor has no such form; use --format json"),
        })?;
        Ok(ExitCode::SUCCESS)
    }
}
