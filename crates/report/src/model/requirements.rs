//! What was required of a result and what became of it.

use wiregauge_result::requirement::{Requirement, Requirements};
use wiregauge_result::run::Run;
use wiregauge_result::verdict::{overall, RequirementFinding, RequirementVerdict};

use crate::model::number_format::format_quantity;

/// How many subjects are named that do not pass.
const NAMED: usize = 10;

/// One requirement with its verdict on all subjects and cases.
#[derive(Clone, Debug, PartialEq)]
pub struct RequirementRow {
    /// The requirement, as the user wrote it.
    pub text: String,
    /// The worst verdict.
    pub verdict: RequirementVerdict,
    /// Subjects and cases of which it holds.
    pub held: usize,
    /// Subjects and cases that it is about.
    pub of: usize,
    /// Who does not pass, and why: the first few.
    pub others: Vec<String>,
}

/// The verdicts on what a run was measured for; empty where nothing was
/// required.
pub fn requirement_rows(run: &Run) -> Vec<RequirementRow> {
    let Some(requirements) = &run.require else { return Vec::new() };
    rows_of_findings(run, requirements, &requirements.check(run))
}

/// These findings, a row for each requirement.
pub fn rows_of_findings(
    run: &Run,
    requirements: &Requirements,
    findings: &[RequirementFinding],
) -> Vec<RequirementRow> {
    let row = |(index, requirement): (usize, &Requirement)| {
        let own: Vec<RequirementFinding> =
            findings.iter().filter(|f| f.requirement == index).cloned().collect();
        let held = own.iter().filter(|f| f.verdict == RequirementVerdict::Pass).count();
        let worst_first = [RequirementVerdict::Fail, RequirementVerdict::CannotTell];
        let others = worst_first
            .into_iter()
            .flat_map(|verdict| own.iter().filter(move |f| f.verdict == verdict));
        let mut others: Vec<String> = others.map(|finding| format_finding(run, finding)).collect();
        if others.len() > NAMED {
            let more = others.len() - NAMED;
            others.truncate(NAMED);
            others.push(format!("and {more} more"));
        }
        RequirementRow {
            text: requirement.text.clone(),
            verdict: overall(&own),
            held,
            of: own.len(),
            others,
        }
    };
    requirements.all().iter().enumerate().map(row).collect()
}

/// `zenoh at 500 B: fail, 612 µs (590 µs … 660 µs)`.
pub fn format_finding(run: &Run, finding: &RequirementFinding) -> String {
    let said = format_verdict(finding);
    match format_place(run, finding) {
        Some(place) => format!("{place}: {said}"),
        None => said,
    }
}

/// The verdict with what it rests on.
pub fn format_verdict(finding: &RequirementFinding) -> String {
    let mut text = finding.verdict.name().to_owned();
    if let Some(found) = &finding.found {
        let figure = |value: f64| format_quantity(value, &found.unit);
        match (found.value, found.low, found.high) {
            (Some(value), Some(low), Some(high)) if low == high => {
                text.push_str(&format!(", {}", figure(value)));
            }
            (value, low, high) => {
                let value = value.map_or("not known".into(), figure);
                let end = |end: Option<f64>| end.map_or("?".into(), figure);
                text.push_str(&format!(", {value} ({} … {})", end(low), end(high)));
            }
        }
    }
    if let Some(why) = &finding.why {
        text.push_str(&format!(": {why}"));
    }
    text
}

/// What a finding is about: `zenoh at 500 B`; none if about the whole run.
pub fn format_place(run: &Run, finding: &RequirementFinding) -> Option<String> {
    match (finding.subject.is_empty(), run.cases.len()) {
        (true, _) => None,
        (_, ..=1) => Some(finding.subject.clone()),
        _ => Some(format!("{} at {}", finding.subject, finding.case)),
    }
}
