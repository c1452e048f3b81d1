//! Two subjects of one run, held against each other.

use serde::{Deserialize, Serialize};

use super::interval::{Interval, CONFIDENCE};
use super::sample::median;
use crate::run::Measurement;

/// How many times longer one subject takes than another in the same run.
///
/// Only samples of the same round of the same process count as a pair, so
/// whatever slows the machine down for a while slows both and cancels out. As
/// in nanobench's `compare()`, the logarithms of the ratios are taken, their
/// median is the estimate, and the interval is the sign test turned round,
/// with Bonferroni's correction for the number of comparisons that are read
/// off one table. Beyond nanobench, the processes are the unit of the
/// interval: the pairs of one process share two memory layouts and would
/// otherwise be counted as independent witnesses.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// The median ratio.
    pub median: f64,
    /// Where the true ratio lies. None if one process had too few rounds.
    pub interval: Option<Interval>,
    /// Pairs that it rests on.
    pub pairs: usize,
}

impl Ratio {
    /// The ratio of `of` to `to`, as one of `comparisons` that are made side
    /// by side and are together to hold with [`CONFIDENCE`]. `None` if no
    /// round has both. Samples that are not positive have no logarithm and
    /// are left out.
    pub fn between(of: &Measurement, to: &Measurement, comparisons: usize) -> Option<Ratio> {
        let confidence = 1.0 - (1.0 - CONFIDENCE) / comparisons.max(1) as f64;
        Ratio::with_confidence(of, to, confidence)
    }

    /// The same with an interval of this confidence.
    pub(super) fn with_confidence(
        of: &Measurement,
        to: &Measurement,
        confidence: f64,
    ) -> Option<Ratio> {
        let logs: Vec<Vec<f64>> = of
            .samples
            .iter()
            .zip(&to.samples)
            .map(|(of, to)| of.iter().zip(to).filter_map(log_ratio).collect())
            .collect();
        let medians = logs.iter().filter_map(|process| median(process.iter().copied()));
        Some(Ratio {
            median: median(medians)?.exp(),
            interval: Interval::from_processes(&logs, confidence).map(|i| i.map(f64::exp)),
            pairs: logs.iter().map(Vec::len).sum(),
        })
    }

    /// Whether the data leave it open which of the two is faster.
    pub fn is_open(&self) -> bool {
        self.interval.is_none_or(|interval| interval.contains(1.0))
    }
}

fn log_ratio((of, to): (&Option<f64>, &Option<f64>)) -> Option<f64> {
    let ratio = (of.filter(|v| *v > 0.0)? / to.filter(|v| *v > 0.0)?).ln();
    ratio.is_finite().then_some(ratio)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::comparison::simulation::{SimulatedNoise, Simulation};

    #[test]
    fn a_shared_disturbance_cancels() {
        let drift = |factor: f64| {
            let rounds = |p: i32| {
                (0..20).map(|r| Some(factor * (1.0 + f64::from(r * (p + 1)) / 7.0))).collect()
            };
            Measurement {
                case: "c".into(),
                subject: "s".into(),
                metric: "encode".into(),
                unit: "ns".into(),
                iterations: vec![1; 6],
                samples: (0..6).map(rounds).collect(),
            }
        };
        let ratio = Ratio::between(&drift(30.0), &drift(20.0), 1).unwrap();
        let interval = ratio.interval.unwrap();
        assert!((ratio.median - 1.5).abs() < 1e-12);
        assert!((interval.high - interval.low) < 1e-9);
        assert!(!ratio.is_open());
        assert_eq!(ratio.pairs, 120);
    }

    #[test]
    fn the_interval_holds_the_truth_as_often_as_it_says() {
        // All simulated subjects differ by nothing but noise: the truth is 1.
        for (processes, comparisons) in [(3, 1), (5, 1), (8, 1), (5, 24), (12, 24)] {
            let mut held = 0;
            let tries = 600;
            for seed in 0..tries {
                let noise = SimulatedNoise { processes, ..SimulatedNoise::default() };
                let run = Simulation::new(seed, noise).flat().run();
                let (a, b) = (&run.measurements[2], &run.measurements[3]);
                let interval = Ratio::between(a, b, comparisons).unwrap().interval.unwrap();
                held += u32::from(interval.contains(1.0));
            }
            let share = f64::from(held) / tries as f64;
            let promised = 1.0 - 0.05 / comparisons as f64;
            assert!(share > promised - 0.025, "{processes} {comparisons}: {share}");
        }
    }
}
