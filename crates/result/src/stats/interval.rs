//! Where the true median lies.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::sample::{mean, median, sorted, variance};

/// Confidence of the intervals of [`super::Summary`], [`super::Ratio`] and
/// [`super::Fit`].
pub const CONFIDENCE: f64 = 0.95;

/// A range that holds the true median with a stated confidence.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Lower end, in the unit of what it is an interval of.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Confidence between 0 and 1.
    pub confidence: f64,
    /// What it rests on.
    pub basis: Basis,
}

/// What an interval rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Order statistics of the process medians: the sign test turned round,
    /// free of any assumption about their distribution.
    Order,
    /// Student's t over the process medians, where they are too few for the
    /// order statistics to reach the confidence.
    Student,
    /// Order statistics of the rounds of one process. What differs from
    /// process to process is not in it.
    Rounds,
}

impl Interval {
    /// Half of the width in relation to `value`, the larger side. Shown as ±.
    pub fn relative(&self, value: f64) -> f64 {
        (self.high - value).max(value - self.low) / value
    }

    /// Whether `value` lies within.
    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// The interval of transformed values; `f` must be increasing.
    pub(super) fn map(self, f: impl Fn(f64) -> f64) -> Interval {
        Interval { low: f(self.low), high: f(self.high), ..self }
    }

    /// The interval of the median of `processes`, each of which is a list of
    /// samples. `None` where no interval can be given: a single process with
    /// too few rounds for the confidence.
    pub(super) fn from_processes(processes: &[Vec<f64>], confidence: f64) -> Option<Interval> {
        let filled: Vec<&Vec<f64>> = processes.iter().filter(|p| !p.is_empty()).collect();
        let made = |(low, high), basis| Interval { low, high, confidence, basis };
        if let [only] = filled[..] {
            return order_interval(only, confidence).map(|ends| made(ends, Basis::Rounds));
        }
        let medians: Vec<f64> =
            filled.iter().filter_map(|process| median(process.iter().copied())).collect();
        order_interval(&medians, confidence).map(|ends| made(ends, Basis::Order)).or_else(|| {
            student_interval(&medians, confidence).map(|ends| made(ends, Basis::Student))
        })
    }
}

/// The interval between the k-th smallest and the k-th largest value, with the
/// largest k for which 2·P(B ≤ k − 1) ≤ 1 − confidence, B being binomial with
/// n trials of probability 1/2. Conover, "Practical Nonparametric Statistics",
/// 3rd edition, section 3.2. `None` where even k = 1 misses the confidence:
/// 95 % takes six values, 99 % takes eight.
pub(super) fn order_interval(values: &[f64], confidence: f64) -> Option<(f64, f64)> {
    let ascending = sorted(values.iter().copied());
    let n = ascending.len();
    let allowed = (1.0 - confidence) / 2.0;
    // Logarithms, since 2⁻ⁿ is no longer a number from n = 1075 on.
    let mut log_chance = -(n as f64) * std::f64::consts::LN_2;
    let mut tail = 0.0;
    let mut k = 0;
    while k < n {
        tail += log_chance.exp();
        if tail > allowed {
            break;
        }
        log_chance += ((n - k) as f64 / (k + 1) as f64).ln();
        k += 1;
    }
    (k > 0).then(|| (ascending[k - 1], ascending[n - k]))
}

/// Mean ± t·s/√n. For heavy tails, the kind of deviation that times show, it
/// errs on the wide side. `None` of fewer than two values.
pub(super) fn student_interval(values: &[f64], confidence: f64) -> Option<(f64, f64)> {
    let n = values.len();
    let half = (variance(values)? / n as f64).sqrt() * student_quantile(confidence, (n - 1) as f64);
    let mean = mean(values)?;
    Some((mean - half, mean + half))
}

/// The t that a fraction `confidence` of Student's distribution with `freedom`
/// degrees of freedom does not exceed in absolute value.
pub(super) fn student_quantile(confidence: f64, freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom.max(1.0))
        .map(|t| t.inverse_cdf(0.5 + confidence / 2.0))
        .unwrap_or(f64::INFINITY)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(n: usize) -> Vec<f64> {
        (1..=n).map(|i| i as f64).collect()
    }

    #[test]
    fn order_statistics_follow_the_tables() {
        // Conover, table A3: n = 10 at 95 % gives the 2nd and the 9th.
        assert_eq!(order_interval(&numbers(10), 0.95), Some((2.0, 9.0)));
        assert_eq!(order_interval(&numbers(6), 0.95), Some((1.0, 6.0)));
        assert_eq!(order_interval(&numbers(5), 0.95), None);
        assert_eq!(order_interval(&numbers(20), 0.95), Some((6.0, 15.0)));
        assert_eq!(order_interval(&[], 0.95), None);
        // Far beyond where 2⁻ⁿ underflows: n/2 ± 1.96·√n/2.
        let (low, high) = order_interval(&numbers(10_000), 0.95).unwrap();
        assert!((4_895.0..4_910.0).contains(&low) && (5_090.0..5_106.0).contains(&high));
    }

    #[test]
    fn student_quantiles_follow_the_tables() {
        for (freedom, t) in [(1.0, 12.706), (2.0, 4.303), (4.0, 2.776), (30.0, 2.042)] {
            assert!((student_quantile(0.95, freedom) - t).abs() < 1e-3);
        }
    }

    #[test]
    fn processes_are_the_unit() {
        let rounds = |offset: f64| (0..50).map(|i| offset + f64::from(i % 3) * 0.01).collect();
        let three: Vec<Vec<f64>> = vec![rounds(1.0), rounds(1.1), rounds(1.2)];
        let interval = Interval::from_processes(&three, 0.95).unwrap();
        assert_eq!(interval.basis, Basis::Student);
        assert!(interval.low < 1.0 && interval.high > 1.2, "{interval:?}");

        let six: Vec<Vec<f64>> = (0..6).map(|i| rounds(f64::from(i))).collect();
        assert_eq!(Interval::from_processes(&six, 0.95).unwrap().basis, Basis::Order);

        let one = vec![rounds(1.0), vec![]];
        assert_eq!(Interval::from_processes(&one, 0.95).unwrap().basis, Basis::Rounds);
        assert_eq!(Interval::from_processes(&[vec![1.0]], 0.95), None);
    }
}
