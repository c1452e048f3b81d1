//! Two rankings side by side, joined entry by entry.

use std::fmt::Write;

use crate::model::reference::PublishedColumn;
use crate::page::chart::{Chart, ChartSource};
use crate::page::drawing::rows::{shorten, WIDTH};
use crate::page::markup::escape;

const ROW: f64 = 19.0;
const TOP: f64 = 26.0;
const NAME: f64 = 200.0;

inventory::submit! {
    Chart { place: |_| Some(10), draw: ChartSource::Published(draw) }
}

fn draw(column: &PublishedColumn) -> String {
    let agreement = column.agreement().map_or(String::new(), |agreement| {
        format!(
            "Rank correlation of the two orders: {agreement:.2} (Spearman; 1 means the same order)."
        )
    });
    format!("<figure>{}<figcaption>{agreement}</figcaption></figure>", picture(column))
}

/// The published order at the left, the measured one at the right. A line
/// that climbs is an entry that did better here than in the publication.
fn picture(column: &PublishedColumn) -> String {
    let published: Vec<_> = column.rows.iter().filter(|row| row.measured.is_some()).collect();
    let measured: Vec<_> =
        column.rows_by_measured().into_iter().filter(|row| row.measured.is_some()).collect();
    let height = TOP + ROW * published.len() as f64 + 4.0;
    let mut svg = format!(
        "<svg class=\"chart\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
         aria-label=\"Rankings of {}\"><text class=\"head\" x=\"{l}\" y=\"14\" \
         text-anchor=\"end\">published</text><text class=\"head\" x=\"{r}\" \
                       y=\"14\">measured</text>",
        escape(column.metric),
        l = NAME,
        r = WIDTH - NAME,
    );
    let y = |place: usize| TOP + ROW * (place as f64 + 0.5);
    for (from, row) in published.iter().enumerate() {
        let to = measured
            .iter()
            .position(|other| std::ptr::eq(other.figure, row.figure))
            .unwrap_or(from);
        let class = match to.cmp(&from) {
            std::cmp::Ordering::Less => "rank up",
            std::cmp::Ordering::Equal => "rank",
            std::cmp::Ordering::Greater => "rank down",
        };
        let sign = match to.cmp(&from) {
            std::cmp::Ordering::Less => format!(" ▲{}", from - to),
            std::cmp::Ordering::Equal => String::new(),
            std::cmp::Ordering::Greater => format!(" ▼{}", to - from),
        };
        let title = row.subject.map_or(row.figure.name.as_str(), |subject| &subject.title);
        let _ = write!(
            svg,
            "<g class=\"{class}\"><text class=\"name\" x=\"{l}\" y=\"{a:.1}\" text-anchor=\"end\">{}  \
             {}</text><line x1=\"{x1}\" x2=\"{x2}\" y1=\"{from_y:.1}\" y2=\"{to_y:.1}\"/>\
             <circle class=\"mark\" cx=\"{x1}\" cy=\"{from_y:.1}\" r=\"3\"/>\
             <circle class=\"mark\" cx=\"{x2}\" cy=\"{to_y:.1}\" r=\"3\"/>\
             <text class=\"name\" x=\"{r}\" y=\"{b:.1}\">{}  {}{sign}</text></g>",
            escape(&shorten(&row.figure.name, 26)),
            row.published.rank.unwrap_or(from + 1),
            row.measured.and_then(|place| place.rank).unwrap_or(to + 1),
            escape(&shorten(title, 26)),
            l = NAME,
            r = WIDTH - NAME,
            x1 = NAME + 10.0,
            x2 = WIDTH - NAME - 10.0,
            from_y = y(from),
            to_y = y(to),
            a = y(from) + 4.0,
            b = y(to) + 4.0,
        );
    }
    svg + "</svg>"
}
