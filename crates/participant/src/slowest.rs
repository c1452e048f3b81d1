//! The slowest samples of a run, and what the machine did to the process about
//! that time.
//!
//! What it did is read where a sample is among the slowest so far, and where a
//! window ends: after the sample was dealt with, so that it is in no time. What
//! is told begins with the last reading before the sample was sent.

use serde::{Deserialize, Serialize};

use crate::clock::Clock;
use crate::usage::stolen;

/// How many are kept.
pub const MOST: usize = 10;
/// Most readings that are kept, for samples that are still on their way.
const READINGS: usize = 64;

/// Counters of the process, all of its threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Toll {
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

impl Toll {
    fn now() -> Toll {
        // SAFETY: a record of integers, for which zero is a value.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: `usage` is what getrusage fills in, and nothing keeps its address.
        unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut usage) };
        Toll {
            voluntary: usage.ru_nvcsw as u64,
            involuntary: usage.ru_nivcsw as u64,
            minor: usage.ru_minflt as u64,
            major: usage.ru_majflt as u64,
            stolen: stolen(),
        }
    }

    fn since(self, before: Toll) -> Toll {
        Toll {
            voluntary: self.voluntary.saturating_sub(before.voluntary),
            involuntary: self.involuntary.saturating_sub(before.involuntary),
            minor: self.minor.saturating_sub(before.minor),
            major: self.major.saturating_sub(before.major),
            stolen: self.stolen.saturating_sub(before.stolen),
        }
    }
}

/// A slow sample or step. Times are in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Slow {
    /// Which it is.
    pub sequence: u64,
    /// When it was sent, or the step began.
    pub at: u64,
    /// How long it took.
    pub time: u64,
    /// How long before its end the counters were read: before it was sent.
    pub over: u64,
    /// What they grew by meanwhile.
    pub toll: Toll,
}

/// The slowest so far, the slowest first.
pub struct Slowest {
    found: Vec<Slow>,
    /// When the counters were read, and what they were, ascending.
    readings: Vec<(u64, Toll)>,
}

impl Slowest {
    /// None so far.
    pub fn new(clock: &Clock) -> Slowest {
        let mut readings = Vec::with_capacity(READINGS);
        readings.push((clock.now(), Toll::now()));
        Slowest { found: Vec::with_capacity(MOST + 1), readings }
    }

    /// One more, that was sent at a time and took so long.
    pub fn add(&mut self, sequence: u32, at: u64, time: u64, clock: &Clock) {
        if self.found.len() == MOST && self.found.last().is_some_and(|slow| time <= slow.time) {
            return;
        }
        let (now, counters) = self.read(clock);
        let (since, before) = self.before(at);
        let (over, toll) = (now.saturating_sub(since), counters.since(before));
        let slow = Slow { sequence: sequence.into(), at, time, over, toll };
        let place = self.found.partition_point(|other| other.time >= time);
        self.found.insert(place, slow);
        self.found.truncate(MOST);
    }

    /// A window ended: what happens from now on belongs to the next.
    pub fn end_window(&mut self, clock: &Clock) {
        self.read(clock);
    }

    /// Reads the counters.
    fn read(&mut self, clock: &Clock) -> (u64, Toll) {
        let reading = (clock.now(), Toll::now());
        if self.readings.len() == READINGS {
            self.readings.pop();
        }
        self.readings.push(reading);
        reading
    }

    /// The last reading before a time. Those before it are not asked for again,
    /// as samples come about in order.
    fn before(&mut self, time: u64) -> (u64, Toll) {
        let earlier = self.readings.partition_point(|(at, _)| *at <= time);
        self.readings.drain(..earlier.saturating_sub(1));
        self.readings[0]
    }

    /// The slowest of all, with times since this one.
    pub fn told(self, start: u64) -> Vec<Slow> {
        let since = |slow: Slow| Slow { at: slow.at.saturating_sub(start), ..slow };
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
        let mut slowest = Slowest::new(&clock);
        for (sequence, time) in (0..30).map(|at| (at, u64::from(at) * 7 % 30)) {
            slowest.add(sequence, 1000 + u64::from(sequence), time, &clock);
        }
        let told = slowest.told(1000);
        let times: Vec<u64> = told.iter().map(|slow| slow.time).collect();
        assert_eq!(times, (20..30).rev().collect::<Vec<u64>>());
        assert!(told.iter().all(|slow| slow.sequence * 7 % 30 == slow.time));
        assert!(told.iter().all(|slow| slow.at == slow.sequence));
    }

    #[test]
    fn what_happened_is_that_of_the_time_before() {
        let clock = Clock::new(monotonic());
        let mut slowest = Slowest::new(&clock);
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
        let [busy, beside, quiet] = slowest.told(0)[..] else { panic!("three were added") };
        assert!(busy.toll.voluntary >= 1 && busy.toll.minor >= 20, "{busy:?}");
        assert!(beside.toll.minor >= busy.toll.minor && beside.over >= busy.over, "{beside:?}");
        assert!(quiet.toll.minor < busy.toll.minor, "{quiet:?}");
        assert!(busy.over >= 5_000_000 && quiet.over < busy.over);
    }

    #[test]
    fn no_more_readings_are_kept_than_there_is_room_for() {
        let clock = Clock::new(monotonic());
        let mut slowest = Slowest::new(&clock);
        (0..1000).for_each(|time| slowest.add(time, 0, time.into(), &clock));
        assert_eq!(slowest.readings.len(), READINGS);
        // The first one is there as long as it may be asked for.
        assert!(slowest.told(0).is_sorted_by(|a, b| a.over >= b.over));
    }
}
