//! A case of the bus in groups of figures that are read together.

use wiregauge_result::run::{Case, Curve, Run, Status, Subject};
use wiregauge_result::verdict::is_mishap;

use crate::model::figure::{display_order, figure_topic, is_detail, FigureTopic};
use crate::model::number_format::{format_percent, format_quantity, format_significant};
use crate::model::phase::budget;
use crate::model::table::{Column, Table, TableRow};

/// Figures that tell of one thing.
#[derive(Clone, Debug)]
pub struct Group<'a> {
    /// What they tell of.
    pub part: FigureTopic,
    /// The transports that have some of them: in all groups of a case in the
    /// same order.
    pub table: Table<'a>,
    /// What the transports are held against, a row each.
    pub references: Vec<ReferenceRow>,
    run: &'a Run,
}

/// A row of figures that were not measured here.
#[derive(Clone, Debug, PartialEq)]
pub struct ReferenceRow {
    /// What they are: `offered`, `FEP SDK 3, published`.
    pub name: String,
    /// One for each column.
    pub cells: Vec<Option<f64>>,
}

/// The groups of a case that have figures.
pub fn groups<'a>(run: &'a Run, case: &'a Case) -> Vec<Group<'a>> {
    let timings = Table::timings(run, case);
    let order = order(run, case, &timings);
    let rank = |row: &TableRow| order.iter().position(|id| *id == row.subject.id);
    let group = |of: FigureTopic| {
        let mut columns = timings.columns.clone();
        columns.retain(|column| column.sampled && figure_topic(&column.metric) == of);
        let counted = Table::facts(run, case);
        // The name says whether figures are valid, the phases are shown beside the time
        // that there is for them, and where points pay is said below.
        let said = ["valid", "complete", "points"].map(str::to_owned);
        let elsewhere = [said.as_slice(), &[budget("cycle")]].concat();
        let own = |c: &Column| figure_topic(&c.metric) == of && !elsewhere.contains(&c.metric);
        columns.extend(counted.into_iter().filter(own));
        if offered(run, case).is_some() {
            columns.retain(|column| column.metric != OFFERED);
        }
        columns.sort_by_key(|column| (display_order(&column.metric), !column.sampled));
        let mut table = Table::from_columns(run, case, columns);
        table.rows.sort_by_key(rank);
        let beside = reference_rows(run, case, &table.columns);
        (!table.is_empty()).then_some(Group { part: of, table, references: beside, run })
    };
    FigureTopic::ALL.into_iter().filter_map(group).collect()
}

/// Keys of the transports as the groups of a case have them: the fastest first,
/// or where a search timed nothing by itself, the most headroom.
fn order<'a>(run: &'a Run, case: &Case, timings: &Table<'a>) -> Vec<&'a str> {
    let mut order: Vec<&str> = timings.rows.iter().map(|row| row.subject.id.as_str()).collect();
    let mut others: Vec<&str> = run.subjects.iter().map(|subject| subject.id.as_str()).collect();
    others.retain(|id| !order.contains(id));
    let most = |id: &str| {
        let fact = |over: &str| run.fact(&case.id, id, &format!("headroom/{over}"));
        fact("rate").or_else(|| fact("size")).unwrap_or(f64::NEG_INFINITY)
    };
    others.sort_by(|a, b| most(b).total_cmp(&most(a)));
    order.extend(others);
    order
}

/// The transports of a case that were to be measured and have no figure, and
/// why.
pub fn failed_transports<'a>(run: &'a Run, case: &Case) -> Vec<(&'a Subject, &'a str)> {
    let has_figures = |subject: &Subject| {
        run.facts.iter().any(|f| f.case == case.id && f.subject == subject.id)
            || run.measurements.iter().any(|m| m.case == case.id && m.subject == subject.id)
            || run.curves.iter().any(|c| c.case == case.id && c.subject == subject.id)
    };
    let why = |subject: &'a Subject| match &subject.status {
        Status::Failed(reason) => Some((subject, reason.as_str())),
        Status::Measured => Some((subject, "the warnings say why")),
        Status::Skipped(_) | Status::Rejected(_) => None,
    };
    run.subjects.iter().filter(|subject| !has_figures(subject)).filter_map(why).collect()
}

/// The transports of a case that nothing was lost over, and the others that
/// count their losses. Steps that timed out are losses too.
pub fn split_by_loss<'a>(run: &'a Run, case: &Case) -> (Vec<&'a Subject>, Vec<&'a Subject>) {
    let counted =
        run.subjects.iter().filter(|subject| run.fact(&case.id, &subject.id, "lost").is_some());
    counted.partition(|subject| {
        let none = |metric: &str| run.fact(&case.id, &subject.id, metric).unwrap_or(0.0) == 0.0;
        ["lost", "damaged", "timeouts"].into_iter().all(none)
    })
}

/// The transports of a case that a search found no headroom for.
pub fn without_headroom<'a>(run: &'a Run, case: &Case) -> Vec<&'a Subject> {
    let of_case = |curve: &&Curve, subject: &Subject| {
        curve.case == case.id
            && curve.subject == subject.id
            && ["rate", "size"].contains(&curve.over.as_str())
    };
    let in_vain = |subject: &&Subject| {
        run.curves.iter().find(|curve| of_case(curve, subject)).is_some_and(|curve| {
            run.fact(&case.id, &subject.id, &format!("headroom/{}", curve.over)).is_none()
        })
    };
    run.subjects.iter().filter(in_vain).collect()
}

/// The name of a transport, with a word if its figures are not to be used.
pub fn transport_name(run: &Run, case: &Case, subject: &Subject) -> String {
    let is_not = |fact: &str| run.fact(&case.id, &subject.id, fact) == Some(0.0);
    match (is_not("complete"), is_not("valid")) {
        (true, _) => format!("{} (ended early)", subject.title),
        (_, true) => format!("{} (invalid)", subject.title),
        _ => subject.title.clone(),
    }
}

/// The fact that says what was asked for.
const OFFERED: &str = "offered";

/// The load that was offered, in MB/s, where all transports had the same.
pub fn offered(run: &Run, case: &Case) -> Option<f64> {
    let mut all = run.facts.iter().filter(|f| f.case == case.id && f.metric == OFFERED);
    let first = all.next()?.value;
    all.all(|fact| fact.value == first).then_some(first)
}

/// What was offered and what was published, as far as the columns have it.
fn reference_rows(run: &Run, case: &Case, columns: &[Column]) -> Vec<ReferenceRow> {
    let mut rows = Vec::new();
    let mut row = |name: String, value: &dyn Fn(&str) -> Option<f64>| {
        let cells: Vec<Option<f64>> = columns.iter().map(|c| value(&c.metric)).collect();
        if cells.iter().any(Option::is_some) {
            rows.push(ReferenceRow { name, cells });
        }
    };
    row(OFFERED.to_owned(), &|metric| match metric {
        "throughput" => offered(run, case),
        "rate" if case.canonical_bytes > 0.0 => {
            Some(offered(run, case)? * 1e6 / case.canonical_bytes)
        }
        _ => None,
    });
    let figures = run.reference.iter().flat_map(|r| &r.figures).filter(|f| f.case == case.id);
    let mut names: Vec<&str> = Vec::new();
    for figure in figures.clone() {
        if !names.contains(&figure.name.as_str()) {
            names.push(&figure.name);
        }
    }
    for published in names {
        // Of one thing, which stands beside every transport.
        let value = |metric: &str| {
            let mut same = figures.clone().filter(|f| f.name == published && f.metric == metric);
            let first = same.next()?.value;
            same.all(|figure| figure.value == first).then_some(first)
        };
        row(format!("{published}, published"), &value);
    }
    rows
}

impl Group<'_> {
    /// With the columns that a short table has. Where there are two clocks, that
    /// is how well one is known by the other, too.
    pub fn main_columns(mut self) -> Self {
        let published = |at: usize| self.references.iter().any(|row| row.cells[at].is_some());
        let apart = self.table.columns.iter().any(|column| column.metric == "clock/apart");
        let tells = |metric: &str| !is_detail(metric) || (apart && metric == "clock/uncertainty");
        let keep = |(at, column): (usize, &Column)| tells(&column.metric) || published(at);
        let keep: Vec<bool> = self.table.columns.iter().enumerate().map(keep).collect();
        retain_marked(&mut self.table.columns, &keep);
        self.table.rows.iter_mut().for_each(|row| retain_marked(&mut row.cells, &keep));
        self.references.iter_mut().for_each(|row| retain_marked(&mut row.cells, &keep));
        self.references.retain(|row| row.cells.iter().any(Option::is_some));
        self
    }

    /// A figure of a transport as people read it; none where it has none.
    pub fn text(&self, row: &TableRow, column: usize) -> Option<String> {
        let Some(cell) = &row.cells[column] else {
            let counted = self.run.fact(&self.table.case.id, &row.subject.id, "sent").is_some();
            let none = counted && is_mishap(&self.table.columns[column].metric);
            return none.then(|| "0".to_owned());
        };
        let value = cell.value;
        let text = self.value(value, column);
        let share = self.share(row, column, value).filter(|share| *share > 0.0);
        Some(share.map_or(text.clone(), |share| format!("{text} ({})", format_percent(share))))
    }

    /// A figure of a column as people read it.
    pub fn value(&self, value: f64, column: usize) -> String {
        let Column { metric, unit, .. } = &self.table.columns[column];
        match metric.starts_with("memory/") {
            true => format!("{} MB", format_significant(value / 1e6)),
            false => format_quantity(value, unit),
        }
    }

    /// Which share of all samples a loss is.
    fn share(&self, row: &TableRow, column: usize, value: f64) -> Option<f64> {
        let case = &self.table.case.id;
        let sent = self.run.fact(case, &row.subject.id, "sent")?;
        let receivers = self.run.measurement(case, &row.subject.id, "latency");
        let receivers = receivers.map_or(1, |m| m.samples.len()).max(1) as f64;
        let lost = self.table.columns[column].metric == "lost" && sent > 0.0;
        lost.then(|| value / (sent * receivers))
    }
}

/// Keeps the items whose place says so.
fn retain_marked<T>(items: &mut Vec<T>, keep: &[bool]) {
    let mut keep = keep.iter();
    items.retain(|_| keep.next().is_none_or(|keep| *keep));
}

/// The head of a column in two parts: `latency` and `p50`.
pub fn split_head(column: &Column) -> (&str, &str) {
    match column.metric.split_once('/') {
        Some(parts) => parts,
        None if column.sampled => (&column.metric, "median"),
        None => ("", &column.metric),
    }
}
