//! Where a result goes: its file, its table on standard output, and the verdict on it.

use std::io::Write;
use std::path::Path;

use anyhow::{ensure, Result};
use wiregauge_result::run::{Run, Status};
use wiregauge_result::stats::{compare_rows, missing_rows};
use wiregauge_result::verdict::RequirementVerdict;
use wiregauge_result::warning;
use wiregauge_system::file::Target;
use wiregauge_system::notice::print_notice;
use wiregauge_system::output::{line_width, print};

use crate::text::{render, ResultFormat};
use crate::verdict_target::VerdictTarget;

/// Where a result goes, tried out before anything is measured.
pub struct ResultTarget {
    target: Target,
    form: ResultFormat,
    judge: VerdictTarget,
}

impl ResultTarget {
    /// Looks whether the result can be kept there, where it replaces no input. It is shown in
    /// a form.
    ///
    /// # Errors
    /// When it cannot be kept.
    pub fn open(output: &Path, form: ResultFormat, inputs: &[&Path]) -> Result<ResultTarget> {
        let target = Target::open(output, inputs)?;
        Ok(ResultTarget { target, form, judge: VerdictTarget::default() })
    }

    /// The same with a verdict on the result.
    pub fn with_verdict(self, judge: VerdictTarget) -> ResultTarget {
        ResultTarget { judge, ..self }
    }

    /// Where `--samples` go: none of `inputs`, and not where the result goes.
    ///
    /// # Errors
    /// When they cannot be kept there.
    pub fn samples(&self, path: Option<&Path>, inputs: &[&Path]) -> Result<Option<Target>> {
        let Some(path) = path else { return Ok(None) };
        let target = Target::open(path, inputs)?;
        ensure!(!target.is_output(), "--samples cannot be written to standard output; name a file");
        ensure!(
            !self.target.is_same(&target),
            "{} is already the file of the result; name another file for --samples",
            target.display_name()
        );
        Ok(Some(target))
    }

    /// Writes a result to its file and shows it, whatever becomes of the file. It fails if a
    /// subject failed, be it on one case only, or a requirement does not hold.
    ///
    /// # Errors
    /// When something cannot be written; a result that has no file then is kept elsewhere.
    pub fn write(self, run: &mut Run) -> Result<RequirementVerdict> {
        let ResultTarget { target, form, judge } = self;
        judge.mark(run);
        let table = render(std::slice::from_ref(run), form, line_width());
        let (shown, to_output) = (target.display_name().to_owned(), target.is_output());
        let written = target.write(run.text()?.as_bytes());
        // Standard output belongs to the result, if it was asked for there.
        let printed = if to_output {
            print_notice(&table);
            Ok(())
        } else {
            print(&table)
        };
        if let Err(error) = written {
            return Err(save_elsewhere(run, error));
        }
        printed?;
        if !to_output {
            print_notice(&format!(
                "result written to {shown}; 'wiregauge report {shown} -o report.html' makes a \
                 page from it"
            ));
        }
        let failed = run.subjects.iter().any(|s| matches!(s.status, Status::Failed(_)))
            || run.warnings.iter().any(|warning| warning.code == warning::FAILED);
        let verdict = judge.write(run)?;
        Ok(match (failed, verdict, verdict_on_rows(run)) {
            (true, ..) | (_, _, RequirementVerdict::Fail) => RequirementVerdict::Fail,
            (_, RequirementVerdict::Pass, compared) => compared,
            (_, verdict, _) => verdict,
        })
    }
}

/// Whether the rows that are compared are as they were, where the command is to fail if not.
fn verdict_on_rows(run: &Run) -> RequirementVerdict {
    let is_judged = run.compared.as_ref().is_some_and(|compared| compared.fail_above.is_some());
    match compare_rows(run).filter(|_| is_judged) {
        Some(comparison) if comparison.regressed() => RequirementVerdict::Fail,
        Some(_) if !missing_rows(run).is_empty() => RequirementVerdict::CannotTell,
        _ => RequirementVerdict::Pass,
    }
}

/// Keeps a result that could not be written where it was wanted.
fn save_elsewhere(run: &Run, error: anyhow::Error) -> anyhow::Error {
    let kept = || {
        let file = tempfile::Builder::new().prefix("wiregauge-").suffix(".json").tempfile().ok()?;
        file.as_file().write_all(run.text().ok()?.as_bytes()).ok()?;
        Some(file.keep().ok()?.1)
    };
    match kept() {
        Some(path) => {
            error.context(format!("the result was written to {} instead", path.display()))
        }
        None => error.context("the result is lost"),
    }
}
