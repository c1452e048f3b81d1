//! Cumulative distributions with a logarithmic tail, and the same in figures.

mod time_course;

use std::fmt::Write;

use wiregauge_result::run::{Case, Run};
use wiregauge_result::run_kind::RunKind;

use crate::model::curve::{find_curves, shares, value_at};
use crate::model::number_format::{format_quantity, format_tick};
use crate::model::run_labels::subject_noun;
use crate::model::sweep;
use crate::model::sweep::Curves;
use crate::model::table::Table;
use crate::page::chart::{Chart, ChartSource};
use crate::page::drawing::lines::lines;
use crate::page::drawing::plot::{Axis, Line, Plot};
use crate::page::drawing::rows::style;
use crate::page::drawing::scale::ScaleKind;
use crate::page::markup::escape;

inventory::submit! {
    Chart {
        place: |kind| Some(if *kind == RunKind::Bus { 10 } else { 30 }),
        draw: ChartSource::Case(draw),
    }
}

fn draw(run: &Run, timings: &Table) -> String {
    let (case, style) = (timings.case, style(run));
    let mut text = String::new();
    for mut curves in find_curves(run, case, "share") {
        let median = |line: &sweep::Line| value_at(line, 0.5).unwrap_or(f64::INFINITY);
        curves.lines.sort_by(|a, b| median(a).total_cmp(&median(b)));
        let mut drawn: Vec<Line> = lines(&curves, "share", &style);
        for (_, time) in drawn.iter_mut().flat_map(|line| &mut line.points) {
            // What is too short for the clock has a place all the same.
            *time = time.max(1.0);
        }
        let plot = Plot {
            label: format!("Distribution of {}", curves.metric),
            x: Axis { kind: ScaleKind::Nines, unit: "share" },
            below: "share of all samples".to_owned(),
            y: Axis { kind: ScaleKind::Log, unit: &curves.unit },
            lines: drawn,
        };
        let _ = writeln!(
            text,
            "<div class=\"charts sweep\"><figure><h3>{} in full</h3>{}<figcaption>Cumulative; each \
             nine is as wide as the last, so that the tail is as plain as the middle. A share is \
             told only where at least one lies beyond it.</figcaption></figure>{}</div>",
            escape(&capitalized(&curves.metric)),
            plot.draw(),
            share_table(run, case, &curves),
        );
        text.push_str(&time_course::draw_time_course(run, case, &curves.metric, &style));
    }
    text
}

fn share_table(run: &Run, case: &Case, curves: &Curves) -> String {
    let shares = shares(curves);
    let mut text = format!(
        "<figure><h3>{} within</h3><div class=\"scroll\"><table class=\"fits sortable\"><thead><tr>\
         <th class=\"text\"><button type=\"button\">{}</button></th>",
        escape(&capitalized(&curves.metric)),
        subject_noun(run)
    );
    let heads = shares.iter().map(|share| format_tick(*share, "share"));
    for head in heads.chain(["max".to_owned()]) {
        let _ =
            write!(text, "<th data-metric=\"{head}\"><button type=\"button\">{head}</button></th>");
    }
    text.push_str("</tr></thead>\n<tbody>");
    for line in &curves.lines {
        let most = run.fact(&case.id, &line.subject.id, &format!("{}/max", curves.metric));
        let cell = |time: Option<f64>| match time {
            Some(time) => {
                format!(
                    "<td data-v=\"{time}\">{}</td>",
                    escape(&format_quantity(time, &curves.unit))
                )
            }
            None => "<td data-v=\"\">–</td>".to_owned(),
        };
        let times = shares.iter().map(|share| value_at(line, *share));
        let cells: String = times.chain([most]).map(cell).collect();
        let _ = writeln!(text, "<tr><td>{}</td>{cells}</tr>", escape(&line.subject.title));
    }
    text + "</tbody></table></div></figure>"
}

fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
