//! Bars: phases that add up, sizes side by side.

use std::fmt::Write;

use crate::model::number_format::{format_percent, format_quantity};
use crate::model::phase::{PhaseRow, Phases};
use crate::model::table::{self, Table};
use crate::page::drawing::rows::RowChart;
use crate::page::markup::escape;

/// Fills that a reader can tell apart; the page's patterns and styles know them.
pub const FILLS: usize = 5;

/// How many times the longest bar the budget may be, to be on its axis: else
/// the phases could not be told apart.
const FARTHEST: f64 = 5.0;

/// The budget of the phases in relation to the longest bar, if it is too far
/// beyond to be shown.
pub fn off_axis_budget(phases: &Phases) -> Option<f64> {
    let longest = phases.rows.iter().map(|row| row.sum()).fold(0.0, f64::max);
    phases.budget.map(|budget| budget / longest).filter(|times| *times > FARTHEST)
}

/// The phases of an experiment, stacked, with a line at the time that there is
/// for them.
pub fn stacked(phases: &Phases) -> String {
    let sums: Vec<f64> = phases.rows.iter().map(|row| row.sum()).collect();
    let budget = phases.budget.filter(|_| off_axis_budget(phases).is_none());
    // Whole bars: what is cut would look like its neighbours.
    let end = sums.iter().copied().chain(budget).fold(0.0, f64::max);
    let text = |row: &PhaseRow| {
        let share =
            phases.share(row).map_or(String::new(), |share| format!(" {}", format_percent(share)));
        format_quantity(row.sum(), &phases.unit) + &share
    };
    let names: Vec<(&str, String)> =
        phases.rows.iter().map(|row| (row.subject.title.as_str(), text(row))).collect();
    let label = format!("Phases of {}", phases.metric);
    let mut chart = RowChart::new(&label, &names, 20.0, &[end], true);
    chart.axis(&phases.unit);
    for (i, row) in phases.rows.iter().enumerate() {
        let parts: Vec<String> = phases
            .names
            .iter()
            .zip(&row.parts)
            .filter_map(|(name, part)| {
                Some(format!("{name} {}", format_quantity((*part)?, &phases.unit)))
            })
            .collect();
        let title = &row.subject.title;
        let hint = format!("{title}: {}", parts.join(", "));
        let y = chart.begin(i, title, &names[i].1, &hint, "");
        let mut from = 0.0;
        for (part, value) in row.parts.iter().enumerate() {
            if let Some(value) = value.filter(|value| *value > 0.0 && from < end) {
                chart.bar(&format!("part p{}", part % FILLS), from, from + value, y, 12.0);
                from += value;
            }
        }
        chart.end();
    }
    if let Some(budget) = budget {
        chart.rule(budget);
    }
    chart.finish()
}

/// The sizes of a case: as encoded and after each compressor.
pub fn sizes(table: &Table) -> String {
    let values = table.rows.iter().flat_map(|row| row.cells.iter().flatten().map(|c| c.value));
    let end = values.fold(0.0, f64::max);
    let height = 7.0 * table.columns.len() as f64 + 6.0;
    let text = |row: &table::TableRow| {
        let first = row.cells.first().and_then(Option::as_ref);
        first.map_or(String::new(), |cell| format_quantity(cell.value, "B"))
    };
    let names: Vec<(&str, String)> =
        table.rows.iter().map(|row| (row.subject.title.as_str(), text(row))).collect();
    let mut chart = RowChart::new("Sizes", &names, height, &[end], true);
    chart.axis("B");
    for (i, row) in table.rows.iter().enumerate() {
        let named = table.columns.iter().zip(&row.cells).filter_map(|(column, cell)| {
            Some(format!(
                "{} {}",
                column.metric,
                format_quantity(cell.as_ref()?.value, &column.unit)
            ))
        });
        let title = &row.subject.title;
        let hint = format!("{title}: {}", named.collect::<Vec<_>>().join(", "));
        let middle = chart.begin(i, title, &names[i].1, &hint, "");
        for (part, cell) in row.cells.iter().enumerate() {
            let place = part as f64 - (row.cells.len() as f64 - 1.0) / 2.0;
            if let Some(cell) = cell {
                let class = format!("part p{}", part % FILLS);
                chart.bar(&class, 0.0, cell.value, middle + 7.0 * place, 6.0);
            }
        }
        chart.end();
    }
    chart.finish()
}

/// Names beside the fills of the bars.
pub fn legend(names: &[String]) -> String {
    let mut text = String::from("<div class=\"legend\">");
    for (i, name) in names.iter().enumerate() {
        let _ = write!(
            text,
            "<span><svg viewBox=\"0 0 22 11\" aria-hidden=\"true\"><rect class=\"p{}\" width=\"22\" \
             height=\"11\"/></svg>{}</span>",
            i % FILLS,
            escape(name)
        );
    }
    text + "</div>"
}
