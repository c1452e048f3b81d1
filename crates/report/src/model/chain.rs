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
const PARTS: [&str; 6] = ["encode", "carry", "wait", "decode", "work", "overhead"];

/// What the figures of the whole chain are.
pub const CHAIN_NOTES: [&str; 4] = [
    "chain: from the taking of a sample until the last stage has worked on it or on a newer one",
    "reaction: the same from an event at any time, which waits for the next sample; distances: \
     what the vehicle moves meanwhile",
    "by its parts: the convolution of the parts' distributions; -: too few samples to tell",
    "overhead: time to ask the codec's own process; no chain outside of this measurement has it",
];
/// What the changes are held against.
pub const CHANGES_NOTE: &str =
    "changes: the best first; the best of them were measured, and 'off' is the prediction's error \
     at the median of the chain";

/// A table with its head first.
pub type Rows = Vec<Vec<String>>;

/// The tables of a case of a chain; none where the run is not about one.
pub fn chain_tables(run: &Run, case: &Case) -> Option<Vec<Rows>> {
    if run.kind != RunKind::Chain {
        return None;
    }
    let figures = Figures { run, case: &case.id };
    let tables = match figures.is_whole() {
        true => vec![figures.end_to_end(), figures.hops(), figures.changes()],
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

    fn end_to_end(&self) -> Rows {
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

    /// The chain as drawn, and with each change.
    fn changes(&self) -> Rows {
        let names = ["reaction p50", "p99", "of as drawn", "chain p50", "measured", "off"];
        let mut rows = vec![head("by their parts", &names)];
        let own = self.drawn().and_then(|drawn| self.fact(drawn, "predicted/reaction/p50"));
        for subject in &self.run.subjects {
            let fact = |metric: &str| self.fact(subject, metric);
            let Some(reaction) = fact("predicted/reaction/p50") else { continue };
            let chain = fact("predicted/chain/p50");
            let found = fact("chain/p50").filter(|found| *found > 0.0);
            let off = chain.zip(found).map(|(chain, found)| 100.0 * (chain / found - 1.0));
            let share = own.filter(|own| *own > 0.0).map(|own| 100.0 * reaction / own);
            rows.push(vec![
                subject.title.clone(),
                time(reaction),
                cell(fact("predicted/reaction/p99"), time),
                cell(share, |share| format!("{share:.0} %")),
                cell(chain, time),
                cell(found, time),
                cell(off, |off| format!("{off:+.1} %")),
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

#[cfg(test)]
mod tests {
    use super::*;
    use wiregauge_result::requirement::Requirements;
    use wiregauge_result::run::{Curve, Fact, Settings, Status};
    use wiregauge_result::run_builder::RunBuilder;
    use wiregauge_result::verdict::{overall, RequirementVerdict};

    const MS: f64 = 1e6;

    /// A chain of one hop, and two changes: one was measured and is slower.
    fn run() -> Run {
        let mut run =
            RunBuilder::begin(RunKind::Chain).finish("a chain".into(), Settings::default());
        run.cases = vec![
            Case::new("end to end", "lidar to brake", "one machine"),
            Case::new("lidar to brake", "Scan", "scan.msg"),
        ];
        let skipped = Status::Skipped("predicted, not measured".into());
        run.subjects = vec![
            Subject::new("drawn", "as drawn", "any"),
            Subject::new("1:json", "lidar to brake: json", "any"),
            Subject { status: skipped, ..Subject::new("1:prost", "lidar to brake: prost", "any") },
        ];
        let mut add = |case: &str, subject: &str, metric: &str, value: f64| {
            let (case, subject) = (case.into(), subject.into());
            let (metric, unit) = (metric.into(), "ns".into());
            run.facts.push(Fact { case, subject, metric, unit, value });
        };
        for (subject, time) in [("drawn", 20.0), ("1:json", 80.0)] {
            for metric in ["chain", "reaction"] {
                add("end to end", subject, &format!("{metric}/p50"), time * MS);
                add("end to end", subject, &format!("{metric}/max"), 2.0 * time * MS);
                add("end to end", subject, &format!("{metric}/count"), 50.0);
            }
        }
        for (subject, time) in [("drawn", 22.0), ("1:json", 72.0), ("1:prost", 11.0)] {
            add("end to end", subject, "predicted/reaction/p50", time * MS);
            add("end to end", subject, "predicted/chain/p50", time * MS);
        }
        add("end to end", "drawn", "speed", 36.0 / 3.6);
        for (metric, value) in [("hop/carry/p50", MS), ("arrived", 40.0), ("overwritten", 10.0)] {
            add("lidar to brake", "drawn", metric, value);
        }
        for (subject, time) in [("drawn", 20.0), ("1:json", 80.0)] {
            run.curves.push(Curve {
                case: "end to end".into(),
                subject: subject.into(),
                metric: "chain".into(),
                unit: "ns".into(),
                over: "share".into(),
                points: vec![(0.5, time * MS)],
            });
        }
        run
    }

    #[test]
    fn distances_hops_and_changes_are_told() {
        let run = run();
        let tables = chain_tables(&run, &run.cases[0]).unwrap();
        let line = |table: usize, name: &str| {
            let row = tables[table].iter().find(|row| row[0] == name);
            row.unwrap_or_else(|| panic!("no {name} in {:?}", tables[table])).join("|")
        };
        assert_eq!(line(0, "chain"), "chain|20.0 ms|-|-|40.0 ms");
        // 20 ms at 10 m/s, 40 ms.
        assert_eq!(line(0, "  at 36 km/h"), "  at 36 km/h|0.200 m|-|-|0.400 m");
        assert!(line(1, "lidar to brake").ends_with("|-|25 %"), "{}", line(1, "lidar to brake"));
        let json = "lidar to brake: json|72.0 ms|-|327 %|72.0 ms|80.0 ms|-10.0 %";
        assert_eq!(line(2, "lidar to brake: json"), json);
        let prost = "lidar to brake: prost|11.0 ms|-|50 %|11.0 ms|-|-";
        assert_eq!(line(2, "lidar to brake: prost"), prost);
        assert_eq!(chain_tables(&run, &run.cases[1]).unwrap()[0].len(), 3);
        let text = crate::text::terminal::render(std::slice::from_ref(&run), None);
        assert!(!text.contains("Without figures"), "{text}");
        let page = crate::page::render(&[run]);
        assert!(page.contains("<td>lidar to brake: prost</td><td>11.0 ms</td>"));
    }

    #[test]
    fn the_chain_as_drawn_is_judged_and_no_change() {
        let run = run();
        let verdict = |text: &str| overall(&text.parse::<Requirements>().unwrap().check(&run));
        assert_eq!(verdict("max chain < 50ms"), RequirementVerdict::Pass);
        assert_eq!(verdict("max chain of 1:json < 50ms"), RequirementVerdict::Fail);
        // Fifty independent ones cannot tell a p99.9.
        assert_eq!(verdict("p99.9 chain < 1s"), RequirementVerdict::CannotTell);
    }
}
