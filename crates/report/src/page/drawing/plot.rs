//! Lines over two axes, with their names at their ends.

use std::fmt::Write;

use crate::model::number_format::format_tick;
use crate::page::drawing::marker::marker;
use crate::page::drawing::rows::{shorten, GLYPH, WIDTH};
use crate::page::drawing::scale::{Scale, ScaleKind};
use crate::page::markup::escape;
use crate::text::plain_text::text_width;

/// Least space for the figures of the axis at the left.
const LEFT: f64 = 58.0;
/// Least and largest space for the names at the ends of the lines.
const NAMES: (f64, f64) = (206.0, 296.0);
const TOP: f64 = 10.0;
const AXIS: f64 = 40.0;
/// Least distance between two names.
const STEP: f64 = 13.0;
/// What is in this space besides the name.
const LEADER: f64 = 40.0;
/// A leader that is longer could be taken for data.
const FAR: f64 = 60.0;
/// Lines of more points go without markers.
const MOST_MARKERS: usize = 40;

/// A picture of lines.
pub struct Plot<'a> {
    /// What it shows, for those who cannot see it.
    pub label: String,
    /// The axis below.
    pub x: Axis<'a>,
    /// What is written below it.
    pub below: String,
    /// The axis at the left.
    pub y: Axis<'a>,
    /// The lines.
    pub lines: Vec<Line<'a>>,
}

/// An axis.
pub struct Axis<'a> {
    /// How it is divided.
    pub kind: ScaleKind,
    /// Unit of its figures.
    pub unit: &'a str,
}

/// A line.
pub struct Line<'a> {
    /// Its name.
    pub name: &'a str,
    /// What follows the name, such as where it ends.
    pub remark: String,
    /// How it is drawn.
    pub style: Style,
    /// What a hover says behind the name.
    pub hint: String,
    /// Its points, ascending.
    pub points: Vec<(f64, f64)>,
    /// How many of its points were good, if that is a question. The last of
    /// them gets a ring, and what follows it is faint.
    pub good: Option<usize>,
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// A subject, told by colour, marker and dash together. Its number is the
    /// same in all pictures of a page.
    Subject(usize),
    /// A bound.
    Bound,
    /// What the others are held against.
    Rule,
}

impl Plot<'_> {
    /// The picture.
    pub fn draw(&self) -> String {
        let height = (self.lines.len() as f64 * 22.0).clamp(300.0, 620.0);
        let bottom = TOP + height;
        let of = |which: fn(&(f64, f64)) -> f64| -> Vec<f64> {
            self.lines.iter().flat_map(|line| line.points.iter().map(which)).collect()
        };
        let longest = self.lines.iter().map(Line::length).max().unwrap_or(0);
        let names = (longest as f64 * GLYPH + LEADER).clamp(NAMES.0, NAMES.1);
        let right = WIDTH - names;
        let ys = Scale::new(self.y.kind, &of(|p| p.1), (bottom, TOP));
        let ticks =
            ys.ticks().into_iter().map(|value| text_width(&format_tick(value, self.y.unit)));
        let left = (ticks.max().unwrap_or(0) as f64 * GLYPH + 8.0).max(LEFT);
        let xs = Scale::new(self.x.kind, &of(|p| p.0), (left, right));
        let mut svg = format!(
            "<svg class=\"chart\" viewBox=\"0 0 {WIDTH} {}\" role=\"img\" aria-label=\"{}\">",
            bottom + AXIS,
            escape(&self.label),
        );
        self.draw_x_axis(&mut svg, &xs, ((left + right) / 2.0, bottom));
        self.draw_y_axis(&mut svg, &ys, (left, right));
        let ends: Vec<f64> = self
            .lines
            .iter()
            .map(|line| line.points.last().map_or(bottom, |p| ys.place(p.1)))
            .collect();
        let names = spread_labels(&ends, TOP + 4.0, bottom - 2.0);
        for ((line, end), name) in self.lines.iter().zip(&ends).zip(&names) {
            line.draw(&mut svg, (&xs, &ys), right, (*end, *name));
        }
        svg + "</svg>"
    }

    fn draw_x_axis(&self, svg: &mut String, xs: &Scale, (middle, bottom): (f64, f64)) {
        let mut free = f64::NEG_INFINITY;
        for value in xs.ticks() {
            let x = xs.place(value);
            let _ = write!(
                svg,
                "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{bottom:.1}\"/>"
            );
            let text = format_tick(value, self.x.unit);
            let half = text_width(&text) as f64 * 3.2;
            if x - half > free {
                free = x + half + 4.0;
                let _ = write!(
                    svg,
                    "<text class=\"tick\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                    bottom + 15.0,
                    escape(&text),
                );
            }
        }
        let _ = write!(
            svg,
            "<text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            middle,
            bottom + 32.0,
            escape(&self.below),
        );
    }

    fn draw_y_axis(&self, svg: &mut String, ys: &Scale, (left, right): (f64, f64)) {
        for value in ys.ticks() {
            let y = ys.place(value);
            let _ = write!(
                svg,
                "<line class=\"grid\" x1=\"{left:.1}\" x2=\"{right:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
                 <text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                left - 6.0,
                y + 4.0,
                escape(&format_tick(value, self.y.unit)),
            );
        }
    }
}

impl Line<'_> {
    /// How long its name and the remark are, in characters.
    fn length(&self) -> usize {
        text_width(self.name) + self.remark_length()
    }

    /// How long the remark is with its space.
    fn remark_length(&self) -> usize {
        if self.remark.is_empty() {
            0
        } else {
            text_width(&self.remark) + 1
        }
    }

    fn draw(
        &self,
        svg: &mut String,
        (xs, ys): (&Scale, &Scale),
        right: f64,
        (end, name): (f64, f64),
    ) {
        let places: Vec<(f64, f64)> =
            self.points.iter().map(|(x, y)| (xs.place(*x), ys.place(*y))).collect();
        let (class, shape) = match self.style {
            Style::Subject(number) => {
                let (colour, shape) = (number % 8, number / 8 % 3);
                (format!("c{colour} d{shape}"), Some(shape))
            }
            Style::Bound => ("bound".into(), Some(0)),
            Style::Rule => ("rule".into(), None),
        };
        let _ = write!(
            svg,
            "<g class=\"curve {class}\"><title>{}: {}</title>",
            escape(self.name),
            escape(&self.hint)
        );
        let good = self.good.map_or(places.len(), |good| good.min(places.len()));
        polyline(svg, "", &places[..good]);
        polyline(svg, " class=\"beyond\"", &places[good.saturating_sub(1)..]);
        if let Some(shape) = shape.filter(|_| places.len() <= MOST_MARKERS) {
            for &(x, y) in &places {
                svg.push_str(&marker(shape, x, y));
            }
        }
        if let Some((x, y)) = places[..good].last().filter(|_| self.good.is_some()) {
            let _ = write!(svg, "<circle class=\"end\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"7\"/>");
        }
        let last = places.last().map_or(right, |place| place.0);
        let start = right + 26.0;
        let far = if start - last > FAR { " far" } else { "" };
        let _ = write!(
            svg,
            "<polyline class=\"leader{far}\" points=\"{:.1},{end:.1} {:.1},{name:.1}\"/>",
            last + 5.0,
            start - 4.0,
        );
        if let Some(shape) = shape {
            svg.push_str(&marker(shape, start + 3.0, name));
        }
        let remark = match self.remark.as_str() {
            "" => String::new(),
            remark => format!(" <tspan class=\"soft\">{}</tspan>", escape(remark)),
        };
        let room = ((WIDTH - right - LEADER) / GLYPH) as usize;
        let room = room.saturating_sub(self.remark_length()).max(8);
        let _ = write!(
            svg,
            "<text class=\"name\" x=\"{:.1}\" y=\"{:.1}\">{}{remark}</text></g>",
            start + 11.0,
            name + 4.0,
            escape(&shorten(self.name, room)),
        );
    }
}

fn polyline(svg: &mut String, class: &str, places: &[(f64, f64)]) {
    if places.len() > 1 {
        let path: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = write!(svg, "<polyline{class} points=\"{}\"/>", path.join(" "));
    }
}

/// Moves places apart until no two are closer than [`STEP`], keeping their
/// order and staying between `top` and `bottom` as far as there is room.
fn spread_labels(places: &[f64], top: f64, bottom: f64) -> Vec<f64> {
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
        let moved = spread_labels(&[100.0, 101.0, 99.0, 299.0, 300.0], 0.0, 300.0);
        let mut sorted = moved.clone();
        sorted.sort_by(f64::total_cmp);
        assert!(sorted.windows(2).all(|pair| pair[1] - pair[0] >= STEP - 1e-9), "{moved:?}");
        assert!(moved[2] < moved[0] && moved[0] < moved[1]);
        assert!(moved.iter().all(|place| (0.0..=300.0).contains(place)));
    }
}
