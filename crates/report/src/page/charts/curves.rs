//! A metric over the swept number, both axes logarithmic.

use crate::model::sweep::{self, Curves};
use crate::model::unit::{quantity, tick};
use crate::page::drawing::plot::{Axis, Line, Plot, Style};
use crate::page::drawing::scale::ScaleKind;

/// One line for each subject. `style` gives its number, which is the same in
/// all pictures of a page.
pub fn curves(curves: &Curves, parameter: &str, style: impl Fn(&str) -> usize) -> String {
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

/// The points of a line in words.
pub fn hint(points: &[(f64, f64)], of_x: &str, of_y: &str) -> String {
    let point = |(x, y): &(f64, f64)| format!("{}: {}", tick(*x, of_x), quantity(*y, of_y));
    points.iter().map(point).collect::<Vec<_>>().join(", ")
}

/// Lines of a picture, one for each transport.
pub fn lines<'a>(curves: &Curves<'a>, of_x: &str, style: &dyn Fn(&str) -> usize) -> Vec<Line<'a>> {
    let line = |line: &sweep::Line<'a>| Line {
        name: &line.subject.title,
        remark: String::new(),
        style: Style::Subject(style(&line.subject.id)),
        hint: hint(&line.points, of_x, &curves.unit),
        points: line.points.clone(),
        good: None,
    };
    curves.lines.iter().map(line).collect()
}
