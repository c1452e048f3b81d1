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
        let master = monotonic() as i64 + self.0.offset.load(Ordering::Relaxed);
        (master - self.0.epoch as i64).max(0) as u64
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
}
