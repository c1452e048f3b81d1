//! A change between two runs in one view, and what is to be made of it.

use serde::{Deserialize, Serialize};

/// A change new / base in one view.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// What the times were held against.
    pub view: ComparisonView,
    /// The ratio new / base; 1.2 is 20 % slower.
    pub ratio: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
}

/// What times are held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ComparisonView {
    /// Nothing: the times themselves.
    Times,
    /// The bound row of the same case and metric, round by round.
    Bound,
    /// The other subjects of the same case and metric: the median of how far
    /// they are off their usual times, round by round.
    Others,
}

/// What is to be made of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeVerdict {
    /// Takes less time in the new run, by more than the threshold.
    Faster,
    /// Takes more time in the new run, by more than the threshold.
    Slower,
    /// The data show that there is no difference beyond the threshold.
    NoDifference,
    /// Too little data, or the machine moved too much: the interval holds both
    /// a difference beyond the threshold and none.
    CannotTell,
}

impl Change {
    /// Half of the interval's width as a factor of at least 1.
    pub fn half_width(&self) -> f64 {
        (self.high / self.low).sqrt()
    }

    /// How far the interval keeps away from 1, on a logarithmic scale;
    /// negative if it holds 1.
    pub(super) fn certainty(&self) -> f64 {
        self.low.ln().max(-self.high.ln())
    }

    /// What the middle of the interval says.
    pub(super) fn leaning(&self, threshold: f64) -> ChangeVerdict {
        Change { low: self.ratio, high: self.ratio, ..*self }.verdict(threshold)
    }

    pub(super) fn verdict(&self, threshold: f64) -> ChangeVerdict {
        if self.low > 1.0 + threshold {
            ChangeVerdict::Slower
        } else if self.high < 1.0 / (1.0 + threshold) {
            ChangeVerdict::Faster
        } else if self.low >= 1.0 / (1.0 + threshold) && self.high <= 1.0 + threshold {
            ChangeVerdict::NoDifference
        } else {
            ChangeVerdict::CannotTell
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_that_holds_more_than_the_threshold_cannot_tell() {
        for (low, high, verdict) in [
            (0.84, 1.71, ChangeVerdict::CannotTell),
            (0.97, 1.04, ChangeVerdict::NoDifference),
            (1.01, 1.30, ChangeVerdict::CannotTell),
            (1.06, 1.30, ChangeVerdict::Slower),
            (0.80, 0.94, ChangeVerdict::Faster),
        ] {
            let change =
                Change { view: ComparisonView::Times, ratio: f64::sqrt(low * high), low, high };
            assert_eq!(change.verdict(0.05), verdict, "{low} {high}");
        }
    }
}
