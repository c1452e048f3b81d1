//! The slowest samples of a run, and what the machine did to the process about
//! that time.
//!
//! What it did is read where a sample is among the slowest so far, and where a
//! window ends: after the sample was dealt with, so that it is in no time. What
//! is told begins with the last reading before the sample was sent.

use serde::{Deserialize, Serialize};

use crate::clock::Clock;
use crate::usage::steal_time;

/// How many are kept.
pub const MAX_SLOWEST: usize = 10;
/// Most readings that are kept, for samples that are still on their way.
const MAX_READINGS: usize = 64;

/// Counters of the process, all of its threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessCounters {
    /// Times that a thread waited for something.
    pub voluntary: u64,
    /// Times that a thread was taken off its processor.
    pub involuntary: u64,
    /// Pages that were missing and in memory.
    pub minor: u64,
    /// Pages that had to be read from disk.
    pub major: u64,
    /// What a hypervisor took of each processor's time, in nanoseconds, as it
    /// was looked at ten times a second.
    pub stolen: u64,
}

impl ProcessCounters {
    fn now() -> ProcessCounters {
        // SAFETY: a record of integers, for which zero is a value.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: `usage` is what getrusage fills in, and nothing keeps its address.
        unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut usage) };
        ProcessCounters {
            voluntary: usage.ru_nvcsw as u64,
            involuntary: usage.ru_nivcsw as u64,
            minor: usage.ru_minflt as u64,
            major: usage.ru_majflt as u64,
            stolen: steal_time(),
        }
    }

    fn since(self, before: ProcessCounters) -> ProcessCounters {
        ProcessCounters {
            voluntary: self.voluntary.saturating_sub(before.voluntary),
            involuntary: self.involuntary.saturating_sub(before.involuntary),
            minor: self.minor.saturating_sub(before.minor),
            major: self.major.saturating_sub(before.major),
            stolen: self.stolen.saturating_sub(before.stolen),
        }
    }
}

/// A slow sample or step. Times are in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlowSample {
    /// Which it is.
    pub sequence: u64,
    /// When it was sent, or the step began.
    pub at: u64,
    /// How long it took.
    pub time: u64,
    /// How long before its end the counters were read: before it was sent.
    pub over: u64,
    /// What they grew by meanwhile.
    pub toll: ProcessCounters,
}

/// The slowest so far, the slowest first.
pub struct SlowestSamples {
    found: Vec<SlowSample>,
    /// When the counters were read, and what they were, ascending.
    readings: Vec<(u64, ProcessCounters)>,
}

impl SlowestSamples {
    /// None so far.
    pub fn new(clock: &Clock) -> SlowestSamples {
        let mut readings = Vec::with_capacity(MAX_READINGS);
        readings.push((clock.now(), ProcessCounters::now()));
        SlowestSamples { found: Vec::with_capacity(MAX_SLOWEST + 1), readings }
    }

    /// Whether one that took so long is among the slowest so far.
    #[inline]
    pub fn would_keep(&self, time: u64) -> bool {
        self.found.len() < MAX_SLOWEST || self.found.last().is_some_and(|slow| time > slow.time)
    }

    /// One more, that was sent at a time and took so long.
    #[inline]
    pub fn add(&mut self, sequence: u32, at: u64, time: u64, clock: &Clock) {
        if !self.would_keep(time) {
            return;
        }
        let (now, counters) = self.take_reading(clock);
        let (since, before) = self.reading_before(at);
        let (over, toll) = (now.saturating_sub(since), counters.since(before));
        let slow = SlowSample { sequence: sequence.into(), at, time, over, toll };
        let place = self.found.partition_point(|other| other.time >= time);
        self.found.insert(place, slow);
        self.found.truncate(MAX_SLOWEST);
    }

    /// A window ended: what happens from now on belongs to the next.
    pub fn end_window(&mut self, clock: &Clock) {
        self.take_reading(clock);
    }

    /// Reads the counters.
    fn take_reading(&mut self, clock: &Clock) -> (u64, ProcessCounters) {
        let reading = (clock.now(), ProcessCounters::now());
        if self.readings.len() == MAX_READINGS {
            // The first is for samples that are long on their way, the last for
            // those to come.
            self.readings.remove(1);
        }
        self.readings.push(reading);
        reading
    }

    /// The last reading before a time. Those before it are not asked for again,
    /// as samples come about in order.
    fn reading_before(&mut self, time: u64) -> (u64, ProcessCounters) {
        let earlier = self.readings.partition_point(|(at, _)| *at <= time);
        self.readings.drain(..earlier.saturating_sub(1));
        self.readings[0]
    }

    /// The slowest of all, with times since this one.
    pub fn into_list(self, start: u64) -> Vec<SlowSample> {
        let since = |slow: SlowSample| SlowSample { at: slow.at.saturating_sub(start), ..slow };
        self.found.into_iter().map(since).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::monotonic;

    #[test]
    fn the_slowest_ten_are_kept() {
        let clock = Clock::new(monotonic());
        let mut slowest = SlowestSamples::new(&clock);
        for (sequence, time) in (0..30).map(|at| (at, u64::from(at) * 7 % 30)) {
            slowest.add(sequence, 1000 + u64::from(sequence), time, &clock);
        }
        let told = slowest.into_list(1000);
        let times: Vec<u64> = told.iter().map(|slow| slow.time).collect();
        assert_eq!(times, (20..30).rev().collect::<Vec<u64>>());
        assert!(told.iter().all(|slow| slow.sequence * 7 % 30 == slow.time));
        assert!(told.iter().all(|slow| slow.at == slow.sequence));
    }

    #[test]
    fn what_happened_is_that_of_the_time_before() {
        let clock = Clock::new(monotonic());
        let mut slowest = SlowestSamples::new(&clock);
        let nap = std::time::Duration::from_millis(5);
        (0..20).for_each(|_| std::thread::sleep(nap));
        slowest.end_window(&clock);
        let sent = clock.now();
        std::thread::sleep(nap);
        // Pages that are touched for the first time.
        let pages = vec![1u8; 40 << 20];
        slowest.add(1, sent, 10, &clock);
        // It was on its way at the same time, and the next was not.
        slowest.add(2, sent + 1, 9, &clock);
        slowest.add(3, clock.now(), 8, &clock);
        std::hint::black_box(pages);
        let [busy, beside, quiet] = slowest.into_list(0)[..] else { panic!("three were added") };
        assert!(busy.toll.voluntary >= 1 && busy.toll.minor >= 20, "{busy:?}");
        assert!(beside.toll.minor >= busy.toll.minor && beside.over >= busy.over, "{beside:?}");
        assert!(quiet.toll.minor < busy.toll.minor, "{quiet:?}");
        assert!(busy.over >= 5_000_000 && quiet.over < busy.over);
    }

    #[test]
    fn no_more_readings_are_kept_than_there_is_room_for() {
        let clock = Clock::new(monotonic());
        let mut slowest = SlowestSamples::new(&clock);
        (0..1000).for_each(|time| slowest.add(time, 0, time.into(), &clock));
        assert_eq!(slowest.readings.len(), MAX_READINGS);
        // The first one is there as long as it may be asked for.
        assert!(slowest.into_list(0).is_sorted_by(|a, b| a.over >= b.over));
    }

    #[test]
    fn after_many_windows_a_slow_one_is_told_since_the_last() {
        let clock = Clock::new(monotonic());
        let mut slowest = SlowestSamples::new(&clock);
        std::thread::sleep(std::time::Duration::from_millis(5));
        (1..2 * MAX_READINGS).for_each(|_| slowest.end_window(&clock));
        let before_last = clock.now();
        slowest.end_window(&clock);
        slowest.add(1, clock.now(), 9, &clock);
        assert!(slowest.into_list(0)[0].over <= clock.now() - before_last);
    }
}
