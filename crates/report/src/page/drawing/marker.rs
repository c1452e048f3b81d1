//! Markers of points, told by shape and colour together.

use std::fmt::Write;

use crate::page::markup::escape;

/// How many shapes there are.
const SHAPES: usize = 3;
/// How many colours.
const COLOURS: usize = 8;

/// A filled circle, square or triangle.
pub fn marker(shape: usize, x: f64, y: f64) -> String {
    match shape {
        0 => format!("<circle class=\"mark\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\"/>"),
        1 => format!(
            "<rect class=\"mark\" x=\"{:.1}\" y=\"{:.1}\" width=\"6\" height=\"6\"/>",
            x - 3.0,
            y - 3.0
        ),
        _ => format!(
            "<polygon class=\"mark\" points=\"{x:.1},{:.1} {:.1},{:.1} {:.1},{:.1}\"/>",
            y - 4.0,
            x + 4.0,
            y + 3.0,
            x - 4.0,
            y + 3.0
        ),
    }
}

/// The class and the marker of the thing with this number, where each next one has another
/// colour and another shape.
pub fn numbered_marker(number: usize, x: f64, y: f64) -> String {
    format!("<g class=\"curve c{}\">{}</g>", number % COLOURS, marker(number % SHAPES, x, y))
}

/// Names beside their markers.
pub fn legend(names: &[String]) -> String {
    let mut text = String::from("<div class=\"legend\">");
    for (number, name) in names.iter().enumerate() {
        let _ = write!(
            text,
            "<span><svg viewBox=\"0 0 22 11\" aria-hidden=\"true\">{}</svg>{}</span>",
            numbered_marker(number, 14.0, 6.0),
            escape(name)
        );
    }
    text + "</div>"
}
