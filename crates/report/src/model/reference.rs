//! Published figures beside measured ones.

use std::collections::BTreeSet;

use wiregauge_result::run::{Case, Figure, Reference, Run, Slope, Subject};
use wiregauge_result::stats::{Bounds, Summary};

use crate::model::floor::Floors;
use crate::model::number_format::{format_quantity, format_ratio};
use crate::model::sweep::sweeps;

/// One published column beside what was measured for it.
#[derive(Clone, Debug)]
pub struct PublishedColumn<'a> {
    /// The case that it belongs to.
    pub case: &'a Case,
    /// The metric.
    pub metric: &'a str,
    /// Unit of the figures.
    pub unit: &'a str,
    /// The published entries, best first.
    pub rows: Vec<ComparedFigure<'a>>,
}

/// One published figure beside the measured one.
#[derive(Clone, Debug)]
pub struct ComparedFigure<'a> {
    /// What was published.
    pub figure: &'a Figure,
    /// The subject that stands for it here, if the run has it.
    pub subject: Option<&'a Subject>,
    /// Its place among the published.
    pub published: RankedFigure,
    /// What was measured. Place and ratio are among the subjects that stand
    /// for a published entry, so that both rankings have the same field.
    pub measured: Option<RankedFigure>,
}

/// A figure and where it stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankedFigure {
    /// The figure.
    pub value: f64,
    /// In relation to the best; none if that is zero.
    pub ratio: Option<f64>,
    /// Rank from 1, of entries that were both published and measured; equal
    /// figures share one, and so do all at the floor. None for what was
    /// published only.
    pub rank: Option<usize>,
    /// Whether it cannot be told from what the harness itself costs.
    pub at_floor: bool,
    /// Whether the ratio is a lower bound, as the best is at the floor.
    pub at_least: bool,
}

impl RankedFigure {
    /// What it is ranked by.
    fn rank_value(&self) -> f64 {
        if self.at_floor {
            0.0
        } else {
            self.value
        }
    }

    /// The ratio as people read it, or what stands for `nothing`.
    pub fn relation(&self, nothing: &str) -> String {
        if self.at_floor {
            return "floor".to_owned();
        }
        let least = if self.at_least { "≥ " } else { "" };
        self.ratio.map_or(nothing.to_owned(), |times| format!("{least}{}", format_ratio(times)))
    }
}

/// All published columns of a run in the order of publication.
pub fn published_columns<'a>(run: &'a Run, reference: &'a Reference) -> Vec<PublishedColumn<'a>> {
    let mut columns: Vec<(&str, &str)> = Vec::new();
    for figure in &reference.figures {
        let key = (figure.case.as_str(), figure.metric.as_str());
        if !columns.contains(&key) {
            columns.push(key);
        }
    }
    columns.into_iter().filter_map(|(case, metric)| column(run, reference, case, metric)).collect()
}

fn column<'a>(
    run: &'a Run,
    reference: &'a Reference,
    case: &str,
    metric: &'a str,
) -> Option<PublishedColumn<'a>> {
    let case = run.case(case)?;
    let figures: Vec<&Figure> =
        reference.figures.iter().filter(|f| f.case == case.id && f.metric == metric).collect();
    let unit = figures.first()?.unit.as_str();
    let measured: Vec<Option<f64>> = figures
        .iter()
        .map(|figure| match run.measurement(&case.id, &figure.subject, metric) {
            Some(measurement) => {
                Summary::from_measurement(measurement).map(|summary| summary.median)
            }
            None => run.fact(&case.id, &figure.subject, metric),
        })
        .collect();
    let common = |values: &dyn Fn(usize) -> Option<f64>| -> Vec<f64> {
        (0..figures.len()).filter(|&i| measured[i].is_some()).filter_map(values).collect()
    };
    let floors = Floors::from_run(run, &case.id, metric);
    let at_floor = |i: usize| {
        let subject = run.subject(&figures[i].subject);
        subject.zip(measured[i]).is_some_and(|(subject, value)| floors.is_at_floor(subject, value))
    };
    let any_at_floor = (0..figures.len()).any(at_floor);
    // All at the floor are one.
    let ranked = |i: usize| measured[i].map(|value| if at_floor(i) { 0.0 } else { value });
    let published_field = common(&|i| Some(figures[i].value));
    let measured_field = common(&ranked);
    // The best of all that were published may be one that was not measured.
    let published_best = figures.iter().map(|f| f.value).fold(f64::INFINITY, f64::min);
    let measured_best = measured_field.iter().copied().fold(f64::INFINITY, f64::min);
    let place = |value: f64, best: f64, field: &[f64], ranked: bool| RankedFigure {
        value,
        ratio: (best > 0.0).then(|| value / best),
        rank: ranked.then(|| 1 + field.iter().filter(|other| **other < value).count()),
        at_floor: false,
        at_least: false,
    };
    let measured_place = |i: usize| {
        let (value, rank) = (measured[i]?, ranked(i)?);
        let own = RankedFigure { value, ..place(rank, measured_best, &measured_field, true) };
        let bound = || floors.at_least(run.subject(&figures[i].subject)?, value);
        Some(match (any_at_floor, at_floor(i)) {
            (false, _) => own,
            (true, true) => RankedFigure { ratio: None, at_floor: true, ..own },
            (true, false) => RankedFigure { ratio: bound(), at_least: true, ..own },
        })
    };
    let mut rows: Vec<ComparedFigure> = figures
        .iter()
        .enumerate()
        .map(|(i, figure)| ComparedFigure {
            figure,
            subject: run.subject(&figure.subject),
            published: place(figure.value, published_best, &published_field, measured[i].is_some()),
            measured: measured_place(i),
        })
        .collect();
    rows.sort_by(|a, b| a.figure.value.total_cmp(&b.figure.value));
    Some(PublishedColumn { case, metric, unit, rows })
}

/// What was published of one thing, beside what was measured of several: there
/// is nothing to rank. Metrics across; down, for each case, the published row
/// and those of the subjects. None for a publication that compares.
pub fn single_publication_table(
    run: &Run,
    reference: &Reference,
    nothing: &str,
) -> Option<Vec<Vec<String>>> {
    let name = &reference.figures.first()?.name;
    if reference.figures.iter().any(|figure| figure.name != *name) {
        return None;
    }
    let distinct = |of: fn(&Figure) -> &str| {
        let mut all: Vec<&str> = Vec::new();
        for key in reference.figures.iter().map(of) {
            if !all.contains(&key) {
                all.push(key);
            }
        }
        all
    };
    let [cases, subjects, metrics] = [
        distinct(|figure| &figure.case),
        distinct(|figure| &figure.subject),
        distinct(|figure| &figure.metric),
    ];
    let mut rows = vec![vec![String::new()]];
    rows[0].extend(metrics.iter().map(|metric| metric.to_string()));
    for case in cases.into_iter().filter(|case| run.case(case).is_some()) {
        let figure =
            |metric: &str| reference.figures.iter().find(|f| f.case == case && f.metric == metric);
        let mut row = |title: String, value: &dyn Fn(&Figure) -> Option<f64>| {
            let cell = |metric: &&str| {
                let figure = figure(metric)?;
                Some(format_quantity(value(figure)?, &figure.unit))
            };
            let cells: Vec<Option<String>> = metrics.iter().map(cell).collect();
            if cells.iter().any(Option::is_some) {
                let cells = cells.into_iter().map(|cell| cell.unwrap_or(nothing.to_owned()));
                rows.push([title].into_iter().chain(cells).collect());
            }
        };
        row(format!("{case}: {name}"), &|figure| Some(figure.value));
        for subject in subjects.iter().filter_map(|id| run.subject(id)) {
            row(format!("  {}", subject.title), &|figure| match run.measurement(
                case,
                &subject.id,
                &figure.metric,
            ) {
                Some(measurement) => {
                    Summary::from_measurement(measurement).map(|summary| summary.median)
                }
                None => run.fact(case, &subject.id, &figure.metric),
            });
        }
    }
    Some(rows)
}

/// A published slope beside the measured one.
#[derive(Clone, Debug)]
pub struct SlopeRow<'a> {
    /// What was published.
    pub slope: &'a Slope,
    /// The subject that stands for it here, if the run has it.
    pub subject: Option<&'a Subject>,
    /// The published slope in relation to the least one of its group: those of
    /// one metric over one parameter.
    pub published_ratio: Option<f64>,
    /// What was measured, if the sweep has enough points for a line.
    pub measured: Option<Bounds>,
    /// The measured slope in relation to the least one of the group.
    pub measured_ratio: Option<f64>,
}

/// The published slopes of a reference, in the order of publication.
pub fn slopes<'a>(run: &'a Run, reference: &'a Reference) -> Vec<SlopeRow<'a>> {
    let sweeps = sweeps(run);
    let measured = |slope: &Slope| {
        let sweep = sweeps.iter().find(|sweep| sweep.parameter == slope.parameter)?;
        let curves = sweep.curves.iter().find(|curves| curves.metric == slope.metric)?;
        let line = curves.lines.iter().find(|line| line.subject.id == slope.subject)?;
        line.fit.map(|fit| fit.slope)
    };
    let mut rows: Vec<SlopeRow> = reference
        .slopes
        .iter()
        .map(|slope| SlopeRow {
            slope,
            subject: run.subject(&slope.subject),
            published_ratio: None,
            measured: measured(slope),
            measured_ratio: None,
        })
        .collect();
    for i in 0..rows.len() {
        let of = rows[i].slope;
        let group = || {
            let same = |row: &&SlopeRow| {
                row.slope.parameter == of.parameter && row.slope.metric == of.metric
            };
            rows.iter().filter(same)
        };
        let least = group().map(|row| row.slope.value).fold(f64::INFINITY, f64::min);
        let least_measured =
            group().filter_map(|row| Some(row.measured?.value)).fold(f64::INFINITY, f64::min);
        let measured = rows[i].measured;
        rows[i].published_ratio = (least > 0.0).then(|| of.value / least);
        rows[i].measured_ratio =
            measured.filter(|_| least_measured > 0.0).map(|bounds| bounds.value / least_measured);
    }
    rows
}

impl<'a> PublishedColumn<'a> {
    /// The rows in the order of the measured figures; those without come last.
    pub fn rows_by_measured(&self) -> Vec<&ComparedFigure<'a>> {
        let mut rows: Vec<&ComparedFigure> = self.rows.iter().collect();
        let figure = |row: &ComparedFigure| row.measured.map_or(f64::INFINITY, |place| place.value);
        rows.sort_by(|a, b| figure(a).total_cmp(&figure(b)));
        rows
    }

    /// How alike the two rankings are: Spearman's coefficient, 1 for the same
    /// order, 0 for unrelated ones, −1 for the reverse. Pearson's coefficient
    /// of the ranks, equal figures sharing the mean of theirs. None for fewer
    /// than three subjects: one that was published several times is no further one.
    pub fn agreement(&self) -> Option<f64> {
        let pairs: Vec<(f64, f64)> = self
            .rows
            .iter()
            .filter_map(|row| Some((row.figure.value, row.measured?.rank_value())))
            .collect();
        let measured = self.rows.iter().filter(|row| row.measured.is_some());
        let subjects: BTreeSet<&str> = measured.map(|row| row.figure.subject.as_str()).collect();
        if subjects.len() < 3 {
            return None;
        }
        let a = mean_ranks(pairs.iter().map(|pair| pair.0).collect());
        let b = mean_ranks(pairs.iter().map(|pair| pair.1).collect());
        let middle = (pairs.len() + 1) as f64 / 2.0;
        let product = |a: &[f64], b: &[f64]| -> f64 {
            a.iter().zip(b).map(|(a, b)| (a - middle) * (b - middle)).sum()
        };
        let scale = (product(&a, &a) * product(&b, &b)).sqrt();
        (scale > 0.0).then(|| product(&a, &b) / scale)
    }
}

fn mean_ranks(values: Vec<f64>) -> Vec<f64> {
    let rank = |value: &f64| {
        let below = values.iter().filter(|other| *other < value).count();
        let equal = values.iter().filter(|other| *other == value).count();
        below as f64 + (equal + 1) as f64 / 2.0
    };
    values.iter().map(rank).collect()
}
