//! How large messages are, as encoded and after each compressor.

use wiregauge_result::run::Run;
use wiregauge_result::run_kind::RunKind;

use crate::model::table::Table;
use crate::page::chart::{Chart, ChartSource};
use crate::page::drawing::bars;
use crate::page::figures::figures;

inventory::submit! {
    Chart { place: |kind| (*kind != RunKind::Bus).then_some(50), draw: ChartSource::Case(draw) }
}

fn draw(run: &Run, timings: &Table) -> String {
    let sizes = Table::sizes(run, timings.case);
    if sizes.is_empty() {
        return String::new();
    }
    let names: Vec<String> = sizes.columns.iter().map(|c| size_name(&c.metric)).collect();
    format!(
        "<h3>Sizes</h3>\n<div class=\"charts\"><figure>{}{}</figure><div>{}</div></div>\n",
        bars::legend(&names),
        bars::sizes(&sizes),
        figures(run, &sizes, true),
    )
}

fn size_name(metric: &str) -> String {
    metric.strip_prefix("size/").unwrap_or("as encoded").to_owned()
}
