//! The samples of each experiment.

use std::fmt::Write;

use wiregauge_result::run::Run;
use wiregauge_result::run_kind::RunKind;

use crate::model::table::{describe, Table};
use crate::page::chart::{Chart, ChartSource};
use crate::page::drawing::box_plot;
use crate::page::markup::escape;

inventory::submit! {
    Chart {
        place: |kind| Some(if *kind == RunKind::Bus { 60 } else { 10 }),
        draw: ChartSource::Case(draw),
    }
}

fn draw(run: &Run, timings: &Table) -> String {
    if timings.columns.iter().all(|column| !column.sampled) {
        return String::new();
    }
    let mut text = String::from("<h3>Samples</h3>\n<div class=\"charts\">\n");
    for (i, column) in timings.columns.iter().enumerate().filter(|(_, c)| c.sampled) {
        let (svg, log) = box_plot::box_plot(timings, i);
        let axis = if log { ", logarithmic axis" } else { "" };
        let _ = writeln!(
            text,
            "<figure><h3>{}</h3>{svg}<figcaption>{}{axis}</figcaption></figure>",
            escape(&column.metric),
            describe(run, &column.metric).unwrap_or("one box a subject"),
        );
    }
    text + "</div>\n"
}
