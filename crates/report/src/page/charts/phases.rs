//! Phases: bars, figures and samples.

use std::fmt::Write;

use wiregauge_result::run::{Case, Run};
use wiregauge_result::run_kind::RunKind;

use crate::model::number_format::{format_percent, format_quantity, format_ratio};
use crate::model::phase::{phases, Phases};
use crate::model::run_labels::subject_noun;
use crate::model::table::Table;
use crate::page::chart::{Chart, ChartSource};
use crate::page::drawing::{bars, box_plot};
use crate::page::markup::escape;

inventory::submit! {
    Chart {
        place: |kind| Some(if *kind == RunKind::Bus { 50 } else { 20 }),
        draw: ChartSource::Case(draw),
    }
}

/// The phases of each experiment that has some.
fn draw(run: &Run, timings: &Table) -> String {
    let case = timings.case;
    let phases = phases(run, case);
    if phases.is_empty() {
        return String::new();
    }
    let mut text = String::from("<h3>Phases</h3>\n<div class=\"charts\">\n");
    let mut tables = String::new();
    for phases in &phases {
        let mut legend = bars::legend(&phases.names);
        let mut caption = String::new();
        if let Some(budget) = phases.budget {
            let time = format_quantity(budget, &phases.unit);
            match bars::off_axis_budget(phases) {
                None => {
                    legend.truncate(legend.len() - "</div>".len());
                    let _ = write!(
                        legend,
                        "<span><i class=\"rule\"></i>the {} of {}</span></div>",
                        escape(&phases.metric),
                        escape(&time)
                    );
                }
                Some(times) => {
                    let _ = write!(
                        caption,
                        "<figcaption>The {} of {} is {} the longest.</figcaption>",
                        escape(&phases.metric),
                        escape(&time),
                        format_ratio(times)
                    );
                }
            }
        }
        let _ = writeln!(
            text,
            "<figure><h3>{}</h3>{legend}{}{caption}</figure>",
            escape(&phases.metric),
            bars::stacked(phases),
        );
        if run.kind == RunKind::Bus {
            tables.push_str(&phase_table(subject_noun(run), phases));
        }
    }
    text + "</div>\n" + &tables + &phase_boxes(run, case)
}

/// Phases in figures, and what share of the budget they take together.
fn phase_table(noun: &str, phases: &Phases) -> String {
    let mut text = format!(
        "<div class=\"scroll\"><table class=\"fits sortable\"><thead><tr>\
         <th class=\"text\"><button type=\"button\">{noun}</button></th>"
    );
    let share = phases.budget.map(|_| format!("of the {}", phases.metric));
    for name in phases.names.iter().chain([&"sum".to_owned()]).chain(&share) {
        let name = escape(name);
        let _ =
            write!(text, "<th data-metric=\"{name}\"><button type=\"button\">{name}</button></th>");
    }
    text.push_str("</tr></thead>\n<tbody>");
    for row in &phases.rows {
        let _ = write!(text, "<tr><td>{}</td>", escape(&row.subject.title));
        for time in row.parts.iter().copied().chain([Some(row.sum())]) {
            let figure = time.map_or("–".to_owned(), |time| format_quantity(time, &phases.unit));
            let value = time.map_or(String::new(), |time| time.to_string());
            let _ = write!(text, "<td data-v=\"{value}\">{}</td>", escape(&figure));
        }
        if let Some(share) = phases.share(row) {
            let _ = write!(text, "<td data-v=\"{share}\">{}</td>", format_percent(share));
        }
        text.push_str("</tr>\n");
    }
    text + "</tbody></table></div>"
}

/// The samples of each phase, folded away where phases are a side matter.
fn phase_boxes(run: &Run, case: &Case) -> String {
    let table = Table::phases(run, case);
    let open = if run.kind == RunKind::Cosim { " open" } else { "" };
    let mut text = format!(
        "<details{open}><summary>Samples of each phase</summary>\n<div class=\"charts\">\n"
    );
    for (i, column) in table.columns.iter().enumerate() {
        let (svg, log) = box_plot::box_plot(&table, i);
        let axis = if log { "logarithmic axis" } else { "" };
        let _ = writeln!(
            text,
            "<figure><h3>{}</h3>{svg}<figcaption>{axis}</figcaption></figure>",
            escape(&column.metric)
        );
    }
    text + "</div></details>\n"
}
