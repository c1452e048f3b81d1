//! Where the verdict on a result goes.

use std::path::Path;

use anyhow::{ensure, Context, Result};
use wiregauge_result::requirement::Requirements;
use wiregauge_result::run::Run;
use wiregauge_result::verdict::{overall, RequirementVerdict};
use wiregauge_system::file::Target;

use crate::text::junit;

/// Where the verdict goes, tried out before anything is measured.
#[derive(Default)]
pub struct VerdictTarget {
    requirements: Option<Requirements>,
    junit: Option<Target>,
}

impl VerdictTarget {
    /// The verdict by these requirements, which also goes to a file of JUnit XML where one is
    /// named. That replaces no input. `known` is whether the result itself says what is
    /// required.
    ///
    /// # Errors
    /// When nothing is required of what would be written, or the file cannot be.
    pub fn open(
        requirements: Option<Requirements>,
        junit: Option<&Path>,
        inputs: &[&Path],
        known: bool,
    ) -> Result<VerdictTarget> {
        ensure!(
            junit.is_none() || requirements.is_some() || known,
            "--junit has no effect without --require"
        );
        let junit = junit.map(|path| Target::open(path, inputs)).transpose()?;
        Ok(VerdictTarget { requirements, junit })
    }

    /// Puts down in a run what is required of it.
    pub fn mark(&self, run: &mut Run) {
        if self.requirements.is_some() {
            run.require.clone_from(&self.requirements);
        }
    }

    /// Writes the verdicts on a marked run. Whether all hold; they do where nothing is required.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(self, run: &Run) -> Result<RequirementVerdict> {
        let Some(requirements) = &run.require else { return Ok(RequirementVerdict::Pass) };
        if let Some(target) = self.junit {
            let text = junit::render(run, requirements).context("cannot write JUnit XML")?;
            target.write(text.as_bytes())?;
        }
        Ok(overall(&requirements.check(run)))
    }
}
