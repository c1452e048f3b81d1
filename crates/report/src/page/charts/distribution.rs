//! Cumulative distributions with a logarithmic tail, and the same in figures.

mod course;

use std::fmt::Write;

use wiregauge_result::kind::Kind;
use wiregauge_result::run::{Case, Run};

use crate::model::curve::{at, over, shares};
use crate::model::kind::noun;
use crate::model::sweep;
use crate::model::sweep::Curves;
use crate::model::table::Table;
use crate::model::unit::{quantity, tick};
use crate::page::chart::{Chart, Draw};
use crate::page::drawing::lines::lines;
use crate::page::drawing::plot::{Axis, Line, Plot};
use crate::page::drawing::rows::style;
use crate::page::drawing::scale::ScaleKind;
use crate::page::markup::e;

inventory::submit! {
    Chart {
        place: |kind| Some(if *kind == Kind::Bus { 10 } else { 30 }),
        draw: Draw::Case(draw),
    }
}

fn draw(run: &Run, timings: &Table) -> String {
    let (case, style) = (timings.case, style(run));
    let mut text = String::new();
    for mut curves in over(run, case, "share") {
        let median = |line: &sweep::Line| at(line, 0.5).unwrap_or(f64::INFINITY);
        curves.lines.sort_by(|a, b| median(a).total_cmp(&median(b)));
        let mut drawn: Vec<Line> = lines(&curves, "share", &style);
        for (_, time) in drawn.iter_mut().flat_map(|line| &mut line.points) {
            // What is too short for the clock has a place all the same.
            *time = time.max(1.0);
        }
        let plot = Plot {
            label: format!("Distribution of {}", curves.metric),
            x: Axis { kind: ScaleKind::Nines, unit: "share" },
            below: "share of all that is within".to_owned(),
            y: Axis { kind: ScaleKind::Log, unit: &curves.unit },
            lines: drawn,
        };
        let _ = writeln!(
            text,
            "<div class=\"charts sweep\"><figure><h3>{} in full</h3>{}<figcaption>Cumulative; each \
             nine is as wide as the last, so that the tail is as plain as the middle. A share is \
             told only where at least one lies beyond it.</figcaption></figure>{}</div>",
            e(&capitalized(&curves.metric)),
            plot.draw(),
            share_table(run, case, &curves),
        );
        text.push_str(&course::course(run, case, &curves.metric, &style));
    }
    text
}

fn share_table(run: &Run, case: &Case, curves: &Curves) -> String {
    let shares = shares(curves);
    let mut text = format!(
        "<figure><h3>{} within</h3><div class=\"scroll\"><table class=\"fits sortable\"><thead><tr>\
         <th class=\"text\"><button type=\"button\">{}</button></th>",
        e(&capitalized(&curves.metric)),
        noun(run)
    );
    let heads = shares.iter().map(|share| tick(*share, "share"));
    for head in heads.chain(["max".to_owned()]) {
        let _ =
            write!(text, "<th data-metric=\"{head}\"><button type=\"button\">{head}</button></th>");
    }
    text.push_str("</tr></thead>\n<tbody>");
    for line in &curves.lines {
        let most = run.fact(&case.id, &line.subject.id, &format!("{}/max", curves.metric));
        let cell = |time: Option<f64>| match time {
            Some(time) => {
                format!("<td data-v=\"{time}\">{}</td>", e(&quantity(time, &curves.unit)))
            }
            None => "<td data-v=\"\">–</td>".to_owned(),
        };
        let times = shares.iter().map(|share| at(line, *share));
        let cells: String = times.chain([most]).map(cell).collect();
        let _ = writeln!(text, "<tr><td>{}</td>{cells}</tr>", e(&line.subject.title));
    }
    text + "</tbody></table></div></figure>"
}

fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
