//! What happens as a message grows, or as more receive it.

use indexmap::IndexMap;
use wiregauge_result::run::{Case, Run, Subject};
use wiregauge_result::run_kind::RunKind;
use wiregauge_result::stats::Fit;

use crate::model::table::{Column, Table};

/// Cases that differ in one swept number.
#[derive(Clone, Debug)]
pub struct Sweep<'a> {
    /// What is swept: `points`.
    pub parameter: String,
    /// The message type.
    pub message: String,
    /// One for each metric.
    pub curves: Vec<Curves<'a>>,
}

/// A metric over the swept number.
#[derive(Clone, Debug)]
pub struct Curves<'a> {
    /// The metric.
    pub metric: String,
    /// Unit of the figures.
    pub unit: String,
    /// One for each subject, cheapest per step first, bounds last.
    pub lines: Vec<Line<'a>>,
}

/// A subject over the swept number.
#[derive(Clone, Debug)]
pub struct Line<'a> {
    /// The subject.
    pub subject: &'a Subject,
    /// The swept number and the figure, ascending.
    pub points: Vec<(f64, f64)>,
    /// The line through them, if there are at least three.
    pub fit: Option<Fit>,
}

impl Sweep<'_> {
    /// What it goes over, with the message where the run has others that go
    /// over the same: `receivers, 500 B, 1 ms, discrete`.
    pub fn title(&self, run: &Run) -> String {
        let other = |case: &Case| {
            let same = case.parameter.as_ref().is_some_and(|p| p.name == self.parameter);
            same && case.message != self.message
        };
        match run.cases.iter().any(other) {
            true => format!("{}, {}", self.parameter, self.message),
            false => self.parameter.clone(),
        }
    }
}

/// The sweeps of a run: cases of one message and parameter with at least two
/// values.
pub fn sweeps(run: &Run) -> Vec<Sweep<'_>> {
    let mut groups: IndexMap<(&str, &str), Vec<(f64, &Case)>> = IndexMap::new();
    for case in &run.cases {
        if let Some(parameter) = &case.parameter {
            let key = (case.message.as_str(), parameter.name.as_str());
            groups.entry(key).or_default().push((parameter.value, case));
        }
    }
    groups
        .into_iter()
        .filter_map(|((message, parameter), mut cases)| {
            cases.sort_by(|a, b| a.0.total_cmp(&b.0));
            cases.dedup_by(|a, b| a.0 == b.0);
            (cases.len() > 1).then(|| Sweep {
                parameter: parameter.to_owned(),
                message: message.to_owned(),
                curves: curves(run, &cases),
            })
        })
        .flat_map(|sweep| {
            let by_size = (run.kind == RunKind::Cosim).then(|| by_size(&sweep)).flatten();
            [Some(sweep), by_size].into_iter().flatten()
        })
        .collect()
}

/// The same sweep over the size of each subject's own message, in kB of 1,000
/// bytes: what a byte costs rather than what an object does.
fn by_size<'a>(sweep: &Sweep<'a>) -> Option<Sweep<'a>> {
    let sizes = sweep.curves.iter().find(|curves| curves.metric == "size")?;
    let line = |line: &Line<'a>| {
        let own = sizes.lines.iter().find(|size| size.subject.id == line.subject.id)?;
        let kilobytes = |x: f64| own.points.iter().find(|p| p.0 == x).map(|p| p.1 / 1000.0);
        let points: Vec<(f64, f64)> =
            line.points.iter().filter_map(|(x, y)| Some((kilobytes(*x)?, *y))).collect();
        let fit = Fit::from_points(&points);
        (!points.is_empty()).then_some(Line { subject: line.subject, points, fit })
    };
    let curves = sweep.curves.iter().filter(|curves| curves.unit == "ns").map(|curves| Curves {
        metric: curves.metric.clone(),
        unit: curves.unit.clone(),
        lines: curves.lines.iter().filter_map(line).collect(),
    });
    Some(Sweep {
        parameter: "kB".into(),
        message: sweep.message.clone(),
        curves: curves.filter(|curves| !curves.lines.is_empty()).collect(),
    })
}

fn curves<'a>(run: &'a Run, cases: &[(f64, &'a Case)]) -> Vec<Curves<'a>> {
    let tables: Vec<(f64, Table)> =
        cases.iter().map(|(x, case)| (*x, Table::timings(run, case))).collect();
    let mut columns: Vec<&Column> = Vec::new();
    for column in tables.iter().flat_map(|(_, table)| &table.columns) {
        if !columns.iter().any(|known| known.metric == column.metric) {
            columns.push(column);
        }
    }
    let curve = |column: &&Column| {
        let mut lines: Vec<Line> = run
            .subjects
            .iter()
            .filter_map(|subject| line(&tables, &column.metric, subject))
            .collect();
        let last = |line: &Line| line.points.last().map_or(0.0, |point| point.1);
        lines.sort_by(|a, b| {
            a.subject.bound.cmp(&b.subject.bound).then(last(a).total_cmp(&last(b)))
        });
        Curves { metric: column.metric.clone(), unit: column.unit.clone(), lines }
    };
    columns.iter().map(curve).filter(|curves| !curves.lines.is_empty()).collect()
}

fn line<'a>(tables: &[(f64, Table<'a>)], metric: &str, subject: &'a Subject) -> Option<Line<'a>> {
    let point = |(x, table): &(f64, Table)| {
        let column = table.column(metric)?;
        let row = table.rows.iter().find(|row| row.subject.id == subject.id)?;
        Some((*x, row.cells[column].as_ref()?.value))
    };
    let points: Vec<(f64, f64)> = tables.iter().filter_map(point).collect();
    let fit = Fit::from_points(&points);
    (!points.is_empty()).then_some(Line { subject, points, fit })
}
