//! What the user requires of a result, and where the verdict goes.

use std::path::{Path, PathBuf};

use anyhow::{ensure, Context, Result};
use wiregauge_report::text::junit;
use wiregauge_result::requirement::Requirements;
use wiregauge_result::run::Run;
use wiregauge_result::verdict::{overall, RequirementVerdict};
use wiregauge_system::file::Target;

/// Exit status when a requirement does not hold.
pub const FAILED: u8 = 1;
/// Exit status when it cannot be told whether all hold.
pub const UNDECIDED: u8 = 3;

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

/// Where the verdict goes, tried out before anything is measured.
pub struct VerdictTarget {
    requirements: Option<Requirements>,
    junit: Option<Target>,
}

impl RequirementArgs {
    /// Looks whether the verdicts can be kept; they replace no input. `known` is
    /// whether the result itself says what is required.
    pub fn open(&self, inputs: &[&Path], known: bool) -> Result<VerdictTarget> {
        ensure!(
            self.junit.is_none() || self.require.is_some() || known,
            "--junit has no effect without --require"
        );
        let junit = self.junit.as_deref().map(|path| Target::open(path, inputs)).transpose()?;
        Ok(VerdictTarget { requirements: self.require.clone(), junit })
    }

    /// Whether the user said anything of it.
    pub fn is_given(&self) -> bool {
        self.require.is_some() || self.junit.is_some()
    }
}

impl VerdictTarget {
    /// Puts down in a run what is required of it.
    pub fn mark(&self, run: &mut Run) {
        if self.requirements.is_some() {
            run.require.clone_from(&self.requirements);
        }
    }

    /// Writes the verdicts on a marked run. The status is 0 if all hold.
    pub fn write(self, run: &Run) -> Result<u8> {
        let Some(requirements) = &run.require else { return Ok(0) };
        if let Some(target) = self.junit {
            let text = junit::render(run, requirements).context("cannot write JUnit XML")?;
            target.write(text.as_bytes())?;
        }
        Ok(match overall(&requirements.check(run)) {
            RequirementVerdict::Pass => 0,
            RequirementVerdict::Fail => FAILED,
            RequirementVerdict::CannotTell => UNDECIDED,
        })
    }
}
