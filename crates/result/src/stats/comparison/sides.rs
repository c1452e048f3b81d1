//! A cell's process medians in both runs, in one view, and how noisy the views are.

use std::collections::HashMap;

use super::super::interval::student_quantile;
use super::super::sample::{mean, median, quantile, sorted, variance, MAD_TO_DEVIATION};
use super::change::{Change, ComparisonView};

/// Processes that each run must have for a verdict.
pub(crate) const FEWEST_PROCESSES: usize = 3;

/// Fewest cells whose scatter says what moves cells from run to run.
const FEWEST_CELLS: usize = 8;

/// The logarithms of a cell's process medians in both runs, in one view.
pub(super) struct CellMedians {
    pub(super) view: ComparisonView,
    pub(super) base: Vec<f64>,
    pub(super) new: Vec<f64>,
}

impl CellMedians {
    pub(super) fn has_enough_processes(&self) -> bool {
        self.base.len().min(self.new.len()) >= FEWEST_PROCESSES
    }

    /// The difference of the means.
    fn mean_difference(&self) -> Option<f64> {
        Some(mean(&self.new)? - mean(&self.base)?)
    }

    /// Variance of each mean, that between processes being at least `floor`.
    fn errors(&self, floor: f64) -> Option<(f64, f64)> {
        let error = |values: &[f64]| Some(variance(values)?.max(floor) / values.len() as f64);
        Some((error(&self.base)?, error(&self.new)?))
    }

    /// Welch's interval with the variances raised to the floor.
    pub(super) fn change(
        &self,
        noise: &HashMap<ComparisonView, ViewNoise>,
        confidence: f64,
    ) -> Option<Change> {
        if !self.has_enough_processes() {
            return None;
        }
        let noise = noise.get(&self.view).copied().unwrap_or_default();
        let (base, new) = self.errors(noise.floor)?;
        let total = base + new;
        // Welch and Satterthwaite's degrees of freedom.
        let term = |error: f64, n: usize| error.powi(2) / (n - 1) as f64;
        let freedom = total.powi(2) / (term(base, self.base.len()) + term(new, self.new.len()));
        let freedom = if freedom.is_finite() { freedom } else { 1.0 };
        let half = student_quantile(confidence, freedom) * (total + noise.runs).sqrt();
        let middle = self.mean_difference()?;
        Some(Change {
            view: self.view,
            ratio: middle.exp(),
            low: (middle - half).exp(),
            high: (middle + half).exp(),
        })
    }
}

/// How noisy the machine was in one view, as variances of logarithms.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ViewNoise {
    /// Upper quartile of all cells' variances between processes.
    floor: f64,
    /// What moved cells from run to run.
    runs: f64,
}

impl ViewNoise {
    /// That of each view.
    pub(super) fn from_cells(units: &[Vec<CellMedians>]) -> HashMap<ComparisonView, ViewNoise> {
        [ComparisonView::Times, ComparisonView::Bound, ComparisonView::Others]
            .into_iter()
            .filter_map(|view| {
                let sides = || units.iter().flatten().filter(move |side| side.view == view);
                let variances =
                    sides().flat_map(|side| [&side.base, &side.new]).filter_map(|v| variance(v));
                let floor = quantile(&sorted(variances), 0.75)?;
                let middles: Vec<f64> = sides().filter_map(CellMedians::mean_difference).collect();
                let explained = sides().filter_map(|side| side.errors(0.0)).map(|(a, b)| a + b);
                let explained = median(explained).unwrap_or(0.0);
                let scatter = scatter(&sorted(middles.iter().copied()))?.powi(2);
                let known = middles.len() >= FEWEST_CELLS;
                let runs = if known { (scatter - explained).max(0.0) } else { 0.0 };
                Some((view, ViewNoise { floor, runs }))
            })
            .collect()
    }
}

/// How far cells scatter from run to run, as a standard deviation: robust, so
/// that cells that did change are not taken for noise.
fn scatter(ascending: &[f64]) -> Option<f64> {
    let middle = median(ascending.iter().copied())?;
    let all = MAD_TO_DEVIATION * median(ascending.iter().map(|v| (v - middle).abs()))?;
    let core = core_deviation(ascending)?;
    // Where most cells changed, as with another compiler, their median is a
    // change too; the cells that did not change lie closest together.
    Some(if all > 2.0 * core { core } else { all })
}

/// The deviation that the closest three tenths of normal values have, with a
/// correction for few, found by simulation, as the closest are closer than any.
fn core_deviation(ascending: &[f64]) -> Option<f64> {
    const SHARE: f64 = 0.3;
    /// Width of the middle three tenths in standard deviations.
    const WIDTH: f64 = 0.7706;
    let count = ascending.len() as f64;
    let within = (SHARE * count).ceil().max(2.0) as usize;
    let widths = ascending.windows(within).map(|window| window[within - 1] - window[0]);
    let least = widths.min_by(f64::total_cmp)?;
    Some(least / WIDTH * (1.0 + 8.5 / count.powf(0.763)))
}
