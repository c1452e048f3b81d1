//! What it takes this machine to wake a thread that waits: no transport can be
//! faster than that.

use std::io::{pipe, Read, Write};

use anyhow::Result;

use wiregauge_timing::clock::{monotonic, Clock};
use wiregauge_timing::latency::{Distribution, TimeHistogram};
use wiregauge_timing::threads::start_thread;
use wiregauge_timing::usage::minimize_timer_slack;

/// How often it is tried.
const TIMES: u64 = 200;
/// How long it is tried, if not so often until then.
const LONGEST: u64 = 500_000_000;

/// Wakes a thread through a pipe, in this cycle in nanoseconds.
///
/// # Errors
/// When the system has no pipe or no thread.
pub fn measure(cycle: u64) -> Result<Distribution> {
    let (mut reader, mut writer) = pipe()?;
    let waker = start_thread("waker", move || {
        minimize_timer_slack();
        let clock = Clock::new(monotonic());
        let least = LONGEST / TIMES;
        for number in 1..=TIMES {
            clock.wait_until(number * cycle.clamp(100_000, least));
            if writer.write_all(&monotonic().to_le_bytes()).is_err() {
                return;
            }
        }
    })?;
    let mut times = TimeHistogram::new();
    let mut written = [0; 8];
    // It ends with the waker.
    while reader.read_exact(&mut written).is_ok() {
        times.add(monotonic().saturating_sub(u64::from_le_bytes(written)));
    }
    let _ = waker.join();
    Ok(times.distribution())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_tried_so_often() {
        let times = measure(0).unwrap();
        assert_eq!(times.count, TIMES);
        assert!(times.least > 0);
    }
}
