//! Bars: phases that add up, sizes side by side.

use wiregauge_gauge::stats::median;

use super::chart::Rows;
use crate::phase::Phases;
use crate::table::{Row, Table};
use crate::unit::quantity;

/// The phases of an experiment, stacked.
pub fn stacked(phases: &Phases) -> String {
    let sums: Vec<f64> = phases.rows.iter().map(|row| row.sum()).collect();
    let end = limit(&sums);
    let label = format!("Phases of {}", phases.metric);
    let mut chart = Rows::new(&label, sums.len(), 20.0, &[end], true);
    chart.axis(&phases.unit);
    for (i, row) in phases.rows.iter().enumerate() {
        let parts: Vec<String> = phases
            .names
            .iter()
            .zip(&row.parts)
            .filter_map(|(name, part)| Some(format!("{name} {}", quantity((*part)?, &phases.unit))))
            .collect();
        let title = &row.subject.title;
        let figure = figure(row.sum(), end, &phases.unit);
        let hint = format!("{title}: {}", parts.join(", "));
        let y = chart.begin(i, title, &figure, &hint, "");
        let mut from = 0.0;
        for (part, value) in row.parts.iter().enumerate() {
            if let Some(value) = value.filter(|value| *value > 0.0 && from < end) {
                chart.bar(&format!("part p{}", part % 4), from, (from + value).min(end), y, 12.0);
                from += value;
            }
        }
        chart.end();
    }
    chart.finish()
}

/// The sizes of a case: as encoded and after each compressor.
pub fn sizes(table: &Table) -> String {
    let columns: Vec<usize> =
        (0..table.columns.len()).filter(|&i| !table.columns[i].sampled).collect();
    let sizes = |row: &Row| -> Vec<Option<f64>> {
        columns.iter().map(|&i| row.cells[i].as_ref().map(|cell| cell.value)).collect()
    };
    let values: Vec<f64> = table.rows.iter().flat_map(|row| sizes(row)).flatten().collect();
    let end = limit(&values);
    let height = 7.0 * columns.len() as f64 + 6.0;
    let mut chart = Rows::new("Sizes", table.rows.len(), height, &[end], true);
    chart.axis("B");
    for (i, row) in table.rows.iter().enumerate() {
        let sizes = sizes(row);
        let named = columns.iter().zip(&sizes).filter_map(|(&column, size)| {
            Some(format!("{} {}", table.columns[column].metric, quantity((*size)?, "B")))
        });
        let title = &row.subject.title;
        let first = sizes.first().copied().flatten();
        let text = first.map_or(String::new(), |size| figure(size, end, "B"));
        let hint = format!("{title}: {}", named.collect::<Vec<_>>().join(", "));
        let middle = chart.begin(i, title, &text, &hint, "");
        for (part, size) in sizes.iter().enumerate() {
            let place = part as f64 - (sizes.len() as f64 - 1.0) / 2.0;
            if let Some(size) = size {
                let class = format!("part p{}", part % 4);
                chart.bar(&class, 0.0, size.min(end), middle + 7.0 * place, 6.0);
            }
        }
        chart.end();
    }
    chart.finish()
}

/// Where the axis ends: one large figure must not flatten all others, so it
/// ends at six times the median, and longer bars are cut with an arrow at
/// their figure.
fn limit(values: &[f64]) -> f64 {
    let largest = values.iter().copied().fold(0.0, f64::max);
    median(values.iter().copied()).map_or(largest, |middle| largest.min(6.0 * middle))
}

fn figure(value: f64, end: f64, unit: &str) -> String {
    let cut = if value > end { "→ " } else { "" };
    format!("{cut}{}", quantity(value, unit))
}
