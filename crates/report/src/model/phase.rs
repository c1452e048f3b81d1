//! Experiments that consist of phases: populate and write, parse and extract.

use wiregauge_result::run::{parent_metric, Case, Run, Subject};
use wiregauge_result::stats::Summary;

/// An experiment with the phases that some subjects report.
#[derive(Clone, Debug)]
pub struct Phases<'a> {
    /// The experiment: `encode`.
    pub metric: String,
    /// Unit of its figures.
    pub unit: String,
    /// Names of the phases in the order they run in: `populate`, `write`.
    pub names: Vec<String>,
    /// The time that there is for all of them, if the run says so: the fact
    /// `cycle/time` for `cycle`.
    pub budget: Option<f64>,
    /// The subjects that report them, least sum first.
    pub rows: Vec<PhaseRow<'a>>,
}

/// The phases of one subject.
#[derive(Clone, Debug)]
pub struct PhaseRow<'a> {
    /// The subject.
    pub subject: &'a Subject,
    /// Median of each phase; none where the subject lacks it.
    pub parts: Vec<Option<f64>>,
}

impl Phases<'_> {
    /// Share of the budget that a row takes.
    pub fn share(&self, row: &PhaseRow) -> Option<f64> {
        Some(row.sum() / self.budget?)
    }
}

impl PhaseRow<'_> {
    /// The phases together.
    pub fn sum(&self) -> f64 {
        self.parts.iter().flatten().sum()
    }
}

/// The experiments of a case that have phases, in the run's order.
pub fn phases<'a>(run: &'a Run, case: &Case) -> Vec<Phases<'a>> {
    let metrics = run.metrics();
    let of_metric = |metric: &&str| {
        let prefix = format!("{metric}/");
        let keys: Vec<&str> =
            metrics.iter().copied().filter(|key| parent_metric(key) == Some(*metric)).collect();
        let unit = run.measurements.iter().find(|m| m.metric == *metric)?.unit.clone();
        let mut rows: Vec<PhaseRow> =
            run.subjects.iter().filter_map(|subject| row(run, case, subject, &keys)).collect();
        rows.sort_by(|a, b| a.sum().total_cmp(&b.sum()));
        let names = keys.iter().map(|key| key[prefix.len()..].to_owned()).collect();
        let budget = run.facts.iter().find(|f| f.case == case.id && f.metric == budget(metric));
        let budget = budget.map(|fact| fact.value).filter(|time| *time > 0.0);
        let metric = (*metric).to_owned();
        (!rows.is_empty()).then_some(Phases { metric, unit, names, budget, rows })
    };
    metrics.iter().filter_map(of_metric).collect()
}

/// The fact that says how much time there is for an experiment.
pub fn budget(metric: &str) -> String {
    format!("{metric}/time")
}

fn row<'a>(run: &'a Run, case: &Case, subject: &'a Subject, keys: &[&str]) -> Option<PhaseRow<'a>> {
    let median = |key: &&str| {
        Summary::from_measurement(run.measurement(&case.id, &subject.id, key)?)
            .map(|summary| summary.median)
    };
    let parts: Vec<Option<f64>> = keys.iter().map(median).collect();
    parts.iter().any(Option::is_some).then_some(PhaseRow { subject, parts })
}
