//! A metric over the swept number, both axes logarithmic.

use std::fmt::Write;

use super::chart::{shortened, WIDTH};
use super::markup::e;
use super::scale::Scale;
use crate::sweep::{Curves, Line};
use crate::unit::{quantity, tick};

const LEFT: f64 = 58.0;
/// Space for the names at the ends of the lines.
const NAMES: f64 = 206.0;
const TOP: f64 = 10.0;
const AXIS: f64 = 40.0;
/// Least distance between two names.
const STEP: f64 = 13.0;

/// One line for each subject, with its name at its end. A subject is told by
/// colour, marker and dash together; `style` gives its number, which is the
/// same in all pictures of a page.
pub fn curves(curves: &Curves, parameter: &str, style: impl Fn(&str) -> usize) -> String {
    let positive = |line: &&Line| line.points.iter().all(|(x, y)| *x > 0.0 && *y > 0.0);
    // A bound far below all codecs, as an empty operation is, would squeeze
    // them: it is in the table of fits only.
    let codecs = curves.lines.iter().filter(|line| !line.subject.bound).filter(positive);
    let least =
        codecs.flat_map(|line| line.points.iter().map(|p| p.1)).fold(f64::INFINITY, f64::min);
    let near = |line: &&Line| {
        let largest = line.points.iter().map(|p| p.1).fold(0.0, f64::max);
        !line.subject.bound || least.is_infinite() || largest > least / 10.0
    };
    let lines: Vec<&Line> = curves.lines.iter().filter(positive).filter(near).collect();
    let height = (lines.len() as f64 * 22.0).clamp(300.0, 620.0);
    let bottom = TOP + height;
    let of = |which: fn(&(f64, f64)) -> f64| -> Vec<f64> {
        lines.iter().flat_map(|line| line.points.iter().map(which)).collect()
    };
    let xs = Scale::log(&of(|p| p.0), (LEFT, WIDTH - NAMES));
    let ys = Scale::log(&of(|p| p.1), (bottom, TOP));
    let mut svg = format!(
        "<svg class=\"chart\" viewBox=\"0 0 {WIDTH} {}\" role=\"img\" aria-label=\"{} over {}\">",
        bottom + AXIS,
        e(&curves.metric),
        e(parameter),
    );
    for value in xs.ticks() {
        let x = xs.place(value);
        let _ = write!(
            svg,
            "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{bottom:.1}\"/>\
             <text class=\"tick\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            bottom + 15.0,
            e(&tick(value, "1")),
        );
    }
    let _ = write!(
        svg,
        "<text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
        (LEFT + WIDTH - NAMES) / 2.0,
        bottom + 32.0,
        e(parameter),
    );
    for value in ys.ticks() {
        let y = ys.place(value);
        let _ = write!(
            svg,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
             <text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            WIDTH - NAMES,
            LEFT - 6.0,
            y + 4.0,
            e(&tick(value, &curves.unit)),
        );
    }
    let ends: Vec<f64> =
        lines.iter().map(|line| line.points.last().map_or(bottom, |p| ys.place(p.1))).collect();
    let names = spread(&ends, TOP + 4.0, bottom - 2.0);
    for ((line, end), name) in lines.iter().zip(&ends).zip(&names) {
        draw(&mut svg, line, style(&line.subject.id), &curves.unit, (&xs, &ys), (*end, *name));
    }
    svg + "</svg>"
}

fn draw(
    svg: &mut String,
    line: &Line,
    style: usize,
    unit: &str,
    (xs, ys): (&Scale, &Scale),
    (end, name): (f64, f64),
) {
    let places: Vec<(f64, f64)> =
        line.points.iter().map(|(x, y)| (xs.place(*x), ys.place(*y))).collect();
    let (colour, shape) = (style % 8, style / 8 % 3);
    let class = if line.subject.bound { "bound".into() } else { format!("c{colour} d{shape}") };
    let path: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    let hint: Vec<String> = line
        .points
        .iter()
        .map(|(x, y)| format!("{}: {}", tick(*x, "1"), quantity(*y, unit)))
        .collect();
    let _ = write!(
        svg,
        "<g class=\"curve {class}\"><title>{}: {}</title><polyline points=\"{}\"/>",
        e(&line.subject.title),
        e(&hint.join(", ")),
        path.join(" "),
    );
    for &(x, y) in &places {
        svg.push_str(&marker(shape, x, y));
    }
    let last = places.last().map_or(WIDTH - NAMES, |place| place.0);
    let start = WIDTH - NAMES + 26.0;
    let _ = write!(
        svg,
        "<polyline class=\"leader\" points=\"{:.1},{end:.1} {:.1},{name:.1}\"/>{}\
         <text class=\"name\" x=\"{:.1}\" y=\"{:.1}\">{}</text></g>",
        last + 5.0,
        start - 4.0,
        marker(shape, start + 3.0, name),
        start + 11.0,
        name + 4.0,
        e(&shortened(&line.subject.title, 26)),
    );
}

/// A filled circle, square or triangle.
fn marker(shape: usize, x: f64, y: f64) -> String {
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

/// Moves places apart until no two are closer than [`STEP`], keeping their
/// order and staying between `top` and `bottom` as far as there is room.
fn spread(places: &[f64], top: f64, bottom: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by(|&a, &b| places[a].total_cmp(&places[b]));
    let mut moved = places.to_vec();
    let mut least = top;
    for &i in &order {
        moved[i] = moved[i].max(least);
        least = moved[i] + STEP;
    }
    let mut most = bottom;
    for &i in order.iter().rev() {
        moved[i] = moved[i].min(most);
        most = moved[i] - STEP;
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_overlap() {
        let moved = spread(&[100.0, 101.0, 99.0, 299.0, 300.0], 0.0, 300.0);
        let mut sorted = moved.clone();
        sorted.sort_by(f64::total_cmp);
        assert!(sorted.windows(2).all(|pair| pair[1] - pair[0] >= STEP - 1e-9), "{moved:?}");
        assert!(moved[2] < moved[0] && moved[0] < moved[1]);
        assert!(moved.iter().all(|place| (0.0..=300.0).contains(place)));
    }
}
