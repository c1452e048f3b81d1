//! The throughput of each window over time, with the load that was offered.

use wiregauge_result::run::Run;
use wiregauge_result::run_kind::RunKind;

use crate::model::curve::window_curves;
use crate::model::group::offered;
use crate::model::number_format::format_quantity;
use crate::model::table::Table;
use crate::page::chart::{Chart, ChartSource};
use crate::page::drawing::lines::lines;
use crate::page::drawing::plot::{Axis, Line, Plot, Style};
use crate::page::drawing::rows::style;
use crate::page::drawing::scale::{fitting, ScaleKind};

inventory::submit! {
    Chart { place: |kind| (*kind == RunKind::Bus).then_some(30), draw: ChartSource::Case(draw) }
}

fn draw(run: &Run, timings: &Table) -> String {
    let case = timings.case;
    let Some(curves) = window_curves(run, case) else { return String::new() };
    let ends = curves.lines.iter().filter_map(|line| line.points.last());
    let end = ends.map(|point| point.0).fold(0.0, f64::max);
    let mut drawn: Vec<Line> = lines(&curves, "s", &style(run));
    if let Some(offered) = offered(run, case) {
        drawn.push(Line {
            name: "offered",
            remark: String::new(),
            style: Style::Rule,
            hint: format_quantity(offered, &curves.unit),
            points: vec![(0.0, offered), (end, offered)],
            good: None,
        });
    }
    let values: Vec<f64> =
        drawn.iter().flat_map(|line| line.points.iter().map(|point| point.1)).collect();
    let (kind, axis) = fitting(&values);
    let plot = Plot {
        label: "Throughput of each window".to_owned(),
        x: Axis { kind: ScaleKind::Linear, unit: "s" },
        below: "time since the first counted window".to_owned(),
        y: Axis { kind, unit: &curves.unit },
        lines: drawn,
    };
    format!(
        "<div class=\"charts\"><figure><h3>Throughput of each window</h3>{}<figcaption>Of several \
         receivers, the one that got least in a window.{axis}</figcaption></figure></div>\n",
        plot.draw()
    )
}
