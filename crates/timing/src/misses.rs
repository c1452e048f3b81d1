//! The longest run of misses: samples one after the other that were late or
//! lost, or steps that took longer than their cycle.

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::allocation::allocate_filled;

/// The longest run of misses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Misses {
    /// How many there are in a row.
    pub longest: u64,
    /// Sequence of the first of them.
    pub sequence: u64,
    /// When it was due, or its step began, in nanoseconds since the first sample
    /// was.
    pub at: u64,
}

/// The run of misses that goes on, and the longest so far.
#[derive(Debug, Default)]
pub struct Streak {
    now: Misses,
    longest: Misses,
}

impl Streak {
    /// The next one was a miss or not, at a time.
    #[inline]
    pub fn add(&mut self, missed: bool, sequence: u64, at: u64) {
        if !missed {
            self.now.longest = 0;
            return;
        }
        if self.now.longest == 0 {
            self.now = Misses { longest: 0, sequence, at };
        }
        self.now.longest += 1;
        if self.now.longest > self.longest.longest {
            self.longest = self.now;
        }
    }

    /// The longest so far.
    pub fn longest(&self) -> Misses {
        self.longest
    }
}

/// Which samples came in time, a bit each: they may come in any order, and those
/// that never come are misses.
#[derive(Debug)]
pub struct OnTimeSamples(Vec<u64>);

impl OnTimeSamples {
    /// None of so many so far.
    ///
    /// # Errors
    /// When there is no memory for them.
    pub fn new(count: u64) -> Result<OnTimeSamples> {
        Ok(OnTimeSamples(allocate_filled(0, count.div_ceil(64))?))
    }

    /// This one came in time.
    #[inline]
    pub fn add(&mut self, sequence: u32) {
        let (word, bit) = (sequence as usize / 64, sequence % 64);
        if let Some(word) = self.0.get_mut(word) {
            *word |= 1 << bit;
        }
    }

    /// The longest run of misses, of so many that were sent in a cycle.
    pub fn misses(&self, sent: u64, cycle: u64) -> Misses {
        let mut streak = Streak::default();
        for sequence in 0..sent {
            let word = self.0.get(sequence as usize / 64).copied().unwrap_or(0);
            streak.add(word >> (sequence % 64) & 1 == 0, sequence, sequence * cycle);
        }
        streak.longest()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_the_longest_runs_is_told() {
        let mut streak = Streak::default();
        for (sequence, missed) in [1, 0, 1, 1, 0, 0, 1, 1, 0, 1].into_iter().enumerate() {
            streak.add(missed == 1, sequence as u64, 10 * sequence as u64);
        }
        assert_eq!(streak.longest(), Misses { longest: 2, sequence: 2, at: 20 });
    }

    #[test]
    fn what_never_comes_is_missed_and_what_comes_out_of_order_is_not() {
        let mut in_time = OnTimeSamples::new(200).unwrap();
        assert_eq!(in_time.misses(200, 5), Misses { longest: 200, sequence: 0, at: 0 });
        for sequence in (0..70).chain(80..200).rev().chain([300]) {
            in_time.add(sequence);
        }
        assert_eq!(in_time.misses(200, 5), Misses { longest: 10, sequence: 70, at: 350 });
        assert_eq!(in_time.misses(70, 5), Misses::default());
        // More than there was to be.
        assert_eq!(in_time.misses(264, 5).longest, 64);
    }
}
