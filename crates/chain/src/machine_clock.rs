//! The clock of another machine, held against that of the one that leads.

use wiregauge_participant::clock_alignment::OffsetSample;
use wiregauge_participant::stage::setup::Schedule;

use crate::chain_process::StageTimes;

/// What the clock of another machine was before a run and after it. In between it is taken to
/// have run evenly.
#[derive(Clone, Copy, Debug)]
pub struct MachineClock {
    /// Measured before the run.
    pub before: OffsetSample,
    /// And after it.
    pub after: OffsetSample,
}

impl MachineClock {
    /// How well its times are known on the leader's clock, in nanoseconds: where they are known
    /// least well.
    pub fn uncertainty(&self) -> u64 {
        self.before.uncertainty.max(self.after.uncertainty)
    }

    /// A time of that machine, on the leader's clock.
    pub fn to_leader(&self, time: u64) -> u64 {
        let there = |sample: OffsetSample| sample.own as f64 + sample.offset as f64;
        let (from, to) = (there(self.before), there(self.after));
        let passed = (time as f64 - from) / (to - from).max(1.0);
        let grown = (self.after.offset - self.before.offset) as f64 * passed.clamp(0.0, 1.0);
        time.saturating_add_signed(-(self.before.offset + grown.round() as i64))
    }

    /// What stages of that machine did, on the leader's clock.
    pub fn convert(&self, times: &mut StageTimes) {
        for activation in &mut times.activations {
            for time in [
                &mut activation.due,
                &mut activation.began,
                &mut activation.decoded,
                &mut activation.worked,
                &mut activation.sent,
            ] {
                // What did not happen has no time.
                if *time != 0 {
                    *time = self.to_leader(*time);
                }
            }
        }
        times.arrivals.iter_mut().for_each(|[_, time]| *time = self.to_leader(*time));
    }
}

/// A schedule of the leader's clock, on a clock that is so far ahead.
pub fn shift_schedule(schedule: &Schedule, offset: i64) -> Schedule {
    Schedule { epoch: schedule.epoch.saturating_add_signed(offset), ..schedule.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wiregauge_participant::stage::setup::Activation;

    fn clock(first: i64, last: i64) -> MachineClock {
        let at = |own, offset| OffsetSample { own, offset, uncertainty: own / 100 };
        MachineClock { before: at(1_000, first), after: at(3_000, last) }
    }

    #[test]
    fn a_clock_that_is_ahead_or_behind_and_drifts_is_held_against_the_leaders() {
        for (first, last) in [(500_000, 500_000), (-900, -900), (500_000, 500_100), (0, -40)] {
            let clock = clock(first, last);
            assert_eq!(clock.to_leader(1_000u64.saturating_add_signed(first)), 1_000);
            assert_eq!(clock.to_leader(3_000u64.saturating_add_signed(last)), 3_000);
            let middle = 2_000u64.saturating_add_signed((first + last) / 2);
            assert!(clock.to_leader(middle).abs_diff(2_000) <= 2, "{first} {last}");
        }
        assert_eq!(clock(0, 0).uncertainty(), 30);
    }

    #[test]
    fn spans_stay_and_what_did_not_happen_has_no_time() {
        let taken = Activation { sequence: 7, began: 11_000, decode: 5, ..Activation::default() };
        let arrivals = vec![[7, 10_500]];
        let mut times = StageTimes { activations: vec![taken], arrivals, ..StageTimes::default() };
        clock(9_000, 9_000).convert(&mut times);
        let expected = Activation { began: 2_000, ..taken };
        assert_eq!((times.activations[0], times.arrivals[0]), (expected, [7, 1_500]));
    }
}
