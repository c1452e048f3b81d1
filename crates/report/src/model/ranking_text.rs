//! What all forms say of several results in the same words.

use crate::model::number_format::format_ratio;
use crate::model::ranking::experiment_ranking::{ExperimentRanking, RankedCell, RankedRow};
use crate::model::ranking::pair::ExchangedPair;
use crate::model::ranking::{RankedResult, Ranking};
use crate::model::shared_text::FLOOR;

/// The marks of all tables, a line each.
const LEGEND: [&str; 3] = [
    "×: ratio to the row that is named above each table; ~: no measurable difference from that row",
    "mean: geometric mean of the row's ratios; rows are sorted by it",
    "⇄: changes places with another codec: in two results the 95% intervals of the ratio of the two \
     to each other, corrected for all pairs of the table, exclude 1 in opposite directions",
];

/// What counts for counted figures.
const COUNTED: &str =
    "instructions: two codecs are told apart if their numbers differ by more than 1%";

/// The machine and the day of a result.
pub fn describe_result(result: &RankedResult) -> String {
    format!("{} · {}", result.machine.describe(), result.started)
}

/// What ratios are to.
pub fn describe_reference(experiment: &ExperimentRanking) -> String {
    let whom = if experiment.results.len() == 2 { "both" } else { "all" };
    let what = if experiment.is_counted() { "the fewest instructions" } else { "the fastest" };
    let results = experiment.results.join(", ");
    let reference = experiment.title(&experiment.reference);
    format!("ratios to {reference}, {what} of those that {whom} have ({results})")
}

/// A cell as people read it.
pub fn format_cell(experiment: &ExperimentRanking, row: &RankedRow, cell: &RankedCell) -> String {
    let is_reference = row.subject == experiment.reference;
    match cell {
        RankedCell::Floor => "floor".to_owned(),
        RankedCell::Absent(state) => state.clone(),
        RankedCell::Ratio(ratio) => {
            let mark = if cell.is_open() && !is_reference { " ~" } else { "" };
            format!("{}{mark}", format_ratio(ratio.ratio))
        }
    }
}

/// The mean of a row and its spread, as people read them.
pub fn format_spread(row: &RankedRow) -> (String, String) {
    match row.spread {
        None => ("-".to_owned(), "-".to_owned()),
        Some(spread) => {
            let [mean, least, most] = [spread.mean, spread.least, spread.most].map(format_ratio);
            (mean, format!("{least}…{most}"))
        }
    }
}

/// The pairs that change places, a line each.
pub fn exchanged_lines(experiment: &ExperimentRanking) -> Vec<String> {
    let pairs = experiment.pairs.exchanged.iter();
    let line = |pair: &ExchangedPair| {
        let ratios = experiment.results.iter().zip(&pair.ratios);
        let ratios = ratios.filter_map(|(name, ratio)| {
            let ratio = ratio.as_ref()?;
            let open = if ratio.order.is_none() { " ~" } else { "" };
            let ends = ratio.low.zip(ratio.high).map_or(String::new(), |(low, high)| {
                format!(" ({}…{})", format_ratio(low), format_ratio(high))
            });
            Some(format!("{}{open}{ends} in {name}", format_ratio(ratio.ratio)))
        });
        format!(
            "⇄ {} to {}: {}",
            experiment.title(&pair.first),
            experiment.title(&pair.second),
            ratios.collect::<Vec<_>>().join(", ")
        )
    };
    pairs.map(line).collect()
}

/// What the marks of the tables mean, those that there are.
pub fn legend(ranking: &Ranking) -> Vec<String> {
    let rows = || ranking.experiments.iter().flat_map(|experiment| &experiment.rows);
    let mut lines: Vec<String> = LEGEND.map(String::from).to_vec();
    if rows().any(|row| row.cells.contains(&RankedCell::Floor)) {
        lines.push(FLOOR.to_owned());
    }
    if ranking.experiments.iter().any(ExperimentRanking::is_counted) {
        lines.push(COUNTED.to_owned());
    }
    lines.extend(ranking.marks.iter().cloned());
    lines
}
