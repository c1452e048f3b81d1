//! The common time: nanoseconds since the run's epoch on the clock of the
//! timing master. Participants on one machine share its monotonic clock.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::Arc;

use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{clock_gettime, ClockId, Timespec};

/// Nanoseconds on this machine's monotonic clock.
#[inline]
pub fn monotonic() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The common time as this participant knows it.
#[derive(Clone, Debug)]
pub struct Clock(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// The run's epoch on the master's monotonic clock.
    epoch: u64,
    /// What is added to the own monotonic clock to get the master's.
    offset: AtomicI64,
}

impl Clock {
    /// The timing master's: its epoch is on its own clock.
    pub fn new(epoch: u64) -> Clock {
        Clock(Arc::new(Inner { epoch, offset: AtomicI64::new(0) }))
    }

    /// Nanoseconds since the epoch; 0 before it.
    #[inline]
    pub fn now(&self) -> u64 {
        self.fix().now()
    }

    /// A time on the own monotonic clock, as nanoseconds since the epoch; 0 before it.
    pub fn since_epoch(&self, own: u64) -> u64 {
        self.fix().since_epoch(own)
    }

    /// The clock with the offset that is known now.
    #[inline]
    pub fn fix(&self) -> FixedClock {
        FixedClock { shift: self.0.offset.load(Ordering::Relaxed) - self.0.epoch as i64 }
    }

    /// Sleeps until a time since the epoch.
    pub fn wait_until(&self, time: u64) {
        let master = (self.0.epoch + time) as i64;
        let own = master - self.0.offset.load(Ordering::Relaxed);
        let until = Timespec { tv_sec: own / 1_000_000_000, tv_nsec: own % 1_000_000_000 };
        // A signal ends the sleep early.
        while clock_nanosleep_absolute(ClockId::Monotonic, &until).is_err() {}
    }

    /// From now on so much is added to the own monotonic clock to get the master's.
    pub fn adjust(&self, offset: i64) {
        self.0.offset.store(offset, Ordering::Relaxed);
    }
}

/// The common time with an offset that stays: what is timed on it is timed by the own clock alone,
/// whatever is found out of the offset meanwhile.
#[derive(Clone, Copy, Debug)]
pub struct FixedClock {
    /// What is added to the own monotonic clock to get the time since the epoch.
    shift: i64,
}

impl FixedClock {
    /// Nanoseconds since the epoch; 0 before it.
    #[inline]
    pub fn now(self) -> u64 {
        self.since_epoch(monotonic())
    }

    fn since_epoch(self, own: u64) -> u64 {
        (own as i64 + self.shift).max(0) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sleep_ends_at_its_time_and_not_before() {
        let clock = Clock::new(monotonic());
        let until = clock.now() + 3_000_000;
        clock.wait_until(until);
        assert!(clock.now() >= until);
        clock.wait_until(0);
    }

    #[test]
    fn an_adjusted_clock_tells_the_masters_time() {
        let clock = Clock::new(monotonic());
        clock.adjust(3_600_000_000_000);
        assert!(clock.now() >= 3_600_000_000_000);
    }

    #[test]
    fn what_is_timed_by_a_fixed_clock_is_not_moved_by_an_offset() {
        let clock = Clock::new(monotonic());
        clock.adjust(3_600_000_000_000);
        let (fixed, own) = (clock.fix(), monotonic());
        let began = fixed.now();
        clock.adjust(0);
        let took = fixed.now() - began;
        assert!(took < 3_000_000_000_000, "{took}");
        assert!(clock.since_epoch(own) < 3_000_000_000_000);
        clock.adjust(-3_600_000_000_000);
        assert_eq!(clock.since_epoch(own), 0, "before the epoch");
    }
}
