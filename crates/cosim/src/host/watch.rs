//! What the machine does to a host while it steps: looked at between the steps,
//! where one was slow.

use wiregauge_participant::clock::{monotonic, Clock};
use wiregauge_participant::slowest::{Slow, Slowest};
use wiregauge_participant::usage::look_for_thieves;

use crate::host::job::Step;

/// Nanoseconds after which it may be known anew what a hypervisor took: the
/// kernel counts hundredths of a second.
const TICK: u64 = 10_000_000;

/// The slowest steps so far.
pub struct Watch {
    clock: Clock,
    slowest: Slowest,
    /// When it was last asked what a hypervisor took.
    looked: u64,
}

impl Watch {
    /// No step so far.
    pub fn new() -> Watch {
        // What it tells are times of the machine's own clock.
        let clock = Clock::new(0);
        look_for_thieves();
        Watch { slowest: Slowest::new(&clock), looked: monotonic(), clock }
    }

    /// Steps begin: what happened since the last ones is not theirs.
    pub fn begin(&mut self) {
        self.look();
        self.slowest.end_window(&self.clock);
    }

    /// A step is done.
    pub fn add(&mut self, step: &Step) {
        let time = step.exchange();
        if self.slowest.takes(time) {
            self.look();
            self.slowest.add(step.number as u32, step.began, time, &self.clock);
        }
    }

    /// The slowest of all.
    pub fn told(self) -> Vec<Slow> {
        self.slowest.told(0)
    }

    fn look(&mut self) {
        let now = monotonic();
        if now - self.looked >= TICK {
            look_for_thieves();
            self.looked = now;
        }
    }
}

impl Default for Watch {
    fn default() -> Watch {
        Watch::new()
    }
}
