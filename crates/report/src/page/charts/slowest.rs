//! The slowest samples and steps of a case, with what the machine did meanwhile.

use std::fmt::Write;

use wiregauge_result::run::Run;
use wiregauge_result::run_kind::RunKind;

use crate::model::run_labels::subject_noun;
use crate::model::slowest;
use crate::model::table::Table;
use crate::page::chart::{Chart, ChartSource};
use crate::page::markup::escape;

inventory::submit! {
    Chart {
        place: |kind| Some(if *kind == RunKind::Bus { 20 } else { 40 }),
        draw: ChartSource::Case(draw),
    }
}

/// The slowest samples and steps of a case.
fn draw(run: &Run, timings: &Table) -> String {
    let text: String =
        slowest::slowest_tables(run, timings.case).iter().map(|of| table(run, of)).collect();
    if text.is_empty() {
        return text;
    }
    let whose = match run.kind {
        RunKind::Cosim => {
            "The counters are those of the process that ran the FMUs. They cover the time in the \
             column <em>over</em>. It ends with the step. It begins with the step's epoch, or with \
             an earlier step that was among the slowest at that time."
        }
        _ => {
            "The counters are those of the participant\u{2019}s process: of the receiver for a \
             latency, of the sender for a step. They cover the time in the column <em>over</em>. \
             It ends with the sample. It begins with the sample\u{2019}s window, or with an \
             earlier sample that was among the slowest at that time."
        }
    };
    format!("{text}<p class=\"soft\">{whose}</p>\n")
}

fn table(run: &Run, of: &slowest::SlowestTable) -> String {
    let metric = escape(of.metric);
    let mut text = format!(
        "<details><summary>The slowest by {metric}, and what the machine did meanwhile</summary>\n\
         <div class=\"scroll\"><table class=\"fits sortable\"><thead><tr><th class=\"text\">\
         <button type=\"button\">{}</button></th>",
        subject_noun(run)
    );
    for (head, title) in [(of.metric, "how long it took")].into_iter().chain(slowest::HEADS) {
        let _ = write!(
            text,
            "<th title=\"{}\"><button type=\"button\">{}</button></th>",
            escape(title),
            escape(head)
        );
    }
    text.push_str("</tr></thead>\n<tbody>");
    for row in &of.rows {
        let _ = write!(text, "<tr><td>{}</td>", escape(&row.name));
        for (value, shown) in row.figures() {
            let _ = write!(text, "<td class=\"n\" data-v=\"{value}\">{}</td>", escape(&shown));
        }
        text.push_str("</tr>\n");
    }
    text + "</tbody></table></div></details>\n"
}
