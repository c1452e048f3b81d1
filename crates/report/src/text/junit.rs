//! Verdicts as JUnit XML, which systems of continuous integration show.

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use wiregauge_result::requirement::Requirements;
use wiregauge_result::run::Run;
use wiregauge_result::verdict::RequirementVerdict;

use crate::model::requirements::{format_place, format_verdict};

/// One test for each requirement, subject and case; its class is the subject.
/// What cannot be told is an error and no pass.
///
/// # Errors
/// None that a run that was measured could have.
pub fn render(
    run: &Run,
    requirements: &Requirements,
) -> Result<String, quick_junit::SerializeError> {
    let mut suite = TestSuite::new(run.title.clone());
    for finding in requirements.check(run) {
        let words = format_verdict(&finding);
        let mut status = match finding.verdict {
            RequirementVerdict::Pass => TestCaseStatus::success(),
            RequirementVerdict::Fail => TestCaseStatus::non_success(NonSuccessKind::Failure),
            RequirementVerdict::CannotTell => TestCaseStatus::non_success(NonSuccessKind::Error),
        };
        if finding.verdict != RequirementVerdict::Pass {
            status.set_message(words.clone());
            status.set_type(finding.verdict.name());
        }
        let text = &requirements.all()[finding.requirement].text;
        let name = match format_place(run, &finding) {
            Some(place) => format!("{text} ({place})"),
            None => text.clone(),
        };
        let mut case = TestCase::new(name, status);
        case.set_classname(format!("wiregauge.{}.{}", run.kind, finding.subject));
        case.set_system_out(words);
        suite.add_test_case(case);
    }
    let mut report = Report::new("wiregauge");
    report.add_test_suite(suite);
    report.to_string()
}
