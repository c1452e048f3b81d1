//! What changed, as rows of a table and as lines: from one result to another, and from row to
//! row of one.

use wiregauge_result::run::Run;
use wiregauge_result::stats::{
    compare_rows, missing_rows, Cell, ChangeVerdict, Comparison, ComparisonView, FactChange,
};

use crate::model::number_format::{format_change, format_percent, format_quantity};
use crate::model::run_labels::subject_noun;

/// The rows of one run that are compared with each other, as they are shown.
pub struct ComparedRows {
    /// What a reader must know first.
    pub notes: Vec<String>,
    /// The table with its head; the head alone where nothing was sampled.
    pub rows: Vec<Vec<String>>,
    /// What else there is to say, in blocks of a title and lines.
    pub blocks: Vec<(&'static str, Vec<String>)>,
}

impl ComparedRows {
    /// Those of a run, if it has any; `name` makes names safe to show.
    pub fn from_run(run: &Run, name: fn(&str) -> String) -> Option<ComparedRows> {
        let comparison = compare_rows(run)?;
        let mut notes = Vec::new();
        if !comparison.cells.is_empty() {
            notes.extend(count_verdicts(&comparison));
        }
        if let Some((typical, each)) = comparison.resolution().zip(comparison.coarsest_resolution())
        {
            notes.push(format!(
                "The smallest slowdown that this run detects: {} in a typical cell, {} in each.",
                format_percent(typical),
                format_percent(each)
            ));
        }
        if comparison.counted {
            notes.push(format!(
                "Instructions do not differ by chance: any growth of more than {} is detected.",
                format_percent(comparison.limits.threshold)
            ));
        }
        let title = |id: &str| run.subject(id).map_or(id, |row| &row.title).to_owned();
        let missing = missing_rows(run).into_iter();
        let missing = missing.map(|(id, why)| format!("{}: {why}", title(id)));
        let blocks = vec![
            ("Not compared: there is no older row", missing.collect()),
            ("Counted figures that changed", fact_lines(&comparison)),
            ("LOST: measured in the older row only", comparison.lost.clone()),
        ];
        let cells = comparison.cells.iter().collect();
        let rows = change_rows(run, cells, ["old", "new"], name);
        Some(ComparedRows { notes, rows, blocks })
    }
}

/// How many cells have which verdict, and what makes one.
pub fn count_verdicts(comparison: &Comparison) -> [String; 2] {
    let count = |verdict| comparison.count(verdict);
    [
        format!(
            "{} cells: {} slower, {} faster, {} no difference, {} cannot tell",
            comparison.cells.len(),
            count(ChangeVerdict::Slower),
            count(ChangeVerdict::Faster),
            count(ChangeVerdict::NoDifference),
            count(ChangeVerdict::CannotTell),
        ),
        format!(
            "A cell is slower or faster if it changed by more than {}, with {} confidence over all \
             cells together.",
            format_percent(comparison.limits.threshold),
            format_percent(comparison.limits.confidence),
        ),
    ]
}

/// A row for each of these cells below a head: what changed first, then what cannot be told.
/// `sides` stand above the figures; `name` makes names safe to show.
pub fn change_rows(
    run: &Run,
    mut cells: Vec<&Cell>,
    sides: [&str; 2],
    name: fn(&str) -> String,
) -> Vec<Vec<String>> {
    let [old, new] = sides;
    let head = ["case", subject_noun(run), "metric", old, new, "change", "interval", "verdict"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    cells.sort_by_key(|cell| verdict_order(cell.verdict));
    for cell in cells {
        let title = run.subject(&cell.subject).map_or(&cell.subject, |subject| &subject.title);
        let (ratio, interval) = match cell.change() {
            None => ("-".to_owned(), "-".to_owned()),
            Some(found) => {
                let against = match found.view {
                    ComparisonView::Times => "",
                    ComparisonView::Bound => " relative to the bound",
                    ComparisonView::Others => " relative to the others",
                };
                let ends = format!(
                    "{} … {}{against}",
                    format_change(found.low),
                    format_change(found.high)
                );
                (format_change(found.ratio), ends)
            }
        };
        let verdict = match &cell.reason {
            Some(reason) => format!("{} ({reason})", verdict_word(cell.verdict)),
            None => verdict_word(cell.verdict).to_owned(),
        };
        rows.push(vec![
            name(&cell.case),
            name(title),
            name(&cell.metric),
            format_quantity(cell.base, &cell.unit),
            format_quantity(cell.new, &cell.unit),
            ratio,
            interval,
            verdict,
        ]);
    }
    rows
}

/// Counted figures that changed, a line each.
pub fn fact_lines(comparison: &Comparison) -> Vec<String> {
    let line = |fact: &FactChange| {
        let [before, now] = [fact.base, fact.new].map(|value| format_quantity(value, &fact.unit));
        let mark = if fact.regressed { ", LARGER" } else { "" };
        format!("{}: {}, {}: {before} → {now}{mark}", fact.case, fact.subject, fact.metric)
    };
    comparison.facts.iter().map(line).collect()
}

fn verdict_order(verdict: ChangeVerdict) -> u8 {
    match verdict {
        ChangeVerdict::Slower => 0,
        ChangeVerdict::Faster => 1,
        ChangeVerdict::CannotTell => 2,
        ChangeVerdict::NoDifference => 3,
    }
}

fn verdict_word(verdict: ChangeVerdict) -> &'static str {
    match verdict {
        ChangeVerdict::Slower => "SLOWER",
        ChangeVerdict::Faster => "faster",
        ChangeVerdict::NoDifference => "no difference",
        ChangeVerdict::CannotTell => "cannot tell",
    }
}
