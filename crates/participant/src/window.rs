//! Windows of a receiver, as the reference defines them.
//!
//! The receiver adds up samples and bytes during one second *or a little bit
//! more*: the sample whose arrival makes it a second ends the window, is
//! counted in it, and starts the next. So at 1 kHz a window holds 1000 or 1001
//! samples, which is how the reference comes to means such as 1000.591.

use serde::{Deserialize, Serialize};

use wiregauge_timing::latency::{Distribution, TimeHistogram};
use wiregauge_timing::usage::steal_time;

/// What arrived in one window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// How long it was, in nanoseconds.
    pub span: u64,
    /// Bytes in it.
    pub bytes: u64,
    /// Samples in it.
    pub samples: u64,
    /// Times of these samples: of a receiver, their one-way latencies.
    pub times: Distribution,
    /// How long after it was due the last of them came, in nanoseconds; 0 where
    /// nothing is due at a time.
    pub behind: u64,
    /// Share of the machine's time that a hypervisor took meanwhile.
    pub steal: f64,
}

/// The windows of a run.
pub struct Windows {
    least: u64,
    start: Option<u64>,
    bytes: u64,
    samples: u64,
    times: TimeHistogram,
    /// What the hypervisor had taken when the window began.
    stolen: u64,
    closed: Vec<Window>,
    told: usize,
}

impl Windows {
    /// Windows that last at least so many nanoseconds.
    pub fn new(least: u64) -> Windows {
        Windows {
            least,
            start: None,
            bytes: 0,
            samples: 0,
            times: TimeHistogram::new(),
            stolen: steal_time(),
            closed: Vec::new(),
            told: 0,
        }
    }

    /// Something took so long, and nothing was due at a time.
    pub fn add(&mut self, now: u64, bytes: u64, time: u64) {
        self.add_due(now, bytes, time, now);
    }

    /// A sample arrived that was due at a time. The first of all starts the
    /// first window.
    pub fn add_due(&mut self, now: u64, bytes: u64, time: u64, due: u64) {
        let start = *self.start.get_or_insert(now);
        self.bytes += bytes;
        self.samples += 1;
        self.times.add(time);
        let span = now.saturating_sub(start);
        if span >= self.least {
            let (times, stolen) = (self.times.distribution(), steal_time());
            self.closed.push(Window {
                span,
                bytes: self.bytes,
                samples: self.samples,
                times,
                behind: now.saturating_sub(due),
                steal: stolen.saturating_sub(self.stolen) as f64 / span.max(1) as f64,
            });
            (self.bytes, self.samples, self.start) = (0, 0, Some(now));
            self.stolen = stolen;
            self.times.clear();
        }
    }

    /// The windows that were closed since they were last asked for.
    pub fn take_new(&mut self) -> &[Window] {
        let told = std::mem::replace(&mut self.told, self.closed.len());
        &self.closed[told..]
    }

    /// All windows that were closed.
    pub fn closed(self) -> Vec<Window> {
        self.closed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn a_window_ends_with_the_sample_that_makes_it_a_second() {
        let mut windows = Windows::new(1000 * MS);
        // Every 400 ms: the windows end at 1200 and 2400 ms.
        for at in 0..=7 {
            windows.add(at * 400 * MS, 10, at);
        }
        let closed = windows.closed();
        let figures: Vec<_> = closed.iter().map(|w| (w.span, w.bytes, w.samples)).collect();
        assert_eq!(figures, [(1200 * MS, 40, 4), (1200 * MS, 30, 3)]);
        assert_eq!((closed[0].times.most, closed[1].times.least), (3, 4));
    }

    #[test]
    fn ten_samples_a_second_make_ten_or_eleven_a_window() {
        let mut windows = Windows::new(1000 * MS);
        for at in 0..=100u64 {
            let jitter = if at.is_multiple_of(3) { MS / 10 } else { 0 };
            windows.add(1000 * MS + at * 100 * MS - jitter, 10_000_000, 0);
        }
        let closed = windows.closed();
        assert!(closed[1..].iter().all(|w| w.samples == 10 || w.samples == 11), "{closed:?}");
    }

    #[test]
    fn a_window_says_how_far_behind_it_ended_and_is_told_once() {
        let mut windows = Windows::new(1000 * MS);
        for at in 0..=2 {
            windows.add_due((at + 3) * 1000 * MS, 10, 0, at * 1000 * MS);
        }
        assert_eq!(windows.take_new().len(), 2);
        assert!(windows.take_new().is_empty());
        assert!(windows.closed().iter().all(|window| window.behind == 3000 * MS));
    }
}
