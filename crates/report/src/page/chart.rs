//! What a chart is to the page, and the list of all charts.

use wiregauge_result::run::Run;
use wiregauge_result::run_kind::RunKind;

use crate::model::ranking::experiment_ranking::ExperimentRanking;
use crate::model::reference::PublishedColumn;
use crate::model::sweep::Sweep;
use crate::model::table::Table;

/// A chart: a picture and what belongs to it. Its file in `charts/` submits it
/// with [`inventory::submit!`].
pub struct Chart {
    /// Its place on the page of a run of this kind, from the top; none where it
    /// is not shown.
    pub place: fn(&RunKind) -> Option<u32>,
    /// What it is drawn of. It is empty where there is nothing to show.
    pub draw: ChartSource,
}

/// What a chart is drawn of.
pub enum ChartSource {
    /// A case, by the table of its experiments.
    Case(fn(&Run, &Table) -> String),
    /// A sweep over cases.
    Sweep(fn(&Run, &Sweep) -> String),
    /// Published figures of a metric beside the measured ones.
    Published(fn(&PublishedColumn) -> String),
    /// An experiment in several results.
    Ranking(fn(&ExperimentRanking) -> String),
}

inventory::collect!(Chart);

/// The charts of a case.
pub fn case_charts(run: &Run, timings: &Table) -> String {
    draw_charts(&run.kind, |draw| match draw {
        ChartSource::Case(draw) => Some(draw(run, timings)),
        _ => None,
    })
}

/// The charts of a sweep.
pub fn sweep_charts(run: &Run, sweep: &Sweep) -> String {
    draw_charts(&run.kind, |draw| match draw {
        ChartSource::Sweep(draw) => Some(draw(run, sweep)),
        _ => None,
    })
}

/// The charts of published figures.
pub fn published_charts(run: &Run, column: &PublishedColumn) -> String {
    draw_charts(&run.kind, |draw| match draw {
        ChartSource::Published(draw) => Some(draw(column)),
        _ => None,
    })
}

/// The charts of an experiment in several results.
pub fn ranking_charts(experiment: &ExperimentRanking) -> String {
    draw_charts(&RunKind::Codecs, |draw| match draw {
        ChartSource::Ranking(draw) => Some(draw(experiment)),
        _ => None,
    })
}

/// What comes of the charts of a kind of run, in their order.
fn draw_charts(kind: &RunKind, draw: impl Fn(&ChartSource) -> Option<String>) -> String {
    let place = |chart: &&Chart| (chart.place)(kind);
    let mut charts: Vec<&Chart> =
        inventory::iter::<Chart>().filter(|c| place(c).is_some()).collect();
    charts.sort_by_key(place);
    charts.iter().filter_map(|chart| draw(&chart.draw)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::mem::discriminant;

    #[test]
    fn no_two_charts_have_one_place() {
        for kind in [RunKind::Codecs, RunKind::Cosim, RunKind::Bus] {
            let mut taken = HashSet::new();
            for chart in inventory::iter::<Chart>() {
                let Some(place) = (chart.place)(&kind) else { continue };
                assert!(taken.insert((discriminant(&chart.draw), place)), "{place} of {kind}");
            }
            assert!(!taken.is_empty(), "{kind} has charts");
        }
    }
}
