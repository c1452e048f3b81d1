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
    /// to standard error [default: run.json].
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Format of what is printed [default: table].
    #[arg(long, value_enum)]
    format: Option<ResultFormat>,
    #[command(flatten)]
    required: RequirementArgs,
}

impl ResultArgs {
    /// Looks whether the result can be kept, and the verdict on it. They replace no input.
    pub fn open(&self, inputs: &[&Path]) -> Result<ResultTarget> {
        let output = self.output.as_deref().unwrap_or(Path::new("run.json"));
        let target = ResultTarget::open(output, self.format(), inputs)?;
        Ok(target.with_verdict(self.required.open(inputs, false)?))
    }

    /// Format of what is printed.
    pub fn format(&self) -> ResultFormat {
        self.format.unwrap_or(ResultFormat::Table)
    }

    /// Whether the user says where the result goes, in what form, or what is required of it.
    pub fn is_given(&self) -> bool {
        self.output.is_some() || self.format.is_some() || self.required.is_given()
    }
}
