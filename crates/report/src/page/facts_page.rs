//! A page of facts and histograms, of what is no run.

use std::fmt::Write;

use crate::model::number_format::format_quantity;
use crate::page::drawing::rows::RowChart;
use crate::page::frame::frame;
use crate::page::markup::escape;

/// The height of a bar with its gap.
const HEIGHT: f64 = 14.0;

/// A part of the page.
#[derive(Clone, Debug, Default)]
pub struct FactsSection {
    /// Its heading.
    pub title: String,
    /// What is said of it, each by a name.
    pub facts: Vec<(String, String)>,
    /// What is counted, if anything is.
    pub histogram: Option<FactsHistogram>,
}

/// How many there are of which size.
#[derive(Clone, Debug, Default)]
pub struct FactsHistogram {
    /// What it is of: `sizes of messages`.
    pub what: String,
    /// The unit of sizes: `B`.
    pub unit: String,
    /// The least and the greatest size.
    pub span: (u64, u64),
    /// How many there are in each of so many equal parts of the span.
    pub counts: Vec<u64>,
}

/// The parts on a page: no other file, no request, complete without scripts.
pub fn render_facts(title: &str, parts: &[FactsSection]) -> String {
    let mut body =
        format!("<article class=\"run\">\n<header>\n<h1>{}</h1>\n</header>\n", escape(title));
    for part in parts {
        let _ = writeln!(body, "<section>\n<h2>{}</h2>\n<dl class=\"facts\">", escape(&part.title));
        for (name, is) in &part.facts {
            let _ = writeln!(body, "<dt>{}</dt><dd>{}</dd>", escape(name), escape(is));
        }
        body.push_str("</dl>\n");
        body.extend(part.histogram.as_ref().map(draw_histogram));
        body.push_str("</section>\n");
    }
    frame(title, &(body + "</article>\n"))
}

fn draw_histogram(of: &FactsHistogram) -> String {
    let parts = of.counts.len().max(1) as f64;
    let (least, most) = (of.span.0 as f64, of.span.1 as f64);
    let end = |part: usize| {
        format_quantity((least + (most - least) * part as f64 / parts).round(), &of.unit)
    };
    let names: Vec<String> = match of.counts.len() {
        1 => vec![if least == most { end(0) } else { format!("{} – {}", end(0), end(1)) }],
        count => (0..count).map(|part| format!("{} – {}", end(part), end(part + 1))).collect(),
    };
    let figures = of.counts.iter().map(|count| format_quantity(*count as f64, "1"));
    let rows: Vec<(&str, String)> = names.iter().map(String::as_str).zip(figures).collect();
    let longest = of.counts.iter().copied().max().unwrap_or(0) as f64;
    let mut chart = RowChart::new(&of.what, &rows, HEIGHT, &[longest], true);
    chart.axis("1");
    for (at, (name, figure)) in rows.iter().enumerate() {
        let y = chart.begin(at, name, figure, &format!("{name}: {figure}"), "");
        if of.counts[at] > 0 {
            chart.bar("part p0", 0.0, of.counts[at] as f64, y, HEIGHT - 4.0);
        }
        chart.end();
    }
    format!("<h3>{}</h3>\n{}\n", escape(&of.what), chart.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(counts: &[u64], span: (u64, u64)) -> FactsSection {
        let what = "Sizes of messages".to_owned();
        let histogram = FactsHistogram { what, unit: "B".into(), span, counts: counts.to_vec() };
        let facts = vec![("type".to_owned(), "<osi3>".to_owned())];
        FactsSection { title: "a & b".into(), facts, histogram: Some(histogram) }
    }

    #[test]
    fn each_count_that_is_something_has_a_bar() {
        let shown = render_facts("drive.mcap", &[part(&[3, 0, 1], (0, 3000))]);
        assert_eq!(shown.matches("class=\"part p0\"").count(), 2);
        assert_eq!(shown.matches("class=\"row ").count(), 3);
        for text in
            ["<h2>a &amp; b</h2>", "<dt>type</dt><dd>&lt;osi3&gt;</dd>", "1,000 B – 2,000 B"]
        {
            assert!(shown.contains(text), "{text}: {shown}");
        }
        assert!(!shown.contains("http"), "it asks for nothing");
    }

    #[test]
    fn sizes_that_are_alike_are_one_bar() {
        let shown = render_facts("drive.mcap", &[part(&[5], (700, 700)), FactsSection::default()]);
        assert_eq!(shown.matches("class=\"part p0\"").count(), 1);
        assert!(shown.contains(">700 B</text>"), "{shown}");
    }
}
