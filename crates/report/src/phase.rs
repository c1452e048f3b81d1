//! Experiments that consist of phases: populate and write, parse and extract.

use wiregauge_gauge::run::{Case, Run, Subject};
use wiregauge_gauge::stats::Summary;

/// An experiment with the phases that some subjects report.
#[derive(Clone, Debug)]
pub struct Phases<'a> {
    /// The experiment: `encode`.
    pub metric: String,
    /// Unit of its figures.
    pub unit: String,
    /// Names of the phases in the order they run in: `populate`, `write`.
    pub names: Vec<String>,
    /// The subjects that report them, least sum first.
    pub rows: Vec<Row<'a>>,
}

/// The phases of one subject.
#[derive(Clone, Debug)]
pub struct Row<'a> {
    /// The subject.
    pub subject: &'a Subject,
    /// Median of each phase; none where the subject lacks it.
    pub parts: Vec<Option<f64>>,
}

impl Row<'_> {
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
            metrics.iter().copied().filter(|key| key.starts_with(&prefix)).collect();
        let unit = run.measurements.iter().find(|m| m.metric == *metric)?.unit.clone();
        let mut rows: Vec<Row> =
            run.subjects.iter().filter_map(|subject| row(run, case, subject, &keys)).collect();
        rows.sort_by(|a, b| a.sum().total_cmp(&b.sum()));
        let names = keys.iter().map(|key| key[prefix.len()..].to_owned()).collect();
        (!rows.is_empty()).then(|| Phases { metric: (*metric).to_owned(), unit, names, rows })
    };
    metrics.iter().filter_map(of_metric).collect()
}

fn row<'a>(run: &'a Run, case: &Case, subject: &'a Subject, keys: &[&str]) -> Option<Row<'a>> {
    let median = |key: &&str| {
        Summary::of(run.measurement(&case.id, &subject.id, key)?).map(|summary| summary.median)
    };
    let parts: Vec<Option<f64>> = keys.iter().map(median).collect();
    parts.iter().any(Option::is_some).then_some(Row { subject, parts })
}
