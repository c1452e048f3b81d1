//! What the user requires of a result, and where the verdict goes: the arguments for that.

use std::path::{Path, PathBuf};

use anyhow::Result;
use wiregauge_report::verdict_target::VerdictTarget;
use wiregauge_result::requirement::Requirements;

/// What every measuring verb takes.
#[derive(clap::Args)]
pub struct RequirementArgs {
    /// Check the result, such as 'p99.9 latency < 500us, lost = 0'. 'wiregauge verify
    /// --help' says what can be required.
    #[arg(long, value_name = "REQUIREMENT,…")]
    require: Option<Requirements>,
    /// Write the verdicts to this file as JUnit XML.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
}

impl RequirementArgs {
    /// Looks whether the verdicts can be kept; they replace no input. `known` is
    /// whether the result itself says what is required.
    pub fn open(&self, inputs: &[&Path], known: bool) -> Result<VerdictTarget> {
        VerdictTarget::open(self.require.clone(), self.junit.as_deref(), inputs, known)
    }

    /// Whether the user said anything of it.
    pub fn is_given(&self) -> bool {
        self.require.is_some() || self.junit.is_some()
    }
}
