//! The ratios of each codec in several results: a marker for each result.

use crate::model::number_format::format_ratio;
use crate::model::ranking::experiment_ranking::{ExperimentRanking, RankedCell, RankedRow};
use crate::model::ranking_text::format_cell;
use crate::page::chart::{Chart, ChartSource};
use crate::page::drawing::marker;
use crate::page::drawing::rows::RowChart;
use crate::page::markup::escape;

const ROW: f64 = 17.0;

inventory::submit! {
    Chart { place: |_| Some(10), draw: ChartSource::Ranking(draw) }
}

fn draw(experiment: &ExperimentRanking) -> String {
    let (picture, is_log) = picture(experiment);
    let axis = if is_log { " The axis is logarithmic." } else { "" };
    format!(
        "<figure>{}{picture}<figcaption>Ratio to {}; a row's line goes from the least to the \
         most, and the figure is the mean. ⇄ changes places with another codec.{axis}\
         </figcaption></figure>",
        marker::legend(&experiment.results),
        escape(experiment.title(&experiment.reference)),
    )
}

/// The picture, and whether its axis is logarithmic.
fn picture(experiment: &ExperimentRanking) -> (String, bool) {
    let ratios =
        |row: &RankedRow| -> Vec<f64> { row.cells.iter().filter_map(RankedCell::ratio).collect() };
    let values: Vec<f64> = experiment.rows.iter().flat_map(ratios).collect();
    let titles: Vec<String> = experiment
        .rows
        .iter()
        .map(|row| format!("{}{}", row.title, if row.exchanged { " ⇄" } else { "" }))
        .collect();
    let mean =
        |row: &RankedRow| row.spread.map_or("floor".to_owned(), |spread| format_ratio(spread.mean));
    let names: Vec<(&str, String)> =
        titles.iter().map(String::as_str).zip(experiment.rows.iter().map(mean)).collect();
    let label = format!("Ratios of {} in each result", experiment.metric);
    let mut chart = RowChart::new(&label, &names, ROW, &values, false);
    chart.axis("1");
    chart.rule(1.0);
    for (i, row) in experiment.rows.iter().enumerate() {
        let hints = experiment.results.iter().zip(&row.cells);
        let hints =
            hints.map(|(name, cell)| format!("{name} {}", format_cell(experiment, row, cell)));
        let hint = format!("{}: {}", row.title, hints.collect::<Vec<_>>().join(", "));
        let class = if row.exchanged { "exchanged" } else { "" };
        let middle = chart.begin(i, &titles[i], &names[i].1, &hint, class);
        if let Some(spread) = row.spread {
            chart.line("whisker", spread.least, spread.most, middle);
        }
        for (number, cell) in row.cells.iter().enumerate() {
            if let Some(ratio) = cell.ratio() {
                chart.mark(number, ratio, middle);
            }
        }
        chart.end();
    }
    let is_log = chart.is_log();
    (chart.finish(), is_log)
}
