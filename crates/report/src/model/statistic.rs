//! Derived statistics for scripts: one row per case, subject and metric.

use serde::Serialize;
use wiregauge_result::run::{Case, Measurement, Run, Subject};
use wiregauge_result::stats::{Basis, Interval, Summary};

use crate::model::table::{Cell, Column, Table};

/// One figure with everything derived from its samples. Columns that do not
/// apply (a counted figure has no interval) are empty.
#[derive(Clone, Debug, Serialize)]
pub struct Statistic<'a> {
    /// Place of the run among those given, from 1.
    pub run: usize,
    /// Case id.
    pub case: &'a str,
    /// Name of the swept number.
    pub parameter: Option<&'a str>,
    /// Its value.
    pub parameter_value: Option<f64>,
    /// Subject id.
    pub subject: &'a str,
    /// Its name in tables.
    pub title: &'a str,
    /// Whether it is a bound and not a codec.
    pub bound: bool,
    /// Metric.
    pub metric: &'a str,
    /// Unit of all figures but ratios and spreads.
    pub unit: &'a str,
    /// The figure to quote: the median of the process medians, or the count.
    pub value: f64,
    /// Lower end of its 95 % interval.
    pub low: Option<f64>,
    /// Upper end of its 95 % interval.
    pub high: Option<f64>,
    /// What the interval rests on.
    pub basis: Option<Basis>,
    /// In relation to the best of the column, as in the tables.
    pub ratio: Option<f64>,
    /// Lower end of the ratio's interval.
    pub ratio_low: Option<f64>,
    /// Upper end of the ratio's interval.
    pub ratio_high: Option<f64>,
    /// Place in the column, from 1; none for bounds.
    pub rank: Option<usize>,
    /// Whether it cannot be told from what the harness itself costs; no ratio
    /// is given then.
    pub at_floor: bool,
    /// Whether the ratio is a lower bound, as the best is at the floor.
    pub at_least: bool,
    /// Whether the subject reads bytes without checking them.
    pub unchecked: bool,
    /// Mean of all samples.
    pub mean: Option<f64>,
    /// Standard deviation of all samples.
    pub deviation: Option<f64>,
    /// Smallest sample.
    pub min: Option<f64>,
    /// Lower quartile.
    pub lower_quartile: Option<f64>,
    /// Upper quartile.
    pub upper_quartile: Option<f64>,
    /// Largest sample.
    pub max: Option<f64>,
    /// Processes.
    pub processes: Option<usize>,
    /// Samples.
    pub epochs: Option<usize>,
    /// Lost samples.
    pub lost: Option<usize>,
    /// Samples flagged as outliers; they are part of all figures.
    pub outliers: Option<usize>,
    /// Relative spread from process to process.
    pub between: Option<f64>,
    /// Relative spread within a process.
    pub within: Option<f64>,
}

/// Names of the columns, in the order of [`Statistic`]'s fields.
#[rustfmt::skip]
pub const COLUMNS: [&str; 32] = [
    "run", "case", "parameter", "parameter_value", "subject", "title", "bound", "metric", "unit",
    "value", "low", "high", "basis", "ratio", "ratio_low", "ratio_high", "rank",
    "at_floor", "at_least", "unchecked", "mean", "deviation", "min", "lower_quartile", "upper_quartile", "max", "processes", "epochs", "lost",
    "outliers", "between", "within",
];

/// All statistics of a run, which is the `number`th of those given.
pub fn statistics(number: usize, run: &Run) -> Vec<Statistic<'_>> {
    let mut statistics = Vec::new();
    for case in &run.cases {
        let blank = |subject, metric, unit| Statistic::blank(number, case, subject, metric, unit);
        let kinds =
            [Table::timings, Table::sizes, Table::compression, Table::counts, Table::robustness];
        let tables = kinds.map(|table| table(run, case));
        for (i, table) in tables.iter().enumerate() {
            for (place, column) in table.columns.iter().enumerate() {
                // The first table shows the size too.
                if i == 0 && !column.sampled {
                    continue;
                }
                let (metric, unit) = names(run, case, column);
                statistics.extend(
                    table
                        .cells(place)
                        .map(|(subject, cell)| blank(subject, metric, unit).with_cell(cell)),
                );
            }
        }
        let is_phase = |m: &&Measurement| {
            m.case == case.id && tables.iter().all(|table| table.column(&m.metric).is_none())
        };
        for measurement in run.measurements.iter().filter(is_phase) {
            let subject = run.subject(&measurement.subject);
            if let (Some(subject), Some(summary)) =
                (subject, Summary::from_measurement(measurement))
            {
                let row = blank(subject, &measurement.metric, &measurement.unit);
                statistics.push(row.with_summary(&summary));
            }
        }
    }
    statistics
}

/// A column's metric and unit, as the run owns them.
fn names<'a>(run: &'a Run, case: &Case, column: &Column) -> (&'a str, &'a str) {
    let measured = run.measurements.iter().map(|m| (&m.case, &m.metric, &m.unit));
    let counted = run.facts.iter().map(|f| (&f.case, &f.metric, &f.unit));
    measured
        .chain(counted)
        .find(|(of, metric, _)| **of == case.id && **metric == column.metric)
        .map_or(("", ""), |(_, metric, unit)| (metric, unit))
}

impl<'a> Statistic<'a> {
    fn blank(
        run: usize,
        case: &'a Case,
        subject: &'a Subject,
        metric: &'a str,
        unit: &'a str,
    ) -> Statistic<'a> {
        Statistic {
            run,
            case: &case.id,
            parameter: case.parameter.as_ref().map(|parameter| parameter.name.as_str()),
            parameter_value: case.parameter.as_ref().map(|parameter| parameter.value),
            subject: &subject.id,
            title: &subject.title,
            bound: subject.bound,
            metric,
            unit,
            value: 0.0,
            low: None,
            high: None,
            basis: None,
            ratio: None,
            ratio_low: None,
            ratio_high: None,
            rank: None,
            at_floor: false,
            at_least: false,
            unchecked: subject.unchecked,
            mean: None,
            deviation: None,
            min: None,
            lower_quartile: None,
            upper_quartile: None,
            max: None,
            processes: None,
            epochs: None,
            lost: None,
            outliers: None,
            between: None,
            within: None,
        }
    }

    fn with_cell(self, cell: &Cell) -> Statistic<'a> {
        let ends = |interval: Option<Interval>| interval.map(|i| (i.low, i.high)).unzip();
        let (ratio_low, ratio_high) = ends(cell.ratio_interval);
        let (ratio, rank) = (cell.ratio, cell.rank);
        let Cell { value, at_floor, at_least, .. } = *cell;
        let row =
            Statistic { value, ratio, ratio_low, ratio_high, rank, at_floor, at_least, ..self };
        match &cell.summary {
            Some(summary) => row.with_summary(summary),
            None => row,
        }
    }

    fn with_summary(self, summary: &Summary) -> Statistic<'a> {
        Statistic {
            value: summary.median,
            low: summary.interval.map(|interval| interval.low),
            high: summary.interval.map(|interval| interval.high),
            basis: summary.interval.map(|interval| interval.basis),
            mean: Some(summary.mean),
            deviation: Some(summary.deviation),
            min: Some(summary.min),
            lower_quartile: Some(summary.lower_quartile),
            upper_quartile: Some(summary.upper_quartile),
            max: Some(summary.max),
            processes: Some(summary.processes),
            epochs: Some(summary.epochs),
            lost: Some(summary.lost),
            outliers: Some(summary.outliers.len()),
            between: summary.between,
            within: Some(summary.within),
            ..self
        }
    }
}
