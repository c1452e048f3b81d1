//! What a chart is to the page, and the list of all charts.

use wiregauge_result::kind::Kind;
use wiregauge_result::run::Run;

use crate::model::reference::Beside;
use crate::model::sweep::Sweep;
use crate::model::table::Table;

/// A chart: a picture and what belongs to it. Its file in `charts/` submits it
/// with [`inventory::submit!`].
pub struct Chart {
    /// Its place on the page of a run of this kind, from the top; none where it
    /// is not shown.
    pub place: fn(&Kind) -> Option<u32>,
    /// What it is drawn of. It is empty where there is nothing to show.
    pub draw: Draw,
}

/// What a chart is drawn of.
pub enum Draw {
    /// A case, by the table of its experiments.
    Case(fn(&Run, &Table) -> String),
    /// A sweep over cases.
    Sweep(fn(&Run, &Sweep) -> String),
    /// Published figures of a metric beside the measured ones.
    Published(fn(&Beside) -> String),
}

inventory::collect!(Chart);

/// The charts of a case.
pub fn of_case(run: &Run, timings: &Table) -> String {
    drawn(run, |draw| match draw {
        Draw::Case(draw) => Some(draw(run, timings)),
        _ => None,
    })
}

/// The charts of a sweep.
pub fn of_sweep(run: &Run, sweep: &Sweep) -> String {
    drawn(run, |draw| match draw {
        Draw::Sweep(draw) => Some(draw(run, sweep)),
        _ => None,
    })
}

/// The charts of published figures.
pub fn of_published(run: &Run, column: &Beside) -> String {
    drawn(run, |draw| match draw {
        Draw::Published(draw) => Some(draw(column)),
        _ => None,
    })
}

/// What comes of the charts of a run, in their order.
fn drawn(run: &Run, draw: impl Fn(&Draw) -> Option<String>) -> String {
    let place = |chart: &&Chart| (chart.place)(&run.kind);
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
        for kind in [Kind::Codecs, Kind::Cosim, Kind::Bus] {
            let mut taken = HashSet::new();
            for chart in inventory::iter::<Chart>() {
                let Some(place) = (chart.place)(&kind) else { continue };
                assert!(taken.insert((discriminant(&chart.draw), place)), "{place} of {kind}");
            }
            assert!(!taken.is_empty(), "{kind} has charts");
        }
    }
}
