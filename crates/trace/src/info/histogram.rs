//! Numbers by their size, in as much memory as there are sizes to tell apart.

use std::collections::BTreeMap;

/// How many of the leading bits of a number are kept: it is known within 4 %.
const BITS: u32 = 5;

/// How often which numbers came.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    /// By the least number that is not told apart.
    counts: BTreeMap<u64, Bucket>,
    count: u64,
    total: u64,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    count: u64,
    least: u64,
    most: u64,
}

impl Histogram {
    /// Adds a number.
    pub fn add(&mut self, number: u64) {
        let drop = (u64::BITS - number.leading_zeros()).saturating_sub(BITS);
        let bucket = self.counts.entry(number >> drop << drop);
        let bucket = bucket.or_insert(Bucket { count: 0, least: number, most: number });
        bucket.count += 1;
        bucket.least = bucket.least.min(number);
        bucket.most = bucket.most.max(number);
        self.count += 1;
        self.total = self.total.saturating_add(number);
    }

    /// The sum of all.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The least of all.
    pub fn least(&self) -> Option<u64> {
        self.counts.values().next().map(|bucket| bucket.least)
    }

    /// The greatest of all.
    pub fn most(&self) -> Option<u64> {
        self.counts.values().next_back().map(|bucket| bucket.most)
    }

    /// One in the middle, within 4 %; exact where all are alike.
    pub fn median(&self) -> Option<u64> {
        let mut left = self.count.div_ceil(2);
        self.counts.values().find_map(|bucket| {
            let is_here = left <= bucket.count;
            left = left.saturating_sub(bucket.count);
            is_here.then_some(bucket.least + (bucket.most - bucket.least) / 2)
        })
    }

    /// How many are greater than a number, within 4 %.
    pub fn above(&self, number: u64) -> u64 {
        self.counts.values().filter(|bucket| bucket.least > number).map(|bucket| bucket.count).sum()
    }

    /// How many there are in so many equal parts between the least and the greatest.
    pub fn bars(&self, parts: usize) -> Vec<u64> {
        let (Some(least), Some(most)) = (self.least(), self.most()) else { return Vec::new() };
        let span = u128::from(most - least) + 1;
        let mut bars = vec![0; parts.min(usize::try_from(span).unwrap_or(parts))];
        for bucket in self.counts.values() {
            let middle = bucket.least + (bucket.most - bucket.least) / 2;
            let at = u128::from(middle - least) * bars.len() as u128 / span;
            bars[at as usize] += bucket.count;
        }
        bars
    }
}

#[cfg(test)]
mod tests {
    use super::Histogram;

    #[test]
    fn sizes_are_told_within_their_bits() {
        let mut sizes = Histogram::default();
        (1..=1000u64).for_each(|n| sizes.add(n * 1000));
        assert_eq!((sizes.least(), sizes.most()), (Some(1000), Some(1_000_000)));
        assert_eq!(sizes.total(), 500_500_000);
        let median = sizes.median().unwrap() as f64;
        assert!((median / 500_000.0 - 1.0).abs() < 0.04, "{median}");
        let above = sizes.above(750_000) as f64;
        assert!((above / 250.0 - 1.0).abs() < 0.16, "{above}");
        assert_eq!(sizes.bars(10).iter().sum::<u64>(), 1000);
        assert!(sizes.bars(10).iter().all(|bar| (50..200).contains(bar)), "{:?}", sizes.bars(10));
    }

    #[test]
    fn numbers_that_are_alike_are_exact() {
        let mut sizes = Histogram::default();
        assert_eq!((sizes.median(), sizes.most(), sizes.bars(4)), (None, None, vec![]));
        (0..5).for_each(|_| sizes.add(123_457));
        assert_eq!(sizes.median(), Some(123_457));
        assert_eq!(sizes.bars(4), [5]);
        sizes.add(0);
        sizes.add(u64::MAX);
        assert_eq!(sizes.bars(2).iter().sum::<u64>(), 7);
    }
}
