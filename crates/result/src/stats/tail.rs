//! Percentiles far out: what so many samples can say of them.
//!
//! How many of `n` samples lie below the true percentile is binomial, whatever
//! the samples' distribution, so an interval of a percentile has two of the
//! sorted samples as its ends. This holds for samples that are independent;
//! where slow ones come in bursts, the interval is too narrow.

use statrs::distribution::{Binomial, DiscreteCDF};

use super::interval::CONFIDENCE;

/// Which of the sorted samples a percentile lies between, as shares of all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PercentileRanks {
    /// The share that the lower one is at; none below the smallest.
    pub low: Option<f64>,
    /// The share that the upper one is at; none beyond the largest.
    pub high: Option<f64>,
}

/// The ends of the interval of the percentile at `share` of `count` samples,
/// with [`CONFIDENCE`].
pub fn percentile_ranks(share: f64, count: u64) -> PercentileRanks {
    let Ok(below) = Binomial::new(share, count) else {
        return PercentileRanks { low: None, high: None };
    };
    let rest = (1.0 - CONFIDENCE) / 2.0;
    // The ranks, from 1, of the order statistics.
    let (low, high) = (below.inverse_cdf(rest), below.inverse_cdf(1.0 - rest) + 1);
    let at = |rank: u64| rank as f64 / count as f64;
    PercentileRanks { low: (low > 0).then(|| at(low)), high: (high <= count).then(|| at(high)) }
}

/// The fewest samples whose largest is beyond the percentile at `share`, with
/// [`CONFIDENCE`]: with fewer, nothing can be said to stay within a limit.
pub fn min_samples(share: f64) -> u64 {
    let rest = (1.0 - CONFIDENCE) / 2.0;
    (rest.ln() / share.ln()).ceil() as u64
}

/// A distribution of values: for each of the shares, the value that this share of
/// all stays within. A share that fewer than one value lies beyond is left out.
pub fn distribution(ascending: &[f64], shares: &[f64]) -> Vec<(f64, f64)> {
    let count = ascending.len() as f64;
    let known = |share: &f64| (1.0 - share) * count >= 1.0 - 1e-9 || *share <= 0.5;
    let rank = |share: f64| ((share * count - 1e-6).ceil() as usize).max(1) - 1;
    let value = |share: f64| Some((share, *ascending.get(rank(share))?));
    shares.iter().copied().filter(known).filter_map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::stats::comparison::simulation::uniform;

    #[test]
    fn the_textbook_s_ranks_come_out() {
        // Conover, Practical Nonparametric Statistics: n = 16, median: 4 and 13.
        let PercentileRanks { low, high } = percentile_ranks(0.5, 16);
        assert_eq!((low, high), (Some(4.0 / 16.0), Some(13.0 / 16.0)));
    }

    #[test]
    fn too_few_have_no_upper_end() {
        assert_eq!(min_samples(0.5), 6);
        for share in [0.9, 0.99, 0.999, 0.9999] {
            let needed = min_samples(share);
            assert!(percentile_ranks(share, needed).high.is_some(), "{share}");
            assert!(percentile_ranks(share, needed - 1).high.is_none(), "{share}");
        }
        assert_eq!(percentile_ranks(0.999, 0).high, None);
    }

    #[test]
    fn the_interval_holds_the_truth_as_often_as_it_says() {
        let mut random = Random::new(7);
        let (count, share, trials) = (2000, 0.99, 400);
        let mut held = 0;
        for _ in 0..trials {
            let mut values: Vec<f64> = (0..count).map(|_| uniform(&mut random)).collect();
            values.sort_by(f64::total_cmp);
            let ends = percentile_ranks(share, count as u64);
            let at = |share: f64| values[(share * count as f64).round() as usize - 1];
            held += u32::from(at(ends.low.unwrap()) <= share && share <= at(ends.high.unwrap()));
        }
        let rate = f64::from(held) / f64::from(trials);
        assert!((0.92..=1.0).contains(&rate), "{rate}");
    }

    #[test]
    fn a_share_that_too_few_lie_beyond_is_left_out() {
        const SHARES: [f64; 4] = [0.5, 0.99, 0.999, 0.9999];
        let values: Vec<f64> = (1..=1000).map(f64::from).collect();
        let told = distribution(&values, &SHARES);
        let at = |share: f64| told.iter().find(|(s, _)| *s == share).map(|(_, v)| *v);
        assert_eq!((at(0.5), at(0.99), at(0.999)), (Some(500.0), Some(990.0), Some(999.0)));
        assert_eq!(at(0.9999), None, "a thousand cannot tell");
        assert!(distribution(&[], &SHARES).is_empty());
    }
}
