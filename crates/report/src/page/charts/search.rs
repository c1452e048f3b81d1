//! What a search for the headroom tried and found.

use std::fmt::Write;

use wiregauge_result::run::{Case, Run};
use wiregauge_result::run_kind::RunKind;

use crate::model::curve::find_curves;
use crate::model::number_format::{format_quantity, format_tick};
use crate::model::run_labels::subject_noun;
use crate::model::sweep::Curves;
use crate::model::table::Table;
use crate::page::chart::{Chart, ChartSource};
use crate::page::drawing::lines::lines;
use crate::page::drawing::plot::{Axis, Line, Plot, Style};
use crate::page::drawing::rows::style;
use crate::page::drawing::scale::ScaleKind;
use crate::page::markup::escape;

inventory::submit! {
    Chart { place: |kind| (*kind == RunKind::Bus).then_some(40), draw: ChartSource::Case(draw) }
}

fn draw(run: &Run, timings: &Table) -> String {
    ["rate", "size"].map(|what| searches(run, timings.case, what, &style(run))).concat()
}

/// What a search for the headroom found.
fn searches(run: &Run, case: &Case, what: &str, style: &dyn Fn(&str) -> usize) -> String {
    let all = find_curves(run, case, what);
    if all.is_empty() {
        return String::new();
    }
    let (unit, below) = match what {
        "rate" => ("1/s", "samples per second"),
        _ => ("B", "size of a sample"),
    };
    let mut text =
        format!("<h3>Trials of the search for the {what}</h3>\n<div class=\"charts\">\n");
    for curves in &all {
        let mut drawn: Vec<Line> = lines(curves, unit, style);
        for (line, of) in drawn.iter_mut().zip(&curves.lines) {
            let found = run.fact(&case.id, &of.subject.id, &format!("headroom/{what}"));
            // Rounding must not part the found point from itself.
            let good = |limit: f64| of.points.iter().filter(|p| p.0 <= limit * 1.000_001).count();
            line.good = Some(found.map_or(0, good));
            line.remark = found.map_or("none".to_owned(), |found| format_tick(round(found), unit));
        }
        // What must stay within the cycle is the last hundredth.
        let judged = what == "rate" && curves.metric.ends_with("/p99");
        let cycle = judged.then(|| cycle(curves)).flatten();
        drawn.extend(cycle);
        let kind = match curves.unit.as_str() {
            "1" => ScaleKind::Counts,
            _ => ScaleKind::Log,
        };
        if kind == ScaleKind::Log {
            for (_, value) in drawn.iter_mut().flat_map(|line| &mut line.points) {
                *value = value.max(1.0);
            }
        }
        let plot = Plot {
            label: format!("{} over {what}", curves.metric),
            x: Axis { kind: ScaleKind::Log, unit: if what == "rate" { "1" } else { unit } },
            below: below.to_owned(),
            y: Axis { kind, unit: &curves.unit },
            lines: drawn,
        };
        let _ = writeln!(
            text,
            "<figure><h3>{} over {what}</h3>{}</figure>",
            escape(&curves.metric),
            plot.draw()
        );
    }
    let _ = writeln!(
        text,
        "</div>\n<p class=\"soft\">Every point is a trial. The ring, and the figure after the \
         name, show the headroom: the last {what} at which no sample was lost and everything \
         stayed within the cycle. Dashed lines lie beyond it.</p>\n{}",
        trials_table(&all, unit, subject_noun(run))
    );
    text
}

/// The trials of a search in figures.
fn trials_table(all: &[Curves], unit: &str, noun: &str) -> String {
    let mut text = format!(
        "<details><summary>All trials in figures</summary>\n<div class=\"scroll\">\
         <table class=\"fits\"><thead><tr><th class=\"text\">{noun}</th><th>tried</th>"
    );
    for curves in all {
        let _ = write!(text, "<th>{}</th>", escape(&curves.metric));
    }
    text.push_str("</tr></thead>\n<tbody>");
    let mut subjects: Vec<_> = all.iter().flat_map(|c| &c.lines).map(|line| line.subject).collect();
    let mut seen = std::collections::HashSet::new();
    subjects.retain(|subject| seen.insert(&subject.id));
    for subject in subjects {
        let of = |curves: &Curves| {
            let line = curves.lines.iter().find(|line| line.subject.id == subject.id);
            line.map(|line| line.points.clone()).unwrap_or_default()
        };
        let points: Vec<Vec<(f64, f64)>> = all.iter().map(of).collect();
        let mut trials: Vec<f64> = points.iter().flatten().map(|point| point.0).collect();
        trials.sort_by(f64::total_cmp);
        trials.dedup();
        for x in trials {
            let cells: String = points
                .iter()
                .zip(all)
                .map(|(points, curves)| {
                    let value = points.iter().find(|point| point.0 == x);
                    let text =
                        value.map_or("–".into(), |point| format_quantity(point.1, &curves.unit));
                    format!("<td>{}</td>", escape(&text))
                })
                .collect();
            let title = escape(&subject.title);
            let _ = writeln!(
                text,
                "<tr><td>{title}</td><td>{}</td>{cells}</tr>",
                format_quantity(x, unit)
            );
        }
    }
    text + "</tbody></table></div></details>\n"
}

/// The time from sample to sample at each rate: what a time is held against.
fn cycle<'a>(curves: &Curves) -> Option<Line<'a>> {
    let rates = || curves.lines.iter().flat_map(|line| line.points.iter().map(|point| point.0));
    let (low, high) = (rates().fold(f64::INFINITY, f64::min), rates().fold(0.0, f64::max));
    let points = [low, high].map(|rate| (rate, 1e9 / rate)).to_vec();
    (low > 0.0 && high > low).then_some(Line {
        name: "the cycle",
        remark: String::new(),
        style: Style::Rule,
        hint: "1 ÷ rate".to_owned(),
        points,
        good: None,
    })
}

/// Three significant digits, as the search is no nearer.
fn round(value: f64) -> f64 {
    let scale = 10f64.powf(value.abs().max(f64::MIN_POSITIVE).log10().floor() - 2.0);
    (value / scale).round() * scale
}
