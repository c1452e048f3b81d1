//! One experiment in several results: ratios to one codec, and whether the order holds.

use indexmap::IndexMap;
use serde::Serialize;
use wiregauge_result::run::{Case, Run, Subject};

use crate::model::floor::Floors;
use crate::model::ranking::named_result::NamedResult;
use crate::model::ranking::pair::{Figure, PairRatio, Pairs};
use crate::model::run_labels::{common_title, select_cases};
use crate::model::table::Table;
use wiregauge_result::stats::Summary;

/// An experiment on a case, as results have it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExperimentRanking {
    /// [`Case::id`].
    pub case: String,
    /// `encode`, `instructions/encode`.
    pub metric: String,
    /// Names of the results that have it: the columns.
    pub results: Vec<String>,
    /// [`Subject::id`] of the codec that ratios are to: the fastest of those that are in all
    /// of these results and can be told from the harness in each.
    pub reference: String,
    /// The codecs that two results or more have, by the mean of their ratios.
    pub rows: Vec<RankedRow>,
    /// Their pairs.
    pub pairs: Pairs,
    /// The codecs that only one result has.
    pub alone: Vec<AloneRow>,
    /// What may be concluded, in a sentence.
    pub conclusion: String,
}

/// A codec.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RankedRow {
    /// [`Subject::id`].
    pub subject: String,
    /// What it is called, in all results.
    pub title: String,
    /// One for each result of the experiment.
    pub cells: Vec<RankedCell>,
    /// Geometric mean of the ratios, the least and the most; none where one is at the floor.
    pub spread: Option<Spread>,
    /// Whether it ranks differently from another one beyond doubt.
    pub exchanged: bool,
}

/// A codec that only one result has.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AloneRow {
    /// What it is called.
    pub title: String,
    /// Name of the result.
    pub result: String,
}

/// A codec in one result.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RankedCell {
    /// Its ratio to the reference.
    Ratio(PairRatio),
    /// It cannot be told from what the harness itself costs.
    Floor,
    /// It has no figure: `absent`, `skipped`, `rejected`, `failed`.
    Absent(String),
}

/// Ratios over the results.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// Geometric mean.
    pub mean: f64,
    /// The least one.
    pub least: f64,
    /// The most.
    pub most: f64,
}

/// The figures of a codec, one for each result.
type Figures<'a> = Vec<Option<Figure<'a>>>;

/// An experiment: the case's id and the metric.
pub type ExperimentKey = (String, String);

/// The experiments of these results, and the places of those that have each.
pub fn find_experiments(results: &[NamedResult]) -> IndexMap<ExperimentKey, Vec<usize>> {
    let mut cases: Vec<&str> = Vec::new();
    for result in results {
        let shown = select_cases(&result.run).0;
        for case in shown.into_iter().map(|case| case.id.as_str()) {
            if !cases.contains(&case) {
                cases.push(case);
            }
        }
    }
    let mut found: IndexMap<ExperimentKey, Vec<usize>> = IndexMap::new();
    for case in cases {
        for (at, result) in results.iter().enumerate() {
            let of_case = result.run.case(case).map(|case| metrics(&result.run, case));
            for metric in of_case.unwrap_or_default() {
                found.entry((case.to_owned(), metric)).or_default().push(at);
            }
        }
    }
    found
}

/// The experiments of a case, timed and counted.
fn metrics(run: &Run, case: &Case) -> Vec<String> {
    let timings = Table::timings(run, case);
    let timed = timings.columns.iter().filter(|column| column.sampled && column.unit == "ns");
    let counted = Table::instructions(run, case);
    let of_codecs = |table: &Table, metric: &str| {
        let place = table.column(metric);
        place.is_some_and(|i| table.cells(i).any(|(subject, _)| !subject.bound))
    };
    let timed = timed.filter(|column| of_codecs(&timings, &column.metric));
    let counted = counted.columns.iter().filter(|column| of_codecs(&counted, &column.metric));
    timed.chain(counted).map(|column| column.metric.clone()).collect()
}

impl ExperimentRanking {
    /// Ranks the codecs of an experiment that these results have; none where no codec is in
    /// all of them that can be told from the harness, or only one is in two of them.
    pub fn rank((case, metric): &ExperimentKey, results: &[&NamedResult]) -> Option<Self> {
        let floors: Vec<Floors> =
            results.iter().map(|result| Floors::from_run(&result.run, case, metric)).collect();
        let mut figures: IndexMap<&str, Figures> = IndexMap::new();
        for (at, (result, floors)) in results.iter().zip(&floors).enumerate() {
            for subject in result.run.subjects.iter().filter(|subject| !subject.bound) {
                if let Some(figure) = find_figure(&result.run, (case, metric), subject, floors) {
                    let row = figures.entry(&subject.id).or_insert(vec![None; results.len()]);
                    row[at] = Some(figure);
                }
            }
        }
        let (shared, alone): (Vec<_>, Vec<_>) =
            figures.into_iter().partition(|(_, row)| row.iter().flatten().count() > 1);
        let reference = choose_reference(&shared)?;
        let against: Figures = shared[reference].1.clone();
        let mut rows: Vec<(f64, RankedRow)> = shared
            .iter()
            .map(|(id, row)| rank_row(results, id, row, &against, shared.len() - 1))
            .collect();
        rows.sort_by(|a, b| a.0.total_cmp(&b.0));
        let table: Vec<(&str, &[Option<Figure>])> =
            shared.iter().map(|(id, row)| (*id, row.as_slice())).collect();
        let pairs = Pairs::from_rows(&table);
        let mut rows: Vec<RankedRow> = rows.into_iter().map(|(_, row)| row).collect();
        for row in &mut rows {
            let is_in = |id: &String| *id == row.subject;
            row.exchanged =
                pairs.exchanged.iter().any(|pair| is_in(&pair.first) || is_in(&pair.second));
        }
        (rows.len() > 1).then(|| ExperimentRanking {
            case: case.clone(),
            metric: metric.clone(),
            results: results.iter().map(|result| result.name.clone()).collect(),
            reference: shared[reference].0.to_owned(),
            rows,
            pairs,
            alone: alone.iter().map(|(id, row)| AloneRow::find(results, id, row)).collect(),
            conclusion: String::new(),
        })
    }

    /// What a codec is called.
    pub fn title<'a>(&'a self, subject: &'a str) -> &'a str {
        let row = self.rows.iter().find(|row| row.subject == subject);
        row.map_or(subject, |row| &row.title)
    }

    /// Whether it is counted, and not timed.
    pub fn is_counted(&self) -> bool {
        self.metric.starts_with("instructions/")
    }

    /// Whether a result lacks a row.
    pub fn has_absent(&self) -> bool {
        let mut cells = self.rows.iter().flat_map(|row| &row.cells);
        cells.any(|cell| matches!(cell, RankedCell::Absent(_)))
    }

    /// How many codecs rank differently from another one.
    pub fn exchanged_rows(&self) -> usize {
        self.rows.iter().filter(|row| row.exchanged).count()
    }
}

impl AloneRow {
    fn find(results: &[&NamedResult], id: &str, row: &Figures) -> AloneRow {
        let place = row.iter().position(Option::is_some).unwrap_or(0);
        AloneRow { title: title(results, id), result: results[place].name.clone() }
    }
}

fn title(results: &[&NamedResult], id: &str) -> String {
    let subjects = results.iter().filter_map(|result| result.run.subject(id));
    common_title(&subjects.collect::<Vec<&Subject>>())
}

/// The figure of a subject in a result; none where there is none that has a ratio.
fn find_figure<'a>(
    run: &'a Run,
    (case, metric): (&str, &str),
    subject: &Subject,
    floors: &Floors,
) -> Option<Figure<'a>> {
    let samples = run.measurement(case, &subject.id, metric);
    let value = match samples {
        Some(samples) => Summary::from_measurement(samples)?.median,
        None => run.fact(case, &subject.id, metric)?,
    };
    let at_floor = samples.is_some() && floors.is_at_floor(subject, value);
    (value > 0.0 && value.is_finite()).then_some(Figure { value, samples, at_floor })
}

/// The place of the fastest row that has a figure above the floor in each result.
fn choose_reference(rows: &[(&str, Figures)]) -> Option<usize> {
    let candidates: Vec<usize> = (0..rows.len())
        .filter(|&i| rows[i].1.iter().all(|f| f.is_some_and(|figure| !figure.at_floor)))
        .collect();
    let logs = |i: usize| rows[i].1.iter().flatten().map(|figure| figure.value.ln()).sum::<f64>();
    let fastest = candidates.iter().copied().min_by(|&a, &b| logs(a).total_cmp(&logs(b)))?;
    // The ratios within each round decide, and may disagree with the medians about two that
    // are close.
    let mean = |i: usize| mean_log(&rows[i].1, &rows[fastest].1);
    candidates.into_iter().min_by(|&a, &b| mean(a).total_cmp(&mean(b)))
}

/// Mean logarithm of the ratios of a row to another one.
fn mean_log(row: &Figures, against: &Figures) -> f64 {
    let pairs = row.iter().zip(against);
    let ratios: Vec<f64> = pairs
        .filter_map(|(one, other)| {
            Some(PairRatio::between(one.as_ref()?, other.as_ref()?, 1).ratio.ln())
        })
        .collect();
    ratios.iter().sum::<f64>() / ratios.len() as f64
}

/// A row with the mean logarithm of its ratios, which sorts it.
fn rank_row(
    results: &[&NamedResult],
    id: &str,
    row: &Figures,
    against: &Figures,
    comparisons: usize,
) -> (f64, RankedRow) {
    let cell =
        |((result, own), reference): ((&&NamedResult, &Option<Figure>), &Option<Figure>)| match (
            own, reference,
        ) {
            (Some(own), _) if own.at_floor => RankedCell::Floor,
            (Some(own), Some(reference)) => {
                RankedCell::Ratio(PairRatio::between(own, reference, comparisons))
            }
            _ => {
                let subject = result.run.subject(id);
                let state = subject.and_then(|subject| subject.status.absence());
                RankedCell::Absent(state.map_or("absent", |(word, _)| word).to_owned())
            }
        };
    let cells: Vec<RankedCell> = results.iter().zip(row).zip(against).map(cell).collect();
    let ratios: Vec<f64> = cells.iter().filter_map(RankedCell::ratio).collect();
    let at_floor = cells.contains(&RankedCell::Floor);
    let mean = mean_log(row, against);
    let spread = (!at_floor && !ratios.is_empty()).then(|| Spread {
        mean: mean.exp(),
        least: ratios.iter().copied().fold(f64::INFINITY, f64::min),
        most: ratios.iter().copied().fold(0.0, f64::max),
    });
    let title = title(results, id);
    (mean, RankedRow { subject: id.to_owned(), title, cells, spread, exchanged: false })
}

impl RankedCell {
    /// The ratio to the reference, where there is one.
    pub fn ratio(&self) -> Option<f64> {
        match self {
            RankedCell::Ratio(ratio) => Some(ratio.ratio),
            _ => None,
        }
    }

    /// Whether it cannot be told from the reference.
    pub fn is_open(&self) -> bool {
        matches!(self, RankedCell::Ratio(PairRatio { order: None, .. }))
    }
}
