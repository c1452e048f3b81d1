//! Figures of a table, as a table of the page.

use std::fmt::Write;

use wiregauge_result::run::Run;

use crate::model::number_format::{self, format_quantity, format_ratio};
use crate::model::run_labels::subject_noun;
use crate::model::shared_text::table_legend;
use crate::model::table::{describe, Cell, Column, Table, TableRow};
use crate::page::drawing::box_plot;
use crate::page::markup::escape;

/// Outcomes of corrupted input that make a reader unsafe.
const UNSAFE: [&str; 3] = ["corrupt/crashed", "corrupt/hung", "corrupt/unbounded"];

/// The best of each column.
pub fn winners(run: &Run, table: &Table) -> String {
    let mut text = format!("<dl class=\"best-of {}\">\n", escape(run.kind.name()));
    for (i, column) in table.columns.iter().enumerate() {
        let winners = table.winners(i);
        let Some((subject, cell)) = winners.first() else {
            continue;
        };
        let what = if column.sampled { "fastest" } else { "smallest" };
        let _ = write!(
            text,
            "<div><dt>{} · {what}</dt><dd>{}</dd><dd>{}</dd>",
            escape(&column.metric),
            escape(&format_quantity(cell.value, &column.unit)),
            escape(&subject.title),
        );
        let (few, level): (Vec<_>, Vec<_>) =
            winners[1..].iter().partition(|(_, c)| c.has_too_few_samples());
        for (words, others) in
            [("no measurable difference:", level), ("too few windows to compare:", few)]
        {
            let others: Vec<&str> = others.iter().map(|(s, _)| s.title.as_str()).collect();
            if !others.is_empty() {
                let others = escape(&others.join(", ")).to_string();
                let _ = write!(text, "<dd class=\"more\">{words} {others}</dd>");
            }
        }
        text.push_str("</div>\n");
    }
    text + "</dl>\n"
}

/// What the marks and colours of a table mean, and how it is sorted.
pub fn figures_legend(run: &Run, table: &Table) -> String {
    let lines = table_legend(run, table).into_iter();
    let text: String =
        lines.map(|line| format!("<p class=\"soft\">{}.</p>\n", escape(&line))).collect();
    text + "<p class=\"soft\">Green marks the best of each column. Bars show the ratio on a \
            logarithmic scale. Click the head of a column to sort by it.</p>\n"
}

/// A table that sorts when its heads are clicked. A compact one goes without
/// libraries and bars.
pub fn figures(run: &Run, table: &Table, compact: bool) -> String {
    let class = if compact { "compact" } else { "figures" };
    let kind = escape(run.kind.name());
    let mut text = format!(
        "<div class=\"scroll\"><table class=\"{class} {kind} sortable\"><thead><tr>\
         <th class=\"text\"><button type=\"button\">{}</button></th>",
        subject_noun(run)
    );
    for column in &table.columns {
        let about = describe(run, &column.metric).filter(|_| column.sampled);
        let about = about.map_or(String::new(), |about| format!("<small>{about}</small>"));
        let _ = write!(
            text,
            "<th data-metric=\"{}\"><button type=\"button\">{}</button>{about}</th>",
            escape(&column.metric),
            escape(column.head().strip_prefix("corrupt/").unwrap_or(column.head()))
                .to_string()
                .replace('/', "/<wbr>"),
        );
    }
    text.push_str("</tr></thead>\n");
    let largest: Vec<f64> = (0..table.columns.len())
        .map(|i| table.cells(i).filter_map(|(_, cell)| cell.ratio).fold(1.0, f64::max))
        .collect();
    for (class, bound) in [("codecs", false), ("bounds", true)] {
        let _ = writeln!(text, "<tbody class=\"{class}\">");
        for row in table.rows.iter().filter(|row| row.subject.bound == bound) {
            text.push_str(&table_row(row, &table.columns, &largest, compact));
        }
        text.push_str("</tbody>");
    }
    text + "</table></div>\n"
}

fn table_row(row: &TableRow, columns: &[Column], largest: &[f64], compact: bool) -> String {
    let subject = row.subject;
    let mut text = format!(
        "<tr data-subject=\"{}\"><td data-v=\"{1}\">{1}",
        escape(&subject.id),
        escape(&subject.title)
    );
    if !compact {
        let parts = [subject.language.as_str(), &subject.library];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let _ = write!(text, "<span class=\"sub\">{}</span>", escape(&parts.join(" · ")));
    }
    text.push_str("</td>");
    for ((cell, column), largest) in row.cells.iter().zip(columns).zip(largest) {
        match cell {
            None => text.push_str("<td class=\"n\" data-v=\"\">–</td>"),
            Some(cell) => {
                let largest = (!compact).then_some(*largest);
                text.push_str(&table_cell(&subject.title, cell, column, largest));
            }
        }
    }
    text + "</tr>\n"
}

/// A cell; without the largest ratio of its column it is a compact one.
fn table_cell(title: &str, cell: &Cell, column: &Column, largest: Option<f64>) -> String {
    let best = column.ranked && cell.rank == Some(1);
    let unsafe_reader = cell.value > 0.0 && UNSAFE.contains(&column.metric.as_str());
    let class = if unsafe_reader {
        " failed"
    } else if best {
        " best"
    } else if cell.open && largest.is_some() {
        " open"
    } else {
        ""
    };
    let mut hint = match &cell.summary {
        Some(summary) => box_plot::hint(title, &column.unit, summary),
        None => String::new(),
    };
    if let (Some(times), Some(interval)) = (cell.ratio, cell.ratio_interval) {
        let _ = write!(
            hint,
            "; {} the best, {} to {}",
            format_ratio(times),
            format_ratio(interval.low),
            format_ratio(interval.high)
        );
    }
    let mut text = format!(
        "<td class=\"n{class}\" data-v=\"{}\" title=\"{}\"><span class=\"value\">{}</span>",
        cell.value,
        escape(&hint),
        escape(&format_quantity(cell.value, &column.unit)),
    );
    let related = column.ranked && (largest.is_some() || !column.sampled);
    if let Some(relation) = cell.relation().filter(|_| related) {
        let mark = if cell.open && !best { "~ " } else { "" };
        let _ = write!(text, "<span class=\"ratio\">{mark}{relation}</span>");
    }
    let Some(largest) = largest else {
        return text + "</td>";
    };
    if let Some(interval) = cell.summary.as_ref().and_then(|summary| summary.interval) {
        let margin = interval.relative(cell.value);
        let of_ratio = cell.ratio_interval.map_or(String::new(), |interval| {
            format!(" · {}–{}", format_ratio(interval.low), format_ratio(interval.high))
        });
        if margin.is_finite() {
            let _ = write!(
                text,
                "<span class=\"sub\">{}{of_ratio}</span>",
                number_format::format_margin(margin)
            );
        }
    }
    if let Some(times) = cell.ratio.filter(|_| largest > 1.0) {
        let width = (100.0 * times.max(1.0).ln() / largest.ln()).clamp(1.5, 100.0);
        let _ = write!(text, "<span class=\"bar\"><i style=\"--w:{width:.1}%\"></i></span>");
    }
    text + "</td>"
}

/// A table whose first row is its head.
pub fn plain_table(rows: &[Vec<String>]) -> String {
    let mut text = String::from("<div class=\"scroll\"><table class=\"fits\">");
    for (i, row) in rows.iter().enumerate() {
        let cell = if i == 0 { "th" } else { "td" };
        let cells: String =
            row.iter().map(|text| format!("<{cell}>{}</{cell}>", escape(text))).collect();
        let _ = writeln!(text, "<tr>{cells}</tr>");
    }
    text + "</table></div>\n"
}
