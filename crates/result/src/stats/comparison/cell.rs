//! The verdict on one case, subject and metric.

use serde::{Deserialize, Serialize};

use super::change::{Change, ChangeVerdict, ComparisonView};
use super::index::median_of;
use super::sides::FEWEST_PROCESSES;
use crate::run::Measurement;

/// Widest half of an interval, as a factor, that still allows to say "no
/// difference": beyond it even a doubling could have gone unseen.
pub const WIDEST: f64 = 2.0;

/// The verdict on one case, subject and metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Case id.
    pub case: String,
    /// Subject id.
    pub subject: String,
    /// Metric.
    pub metric: String,
    /// Unit of `base` and `new`.
    pub unit: String,
    /// Median of process medians in the base run.
    pub base: f64,
    /// Median of process medians in the new run.
    pub new: f64,
    /// The change in each view.
    pub changes: Vec<Change>,
    /// What is to be made of it.
    pub verdict: ChangeVerdict,
    /// Why, where it is not plain from the figures.
    pub reason: Option<String>,
}

impl Cell {
    /// The change to quote: among the views that bear the verdict out, the one
    /// that comes nearest to "no difference". `None` if there was too little
    /// data.
    pub fn change(&self) -> Option<&Change> {
        let all = || self.changes.iter();
        match self.verdict {
            ChangeVerdict::Faster | ChangeVerdict::Slower => all()
                .filter(|change| change.certainty() > 0.0)
                .min_by(|a, b| a.certainty().total_cmp(&b.certainty())),
            // The one that says the most.
            ChangeVerdict::NoDifference => {
                all().min_by(|a, b| a.half_width().total_cmp(&b.half_width()))
            }
            ChangeVerdict::CannotTell => all().next(),
        }
    }
}

/// The verdict that the views allow. A difference is what lies beyond the
/// second of the thresholds, none is what lies within the first.
pub(crate) fn judge(
    base: &Measurement,
    new: &Measurement,
    changes: Vec<Change>,
    (threshold, least): (f64, f64),
) -> Cell {
    let quiet = ChangeVerdict::NoDifference;
    let verdict = |change: &Change| match change.verdict(threshold) {
        ChangeVerdict::Faster | ChangeVerdict::Slower => match change.verdict(least) {
            ChangeVerdict::NoDifference => ChangeVerdict::CannotTell,
            verdict => verdict,
        },
        verdict => verdict,
    };
    let of = |view: ComparisonView| changes.iter().find(|c| c.view == view).map(verdict);
    let corrected: Vec<ChangeVerdict> =
        [ComparisonView::Bound, ComparisonView::Others].into_iter().filter_map(of).collect();
    let agreed = corrected.first().filter(|first| corrected.iter().all(|v| v == *first)).copied();
    let (verdict, reason) = match (of(ComparisonView::Times), agreed) {
        (None, _) => (
            ChangeVerdict::CannotTell,
            Some(format!("a verdict needs {FEWEST_PROCESSES} processes in each run")),
        ),
        _ if changes.iter().all(|change| change.half_width() > WIDEST) => (
            ChangeVerdict::CannotTell,
            Some("too noisy: even a doubling might not be detected; use more processes".to_owned()),
        ),
        (Some(times), None) if corrected.is_empty() => (times, None),
        (Some(times), Some(agreed)) if times == agreed => (times, None),
        (Some(ChangeVerdict::CannotTell), _) if corrected.contains(&quiet) => (quiet, None),
        (Some(_), Some(agreed)) if agreed == quiet => {
            (quiet, Some("the machine changed as much".to_owned()))
        }
        // The bound and the others agree on a difference, and the plain time
        // shows it too, if less surely for all that the machine did meanwhile.
        (Some(_), Some(agreed))
            if corrected.len() == 2
                && agreed != ChangeVerdict::CannotTell
                && changes[0].leaning(least) == agreed =>
        {
            (agreed, None)
        }
        (Some(times), None) if times == quiet && corrected.contains(&quiet) => (quiet, None),
        // Some view leaves it open, and none speaks against another.
        (Some(times), _) if !contradict(times, &corrected) => {
            let alone = times != ChangeVerdict::CannotTell;
            let reason = "the bound and the other rows do not confirm it";
            (ChangeVerdict::CannotTell, alone.then(|| reason.to_owned()))
        }
        (Some(_), _) => (
            ChangeVerdict::CannotTell,
            Some("the time, the bound row and the other rows disagree: measure both again".into()),
        ),
    };
    Cell {
        case: base.case.clone(),
        subject: base.subject.clone(),
        metric: base.metric.clone(),
        unit: base.unit.clone(),
        base: median_of(base),
        new: median_of(new),
        changes,
        verdict,
        reason,
    }
}

/// Whether one view sees a difference and another sees none, or the other one.
fn contradict(times: ChangeVerdict, corrected: &[ChangeVerdict]) -> bool {
    let mut said = corrected.iter().chain([&times]).filter(|v| **v != ChangeVerdict::CannotTell);
    let first = said.next();
    said.any(|other| Some(other) != first)
}
