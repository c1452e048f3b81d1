//! The monotonic clock.

use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::files::Files;

pub(super) const CLOCK: &str = "sys/devices/system/clocksource/clocksource0";

/// The monotonic clock.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Clock {
    /// Source of the kernel: `tsc`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Smallest difference that two readings showed, in nanoseconds.
    pub step_ns: f64,
    /// Time that a reading takes, in nanoseconds.
    pub cost_ns: f64,
}

impl Clock {
    /// What the files say of it, and what it takes here.
    pub(super) fn read(files: &Files) -> Clock {
        Clock { source: files.line(&format!("{CLOCK}/current_clocksource")), ..clock() }
    }
}

/// Measures the step and the cost of the clock.
fn clock() -> Clock {
    const READINGS: u32 = 1000;
    let mut step = f64::INFINITY;
    let mut cost = f64::INFINITY;
    // The least of several goes, since an interruption only ever adds.
    for _ in 0..20 {
        let start = Instant::now();
        let mut last = start;
        for _ in 0..READINGS {
            let now = Instant::now();
            let difference = now.duration_since(last).as_nanos();
            if difference > 0 {
                step = step.min(difference as f64);
            }
            last = now;
        }
        cost = cost.min(last.duration_since(start).as_nanos() as f64 / f64::from(READINGS));
    }
    // A clock that stood still all the while has a step of at least that while.
    let step_ns = if step.is_finite() { step } else { 1e6 };
    Clock { source: None, step_ns, cost_ns: cost }
}
