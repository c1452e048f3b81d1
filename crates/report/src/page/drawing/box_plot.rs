//! The samples of an experiment, one box for each subject.

use crate::model::number_format::{format_percent, format_quantity};
use crate::model::table::Table;
use crate::page::drawing::rows::RowChart;
use wiregauge_result::stats::Summary;

/// Box plots of a table's column: the box holds the middle half of the
/// samples, the stroke in it is their median, the whiskers reach to the last
/// samples that are no outliers, and outliers are circles.
pub fn box_plot(table: &Table, column: usize) -> (String, bool) {
    let unit = &table.columns[column].unit;
    let mut rows: Vec<_> = table
        .cells(column)
        .filter_map(|(subject, cell)| Some((subject, cell, cell.summary.as_ref()?)))
        .collect();
    rows.sort_by(|a, b| a.0.bound.cmp(&b.0.bound).then(a.1.value.total_cmp(&b.1.value)));
    // The axis is the codecs'. A bound that lies far off, as an empty operation
    // does, is put at its end with an arrow rather than squeezing all others.
    let bounds_only = rows.iter().all(|row| row.0.bound);
    let values: Vec<f64> = rows
        .iter()
        .filter(|row| bounds_only || !row.0.bound)
        .flat_map(|row| [row.2.min, row.2.max])
        .collect();
    let label = format!("Box plots of {}", table.columns[column].metric);
    let names: Vec<(&str, String)> = rows
        .iter()
        .map(|(subject, cell, _)| (subject.title.as_str(), format_quantity(cell.value, unit)))
        .collect();
    let mut chart = RowChart::new(&label, &names, 17.0, &values, false);
    chart.axis(unit);
    for (i, (subject, cell, summary)) in rows.iter().enumerate() {
        let class = match (subject.bound, cell.rank) {
            (true, _) => "bound",
            (_, Some(1)) => "best",
            _ => "",
        };
        let beyond = chart.overflow_arrow(cell.value);
        let figure = format!("{beyond}{}", format_quantity(cell.value, unit));
        let hint = hint(&subject.title, unit, summary);
        let y = chart.begin(i, &subject.title, &figure, &hint, class);
        if !beyond.is_empty() {
            chart.end();
            continue;
        }
        let (low, high) = whiskers(summary);
        chart.line("whisker", low, high, y);
        chart.stroke("whisker", low, y, 6.0);
        chart.stroke("whisker", high, y, 6.0);
        chart.bar("box", summary.lower_quartile, summary.upper_quartile, y, 10.0);
        chart.stroke("median", summary.median, y, 10.0);
        for outlier in &summary.outliers {
            chart.dot("outlier", outlier.value, y);
        }
        chart.end();
    }
    let log = chart.is_log();
    (chart.finish(), log)
}

/// The statistics of one measurement in a sentence.
pub fn hint(title: &str, unit: &str, summary: &Summary) -> String {
    let q = |value: f64| format_quantity(value, unit);
    let interval = summary.interval.map_or(String::new(), |i| {
        format!(", {} interval {} to {}", format_percent(i.confidence), q(i.low), q(i.high))
    });
    let between =
        summary.between.map_or(String::new(), |b| format!("{} between and ", format_percent(b)));
    format!(
        "{title}: median {}{interval}; mean {}, standard deviation {}; {} to {}; {} epochs of {} \
         processes, {} outliers, {} lost; spread {between}{} within processes",
        q(summary.median),
        q(summary.mean),
        q(summary.deviation),
        q(summary.min),
        q(summary.max),
        summary.epochs,
        summary.processes,
        summary.outliers.len(),
        summary.lost,
        format_percent(summary.within),
    )
}

/// The whiskers end at the nearest outlier's side of the box at the latest;
/// without outliers on a side they reach to the end.
fn whiskers(summary: &Summary) -> (f64, f64) {
    let reach = 1.5 * (summary.upper_quartile - summary.lower_quartile);
    let below = summary.outliers.iter().any(|o| o.value < summary.median);
    let above = summary.outliers.iter().any(|o| o.value > summary.median);
    let low = if below { summary.min.max(summary.lower_quartile - reach) } else { summary.min };
    let high = if above { summary.max.min(summary.upper_quartile + reach) } else { summary.max };
    (low, high)
}
