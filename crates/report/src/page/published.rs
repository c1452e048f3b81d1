//! Published figures beside the measured ones.

use std::fmt::Write;

use wiregauge_result::run::Run;

use crate::model::number_format::format_quantity;
use crate::model::reference::{PublishedColumn, RankedFigure};
use crate::page::chart;
use crate::page::markup::escape;

/// A table of one metric on one case.
pub fn published(run: &Run, column: &PublishedColumn) -> String {
    let mut text = format!(
        "<h3>{} at {}</h3>\n<div class=\"charts beside\"><div class=\"scroll\"><table class=\"fits sortable\">\
         <thead><tr><th class=\"text\"><button type=\"button\">published · measured as</button></th>",
        escape(column.metric),
        escape(&column.case.id)
    );
    for side in ["published", "measured"] {
        for (key, name) in [("", side), ("-ratio", "ratio"), ("-rank", "rank")] {
            let _ = write!(
                text,
                "<th data-metric=\"{side}{key}\"><button type=\"button\">{name}</button></th>"
            );
        }
    }
    text.push_str("</tr></thead>\n<tbody>");
    let place = |place: Option<RankedFigure>, deviation: Option<f64>| {
        let Some(place) = place else {
            return "<td data-v=\"\">–</td>".repeat(3);
        };
        let deviation = deviation.map_or(String::new(), |deviation| {
            format!(
                "<span class=\"sub\">s.d. {}</span>",
                escape(&format_quantity(deviation, column.unit))
            )
        });
        let rank = place.rank.map_or(String::new(), |rank| rank.to_string());
        format!(
            "<td data-v=\"{}\">{}{deviation}</td><td data-v=\"{}\">{}</td><td data-v=\"{rank}\">{}</td>",
            place.value,
            escape(&format_quantity(place.value, column.unit)),
            place.ratio.map_or(String::new(), |times| times.to_string()),
            place.relation("–"),
            if rank.is_empty() { "–" } else { &rank },
        )
    };
    for row in &column.rows {
        let title = row.subject.map_or(&row.figure.subject, |subject| &subject.title);
        let _ = writeln!(
            text,
            "<tr><td>{}<span class=\"sub\">{}</span></td>{}{}</tr>",
            escape(&row.figure.name),
            escape(title),
            place(Some(row.published), row.figure.deviation),
            place(row.measured, None),
        );
    }
    let charts = chart::published_charts(run, column);
    let _ = writeln!(text, "</tbody></table></div>{charts}</div>");
    text
}
