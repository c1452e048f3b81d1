//! How times of a case went in the course of its runs: window by window, and the
//! slowest of all with what the machine did meanwhile.

use std::fmt::Write;

use wiregauge_result::run::{Case, Run, Slowest};

use super::curves::lines;
use super::markup::e;
use super::plot::{Axis, Plot};
use super::scale::{fitting, Kind};
use crate::curve::over;
use crate::kind::noun;
use crate::unit::{count, percent, quantity};

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
            x: Axis { kind: Kind::Linear, unit: "s" },
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
    let all: Vec<&Slowest> = run.slowest.iter().filter(|slow| slow.case == case.id).collect();
    let mut text = String::new();
    for metric in ["latency", "step"] {
        let of: Vec<&Slowest> = all.iter().copied().filter(|slow| slow.metric == metric).collect();
        if !of.is_empty() {
            text.push_str(&table(run, metric, &of));
        }
    }
    if text.is_empty() {
        return text;
    }
    text + "<p class=\"soft\">The counters are those of the participant\u{2019}s process: of the receiver \
            for a latency, of the sender for a step. They are of the time <em>over</em>, which ends \
            with the sample and began before it was sent: when its window began, or when one before it \
            was among the slowest until then.</p>\n"
}

fn table(run: &Run, metric: &str, all: &[&Slowest]) -> String {
    let several = all.iter().any(|slow| slow.receiver > Some(0));
    let mut text = format!(
        "<details><summary>The slowest by {}, and what the machine did meanwhile</summary>\n\
         <div class=\"scroll\"><table class=\"fits sortable\"><thead><tr><th class=\"text\">\
         <button type=\"button\">{}</button></th>",
        e(metric),
        noun(run)
    );
    let heads = [
        (metric, "how long it took"),
        ("number", "which sample or step it is, from 0"),
        ("at", "when it was sent or began, since the first one was due"),
        ("over", "the time that the counters are of"),
        ("taken off", "times that a thread of the process was taken off its processor"),
        ("waited", "times that a thread of the process waited for something"),
        ("minor faults", "pages that were missing and in memory"),
        ("major faults", "pages that had to be read from disk"),
        ("steal", "share of the time that a hypervisor took of each processor"),
    ];
    for (head, title) in heads {
        let _ = write!(
            text,
            "<th title=\"{}\"><button type=\"button\">{}</button></th>",
            e(title),
            e(head)
        );
    }
    text.push_str("</tr></thead>\n<tbody>");
    for slow in all {
        let Some(subject) = run.subject(&slow.subject) else { continue };
        let receiver = slow.receiver.filter(|_| several).map(|at| format!(", receiver {}", at + 1));
        let _ = write!(text, "<tr><td>{}{}</td>", e(&subject.title), receiver.unwrap_or_default());
        let counted = |value: u64| (value as f64, count(value as f64));
        for (value, shown) in [
            (slow.value, quantity(slow.value, &slow.unit)),
            counted(slow.sequence),
            (slow.at, format!("{:.3} s", slow.at)),
            (slow.over, quantity(slow.over * 1e9, "ns")),
            counted(slow.involuntary),
            counted(slow.voluntary),
            counted(slow.minor_faults),
            counted(slow.major_faults),
            (slow.steal, percent(slow.steal)),
        ] {
            let _ = write!(text, "<td class=\"n\" data-v=\"{value}\">{}</td>", e(&shown));
        }
        text.push_str("</tr>\n");
    }
    text + "</tbody></table></div></details>\n"
}
