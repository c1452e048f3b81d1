//! A case of codecs or of a co-simulation.

use std::fmt::Write;

use wiregauge_result::run::{Case, Run};

use crate::model::break_even::BREAK_EVEN_NOTE;
use crate::model::explanation;
use crate::model::footprint::{footprint_tables, FOOTPRINT_LEGEND};
use crate::model::points::{self, ERROR_NOTE};
use crate::model::run_labels::{legend, subject_noun};
use crate::model::shared_text::{describe_case, instructions_legend, FLOOR};
use crate::model::table::Table;
use crate::page::chart;
use crate::page::figures::{figures, figures_legend, plain_table, winners};
use crate::page::markup::escape;

/// The section of a case.
pub fn section(run: &Run, case: &Case) -> String {
    let mut text = format!("<p>{}</p>\n", escape(&describe_case(run, case)));
    for (name, path) in [("fixed", &case.fixed), ("element", &case.element)] {
        if let Some(path) = path {
            let _ = writeln!(
                text,
                "<p class=\"soft\"><b>{name}</b> reads <code>{}</code></p>",
                escape(path)
            );
        }
    }
    for note in &case.notes {
        let _ = writeln!(text, "<p>{}</p>", escape(note));
    }
    let timings = Table::timings(run, case);
    if timings.is_empty() {
        return text + "<p>No subject has figures.</p>\n";
    }
    let noun = subject_noun(run);
    text.push_str(&winners(run, &timings));
    text.push_str(&figures(run, &timings, false));
    text.push_str(&figures_legend(run, &timings));
    let _ = writeln!(
        text,
        "<p class=\"soft\">Bounds are not {noun}s: they show the time of the harness and of a \
         plain copy.</p>",
    );
    let floor = timings.has_floor().then_some(FLOOR);
    for line in floor.map(str::to_owned).into_iter().chain(legend(&[run])) {
        let _ = writeln!(text, "<p class=\"soft\">{}.</p>", escape(&line));
    }
    text.push_str(&chart::case_charts(run, &timings));
    let instructions = Table::instructions(run, case);
    let legend: Vec<String> = instructions_legend(run, &instructions)
        .iter()
        .map(|line| format!("{}.", escape(line)))
        .collect();
    let legend = legend.join("<br>");
    let others = [
        (
            "Compression",
            Table::compression(run, case),
            "Measured apart from the rounds, in one process. These are the times of the \
             compressors, not of the codecs.",
        ),
        ("Instructions of a message", instructions, &legend),
        ("Instructions of an element", Table::instructions_per_element(run, case), ""),
        ("Counted", Table::main_counts(run, case), ""),
        (
            "Corrupted input",
            Table::robustness(run, case),
            "What the decoder did with damaged messages (flipped bits, cut ends, extreme lengths), \
             counted: it rejected them, returned the same or different values, crashed, hung, or \
             asked for unlimited memory. A reader that does one of the last three is unsafe.",
        ),
    ];
    text.push_str(&points_section(run, case));
    text.push_str("<div class=\"charts\">\n");
    for table in footprint_tables(run, case) {
        let rows = figures(run, &table, true);
        let _ = writeln!(
            text,
            "<div><h3>{}</h3>\n{rows}<p class=\"soft\">{}.</p></div>",
            table.heading,
            FOOTPRINT_LEGEND.join(".<br>")
        );
    }
    for (title, table, about) in others.iter().filter(|(_, table, _)| !table.is_empty()) {
        let table = figures(run, table, true);
        let _ = writeln!(text, "<div><h3>{title}</h3>\n{table}<p class=\"soft\">{about}</p></div>");
    }
    text + "</div>\n" + &explanations(run, case)
}

/// What rows execute, and where two of them differ.
fn explanations(run: &Run, case: &Case) -> String {
    let mut text = String::new();
    let explained = explanation::explained_metrics(run, case);
    for metric in &explained {
        let _ = writeln!(text, "<h3>Why {} takes what it takes</h3>", escape(&metric.metric));
        if let Some(line) = &metric.difference {
            let _ = writeln!(text, "<p>{}.</p>", escape(line));
        }
        text.extend(metric.tables.iter().map(|rows| plain_table(rows)));
    }
    for note in explanation::NOTES.iter().filter(|_| !explained.is_empty()) {
        let _ = writeln!(text, "<p class=\"soft\">{}.</p>", escape(note));
    }
    text
}

/// What became of points.
fn points_section(run: &Run, case: &Case) -> String {
    let Some(rows) = points::points_table(run, case) else { return String::new() };
    let mut text = String::from(
        "<h3>Size, speed and error of each reduction</h3>\n<div class=\"scroll\"><table \
         class=\"fits\">\n",
    );
    for (at, row) in rows.iter().enumerate() {
        let tag = if at == 0 { "th" } else { "td" };
        text.push_str("<tr>");
        for cell in row {
            let _ = write!(text, "<{tag}>{}</{tag}>", escape(cell));
        }
        text.push_str("</tr>\n");
    }
    text.push_str("</table></div>\n");
    if points::is_marked(&rows) {
        let _ = writeln!(text, "<p class=\"soft\">{}.</p>", escape(ERROR_NOTE));
    }
    let _ = writeln!(text, "<p class=\"soft\">{}.</p>", escape(BREAK_EVEN_NOTE));
    text
}
