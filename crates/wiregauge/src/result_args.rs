//! Where a result goes: the arguments for that.

use std::path::{Path, PathBuf};

use anyhow::Result;
use wiregauge_report::result_target::ResultTarget;
use wiregauge_report::text::ResultFormat;

use crate::requirement_args::RequirementArgs;

/// Where a result goes, in what form it is printed, and what is required of it.
#[derive(clap::Args)]
pub struct ResultArgs {
    /// Write the result here. With -, the result goes to standard output and the table
    /// to standard error.
    #[arg(short, long, value_name = "PATH", default_value = "run.json")]
    output: PathBuf,
    /// Format of what is printed.
    #[arg(long, value_enum, default_value = "table")]
    pub format: ResultFormat,
    #[command(flatten)]
    required: RequirementArgs,
}

impl ResultArgs {
    /// Looks whether the result can be kept, and the verdict on it. They replace no input.
    pub fn open(&self, inputs: &[&Path]) -> Result<ResultTarget> {
        let target = ResultTarget::open(&self.output, self.format, inputs)?;
        Ok(target.with_verdict(self.required.open(inputs, false)?))
    }
}
