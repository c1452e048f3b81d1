//! One measurement in a few numbers.

use serde::{Deserialize, Serialize};

use super::interval::{Interval, CONFIDENCE};
use super::sample::{mean, median, quantile, robust_deviation, sorted, variance};
use crate::run::Measurement;

/// Distance from the median, in robust standard deviations, from which on a
/// sample is called an outlier (Iglewicz and Hoaglin 1993).
const OUTLIER: f64 = 3.5;

/// One measurement in a few numbers, in the unit of its samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The median of the process medians: the figure to quote.
    pub median: f64,
    /// Where the true median lies, with [`CONFIDENCE`]. None if one process
    /// had fewer than six rounds.
    pub interval: Option<Interval>,
    /// Arithmetic mean of all samples.
    pub mean: f64,
    /// Standard deviation of all samples; 0 of a single one.
    pub deviation: f64,
    /// Smallest sample.
    pub min: f64,
    /// A quarter of the samples lies below.
    pub lower_quartile: f64,
    /// A quarter of the samples lies above.
    pub upper_quartile: f64,
    /// Largest sample.
    pub max: f64,
    /// Processes that gave samples.
    pub processes: usize,
    /// Samples in all, each the mean of an epoch.
    pub epochs: usize,
    /// Samples that were lost.
    pub lost: usize,
    /// Samples far from their process's median. They are flagged here and
    /// counted everywhere, never dropped.
    pub outliers: Vec<Outlier>,
    /// Relative spread from process to process: the standard deviation of the
    /// process medians over the median. None of a single process.
    pub between: Option<f64>,
    /// Relative spread within a process: the median over the processes of the
    /// robust standard deviation of the rounds over their median.
    pub within: f64,
}

/// A sample far from its process's median.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outlier {
    /// Index of the process.
    pub process: usize,
    /// Index of the round in it.
    pub round: usize,
    /// The sample.
    pub value: f64,
}

impl Summary {
    /// Sums up a measurement. `None` if it holds no sample.
    pub fn from_measurement(measurement: &Measurement) -> Option<Summary> {
        let processes: Vec<Vec<f64>> = measurement
            .samples
            .iter()
            .map(|process| process.iter().flatten().copied().filter(|v| v.is_finite()).collect())
            .collect();
        let all = sorted(processes.iter().flatten().copied());
        let (&min, &max) = (all.first()?, all.last()?);
        let medians: Vec<f64> =
            processes.iter().filter_map(|process| median(process.iter().copied())).collect();
        let middle = median(medians.iter().copied())?;
        let spreads = processes.iter().filter_map(|process| relative_spread(process));
        Some(Summary {
            median: middle,
            interval: interval(&processes, min),
            mean: mean(&all)?,
            deviation: variance(&all).unwrap_or(0.0).sqrt(),
            min,
            lower_quartile: quantile(&all, 0.25)?,
            upper_quartile: quantile(&all, 0.75)?,
            max,
            processes: medians.len(),
            epochs: all.len(),
            lost: measurement.samples.iter().map(Vec::len).sum::<usize>() - all.len(),
            outliers: outliers(measurement),
            between: variance(&medians).map(|v| v.sqrt() / middle).filter(|v| v.is_finite()),
            within: median(spreads).unwrap_or(0.0),
        })
    }
}

/// The interval of the median, between logarithms where there are any.
fn interval(processes: &[Vec<f64>], min: f64) -> Option<Interval> {
    if min <= 0.0 {
        return Interval::from_processes(processes, CONFIDENCE);
    }
    let logs: Vec<Vec<f64>> =
        processes.iter().map(|process| process.iter().map(|v| v.ln()).collect()).collect();
    Some(Interval::from_processes(&logs, CONFIDENCE)?.map(f64::exp))
}

fn relative_spread(process: &[f64]) -> Option<f64> {
    let spread = robust_deviation(process)? / median(process.iter().copied())?;
    spread.is_finite().then_some(spread)
}

/// Each sample is held against its own process, so that a process which is
/// slow as a whole shows as spread between processes and not as outliers.
fn outliers(measurement: &Measurement) -> Vec<Outlier> {
    let mut found = Vec::new();
    for (process, rounds) in measurement.samples.iter().enumerate() {
        let values: Vec<f64> = rounds.iter().flatten().copied().collect();
        let (Some(middle), Some(deviation)) =
            (median(values.iter().copied()), robust_deviation(&values))
        else {
            continue;
        };
        let far = |value: f64| (value - middle).abs() > OUTLIER * deviation;
        found.extend(rounds.iter().enumerate().filter_map(|(round, sample)| {
            sample.filter(|v| far(*v)).map(|value| Outlier { process, round, value })
        }));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Basis;

    fn measurement(samples: Vec<Vec<Option<f64>>>) -> Measurement {
        Measurement {
            case: "c".into(),
            subject: "s".into(),
            metric: "encode".into(),
            unit: "ns".into(),
            iterations: vec![1; samples.len()],
            samples,
        }
    }

    #[test]
    fn sums_up() {
        let rounds = |base: f64| (0..9).map(|i| Some(base + f64::from(i))).collect::<Vec<_>>();
        let mut samples = vec![rounds(100.0), rounds(200.0), rounds(110.0)];
        samples[0][3] = None;
        samples[2][5] = Some(5_000.0);
        let summary = Summary::from_measurement(&measurement(samples)).unwrap();
        assert_eq!(summary.median, 114.0);
        assert_eq!((summary.min, summary.max), (100.0, 5_000.0));
        assert_eq!((summary.processes, summary.epochs, summary.lost), (3, 26, 1));
        assert_eq!(summary.outliers, [Outlier { process: 2, round: 5, value: 5_000.0 }]);
        assert!(summary.between.unwrap() > 5.0 * summary.within);
        let interval = summary.interval.unwrap();
        assert_eq!(interval.basis, Basis::Student);
        assert!(interval.low > 0.0 && interval.contains(summary.median));
    }

    #[test]
    fn a_slow_process_is_spread_and_not_outliers() {
        let calm: Vec<_> = (0..10).map(|i| Some(10.0 + f64::from(i) * 0.01)).collect();
        let slow: Vec<_> = calm.iter().map(|v| v.map(|v| v * 2.0)).collect();
        let summary =
            Summary::from_measurement(&measurement(vec![calm.clone(), calm, slow])).unwrap();
        assert!(summary.outliers.is_empty());
        assert!(summary.between.unwrap() > 0.3);
    }

    #[test]
    fn nothing_and_zero_are_borne() {
        assert_eq!(Summary::from_measurement(&measurement(vec![vec![None], vec![]])), None);
        let zero = Summary::from_measurement(&measurement(vec![vec![Some(0.0); 6]; 6])).unwrap();
        assert_eq!((zero.median, zero.between), (0.0, None));
        assert_eq!(zero.interval.unwrap().high, 0.0);
    }
}
