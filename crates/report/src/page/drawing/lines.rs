//! The lines of a picture.

use crate::model::number_format::{format_quantity, format_tick};
use crate::model::sweep::{self, Curves};
use crate::page::drawing::plot::{Line, Style};

/// The points of a line in words.
pub fn hint(points: &[(f64, f64)], of_x: &str, of_y: &str) -> String {
    let point =
        |(x, y): &(f64, f64)| format!("{}: {}", format_tick(*x, of_x), format_quantity(*y, of_y));
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
