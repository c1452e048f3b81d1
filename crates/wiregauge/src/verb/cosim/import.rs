//! `wiregauge cosim import`: performance logs of other people's FMUs.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;

use crate::output::Form;

/// Make a result of the performance logs that FMUs have written.
#[derive(clap::Args)]
pub struct Arguments {
    /// Logs of sources and models, in any order.
    #[arg(required = true, value_name = "LOG")]
    logs: Vec<PathBuf>,
    /// Write the result here.
    #[arg(short, long, value_name = "FILE", default_value = "run.json")]
    output: PathBuf,
    /// Form on standard output.
    #[arg(long, value_enum, default_value = "table")]
    format: Form,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        anyhow::bail!("not there yet")
    }
}
