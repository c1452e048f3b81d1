//! What a chain from sensor to actuator takes: end to end, hop by hop, and with each change.

use wiregauge_result::run::{Case, Run, Subject};
use wiregauge_result::run_kind::RunKind;

use crate::model::number_format::{
    format_bytes, format_count, format_quantity, format_significant,
};

/// The shares that are shown.
const SHARES: [&str; 4] = ["p50", "p99", "p99.9", "max"];
/// What these are called.
const HEADS: [&str; 4] = ["p50", "p99", "p99.9", "worst seen"];
/// The parts of a hop in their order.
const PARTS: [&str; 6] = ["encode", "carry", "wait", "decode", "work", "asking"];

/// What the figures of the whole chain are.
pub const CHAIN_NOTES: [&str; 4] = [
    "chain: from the taking of a sample until the last stage has worked on it or on a newer one",
    "reaction: from an event at any time, which waits for the next sample; so does what it is \
     about, at the speed of the distances",
    "by its parts: the convolution of the parts' distributions; p99.9 and worst seen need many \
     samples, which a prediction has and a short run has not",
    "asking: time to ask the codec's own process; no chain outside of this measurement has it",
];
/// What the changes are held against.
pub const CHANGES_NOTE: &str =
    "changes: reactions by the parts, the best first; the best of them were measured, and 'off' is \
     the prediction's error at the median";

/// A table with its head first.
pub type Rows = Vec<Vec<String>>;

/// The tables of a case of a chain; none where the run is not about one.
pub fn chain_tables(run: &Run, case: &Case) -> Option<Vec<Rows>> {
    if run.kind != RunKind::Chain {
        return None;
    }
    let figures = Figures { run, case: &case.id };
    let tables = match figures.is_whole() {
        true => vec![figures.whole(), figures.hops(), figures.changes()],
        false => vec![figures.parts()],
    };
    Some(tables.into_iter().filter(|rows| rows.len() > 1).collect())
}

struct Figures<'r> {
    run: &'r Run,
    case: &'r str,
}

impl<'r> Figures<'r> {
    /// Whether the case is the whole chain, and not a hop.
    fn is_whole(&self) -> bool {
        self.run.cases.first().is_some_and(|first| first.id == self.case)
    }

    fn fact(&self, subject: &Subject, metric: &str) -> Option<f64> {
        self.run.fact(self.case, &subject.id, metric)
    }

    /// The chain as it is drawn.
    fn drawn(&self) -> Option<&'r Subject> {
        self.run.subjects.first()
    }

    /// Those that were measured.
    fn measured(&self, metric: &str) -> Vec<&'r Subject> {
        let has = |subject: &&Subject| self.fact(subject, metric).is_some();
        self.run.subjects.iter().filter(has).collect()
    }

    fn whole(&self) -> Rows {
        let mut rows = vec![head("", &HEADS)];
        let speed = self.drawn().and_then(|drawn| self.fact(drawn, "speed"));
        for subject in self.measured("chain/max") {
            let title = match self.drawn().is_some_and(|drawn| drawn.id == subject.id) {
                true => String::new(),
                false => format!(", {}", subject.title),
            };
            for metric in ["chain", "reaction"] {
                let times = |before: &str| {
                    SHARES.map(|share| self.fact(subject, &format!("{before}{metric}/{share}")))
                };
                let found = times("");
                rows.push(row(format!("{metric}{title}"), &found, time));
                if let Some(speed) = speed {
                    let metres = found.map(|time| Some(time? / 1e9 * speed));
                    rows.push(row(format!("  at {}", format_speed(speed)), &metres, metre));
                }
                rows.push(row("  by its parts".into(), &times("predicted/"), time));
            }
        }
        rows
    }

    fn hops(&self) -> Rows {
        let mut rows = vec![head("median of a part", &PARTS)];
        rows[0].extend(["bytes", "overwritten"].map(str::to_owned));
        let Some(drawn) = self.drawn() else { return rows };
        for hop in self.run.cases.iter().skip(1) {
            let fact = |metric: &str| self.run.fact(&hop.id, &drawn.id, metric);
            let parts = PARTS.map(|part| fact(&format!("hop/{part}/p50")));
            let mut cells = row(hop.id.clone(), &parts, time);
            cells.push(cell(fact("size"), format_bytes));
            let share = fact("arrived").filter(|arrived| *arrived > 0.0);
            let share = share.and_then(|arrived| Some(100.0 * fact("overwritten")? / arrived));
            cells.push(cell(share, |share| format!("{share:.0} %")));
            rows.push(cells);
        }
        if let Some(share) = self.fact(drawn, "serialization") {
            let mut last = vec!["serialization's share".to_owned(), format!("{share:.2} %")];
            last.resize(rows[0].len(), String::new());
            rows.push(last);
        }
        rows
    }

    /// The parts of a hop, of each that was measured.
    fn parts(&self) -> Rows {
        let mut rows = vec![head("", &PARTS)];
        for subject in self.measured("hop/carry/p50") {
            for (share, name) in [("p50", "median"), ("p99", "p99")] {
                let parts = PARTS.map(|part| self.fact(subject, &format!("hop/{part}/{share}")));
                rows.push(row(format!("{}, {name}", subject.title), &parts, time));
            }
        }
        rows
    }

    fn changes(&self) -> Rows {
        let mut rows = vec![head("change", &["p50", "p99", "of as drawn", "measured p50", "off"])];
        let own = self.drawn().and_then(|drawn| self.fact(drawn, "predicted/reaction/p50"));
        for subject in self.run.subjects.iter().skip(1) {
            let Some(predicted) = self.fact(subject, "predicted/reaction/p50") else { continue };
            let found = self.fact(subject, "reaction/p50");
            let ratio = |of: Option<f64>| of.filter(|of| *of > 0.0).map(|of| predicted / of);
            rows.push(vec![
                subject.title.clone(),
                time(predicted),
                cell(self.fact(subject, "predicted/reaction/p99"), time),
                cell(ratio(own), |ratio| format!("{:.0} %", 100.0 * ratio)),
                cell(found, time),
                cell(ratio(found), |ratio| format!("{:+.1} %", 100.0 * (ratio - 1.0))),
            ]);
        }
        rows
    }
}

fn head(name: &str, columns: &[&str]) -> Vec<String> {
    std::iter::once(name).chain(columns.iter().copied()).map(str::to_owned).collect()
}

fn row(name: String, figures: &[Option<f64>], format: fn(f64) -> String) -> Vec<String> {
    std::iter::once(name).chain(figures.iter().map(|figure| cell(*figure, format))).collect()
}

fn cell(figure: Option<f64>, format: impl Fn(f64) -> String) -> String {
    figure.map_or("-".into(), format)
}

fn time(ns: f64) -> String {
    match ns {
        0.0 => "0".into(),
        ns => format_quantity(ns, "ns"),
    }
}

fn metre(metres: f64) -> String {
    format!("{} m", format_significant(metres))
}

/// A speed in kilometers an hour.
fn format_speed(speed: f64) -> String {
    format!("{} km/h", format_count((speed * 3.6).round()))
}
