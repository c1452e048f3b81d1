//! A case as a table: subjects down, metrics across.

use wiregauge_result::run::{
    is_footprint, is_size, parent_metric, Case, Measurement, Run, Subject,
};
use wiregauge_result::run_kind::RunKind;
use wiregauge_result::stats::{Interval, Ratio, Summary};

use crate::model::figure::{definition, is_detail};
use crate::model::floor::Floors;
use crate::model::number_format;

/// What instructions begin with in a result, those of a message and those of an element of
/// its list; the experiment follows.
const INSTRUCTIONS: [&str; 2] = ["instructions/", "instructions-per-element/"];

/// A table of one case.
#[derive(Clone, Debug)]
pub struct Table<'a> {
    /// What was measured on.
    pub case: &'a Case,
    /// What its figures are, where the columns do not say it.
    pub heading: &'static str,
    /// Metrics that at least one subject has.
    pub columns: Vec<Column>,
    /// Subjects that have at least one figure: fastest first, bounds last.
    pub rows: Vec<TableRow<'a>>,
}

/// A metric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its key, such as `encode` or `size/lz4`.
    pub metric: String,
    /// Unit of its figures.
    pub unit: String,
    /// Whether it is sampled (a measurement) or counted (a fact).
    pub sampled: bool,
    /// Whether less is better, so that there is a best one to relate to.
    pub ranked: bool,
}

impl Column {
    /// What stands above it: the metric, or the experiment where the table's heading says
    /// what is counted.
    pub fn head(&self) -> &str {
        let experiment = INSTRUCTIONS.iter().find_map(|name| self.metric.strip_prefix(name));
        experiment.unwrap_or(&self.metric)
    }
}

/// A subject.
#[derive(Clone, Debug)]
pub struct TableRow<'a> {
    /// The subject.
    pub subject: &'a Subject,
    /// One cell for each column.
    pub cells: Vec<Option<Cell>>,
}

/// A figure.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The figure to quote, in the column's unit: the median of the process
    /// medians, or what was counted.
    pub value: f64,
    /// The statistics of the samples, if the metric is sampled.
    pub summary: Option<Summary>,
    /// The figure in relation to the best one that is not a bound.
    pub ratio: Option<f64>,
    /// Where the true ratio lies, Bonferroni-corrected for the column's rows.
    pub ratio_interval: Option<Interval>,
    /// Whether the data leave it open if this or the best one is better.
    pub open: bool,
    /// Place in the column, from 1; none for bounds. All at the floor share
    /// the first.
    pub rank: Option<usize>,
    /// Whether it cannot be told from what the harness itself costs.
    pub at_floor: bool,
    /// Whether the ratio is a lower bound, as the best one is at the floor.
    pub at_least: bool,
}

impl Cell {
    /// The ratio as people read it: `1.35×`, `≥ 3.3×`, or `floor`.
    pub fn relation(&self) -> Option<String> {
        if self.at_floor {
            return Some("floor".to_owned());
        }
        let least = if self.at_least { "≥ " } else { "" };
        self.ratio.map(|ratio| format!("{least}{}", number_format::format_ratio(ratio)))
    }
}

impl Cell {
    /// Whether there are too few samples to tell this one from the best at all,
    /// however much they differ.
    pub fn has_too_few_samples(&self) -> bool {
        self.open && self.rank != Some(1) && self.summary.is_some() && self.ratio_interval.is_none()
    }
}

impl<'a> Table<'a> {
    /// The experiments and the encoded size.
    pub fn timings(run: &'a Run, case: &'a Case) -> Table<'a> {
        let metrics = run.metrics();
        let experiment = |metric: &str| {
            !is_phase(&metrics, metric) && !is_compression(metric) && !is_window(metric)
        };
        let mut columns = sampled_columns(run, case, experiment);
        columns.extend(counted_columns(run, case, |metric| metric == "size"));
        Table::from_columns(run, case, columns)
    }

    /// The phases of the experiments, each a column.
    pub fn phases(run: &'a Run, case: &'a Case) -> Table<'a> {
        let metrics = run.metrics();
        Table::from_columns(
            run,
            case,
            sampled_columns(run, case, |metric| is_phase(&metrics, metric)),
        )
    }

    /// Sizes as encoded and after each compressor.
    pub fn sizes(run: &'a Run, case: &'a Case) -> Table<'a> {
        Table::from_columns(run, case, counted_columns(run, case, is_size))
    }

    /// What the compressors took: `compress/…` and `decompress/…`.
    pub fn compression(run: &'a Run, case: &'a Case) -> Table<'a> {
        Table::from_columns(run, case, sampled_columns(run, case, is_compression))
    }

    /// What became of corrupted input: `corrupt/…`.
    pub fn robustness(run: &'a Run, case: &'a Case) -> Table<'a> {
        Table::from_columns(run, case, unranked(counted_columns(run, case, is_robustness)))
    }

    /// Instructions of each experiment, of a message.
    pub fn instructions(run: &'a Run, case: &'a Case) -> Table<'a> {
        let counted = |metric: &str| metric.starts_with(INSTRUCTIONS[0]);
        let table = Table::from_columns(run, case, counted_columns(run, case, counted));
        Table { heading: "instructions of a message", ..table }
    }

    /// The same of an element of the message's list, where it has one.
    pub fn instructions_per_element(run: &'a Run, case: &'a Case) -> Table<'a> {
        let counted = |metric: &str| {
            let experiment = metric.strip_prefix(INSTRUCTIONS[1]);
            // These read one number, however many elements there are.
            experiment.is_some_and(|name| !["fixed", "element"].contains(&name))
        };
        let columns = unranked(counted_columns(run, case, counted));
        Table { heading: "instructions of an element", ..Table::from_columns(run, case, columns) }
    }

    /// Every other counted figure: allocations.
    pub fn counts(run: &'a Run, case: &'a Case) -> Table<'a> {
        let other = |metric: &str| {
            !is_size(metric)
                && !is_robustness(metric)
                && !is_instructions(metric)
                && !is_footprint(metric)
        };
        Table::from_columns(run, case, unranked(counted_columns(run, case, other)))
    }

    /// The same without what a short table does without. Of points all of it has a table
    /// of its own.
    pub fn main_counts(run: &'a Run, case: &'a Case) -> Table<'a> {
        if run.kind == RunKind::Points {
            return Table::from_columns(run, case, Vec::new());
        }
        let all = Table::counts(run, case);
        let main = |column: &Column| !is_detail(&column.metric);
        Table::from_columns(run, case, all.columns.into_iter().filter(main).collect())
    }

    /// All that was counted, unranked.
    pub fn facts(run: &Run, case: &Case) -> Vec<Column> {
        unranked(counted_columns(run, case, |_| true))
    }

    /// Metrics of the columns whose sum sorts the rows, the lowest first.
    pub fn sort_columns(&self) -> Vec<&str> {
        let places = sort_places(&self.columns).into_iter();
        places.filter_map(|place| Some(self.columns.get(place)?.metric.as_str())).collect()
    }

    /// Whether there is nothing to show.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() || self.columns.is_empty()
    }

    /// Whether a codec's figure is at the floor.
    pub fn has_floor(&self) -> bool {
        let codecs = self.rows.iter().filter(|row| !row.subject.bound);
        codecs.flat_map(|row| row.cells.iter().flatten()).any(|cell| cell.at_floor)
    }

    /// Position of a metric's column.
    pub fn column(&self, metric: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.metric == metric)
    }

    /// The cells of a column with their subjects.
    pub fn cells(&self, column: usize) -> impl Iterator<Item = (&'a Subject, &Cell)> {
        self.rows.iter().filter_map(move |row| Some((row.subject, row.cells[column].as_ref()?)))
    }

    /// The subjects that share the first place of a column: the best and those
    /// that the data cannot tell from it.
    pub fn winners(&self, column: usize) -> Vec<(&'a Subject, &Cell)> {
        let mut winners: Vec<_> = self
            .cells(column)
            .filter(|(subject, cell)| !subject.bound && cell.rank.is_some())
            .filter(|(_, cell)| cell.rank == Some(1) || cell.open)
            .collect();
        winners.sort_by_key(|(_, cell)| cell.rank);
        winners
    }

    /// These columns of a case.
    pub fn from_columns(run: &'a Run, case: &'a Case, columns: Vec<Column>) -> Table<'a> {
        let filled: Vec<Vec<Option<Cell>>> =
            columns.iter().map(|column| fill(run, case, column)).collect();
        let mut rows: Vec<TableRow> = run
            .subjects
            .iter()
            .enumerate()
            .map(|(i, subject)| TableRow {
                subject,
                cells: filled.iter().map(|column| column[i].clone()).collect(),
            })
            .filter(|row| row.cells.iter().any(Option::is_some))
            .collect();
        let key = order_key(&columns);
        rows.sort_by(|a, b| a.subject.bound.cmp(&b.subject.bound).then(key(a).total_cmp(&key(b))));
        Table { case, heading: "", columns, rows }
    }
}

/// What the experiment or figure is, in a few words.
pub fn describe(run: &Run, metric: &str) -> Option<&'static str> {
    if run.kind == RunKind::Bus {
        return definition(metric);
    }
    Some(match metric {
        "encode" => "from the normalized form into a buffer",
        "decode" if run.settings.objects == "reused" => {
            "from the buffer to a normalized form that is kept"
        }
        "decode" => "from the buffer to a fresh normalized form",
        "project" => "read every number in the buffer and sum them",
        "fixed" => "read one field of the fixed region",
        "element" => "read one field of the middle element",
        "verify" => "check the buffer before unchecked access",
        "decode/checked" => "check the buffer, then decode it",
        "project/checked" => "check the buffer, then read every number in it",
        "size" => "of the encoded message",
        "step" => "the five phases together, by the FMUs' own clocks",
        "source" => "generating and serializing, by the source's own clock",
        "model" => "deserializing, calculating and serializing, by the model's own clock",
        "agent" => "serializing in the source and the whole model, as BMW counts",
        "exchange" => "a whole step, by the master's clock",
        "cycle/time" => "the step size: what a step may take to keep up with the time",
        "late" => "steps that took longer than the step size",
        "misses/longest" => "the most consecutive late steps, in one process",
        _ => return None,
    })
}

/// Positions of the columns that rows are sorted by: those of a round trip where there
/// are both, else the first one.
fn sort_places(columns: &[Column]) -> Vec<usize> {
    let place = |metric: &str| {
        columns.iter().position(|column| match column.sampled {
            true => column.metric == metric,
            false => column.head() == metric && is_instructions(&column.metric),
        })
    };
    match (place("encode"), place("decode")) {
        (Some(encode), Some(decode)) => vec![encode, decode],
        _ => vec![0],
    }
}

fn order_key(columns: &[Column]) -> impl Fn(&TableRow) -> f64 {
    let keys = sort_places(columns);
    move |row| {
        let figure = |&key: &usize| {
            row.cells.get(key).and_then(Option::as_ref).map_or(f64::INFINITY, |cell| cell.value)
        };
        keys.iter().map(figure).sum()
    }
}

/// Of a message, and of an element of its list.
fn is_instructions(metric: &str) -> bool {
    INSTRUCTIONS.iter().any(|name| metric.starts_with(name))
}

fn is_robustness(metric: &str) -> bool {
    metric.starts_with("corrupt/")
}

fn unranked(columns: Vec<Column>) -> Vec<Column> {
    columns.into_iter().map(|column| Column { ranked: false, ..column }).collect()
}

/// `compress/…` and `decompress/…`: they tell of the compressor, not the codec.
fn is_compression(metric: &str) -> bool {
    metric.starts_with("compress/") || metric.starts_with("decompress/")
}

/// `throughput/window`: a course over time, whose mean is counted.
fn is_window(metric: &str) -> bool {
    metric.ends_with("/window")
}

/// Whether a metric is a part of another one of these.
fn is_phase(metrics: &[&str], metric: &str) -> bool {
    parent_metric(metric).is_some_and(|whole| metrics.contains(&whole))
}

/// How many a distribution is of: for those who judge it, and no figure to show.
fn is_count(metric: &str) -> bool {
    metric.ends_with("/count")
}

fn sampled_columns(run: &Run, case: &Case, wanted: impl Fn(&str) -> bool) -> Vec<Column> {
    let mut columns: Vec<Column> = Vec::new();
    for metric in run.metrics().into_iter().filter(|metric| wanted(metric)) {
        let of_case = |m: &&Measurement| m.case == case.id && m.metric == metric;
        if let Some(first) = run.measurements.iter().find(of_case) {
            let (metric, unit) = (first.metric.clone(), first.unit.clone());
            // Of other things than times and sizes less need not be better.
            let ranked = unit == "ns" || unit == "B";
            columns.push(Column { metric, unit, sampled: true, ranked });
        }
    }
    columns
}

fn counted_columns(run: &Run, case: &Case, wanted: impl Fn(&str) -> bool) -> Vec<Column> {
    let mut columns: Vec<Column> = Vec::new();
    for fact in run.facts.iter().filter(|fact| fact.case == case.id && wanted(&fact.metric)) {
        if is_count(&fact.metric) {
            continue;
        }
        if columns.iter().all(|column| column.metric != fact.metric) {
            let (metric, unit) = (fact.metric.clone(), fact.unit.clone());
            columns.push(Column { metric, unit, sampled: false, ranked: true });
        }
    }
    columns
}

/// A column's cells in the order of the run's subjects.
fn fill(run: &Run, case: &Case, column: &Column) -> Vec<Option<Cell>> {
    let measured = |subject: &Subject| {
        column.sampled.then(|| run.measurement(&case.id, &subject.id, &column.metric)).flatten()
    };
    let floors = match column.sampled && column.ranked {
        true => Floors::from_run(run, &case.id, &column.metric),
        false => Floors::default(),
    };
    let mut cells: Vec<Option<Cell>> = run
        .subjects
        .iter()
        .map(|subject| {
            let summary = measured(subject).and_then(Summary::from_measurement);
            let value = match (&summary, column.sampled) {
                (Some(summary), _) => summary.median,
                (None, true) => return None,
                (None, false) => run.fact(&case.id, &subject.id, &column.metric)?,
            };
            let (ratio, ratio_interval, rank) = (None, None, None);
            let (open, at_least) = (false, false);
            let at_floor = floors.is_at_floor(subject, value);
            Some(Cell { value, summary, ratio, ratio_interval, open, rank, at_floor, at_least })
        })
        .collect();
    if !column.ranked {
        return cells;
    }
    let codecs: Vec<usize> =
        (0..cells.len()).filter(|&i| cells[i].is_some() && !run.subjects[i].bound).collect();
    let smallest = |cells: &[Option<Cell>], figure: fn(&Cell) -> f64| {
        let of = |i: usize| cells[i].as_ref().map_or(f64::INFINITY, figure);
        codecs.iter().copied().min_by(|&a, &b| of(a).total_cmp(&of(b)))
    };
    // The pairwise ratios decide, and they may disagree with the medians about
    // two subjects that are close: then the smallest ratio names the best.
    let mut best = smallest(&cells, |cell| cell.value);
    for _ in 0..2 {
        if let Some(best) = best {
            let samples = |i: usize| measured(&run.subjects[i]);
            relate(&mut cells, best, codecs.len().saturating_sub(1), samples);
        }
        best = smallest(&cells, |cell| cell.ratio.unwrap_or(cell.value));
    }
    if codecs.iter().any(|&i| cells[i].as_ref().is_some_and(|cell| cell.at_floor)) {
        relate_to_floor(&mut cells, &run.subjects, &floors);
    }
    rank(&mut cells, &codecs);
    for (cell, subject) in cells.iter_mut().zip(&run.subjects) {
        if let Some(cell) = cell.as_mut().filter(|_| subject.bound) {
            cell.open = false;
        }
    }
    cells
}

/// Puts every cell in relation to the one at `best`.
fn relate<'a>(
    cells: &mut [Option<Cell>],
    best: usize,
    comparisons: usize,
    samples: impl Fn(usize) -> Option<&'a Measurement>,
) {
    let Some(least) = cells[best].as_ref().map(|cell| cell.value) else {
        return;
    };
    for (i, cell) in cells.iter_mut().enumerate() {
        let Some(cell) = cell else {
            continue;
        };
        cell.ratio = (least > 0.0).then(|| cell.value / least);
        cell.ratio_interval = None;
        cell.open = cell.value == least;
        if let (Some(of), Some(to), false) = (samples(i), samples(best), i == best) {
            if let Some(ratio) = Ratio::between(of, to, comparisons) {
                cell.ratio = Some(ratio.median);
                cell.ratio_interval = ratio.interval;
                cell.open = ratio.is_open();
            }
        }
    }
}

/// Relates cells to the floor where the best ones are at it: a ratio to one of
/// them would be one to the harness.
fn relate_to_floor(cells: &mut [Option<Cell>], subjects: &[Subject], floors: &Floors) {
    for (cell, subject) in cells.iter_mut().zip(subjects) {
        let Some(cell) = cell else { continue };
        (cell.ratio_interval, cell.open) = (None, false);
        cell.at_least = !cell.at_floor;
        cell.ratio = floors.at_least(subject, cell.value).filter(|_| cell.at_least);
    }
}

/// Numbers the cells at `places`; equal ones share a number, and so do all at
/// the floor.
fn rank(cells: &mut [Option<Cell>], places: &[usize]) {
    let figure = |cell: &Option<Cell>| {
        cell.as_ref().map_or(f64::INFINITY, |cell| match cell {
            Cell { at_floor: true, .. } => 0.0,
            // Lower bounds are against floors that differ by language.
            Cell { at_least: true, value, .. } => *value,
            cell => cell.ratio.unwrap_or(cell.value),
        })
    };
    let figures: Vec<f64> = places.iter().map(|&i| figure(&cells[i])).collect();
    for (&i, own) in places.iter().zip(&figures) {
        if let Some(cell) = &mut cells[i] {
            cell.rank = Some(1 + figures.iter().filter(|other| *other < own).count());
        }
    }
}
