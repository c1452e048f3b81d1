//! A line through a sweep.

use serde::{Deserialize, Serialize};

use super::interval::{student_quantile, CONFIDENCE};

/// The line y = `intercept` + `slope`·x: the cost of a message and the cost of
/// each of its points.
///
/// A sweep spans five decades and the error of a time is a share of it, not a
/// number of nanoseconds. Plain least squares would let the largest message
/// decide alone and leave the cost of a message to chance, so each point is
/// weighted by 1/y², which makes the *relative* residuals least. The formulas
/// are those of weighted linear regression with an unknown common factor of
/// the variances: Press et al., "Numerical Recipes", 3rd edition, section 15.2;
/// NIST/SEMATECH e-Handbook of Statistical Methods, section 4.1.4.3.
///
/// The points are the medians of the cases, one each, so the residuals hold
/// what a straight line does not say (caches that overflow, buffers that grow)
/// and the bounds widen with it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fit {
    /// y at x = 0, in y's unit: the cost of an empty message.
    pub intercept: Bounds,
    /// y per x: the cost of one point more.
    pub slope: Bounds,
    /// Share of the weighted variance that the line explains, 1 at best.
    pub r_squared: f64,
    /// Points that it rests on.
    pub points: usize,
}

/// A fitted number with the bounds that hold it with [`CONFIDENCE`], by
/// Student's t with two degrees of freedom less than there are points.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    /// The number.
    pub value: f64,
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
}

impl Fit {
    /// Fits a line to points (x, y). `None` for fewer than three points with
    /// positive y (two determine the line and leave no bounds) and for points
    /// that all have one x.
    pub fn from_points(points: &[(f64, f64)]) -> Option<Fit> {
        let points: Vec<(f64, f64)> = points
            .iter()
            .copied()
            .filter(|(x, y)| x.is_finite() && y.is_finite() && *y > 0.0)
            .collect();
        let n = points.len();
        if n < 3 {
            return None;
        }
        // Sums over (weight, x, y). Weights relative to the smallest y, so
        // that they stay near 1.
        let smallest = points.iter().map(|p| p.1).fold(f64::INFINITY, f64::min);
        let weighted = || points.iter().map(|&(x, y)| ((smallest / y).powi(2), x, y));
        let total: f64 = weighted().map(|(w, _, _)| w).sum();
        let mean_x = weighted().map(|(w, x, _)| w * x).sum::<f64>() / total;
        let mean_y = weighted().map(|(w, _, y)| w * y).sum::<f64>() / total;
        let spread_x: f64 = weighted().map(|(w, x, _)| w * (x - mean_x).powi(2)).sum();
        let spread_y: f64 = weighted().map(|(w, _, y)| w * (y - mean_y).powi(2)).sum();
        if spread_x <= 0.0 {
            return None;
        }
        let slope = weighted().map(|(w, x, y)| w * (x - mean_x) * y).sum::<f64>() / spread_x;
        let intercept = mean_y - slope * mean_x;
        let residual: f64 =
            weighted().map(|(w, x, y)| w * (y - intercept - slope * x).powi(2)).sum();

        let freedom = (n - 2) as f64;
        let variance = residual / freedom;
        let t = student_quantile(CONFIDENCE, freedom);
        let bounds = |value: f64, variance: f64| {
            let half = t * variance.sqrt();
            Bounds { value, low: value - half, high: value + half }
        };
        Some(Fit {
            intercept: bounds(intercept, variance * (1.0 / total + mean_x.powi(2) / spread_x)),
            slope: bounds(slope, variance / spread_x),
            r_squared: if spread_y > 0.0 { 1.0 - residual / spread_y } else { 1.0 },
            points: n,
        })
    }

    /// The fitted y at `x`.
    pub fn value_at(&self, x: f64) -> f64 {
        self.intercept.value + self.slope.value * x
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::stats::comparison::simulation::normal;

    const SWEEP: [f64; 6] = [1.0, 10.0, 100.0, 1e3, 1e4, 1e5];

    #[test]
    fn finds_an_exact_line() {
        let fit = Fit::from_points(&SWEEP.map(|x| (x, 250.0 + 3.0 * x))).unwrap();
        assert!((fit.intercept.value - 250.0).abs() < 1e-6);
        assert!((fit.slope.value - 3.0).abs() < 1e-9);
        assert!((fit.r_squared - 1.0).abs() < 1e-9);
        assert!((fit.value_at(7.0) - 271.0).abs() < 1e-6);
    }

    #[test]
    fn agrees_with_the_normal_equations() {
        // (XᵀWX)⁻¹XᵀWy solved in exact fractions, t = 3.182446 from a table.
        let fit = Fit::from_points(&[(1.0, 2.1), (2.0, 3.9), (3.0, 6.2), (4.0, 7.8), (5.0, 10.1)])
            .unwrap();
        let close = |a: f64, b: f64| assert!((a - b).abs() < 2e-6, "{a} is not {b}");
        close(fit.intercept.value, 0.116450);
        close(fit.intercept.low, -0.212887);
        close(fit.intercept.high, 0.445787);
        close(fit.slope.value, 1.961619);
        close(fit.slope.low, 1.787396);
        close(fit.slope.high, 2.135841);
        close(fit.r_squared, 0.997669);
    }

    #[test]
    fn bounds_hold_the_truth_under_relative_noise() {
        let mut random = Random::new(7);
        let (mut intercepts, mut slopes) = (0, 0);
        let tries = 2_000;
        for _ in 0..tries {
            let points = SWEEP.map(|x| (x, (250.0 + 3.0 * x) * (1.0 + 0.05 * normal(&mut random))));
            let fit = Fit::from_points(&points).unwrap();
            intercepts += i32::from((fit.intercept.low..=fit.intercept.high).contains(&250.0));
            slopes += i32::from((fit.slope.low..=fit.slope.high).contains(&3.0));
        }
        for held in [intercepts, slopes] {
            let share = f64::from(held) / f64::from(tries);
            assert!((0.92..0.98).contains(&share), "{share}");
        }
    }

    #[test]
    fn too_little_is_no_fit() {
        assert_eq!(Fit::from_points(&[(1.0, 1.0), (2.0, 2.0)]), None);
        assert_eq!(Fit::from_points(&[(1.0, 1.0), (1.0, 2.0), (1.0, 3.0)]), None);
        assert_eq!(Fit::from_points(&[(1.0, 1.0), (2.0, 0.0), (3.0, f64::NAN)]), None);
    }
}
