//! `wiregauge doctor`: what on this machine will spoil figures.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{bail, Result};
use wiregauge_codec_run::installed_program::find_installations;
use wiregauge_codec_run::{installed_libraries, tools};
use wiregauge_report::text::ResultFormat;
use wiregauge_result::doctor::{examine, render};
use wiregauge_result::environment::Environment;
use wiregauge_system::notice::print_notice;
use wiregauge_system::output::print;

/// Show what on this machine disturbs measurements, and how to fix it.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge doctor
  wiregauge doctor --format json
  wiregauge doctor --fix-hints
      the command that installs what rows need and this machine lacks")]
pub struct Arguments {
    /// Format of what is printed: table or json.
    #[arg(long, value_enum, default_value = "table")]
    format: ResultFormat,
    /// Print only the command that installs what is missing, for apt.
    #[arg(long, conflicts_with = "format")]
    fix_hints: bool,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        if self.fix_hints {
            match tools::install_command() {
                Some(command) => print(&format!("{command}\n"))?,
                None => print_notice("nothing is missing"),
            }
            return Ok(ExitCode::SUCCESS);
        }
        let mut environment = Environment::probe(tools::versions());
        // Steal and other load show only over time.
        std::thread::sleep(Duration::from_secs(1));
        environment.finish();
        let mut findings = vec![installed_libraries::system_release(&environment)];
        findings.extend(find_installations());
        findings.extend(examine(&environment, &tools::missing_for_any()));
        findings.extend(installed_libraries::find_libraries());
        print(&match self.format {
            ResultFormat::Json => serde_json::to_string_pretty(&findings)?,
            ResultFormat::Table => render(&findings),
            ResultFormat::Md | ResultFormat::Csv => {
                bail!("doctor does not have this format; use --format json")
            }
        })?;
        Ok(ExitCode::SUCCESS)
    }
}
