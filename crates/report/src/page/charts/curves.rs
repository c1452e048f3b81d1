//! A metric over the swept number, both axes logarithmic.

use std::fmt::Write;

use wiregauge_result::run::Run;
use wiregauge_result::stats::Bounds;

use crate::model::run_labels::{intercept_label, subject_noun};
use crate::model::shared_text::{format_bounds, r_squared, singular};
use crate::model::sweep;
use crate::model::sweep::{Curves, Sweep};
use crate::page::chart::{Chart, ChartSource};
use crate::page::drawing::lines::hint;
use crate::page::drawing::plot::{Axis, Line, Plot, Style};
use crate::page::drawing::rows::style;
use crate::page::drawing::scale::ScaleKind;
use crate::page::markup::escape;

inventory::submit! {
    Chart { place: |_| Some(10), draw: ChartSource::Sweep(draw) }
}

/// Each metric of a sweep, and the lines that were fitted.
fn draw(run: &Run, sweep: &Sweep) -> String {
    let mut text = String::new();
    for curves in &sweep.curves {
        let _ = writeln!(
            text,
            "<div class=\"charts sweep\"><figure><h3>{} over {}</h3>{}</figure>{}</div>",
            escape(&curves.metric),
            escape(&sweep.parameter),
            picture(curves, &sweep.parameter, style(run)),
            fits(run, curves, &sweep.parameter),
        );
    }
    text
}

/// One line for each subject. `style` gives its number, which is the same in
/// all pictures of a page.
fn picture(curves: &Curves, parameter: &str, style: impl Fn(&str) -> usize) -> String {
    let positive = |line: &&sweep::Line| line.points.iter().all(|(x, y)| *x > 0.0 && *y > 0.0);
    // A bound far below all codecs, as an empty operation is, would squeeze
    // them: it is in the table of fits only.
    let codecs = curves.lines.iter().filter(|line| !line.subject.bound).filter(positive);
    let least =
        codecs.flat_map(|line| line.points.iter().map(|p| p.1)).fold(f64::INFINITY, f64::min);
    let near = |line: &&sweep::Line| {
        let largest = line.points.iter().map(|p| p.1).fold(0.0, f64::max);
        !line.subject.bound || least.is_infinite() || largest > least / 10.0
    };
    let lines = curves.lines.iter().filter(positive).filter(near).map(|line| Line {
        name: &line.subject.title,
        remark: String::new(),
        style: match line.subject.bound {
            true => Style::Bound,
            false => Style::Subject(style(&line.subject.id)),
        },
        hint: hint(&line.points, "1", &curves.unit),
        points: line.points.clone(),
        good: None,
    });
    let plot = Plot {
        label: format!("{} over {parameter}", curves.metric),
        x: Axis { kind: ScaleKind::Log, unit: "1" },
        below: parameter.to_owned(),
        y: Axis { kind: ScaleKind::Log, unit: &curves.unit },
        lines: lines.collect(),
    };
    plot.draw()
}

/// The lines through the points.
fn fits(run: &Run, curves: &Curves, parameter: &str) -> String {
    if curves.lines.iter().all(|line| line.fit.is_none()) {
        return String::new();
    }
    let mut text = format!(
        "<figure><h3>Linear fits</h3><div class=\"scroll\"><table class=\"fits sortable\"><thead><tr>\
         <th class=\"text\"><button type=\"button\">{}</button></th>\
         <th data-metric=\"intercept\"><button type=\"button\">{}</button></th>\
         <th>95% bounds</th>\
         <th data-metric=\"slope\"><button type=\"button\">per {}</button></th>\
         <th>95% bounds</th>\
         <th data-metric=\"r2\"><button type=\"button\">R²</button></th></tr></thead>\n<tbody>",
        subject_noun(run),
        intercept_label(run),
        escape(&singular(parameter))
    );
    for line in &curves.lines {
        let Some(fit) = &line.fit else {
            continue;
        };
        let cell = |bounds: &Bounds| {
            let (value, range) = format_bounds(bounds, &curves.unit);
            format!(
                "<td data-v=\"{}\">{}</td><td class=\"soft\">{}</td>",
                bounds.value,
                escape(&value),
                escape(&range)
            )
        };
        let _ = writeln!(
            text,
            "<tr><td>{}</td>{}{}<td data-v=\"{}\">{}</td></tr>",
            escape(&line.subject.title),
            cell(&fit.intercept),
            cell(&fit.slope),
            fit.r_squared,
            r_squared(fit.r_squared),
        );
    }
    text + "</tbody></table></div></figure>"
}
