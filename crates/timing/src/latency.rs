//! Times, kept as a histogram of three significant digits, and what is told of
//! them.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// The shares for which a distribution is told, ascending: quarters, and ten in
/// each of six nines. A co-simulation tells its steps for the same.
pub fn reported_shares() -> Vec<f64> {
    const STEPS: [f64; 10] = [1.0, 0.8, 0.65, 0.5, 0.4, 0.3, 0.25, 0.2, 0.16, 0.125];
    let mut shares = vec![0.01, 0.1, 0.25, 0.5, 0.75];
    for nines in 1..=6 {
        let tail = 0.1f64.powi(nines);
        // Rounded, so that 0.999 is the number that users write.
        shares.extend(STEPS.map(|step| ((1.0 - tail * step) * 1e9).round() / 1e9));
    }
    shares
}

/// Times in nanoseconds.
pub struct TimeHistogram {
    times: Histogram<u64>,
    sum: u64,
}

impl TimeHistogram {
    /// None so far.
    pub fn new() -> TimeHistogram {
        // It grows with what it is given.
        TimeHistogram { times: Histogram::new(3).expect("three digits are allowed"), sum: 0 }
    }

    /// One more.
    #[inline]
    pub fn add(&mut self, nanoseconds: u64) {
        // Cannot fail while it grows by itself.
        let _ = self.times.record(nanoseconds);
        self.sum = self.sum.saturating_add(nanoseconds);
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.times.reset();
        self.sum = 0;
    }

    /// What they are like. A receiver asks for it at the end of each window, while samples come: all
    /// shares are found in one pass.
    pub fn distribution(&self) -> Distribution {
        let count = self.times.len();
        if count == 0 {
            return Distribution::default();
        }
        // A share that fewer than one sample lies beyond would be the largest.
        let told = |share: &f64| (1.0 - share) * count as f64 >= 1.0 || *share <= 0.5;
        let shares: Vec<f64> = reported_shares().into_iter().filter(told).collect();
        let times = self.times.value_at_quantiles(shares.iter().copied());
        Distribution {
            count,
            mean: self.sum as f64 / count as f64,
            least: self.times.min(),
            most: self.times.max(),
            shares: shares.iter().copied().zip(times).collect(),
        }
    }
}

impl Default for TimeHistogram {
    fn default() -> TimeHistogram {
        TimeHistogram::new()
    }
}

/// How times are distributed. All in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// How many there are.
    pub count: u64,
    /// Their mean.
    pub mean: f64,
    /// The shortest.
    pub least: u64,
    /// The longest.
    pub most: u64,
    /// For a share of the times, the time that is no shorter than any of them.
    pub shares: Vec<(f64, u64)>,
}

impl Distribution {
    /// The time that this share of all stays within; none where there are too
    /// few to tell.
    pub fn quantile(&self, share: f64) -> Option<u64> {
        self.shares.iter().find(|(known, _)| *known == share).map(|(_, time)| *time)
    }
}

/// That of the slowest who timed anything; of those that are as slow the last.
pub fn slowest<'d>(of: impl IntoIterator<Item = &'d Distribution>) -> Option<&'d Distribution> {
    of.into_iter()
        .filter(|times| times.count > 0)
        .max_by_key(|times| (times.quantile(0.5), times.most))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_those_that_users_write() {
        let shares = reported_shares();
        assert!(shares.is_sorted());
        for share in [0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.95, 0.995] {
            assert!(shares.contains(&share), "{share}");
        }
    }

    #[test]
    fn tells_what_is_known() {
        let mut times = TimeHistogram::new();
        for time in 1..=1000 {
            times.add(time);
        }
        let told = times.distribution();
        assert_eq!((told.count, told.least, told.most), (1000, 1, 1000));
        assert_eq!(
            (told.quantile(0.5), told.quantile(0.99), told.quantile(0.999)),
            (Some(500), Some(990), Some(999))
        );
        assert_eq!(told.quantile(0.9999), None, "a thousand cannot tell");
        // Exactly, though times are kept to three digits.
        times.add(1_000_000_001);
        assert_eq!(times.distribution().mean, (500_500 + 1_000_000_001) as f64 / 1001.0);
        times.clear();
        assert_eq!(times.distribution(), Distribution::default());
    }

    #[test]
    fn one_pass_finds_what_is_found_share_by_share() {
        let mut times = TimeHistogram::new();
        for number in 0..200_000_u64 {
            times.add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (34 + number % 20));
        }
        let shares = times.distribution().shares;
        assert!(shares.len() > 45, "{}", shares.len());
        for (share, time) in shares {
            assert_eq!(time, times.times.value_at_quantile(share), "{share}");
        }
    }
}
