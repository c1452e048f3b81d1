//! The steps of one process: how many in a row took longer than they simulate,
//! and, where they go into a file, all of them.

use wiregauge_timing::misses::{Misses, Streak};
use wiregauge_timing::slowest::SlowSample;

use crate::host::job::StepTimes;

/// A step with its place in the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptStep {
    /// The round that it was done in.
    pub round: u32,
    /// Whether it is in the figures: it leads no epoch, and its epoch is whole.
    pub counted: bool,
    /// What it took.
    pub step: StepTimes,
}

/// What is known of the steps of a process. Times are in nanoseconds.
#[derive(Debug)]
pub struct StepRecord {
    /// What a step may take: the time that it simulates.
    pub cycle: u64,
    /// The first of them, as many as there is room for.
    pub kept: Vec<KeptStep>,
    room: usize,
    /// Steps that there was no room for.
    pub left_out: u64,
    /// Steps that took longer than the cycle.
    pub late: u64,
    /// When the first one that counts began.
    start: u64,
    /// First and last step of each epoch that counts.
    epochs: Vec<(u64, u64)>,
    streak: Streak,
}

impl StepRecord {
    /// No steps so far, with room for so many.
    pub fn new(cycle: u64, room: usize) -> StepRecord {
        StepRecord {
            cycle,
            kept: Vec::new(),
            room,
            left_out: 0,
            late: 0,
            start: 0,
            epochs: Vec::new(),
            streak: Streak::default(),
        }
    }

    /// The steps of an epoch, or those before it, which do not count.
    pub fn add(&mut self, round: usize, counted: bool, steps: &[StepTimes]) {
        let free = self.room - self.kept.len();
        let round = round as u32;
        let kept = steps.iter().take(free).map(|&step| KeptStep { round, counted, step });
        self.kept.extend(kept);
        self.left_out += steps.len().saturating_sub(free) as u64;
        let (true, Some(first), Some(last)) = (counted, steps.first(), steps.last()) else {
            return;
        };
        if self.epochs.is_empty() {
            self.start = first.began;
        }
        self.epochs.push((first.number, last.number));
        for step in steps {
            let late = step.exchange() > self.cycle;
            self.late += u64::from(late);
            self.streak.add(late, step.number, step.began - self.start);
        }
    }

    /// The longest run of steps that took longer than the cycle, with the time
    /// since the first step.
    pub fn misses(&self) -> Misses {
        self.streak.longest()
    }

    /// Whether there are any that count.
    pub fn counts(&self) -> bool {
        !self.epochs.is_empty()
    }

    /// Those of the slow steps that count, with the time since the first step.
    pub fn counted_slow_steps<'s>(
        &'s self,
        told: &'s [SlowSample],
    ) -> impl Iterator<Item = SlowSample> + 's {
        let counted = |slow: &&SlowSample| {
            self.epochs.iter().any(|(first, last)| (first..=last).contains(&&slow.sequence))
        };
        told.iter()
            .filter(counted)
            .map(|slow| SlowSample { at: slow.at.saturating_sub(self.start), ..*slow })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps from this one on, a thousand nanoseconds apart, that took so long.
    fn steps(first: u64, times: &[u64]) -> Vec<StepTimes> {
        let step = |(number, &model)| StepTimes {
            number,
            began: 5000 + 1000 * number,
            model,
            ..StepTimes::default()
        };
        (first..).zip(times).map(step).collect()
    }

    #[test]
    fn what_does_not_count_neither_makes_nor_ends_a_run() {
        let mut record = StepRecord::new(100, 4);
        record.add(0, false, &steps(2, &[900]));
        assert!(!record.counts());
        record.add(0, true, &steps(3, &[100, 101, 102]));
        record.add(1, false, &steps(6, &[10]));
        record.add(1, true, &steps(7, &[103, 99, 101]));
        // The end cut it off.
        record.add(2, false, &steps(10, &[900, 900, 900, 900]));
        assert_eq!(record.late, 4);
        assert_eq!(record.misses(), Misses { longest: 3, sequence: 4, at: 1000 });
        let kept: Vec<(u64, bool)> =
            record.kept.iter().map(|k| (k.step.number, k.counted)).collect();
        assert_eq!(kept, [(2, false), (3, true), (4, true), (5, true)]);
        assert_eq!(record.left_out, 8);
        let slow =
            |sequence| SlowSample { sequence, at: 5000 + 1000 * sequence, ..SlowSample::default() };
        let told: Vec<(u64, u64)> = record
            .counted_slow_steps(&[slow(11), slow(9), slow(4)])
            .map(|s| (s.sequence, s.at))
            .collect();
        assert_eq!(told, [(9, 6000), (4, 1000)]);
    }
}
