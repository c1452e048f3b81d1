//! The search for the most that is still good: the highest rate, the largest
//! size.
//!
//! It grows from a value that is certainly good until one is bad, bisects on a
//! logarithmic scale until the two are near each other, and then tries both
//! again. One trial may err, so the best of three counts: what it finds was good
//! twice, and the next value above it was bad twice. It takes for granted that
//! what is more is not better; where that does not hold, it finds *a* good value
//! with a bad one near above it.

use anyhow::Result;

/// Factor of the growth.
const GROWTH: f64 = 4.0;
/// Ratio of a bad value to a good one that is near enough.
pub const CLOSE_ENOUGH: f64 = 1.05;
/// How often a trial is repeated that the machine spoiled.
pub const REPEATS: u32 = 1;
/// Trials of a kind that settle whether a value is good.
const SETTLING_TRIALS: usize = 2;

/// Where to search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The least that is tried.
    pub least: f64,
    /// What is tried first.
    pub start: f64,
    /// The most that is tried.
    pub most: f64,
    /// Whether values are whole numbers.
    pub whole: bool,
}

impl Range {
    /// The value of three significant digits that is tried instead.
    fn round(&self, value: f64) -> f64 {
        let digit = 10f64.powf(value.log10().floor() - 2.0);
        let rounded = (value / digit).round() * digit;
        // Without the noise of the multiplication.
        let rounded = if digit >= 1.0 { rounded.round() } else { (rounded * 1e6).round() / 1e6 };
        let rounded = if self.whole { rounded.round() } else { rounded };
        rounded.clamp(self.least, self.most)
    }

    /// The value in the middle of two, if there is one between them.
    fn middle(&self, low: f64, high: f64) -> Option<f64> {
        let middle = self.round((low * high).sqrt());
        (low < middle && middle < high).then_some(middle)
    }
}

/// What a trial shows.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// All went well.
    Good,
    /// It did not, and why.
    Bad(String),
    /// It did not, and the machine is to blame.
    Spoiled {
        /// What happened.
        reason: String,
        /// How bad it was, comparable between trials.
        share: f64,
    },
}

/// A value that was tried.
#[derive(Clone, Debug, PartialEq)]
pub struct TriedValue<T> {
    /// The value.
    pub value: f64,
    /// What the last trial showed. What is still spoiled then counts as bad.
    pub verdict: Verdict,
    /// How many trials before were spoiled.
    pub repeats: u32,
    /// What else was seen in the last one.
    pub seen: T,
}

/// A search with all that it tried, in the order in which it did.
#[derive(Clone, Debug, PartialEq)]
pub struct Search<T> {
    range: Range,
    /// What was tried.
    pub tried: Vec<TriedValue<T>>,
}

impl<T> Search<T> {
    /// Searches to the end. A trial tells its verdict and what else is to be
    /// kept of it.
    ///
    /// # Errors
    /// The first that a trial has.
    pub fn run(
        range: Range,
        mut trial: impl FnMut(f64) -> Result<(Verdict, T)>,
    ) -> Result<Search<T>> {
        let mut search = Search { range, tried: Vec::new() };
        while let Some(value) = search.next() {
            let mut repeats = 0;
            let (verdict, seen) = loop {
                match trial(value)? {
                    (Verdict::Spoiled { .. }, _) if repeats < REPEATS => repeats += 1,
                    outcome => break outcome,
                }
            };
            search.tried.push(TriedValue { value, verdict, repeats, seen });
        }
        Ok(search)
    }

    /// The least value that is bad: the last trial that was.
    pub fn limit(&self) -> Option<&TriedValue<T>> {
        let bad = self.tried.iter().filter(|tried| !tried.is_good() && !self.is_good(tried.value));
        bad.rev().min_by(|a, b| a.value.total_cmp(&b.value))
    }

    /// The greatest value that is good while nothing below it is bad: the last
    /// trial that was.
    pub fn best(&self) -> Option<&TriedValue<T>> {
        let limit = self.limit().map_or(f64::INFINITY, |limit| limit.value);
        let good = self.tried.iter().filter(|tried| tried.is_good() && self.is_good(tried.value));
        good.filter(|tried| tried.value < limit).max_by(|a, b| a.value.total_cmp(&b.value))
    }

    /// Whether a value is good: twice, or else the last time.
    fn is_good(&self, value: f64) -> bool {
        if self.is_settled(value) {
            return self.count(value, true) >= SETTLING_TRIALS;
        }
        self.tried.iter().rfind(|tried| tried.value == value).is_some_and(TriedValue::is_good)
    }

    /// Whether more trials would not change what counts.
    fn is_settled(&self, value: f64) -> bool {
        self.count(value, true).max(self.count(value, false)) >= SETTLING_TRIALS
    }

    fn count(&self, value: f64, good: bool) -> usize {
        let of = |tried: &&TriedValue<T>| tried.value == value && tried.is_good() == good;
        self.tried.iter().filter(of).count()
    }

    /// How many trials were repeated as the machine spoiled them.
    pub fn repeats(&self) -> u32 {
        self.tried.iter().map(|tried| tried.repeats).sum()
    }

    /// What to try next; none in the end.
    fn next(&self) -> Option<f64> {
        let range = &self.range;
        let found = self.best().map(|found| found.value);
        let limit = self.limit().map(|limit| limit.value);
        let further = match (found, limit) {
            (None, None) => Some(range.round(range.start)),
            (None, Some(limit)) => (limit > range.least).then(|| range.round(limit / GROWTH)),
            (Some(found), None) => (found < range.most).then(|| range.round(found * GROWTH)),
            (Some(found), Some(limit)) if limit > found * CLOSE_ENOUGH => {
                range.middle(found, limit)
            }
            (Some(_), Some(_)) => None,
        };
        let unsettled = || [found, limit].into_iter().flatten().find(|v| !self.is_settled(*v));
        further.or_else(unsettled)
    }
}

impl<T> TriedValue<T> {
    fn is_good(&self) -> bool {
        self.verdict == Verdict::Good
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::bail;

    const RATES: Range = Range { least: 3.3, start: 100.0, most: 1e7, whole: false };
    const SIZES: Range = Range { least: 10.0, start: 1000.0, most: 1_073_741_824.0, whole: true };

    fn bad() -> Verdict {
        Verdict::Bad("too much".into())
    }

    fn search(range: Range, mut trial: impl FnMut(f64) -> Verdict) -> Search<()> {
        Search::run(range, |value| Ok((trial(value), ()))).unwrap()
    }

    fn times(search: &Search<()>, value: f64) -> usize {
        search.tried.iter().filter(|tried| tried.value == value).count()
    }

    #[test]
    fn finds_a_threshold_wherever_it_is() {
        for range in [RATES, SIZES] {
            let mut threshold = range.least * 1.01;
            while threshold < range.most {
                let search =
                    search(range, |value| if value < threshold { Verdict::Good } else { bad() });
                let found = search.best().unwrap().value;
                let limit = search.limit().unwrap().value;
                assert!(found < threshold && threshold <= limit);
                let near = limit <= found * CLOSE_ENOUGH || (range.whole && limit - found <= 1.0);
                assert!(near, "{found} {limit}");
                assert_eq!([found, limit].map(|value| times(&search, value)), [2, 2]);
                assert!(search.tried.len() <= 22, "{} trials", search.tried.len());
                assert!(search
                    .tried
                    .iter()
                    .all(|tried| !range.whole || tried.value.fract() == 0.0));
                threshold *= 1.37;
            }
        }
    }

    #[test]
    fn ends_where_all_is_good_or_nothing() {
        for range in [RATES, SIZES] {
            let all = search(range, |_| Verdict::Good);
            assert_eq!((all.best().unwrap().value, all.limit()), (range.most, None));
            assert_eq!(times(&all, range.most), 2);
            let nothing = search(range, |_| bad());
            assert_eq!(nothing.best(), None);
            assert_eq!(nothing.limit().unwrap().value, range.least);
            assert_eq!(times(&nothing, range.least), 2);
        }
    }

    #[test]
    fn what_it_finds_was_good_twice_even_when_trials_disagree() {
        // Good by chance, the less likely the more it is.
        let mut state = 1u64;
        for _ in 0..300 {
            let search = search(RATES, |value| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let chance = (state >> 33) as f64 / (1u64 << 31) as f64;
                if chance * value < 20_000.0 {
                    Verdict::Good
                } else {
                    bad()
                }
            });
            let (found, limit) = (search.best().unwrap(), search.limit().unwrap());
            assert!(found.value < limit.value && limit.value <= found.value * CLOSE_ENOUGH);
            assert!(found.is_good() && !limit.is_good());
            assert_eq!((search.count(found.value, true), search.count(limit.value, false)), (2, 2));
            assert!(search.tried.iter().all(|tried| times(&search, tried.value) <= 3));
        }
    }

    #[test]
    fn one_trial_that_errs_does_not_move_it() {
        // Of all trials of a search, each in turn errs.
        let truth = |value: f64| value < 30_000.0;
        let sound = search(RATES, |value| if truth(value) { Verdict::Good } else { bad() });
        for wrong in 0..sound.tried.len() {
            let mut trials = 0;
            let search = search(RATES, |value| {
                trials += 1;
                if truth(value) == (trials != wrong + 1) {
                    Verdict::Good
                } else {
                    bad()
                }
            });
            let (found, limit) = (search.best().unwrap().value, search.limit().unwrap().value);
            assert!(
                truth(found) && !truth(limit) && limit <= found * CLOSE_ENOUGH,
                "{wrong}: {found}"
            );
        }
    }

    #[test]
    fn a_spoiled_trial_is_repeated_before_it_counts() {
        let spoiled = || Verdict::Spoiled { reason: "steal".into(), share: 0.1 };
        let mut trials = 0;
        let once = search(RATES, |_| {
            trials += 1;
            if trials == 1 {
                spoiled()
            } else {
                Verdict::Good
            }
        });
        assert_eq!((once.limit(), once.repeats(), once.tried[0].repeats), (None, 1, 1));
        let mut trials = 0;
        let always = search(Range { least: 100.0, ..RATES }, |_| {
            trials += 1;
            spoiled()
        });
        assert_eq!((always.best(), trials), (None, 2 * (REPEATS + 1)));
        assert_eq!(always.repeats(), 2 * REPEATS);
        assert_eq!(always.limit().unwrap().verdict, spoiled());
    }

    #[test]
    fn an_error_ends_it() {
        let mut trials = 0;
        let outcome = Search::<()>::run(RATES, |_| {
            trials += 1;
            bail!("interrupted")
        });
        assert!(outcome.is_err() && trials == 1);
    }

    #[test]
    fn values_have_three_digits() {
        let round = |value| RATES.round(value);
        assert_eq!([12_345.0, 123.456, 7.777_7].map(round), [12_300.0, 123.0, 7.78]);
        assert_eq!([1.0, 1e9].map(round), [RATES.least, RATES.most]);
        assert_eq!(SIZES.round(12.34), 12.0);
    }
}
