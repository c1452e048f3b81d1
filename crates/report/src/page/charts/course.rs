//! How times of a case went in the course of its runs: window by window, and the
//! slowest of all with what the machine did meanwhile.

use std::fmt::Write;

use wiregauge_result::kind::Kind;
use wiregauge_result::run::{Case, Run};

use crate::model::curve::over;
use crate::model::kind::noun;
use crate::model::slowest;
use crate::page::charts::curves::lines;
use crate::page::drawing::plot::{Axis, Plot};
use crate::page::drawing::scale::{fitting, ScaleKind};
use crate::page::markup::e;

/// Times of a metric over time, a picture for each of their figures.
pub fn course(run: &Run, case: &Case, metric: &str, style: &dyn Fn(&str) -> usize) -> String {
    let mut text = String::new();
    for curves in over(run, case, "time") {
        let Some(("", figure)) = curves.metric.strip_prefix(metric).and_then(|m| m.split_once('/'))
        else {
            continue;
        };
        let of_each = match figure {
            "p50" => "Median",
            "max" => "Longest",
            other => other,
        };
        let mut drawn = lines(&curves, "s", style);
        let mut values = Vec::new();
        for (_, time) in drawn.iter_mut().flat_map(|line| &mut line.points) {
            // What is too short for the clock has a place all the same.
            *time = time.max(1.0);
            values.push(*time);
        }
        let (kind, axis) = fitting(&values);
        let plot = Plot {
            label: format!("{of_each} {metric} of each window over time"),
            x: Axis { kind: ScaleKind::Linear, unit: "s" },
            below: "time since the first sample".to_owned(),
            y: Axis { kind, unit: &curves.unit },
            lines: drawn,
        };
        let _ = writeln!(
            text,
            "<figure><h3>{} {} of each window</h3>{}<figcaption>{}</figcaption></figure>",
            e(of_each),
            e(metric),
            plot.draw(),
            axis.trim_start(),
        );
    }
    if text.is_empty() {
        return text;
    }
    format!(
        "<div class=\"charts\">\n{text}</div>\n<p class=\"soft\">All windows, also those that do not \
         count for the throughput; of several receivers the slowest in a window.</p>\n"
    )
}

/// The slowest samples and steps of a case.
pub fn slowest(run: &Run, case: &Case) -> String {
    let text: String = slowest::tables(run, case).iter().map(|of| table(run, of)).collect();
    if text.is_empty() {
        return text;
    }
    let whose = match run.kind {
        Kind::Cosim => {
            "The counters are those of the process that ran the FMUs. They are of the time \
             <em>over</em>, which ends with the step and began before it: with its epoch, or when \
             one before it was among the slowest until then."
        }
        _ => {
            "The counters are those of the participant\u{2019}s process: of the receiver for a \
             latency, of the sender for a step. They are of the time <em>over</em>, which ends \
             with the sample and began before it was sent: when its window began, or when one \
             before it was among the slowest until then."
        }
    };
    format!("{text}<p class=\"soft\">{whose}</p>\n")
}

fn table(run: &Run, of: &slowest::Table) -> String {
    let metric = e(of.metric);
    let mut text = format!(
        "<details><summary>The slowest by {metric}, and what the machine did meanwhile</summary>\n\
         <div class=\"scroll\"><table class=\"fits sortable\"><thead><tr><th class=\"text\">\
         <button type=\"button\">{}</button></th>",
        noun(run)
    );
    for (head, title) in [(of.metric, "how long it took")].into_iter().chain(slowest::HEADS) {
        let _ = write!(
            text,
            "<th title=\"{}\"><button type=\"button\">{}</button></th>",
            e(title),
            e(head)
        );
    }
    text.push_str("</tr></thead>\n<tbody>");
    for row in &of.rows {
        let _ = write!(text, "<tr><td>{}</td>", e(&row.name));
        for (value, shown) in row.figures() {
            let _ = write!(text, "<td class=\"n\" data-v=\"{value}\">{}</td>", e(&shown));
        }
        text.push_str("</tr>\n");
    }
    text + "</tbody></table></div></details>\n"
}
