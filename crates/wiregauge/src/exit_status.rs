//! The exit statuses of measuring verbs.

use std::process::ExitCode;

use anyhow::Result;
use wiregauge_codec_run::tools::explain_nothing_measured;
use wiregauge_report::result_target::ResultTarget;
use wiregauge_result::run::Run;
use wiregauge_result::verdict::RequirementVerdict;
use wiregauge_system::interrupt;
use wiregauge_system::notice::print_notice;

/// The user interrupted the command.
pub const INTERRUPTED: u8 = 130;

/// What a verdict is as an exit status.
pub fn exit_code(verdict: RequirementVerdict) -> ExitCode {
    ExitCode::from(match verdict {
        RequirementVerdict::Pass => 0,
        RequirementVerdict::Fail => 1,
        RequirementVerdict::CannotTell => 3,
    })
}

/// Writes a result and shows it. The exit status says what became of it, or that the
/// measurement was interrupted. Where no row was measured, nothing can be told.
pub fn write_measured(mut run: Run, outlet: ResultTarget) -> Result<ExitCode> {
    let mut verdict = outlet.write(&mut run)?;
    if interrupt::interrupted() {
        return Ok(ExitCode::from(INTERRUPTED));
    }
    if let Some(why) = explain_nothing_measured(&run) {
        print_notice(&why);
        if verdict == RequirementVerdict::Pass {
            verdict = RequirementVerdict::CannotTell;
        }
    }
    Ok(exit_code(verdict))
}
