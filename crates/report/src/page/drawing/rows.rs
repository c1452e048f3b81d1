//! What the pictures share: SVG with real text, coloured by the page's CSS.

use std::fmt::Write;

use wiregauge_result::run::Run;

use crate::model::number_format::format_tick;
use crate::page::drawing::marker::numbered_marker;
use crate::page::drawing::scale::{Scale, ScaleKind};
use crate::page::markup::escape;
use crate::text::plain_text::text_width;

/// Width of a picture in its own units, which are about pixels.
pub const WIDTH: f64 = 660.0;
/// Width of a letter, on the safe side.
pub const GLYPH: f64 = 7.0;
/// Least and largest space for a subject's name.
const LABEL: (f64, f64) = (186.0, 306.0);
/// Least space for a figure at the right.
const FIGURE: f64 = 74.0;
const TOP: f64 = 4.0;
const AXIS: f64 = 26.0;

/// A picture with one row for each subject: names left, an axis below, a
/// figure at the right.
pub struct RowChart {
    height: f64,
    svg: String,
    scale: Scale,
    label: f64,
    bottom: f64,
}

impl RowChart {
    /// A picture with a row for each of these names and figures and an axis
    /// that holds `values`, which is linear from zero if `linear`.
    pub fn new(
        label: &str,
        rows: &[(&str, String)],
        height: f64,
        values: &[f64],
        linear: bool,
    ) -> RowChart {
        let longest = |of: fn(&(&str, String)) -> usize| rows.iter().map(of).max().unwrap_or(0);
        let space = |letters: usize| letters as f64 * GLYPH + 12.0;
        let names = space(longest(|row| text_width(row.0))).clamp(LABEL.0, LABEL.1);
        let figures = space(longest(|row| text_width(&row.1))).max(FIGURE);
        let pixels = (names, WIDTH - figures);
        let scale = match linear {
            true => Scale::new(ScaleKind::Linear, values, pixels),
            false => Scale::fitting(values, pixels),
        };
        let bottom = TOP + rows.len() as f64 * height;
        let total = bottom + AXIS;
        let svg = format!(
            "<svg class=\"chart\" viewBox=\"0 0 {WIDTH} {total}\" role=\"img\" aria-label=\"{}\">",
            escape(label)
        );
        RowChart { height, svg, scale, label: names, bottom }
    }

    /// The axis and its grid lines.
    pub fn axis(&mut self, unit: &str) {
        let (bottom, mut free) = (self.bottom, f64::NEG_INFINITY);
        for value in self.scale.ticks() {
            let x = self.scale.place(value);
            let text = format_tick(value, unit);
            let half = text_width(&text) as f64 * 3.2;
            let _ = write!(
                self.svg,
                "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{bottom:.1}\"/>"
            );
            if x - half > free {
                free = x + half + 6.0;
                let y = bottom + 15.0;
                let _ = write!(
                    self.svg,
                    "<text class=\"tick\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{}</text>",
                    escape(&text)
                );
            }
        }
    }

    /// Whether the axis is logarithmic.
    pub fn is_log(&self) -> bool {
        self.scale.kind() == ScaleKind::Log
    }

    /// Begins the row `index` with its name and figure, and returns its
    /// middle. A hover shows `hint`.
    pub fn begin(
        &mut self,
        index: usize,
        name: &str,
        figure: &str,
        hint: &str,
        class: &str,
    ) -> f64 {
        let top = TOP + index as f64 * self.height;
        let middle = top + self.height / 2.0;
        let (x, width, height) = (self.label - 8.0, WIDTH, self.height);
        let room = ((self.label - 8.0) / GLYPH) as usize;
        let _ = write!(
            self.svg,
            "<g class=\"row {class}\"><title>{}</title>\
             <rect class=\"hit\" x=\"0\" y=\"{top:.1}\" width=\"{width}\" height=\"{height:.1}\"/>\
             <text class=\"name\" x=\"{x}\" y=\"{y:.1}\" text-anchor=\"end\">{}</text>\
             <text class=\"figure\" x=\"{right}\" y=\"{y:.1}\" text-anchor=\"end\">{}</text>",
            escape(hint),
            escape(&shorten(name, room)),
            escape(figure),
            y = middle + 4.0,
            right = WIDTH - 2.0,
        );
        middle
    }

    /// An arrow to where a value beyond the axis would be; nothing for others.
    pub fn overflow_arrow(&self, value: f64) -> &'static str {
        match self.scale.side(value) {
            std::cmp::Ordering::Less => "← ",
            std::cmp::Ordering::Equal => "",
            std::cmp::Ordering::Greater => "→ ",
        }
    }

    /// Where a value lies.
    pub fn x(&self, value: f64) -> f64 {
        self.scale.place(value)
    }

    /// A bar between two values; thin ones are kept visible.
    pub fn bar(&mut self, class: &str, from: f64, to: f64, y: f64, height: f64) {
        let (left, right) = (self.x(from), self.x(to));
        let width = (right - left).max(2.0);
        let left = if width > right - left { (left + right - width) / 2.0 } else { left };
        let top = y - height / 2.0;
        let _ = write!(
            self.svg,
            "<rect class=\"{class}\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" \
             height=\"{height:.1}\"/>"
        );
    }

    /// A horizontal line between two values.
    pub fn line(&mut self, class: &str, from: f64, to: f64, y: f64) {
        let (x1, x2) = (self.x(from), self.x(to));
        let _ = write!(
            self.svg,
            "<line class=\"{class}\" x1=\"{x1:.1}\" x2=\"{x2:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>"
        );
    }

    /// A vertical stroke at a value.
    pub fn stroke(&mut self, class: &str, value: f64, y: f64, height: f64) {
        let x = self.x(value);
        let (y1, y2) = (y - height / 2.0, y + height / 2.0);
        let _ = write!(
            self.svg,
            "<line class=\"{class}\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{y1:.1}\" y2=\"{y2:.1}\"/>"
        );
    }

    /// A line through all rows at a value.
    pub fn rule(&mut self, value: f64) {
        let (x, bottom) = (self.x(value), self.bottom);
        let _ = write!(
            self.svg,
            "<line class=\"rule\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{bottom:.1}\"/>"
        );
    }

    /// A small circle at a value.
    pub fn dot(&mut self, class: &str, value: f64, y: f64) {
        let x = self.x(value);
        let _ =
            write!(self.svg, "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"1.8\"/>");
    }

    /// The marker of the thing with this number at a value.
    pub fn mark(&mut self, number: usize, value: f64, y: f64) {
        let mark = numbered_marker(number, self.x(value), y);
        self.svg.push_str(&mark);
    }

    /// Ends the row.
    pub fn end(&mut self) {
        self.svg.push_str("</g>");
    }

    /// The picture.
    pub fn finish(mut self) -> String {
        self.svg.push_str("</svg>");
        self.svg
    }
}

/// A name in so many letters: what is too long loses its middle, as its end says
/// whose it is and has its marks.
pub fn shorten(name: &str, length: usize) -> String {
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= length {
        return name.to_owned();
    }
    let end = length / 2;
    let begin = length - end - 1;
    let (begin, end) = (&letters[..begin], &letters[letters.len() - end..]);
    begin.iter().chain(&['…']).chain(end).collect()
}

/// Numbers of the subjects, from which pictures take colour and marker: each
/// keeps its own on all of a page.
pub fn style(run: &Run) -> impl Fn(&str) -> usize + '_ {
    |id: &str| {
        let mut others = run.subjects.iter().filter(|subject| !subject.bound);
        others.position(|subject| subject.id == id).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_keeps_its_end() {
        assert_eq!(shorten("LCM C 1.3.1†‡", 13), "LCM C 1.3.1†‡");
        assert_eq!(shorten("FlatBuffers C++ 2.0.8†‡", 11), "FlatB…0.8†‡");
        assert_eq!(shorten("ab", 1), "…");
    }
}
