//! What the machine does to a host while it steps: looked at between the steps,
//! where one was slow.

use wiregauge_timing::clock::{monotonic, Clock};
use wiregauge_timing::slowest::{SlowSample, SlowestSamples};
use wiregauge_timing::usage::read_steal_time;

use crate::host::job::StepTimes;

/// Nanoseconds after which it may be known anew what a hypervisor took: the
/// kernel counts hundredths of a second.
const TICK: u64 = 10_000_000;

/// The slowest steps so far.
pub struct SlowStepWatch {
    clock: Clock,
    slowest: SlowestSamples,
    /// When it was last asked what a hypervisor took.
    looked: u64,
}

impl SlowStepWatch {
    /// No step so far.
    pub fn new() -> SlowStepWatch {
        // What it tells are times of the machine's own clock.
        let clock = Clock::new(0);
        read_steal_time();
        SlowStepWatch { slowest: SlowestSamples::new(&clock), looked: monotonic(), clock }
    }

    /// Steps begin: what happened since the last ones is not theirs.
    pub fn begin(&mut self) {
        self.read_counters();
        self.slowest.end_window(&self.clock);
    }

    /// A step is done.
    pub fn add(&mut self, step: &StepTimes) {
        let time = step.exchange();
        if self.slowest.would_keep(time) {
            self.read_counters();
            self.slowest.add(step.number as u32, step.began, time, &self.clock);
        }
    }

    /// The slowest of all.
    pub fn into_slowest(self) -> Vec<SlowSample> {
        self.slowest.into_list(0)
    }

    fn read_counters(&mut self) {
        let now = monotonic();
        if now - self.looked >= TICK {
            read_steal_time();
            self.looked = now;
        }
    }
}

impl Default for SlowStepWatch {
    fn default() -> SlowStepWatch {
        SlowStepWatch::new()
    }
}
