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

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;
    use std::thread::sleep;
    use std::time::Duration;

    /// A step that does something.
    fn step(number: u64, work: impl FnOnce()) -> Step {
        let began = monotonic();
        work();
        Step { number, began, model: monotonic() - began, ..Step::default() }
    }

    #[test]
    fn a_slow_step_is_told_with_what_happened_in_it() {
        let mut watch = Watch::new();
        // Before the steps, and none of theirs.
        black_box(vec![1u8; 40 << 20]);
        watch.begin();
        let nap = || sleep(Duration::from_millis(20));
        let touch = || drop(black_box(vec![1u8; 40 << 20]));
        let steps = [step(7, || ()), step(8, nap)];
        steps.iter().for_each(|step| watch.add(step));
        watch.begin();
        watch.add(&step(9, || (0..3).for_each(|_| touch())));
        let told = watch.told();
        let of = |number| told.iter().find(|slow| slow.sequence == number).unwrap();
        assert_eq!(told.len(), 3);
        assert_eq!((of(8).at, of(8).time), (steps[1].began, steps[1].exchange()));
        assert!(of(8).toll.voluntary >= 1 && of(8).over >= of(8).time, "{told:?}");
        assert!(of(9).toll.minor >= 40 && of(7).toll.minor < 20, "{told:?}");
    }
}
