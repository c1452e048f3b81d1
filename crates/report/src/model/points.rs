//! What became of points: how small, how fast, how far off, row by row.

use wiregauge_result::run::{Case, Run, Subject};
use wiregauge_result::run_kind::RunKind;
use wiregauge_result::stats::Summary;

use crate::model::break_even::BreakEven;
use crate::model::number_format::{
    format_count, format_quantity, format_ratio, format_significant,
};

/// What stands before the column's name in the largest error, and in what it may be.
const ERROR: &str = "error/";
const ALLOWED: &str = "allowed/";

/// What a mark behind an error says.
pub const ERROR_NOTE: &str =
    "! the error is larger than half of the resolution, with the rounding of the column's type \
     added";

/// The table of a case, its head first; none where the run is not about points.
pub fn points_table(run: &Run, case: &Case) -> Option<Vec<Vec<String>>> {
    if run.kind != RunKind::Points {
        return None;
    }
    let mut errors: Vec<&str> = Vec::new();
    for fact in run.facts.iter().filter(|fact| fact.case == case.id) {
        let name = fact.metric.strip_prefix(ERROR);
        errors.extend(name.filter(|name| !errors.contains(name)));
    }
    let mut head =
        ["", "B a point", "of columns", "encode GB/s", "decode GB/s"].map(str::to_owned).to_vec();
    head.push("pays below".into());
    head.extend(errors.iter().map(|name| format!("error of {name}")));
    head.extend(["order", "rows read for one", "library"].map(str::to_owned));
    let mut rows = vec![head];
    for subject in &run.subjects {
        let fact = |metric: &str| run.fact(&case.id, &subject.id, metric);
        let (Some(size), Some(points)) = (fact("size"), fact("points")) else { continue };
        let mut row = vec![name(subject)];
        row.push(format!("{:.2}", size / points.max(1.0)));
        row.push(format_ratio(case.canonical_bytes / size));
        for metric in ["encode", "decode"] {
            let measured = run.measurement(&case.id, &subject.id, metric);
            let median = measured.and_then(Summary::from_measurement).map(|summary| summary.median);
            // Bytes in a nanosecond are gigabytes in a second.
            row.push(median.map_or("-".into(), |ns| format_significant(case.canonical_bytes / ns)));
        }
        row.push(
            BreakEven::from_run(run, case, subject).map_or("-".into(), BreakEven::format_cell),
        );
        for error in &errors {
            let largest = fact(&format!("{ERROR}{error}"));
            let allowed = fact(&format!("{ALLOWED}{error}"));
            let unit = run.facts.iter().find(|fact| fact.metric == format!("{ERROR}{error}"));
            let unit = unit.map_or("1", |fact| fact.unit.as_str());
            row.push(largest.map_or("-".into(), |value| {
                let mark = if allowed.is_some_and(|allowed| value > allowed) { " !" } else { "" };
                let value = if unit == "1" {
                    format_significant(value)
                } else {
                    format_quantity(value, unit)
                };
                format!("{value}{mark}")
            }));
        }
        row.push(if fact("order") == Some(1.0) { "kept" } else { "lost" }.into());
        row.push(fact("part").map_or("-".into(), format_count));
        row.push(subject.library.clone());
        rows.push(row);
    }
    (rows.len() > 1).then_some(rows)
}

fn name(subject: &Subject) -> String {
    match subject.bound {
        true => format!("{} (bound)", subject.title),
        false => subject.title.clone(),
    }
}

/// Whether an error of a table is marked.
pub fn is_marked(rows: &[Vec<String>]) -> bool {
    rows.iter().flatten().any(|cell| cell.ends_with(" !"))
}
