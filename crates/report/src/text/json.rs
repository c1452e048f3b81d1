//! Statistics for scripts. The raw samples are in `run.json` itself.

use serde::Serialize;
use wiregauge_result::explanation::Explanation;
use wiregauge_result::run::{Curve, Run, SlowestSample};
use wiregauge_result::stats::{compare_rows, Comparison, Fit};
use wiregauge_result::verdict::overall;

use crate::model::statistic::{statistics, Statistic};
use crate::model::sweep::sweeps;
use crate::text::plain_text;

/// Name of the form that [`render`] writes.
pub const FORMAT: &str = "wiregauge.statistics";
/// Its version.
pub const VERSION: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    format: &'a str,
    version: u32,
    runs: Vec<Entry<'a>>,
}

#[derive(Serialize)]
struct Entry<'a> {
    title: &'a str,
    kind: &'a str,
    command: &'a [String],
    started: &'a str,
    statistics: Vec<Statistic<'a>>,
    fits: Vec<FitRow<'a>>,
    #[serde(skip_serializing_if = "<[Curve]>::is_empty")]
    curves: &'a [Curve],
    #[serde(skip_serializing_if = "<[SlowestSample]>::is_empty")]
    slowest: &'a [SlowestSample],
    #[serde(skip_serializing_if = "<[Explanation]>::is_empty")]
    explanations: &'a [Explanation],
    /// The rows that are compared with each other.
    #[serde(skip_serializing_if = "Option::is_none")]
    compared: Option<Comparison>,
}

#[derive(Serialize)]
struct FitRow<'a> {
    message: String,
    parameter: String,
    metric: String,
    unit: String,
    subject: &'a str,
    fit: Fit,
}

/// The statistics of each run, one row per case, subject and metric, the linear
/// fits of its sweeps, and its curves, slowest and
/// explanations as they are.
pub fn render(runs: &[Run]) -> String {
    let entries = runs.iter().enumerate().map(|(i, run)| Entry {
        title: &run.title,
        kind: run.kind.name(),
        command: &run.command,
        started: &run.started,
        statistics: statistics(i + 1, run),
        fits: fits(run),
        curves: &run.curves,
        slowest: &run.slowest,
        explanations: &run.explanations,
        compared: compare_rows(run),
    });
    let document = Document { format: FORMAT, version: VERSION, runs: entries.collect() };
    plain_text::to_json(&document)
}

/// One requirement held against one subject on one case.
#[derive(Serialize)]
struct VerdictEntry<'a> {
    requirement: &'a str,
    case: &'a str,
    subject: &'a str,
    verdict: &'a str,
    value: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    unit: Option<&'a str>,
    why: Option<&'a str>,
}

/// The verdicts on what was required of a run, one for each requirement,
/// subject and case, and the one on all.
pub fn render_requirements(run: &Run) -> String {
    #[derive(Serialize)]
    struct Verdicts<'a> {
        format: &'a str,
        version: u32,
        verdict: &'a str,
        findings: Vec<VerdictEntry<'a>>,
    }
    let Some(requirements) = &run.require else { return String::new() };
    let findings = requirements.check(run);
    let judged = findings.iter().map(|finding| VerdictEntry {
        requirement: &requirements.all()[finding.requirement].text,
        case: &finding.case,
        subject: &finding.subject,
        verdict: finding.verdict.name(),
        value: finding.found.as_ref().and_then(|found| found.value),
        low: finding.found.as_ref().and_then(|found| found.low),
        high: finding.found.as_ref().and_then(|found| found.high),
        unit: finding.found.as_ref().map(|found| found.unit.as_str()),
        why: finding.why.as_deref(),
    });
    let document = Verdicts {
        format: "wiregauge.verdicts",
        version: VERSION,
        verdict: overall(&findings).name(),
        findings: judged.collect(),
    };
    plain_text::to_json(&document)
}

fn fits(run: &Run) -> Vec<FitRow<'_>> {
    let mut rows = Vec::new();
    for sweep in sweeps(run) {
        for curves in &sweep.curves {
            rows.extend(curves.lines.iter().filter_map(|line| {
                Some(FitRow {
                    message: sweep.message.clone(),
                    parameter: sweep.parameter.clone(),
                    metric: curves.metric.clone(),
                    unit: curves.unit.clone(),
                    subject: &line.subject.id,
                    fit: line.fit?,
                })
            }));
        }
    }
    rows
}
