//! How times of a case went in the course of its runs: window by window, and the
//! slowest of all with what the machine did meanwhile.

use std::fmt::Write;

use wiregauge_result::run::{Case, Run};

use crate::model::curve::find_curves;
use crate::page::drawing::lines::lines;
use crate::page::drawing::plot::{Axis, Plot};
use crate::page::drawing::scale::{fitting, ScaleKind};
use crate::page::markup::escape;

/// Times of a metric over time, a picture for each of their figures.
pub fn draw_time_course(
    run: &Run,
    case: &Case,
    metric: &str,
    style: &dyn Fn(&str) -> usize,
) -> String {
    let mut text = String::new();
    for curves in find_curves(run, case, "time") {
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
            escape(of_each),
            escape(metric),
            plot.draw(),
            axis.trim_start(),
        );
    }
    if text.is_empty() {
        return text;
    }
    format!(
        "<div class=\"charts\">\n{text}</div>\n<p class=\"soft\">All windows, also those that are \
         not counted for the throughput. With several receivers: the slowest one in each \
         window.</p>\n"
    )
}
