//! A case of the bus: what arrived, how long it took, and what it cost.

use std::fmt::Write;

use wiregauge_result::run::{Case, Run};

use crate::model::break_even;
use crate::model::figure::{
    defined_name, definition, display_order, figure_topic, is_loss, FigureTopic,
};
use crate::model::group::{
    failed_transports, groups, split_by_loss, split_head, transport_name, without_headroom, Group,
};
use crate::model::run_labels::subject_noun;
use crate::model::shared_text::{describe_case, verdict};
use crate::model::table::Table;
use crate::page::chart;
use crate::page::figures::{figures, figures_legend, winners};
use crate::page::markup::escape;

/// The section of a case. `defined` is where the figures are defined.
pub fn section(run: &Run, case: &Case, defined: &str) -> String {
    let mut text = format!("<p>{}</p>\n", escape(&describe_case(run, case)));
    for note in &case.notes {
        let _ = writeln!(text, "<p>{}</p>", escape(note));
    }
    if let Some(verdict) = verdict(run, case) {
        let fine = split_by_loss(run, case).1.is_empty() && without_headroom(run, case).is_empty();
        let class = if fine { "verdict" } else { "verdict some" };
        let _ = writeln!(text, "<p class=\"{class}\">{}</p>", escape(&verdict));
    }
    for (subject, reason) in failed_transports(run, case) {
        let _ = writeln!(
            text,
            "<p><span class=\"failed\">FAILED</span> {}: <span class=\"soft\">{}</span></p>",
            escape(&subject.title),
            escape(reason)
        );
    }
    let groups = groups(run, case);
    if groups.is_empty() {
        return text + "<p>No transport has figures.</p>\n";
    }
    let timings = Table::timings(run, case);
    if !timings.is_empty() {
        text.push_str(&winners(run, &timings));
        text.push_str(&figures(run, &timings, false));
        text.push_str(&figures_legend(run, &timings));
    }
    let _ = writeln!(
        text,
        "<p class=\"soft\"><a href=\"#{defined}\">What each figure is</a>. With several receivers, \
         counts are sums over all receivers, and times are those of the slowest one.</p>"
    );
    for group in &groups {
        text.push_str(&group_table(run, case, group));
    }
    for line in break_even::describe_rows(run, case) {
        let _ = writeln!(text, "<p>{}.</p>", escape(&line));
    }
    text + &chart::case_charts(run, &timings)
}

/// Figures that are read together, as a table that sorts.
fn group_table(run: &Run, case: &Case, group: &Group) -> String {
    // What is sampled is in the first table.
    let places: Vec<usize> =
        (0..group.table.columns.len()).filter(|&i| !group.table.columns[i].sampled).collect();
    if places.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "<h3>{}</h3>\n<div class=\"scroll\"><table class=\"compact group sortable\"><thead><tr>\
         <th class=\"text\"><button type=\"button\">{}</button></th>",
        group.part.title(),
        subject_noun(run)
    );
    let two_lines = places.iter().any(|&i| !split_head(&group.table.columns[i]).0.is_empty());
    let mut before = "";
    for &i in &places {
        let column = &group.table.columns[i];
        let (whole, part) = split_head(column);
        let over = if whole == before { "" } else { whole };
        before = whole;
        let small = match two_lines {
            true => format!("<small>{}</small>", escape(over)),
            false => String::new(),
        };
        let _ = write!(
            text,
            "<th data-metric=\"{}\" title=\"{}\">{small}<button type=\"button\">{}</button></th>",
            escape(&column.metric),
            escape(definition(&column.metric).unwrap_or_default()),
            escape(part),
        );
    }
    text.push_str("</tr></thead>\n<tbody>");
    for row in &group.table.rows {
        let _ = write!(
            text,
            "<tr data-subject=\"{}\"><td>{}</td>",
            escape(&row.subject.id),
            escape(&transport_name(run, case, row.subject))
        );
        for &i in &places {
            let value = row.cells[i].as_ref().map(|cell| cell.value);
            let lost = is_loss(&group.table.columns[i].metric) && value.is_some_and(|v| v > 0.0);
            let class = if lost { "n failed" } else { "n" };
            let _ = write!(
                text,
                "<td class=\"{class}\" data-v=\"{}\">{}</td>",
                value.map_or(String::new(), |value| value.to_string()),
                escape(&group.text(row, i).unwrap_or_else(|| "–".to_owned())),
            );
        }
        text.push_str("</tr>\n");
    }
    text.push_str("</tbody>");
    if !group.references.is_empty() {
        text.push_str("<tbody class=\"bounds\">\n");
        for beside in &group.references {
            let cell = |&i: &usize| match beside.cells[i] {
                Some(value) => {
                    format!(
                        "<td class=\"n\" data-v=\"{value}\">{}</td>",
                        escape(&group.value(value, i))
                    )
                }
                None => "<td class=\"n\" data-v=\"\"></td>".to_owned(),
            };
            let cells: String = places.iter().map(cell).collect();
            let _ = writeln!(text, "<tr><td>{}</td>{cells}</tr>", escape(&beside.name));
        }
        text.push_str("</tbody>");
    }
    text + "</table></div>\n"
}

/// What the figures of the run are, in the order of the tables.
pub fn definitions(run: &Run) -> Vec<(&'static str, &'static str)> {
    let counted = run.facts.iter().map(|fact| fact.metric.as_str());
    let mut metrics: Vec<&str> = counted.chain(run.metrics()).collect();
    metrics.retain(|metric| figure_topic(metric) != FigureTopic::Other);
    metrics.sort_by_key(|metric| display_order(metric));
    let defined = |metric: &&str| Some((defined_name(metric)?, definition(metric)?));
    let mut definitions: Vec<_> = metrics.iter().filter_map(defined).collect();
    definitions.dedup();
    definitions
}
