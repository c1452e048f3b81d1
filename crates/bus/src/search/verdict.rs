//! Whether a load on a transport was good: all of it arrived, and in time.

use wiregauge_timing::latency::Distribution;

use crate::result::measured_trial::MeasuredTrial;
use crate::search::headroom::Verdict;

impl MeasuredTrial<'_> {
    /// Whether nothing was damaged, lost or left unsent, no step timed out, and
    /// 99 % of the steps and of the latencies stayed within the cycle. A load
    /// that is good although the machine was disturbed is good.
    pub fn verdict(&self) -> Verdict {
        let Some(reason) = self.fault() else { return Verdict::Good };
        // The sender slept through the last deadlines, and nobody held it up.
        let overslept = || {
            let share = self.unsent() as f64 / self.record.sent.samples.max(1) as f64;
            (share > 0.0 && !self.is_sender_blocked()).then_some((reason.clone(), share))
        };
        match self.invalid() {
            Some((why, share)) => {
                Verdict::Spoiled { reason: format!("{why}, and {reason}"), share }
            }
            None => match overslept() {
                Some((reason, share)) => Verdict::Spoiled { reason, share },
                None => Verdict::Bad(reason),
            },
        }
    }

    /// What is wrong with it, the worst first.
    fn fault(&self) -> Option<String> {
        let (sent, received) = (&self.record.sent, &self.record.received);
        let total = sent.samples * received.len() as u64;
        let damaged: u64 = received.iter().map(|r| r.damaged).sum();
        if damaged > 0 {
            return Some(format!("{damaged} of {total} samples were damaged"));
        }
        if self.lost() > 0 {
            return Some(format!("{} of {total} samples were lost", self.lost()));
        }
        if sent.timeouts > 0 {
            return Some(format!("{} of {} steps timed out", sent.timeouts, sent.samples));
        }
        if self.unsent() > 0 {
            let due = sent.samples + self.unsent();
            return Some(format!("{} of {due} samples were not sent in time", self.unsent()));
        }
        let cycle = self.load.cycle.as_nanos() as u64;
        let steps = [("step", &sent.step)].into_iter();
        let late = steps.chain(received.iter().map(|r| ("latency", &r.latency)));
        let late = late.filter_map(|(what, times)| Some((what, time_of_99_percent(times)?)));
        let (what, (name, time)) = late.max_by_key(|(_, (_, time))| *time)?;
        (time > cycle).then(|| {
            format!(
                "the {name} {what} is {}, longer than the cycle of {}",
                format_time(time),
                format_time(cycle)
            )
        })
    }
}

/// What 99 % of the times stay within; of fewer than a hundred the longest.
fn time_of_99_percent(times: &Distribution) -> Option<(&'static str, u64)> {
    let longest = (times.count > 0).then_some(("longest", times.most));
    times.quantile(0.99).map(|time| ("p99", time)).or(longest)
}

/// A time in nanoseconds with three significant digits: `1.23 ms`.
fn format_time(time: u64) -> String {
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")];
    let (scale, unit) =
        units.into_iter().find(|(scale, _)| time as f64 >= *scale).unwrap_or(units[3]);
    let value = time as f64 / scale;
    let digits = 2usize.saturating_sub(value.max(1.0).log10() as usize);
    format!("{value:.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    use crate::load::Load;
    use crate::record::RunRecord;
    use wiregauge_participant::control::{Mode, ReceiverResult, SenderResult, TransportInfo};
    use wiregauge_result::environment::Environment;

    const LOAD: Load =
        Load { receivers: 2, ..Load::new(10, Duration::from_millis(1), Mode::Discrete) };

    /// Times of which 99 % stay within this.
    fn times(p99: u64) -> Distribution {
        Distribution { count: 1000, shares: vec![(0.99, p99)], ..Distribution::default() }
    }

    fn record() -> RunRecord {
        let (name, library) = ("t".into(), String::new());
        let about = TransportInfo { name, library, options: Vec::new(), knows: Vec::new() };
        let sent = SenderResult {
            due: Some(1000),
            samples: 1000,
            step: times(900_000),
            ..SenderResult::default()
        };
        let received =
            ReceiverResult { samples: 1000, latency: times(800_000), ..ReceiverResult::default() };
        let received = vec![received; 2];
        RunRecord { about, round_trips: None, sent, received, background: None, broken: None }
    }

    fn verdict(record: &RunRecord, machine: &Environment) -> Verdict {
        MeasuredTrial { case: "c", load: &LOAD, subject: "t", record, machine }.verdict()
    }

    #[test]
    fn each_fault_makes_a_load_bad_and_is_named() {
        type Fault = fn(&mut RunRecord);
        let cases: [(Fault, &str); 6] = [
            (|a| a.received[1].damaged = 2, "2 of 2000 samples were damaged"),
            (|a| a.received[1].samples = 997, "3 of 2000 samples were lost"),
            (|a| a.sent.timeouts = 4, "4 of 1000 steps timed out"),
            (
                |a| (a.sent.due, a.sent.step.mean) = (Some(1005), 9e5),
                "5 of 1005 samples were not sent in time",
            ),
            (
                |a| a.sent.step = times(1_234_567),
                "the p99 step is 1.23 ms, longer than the cycle of 1.00 ms",
            ),
            (|a| a.received[1].latency = times(1_100_000), "the p99 latency is 1.10 ms, longer"),
        ];
        let quiet = Environment::default();
        assert_eq!(verdict(&record(), &quiet), Verdict::Good);
        for (fault, words) in cases {
            let mut record = record();
            fault(&mut record);
            let Verdict::Bad(reason) = verdict(&record, &quiet) else { panic!("{words}") };
            assert!(reason.contains(words), "{reason}");
        }
    }

    #[test]
    fn of_few_the_longest_counts() {
        let mut record = record();
        let longest = 1_000_001;
        record.sent.step = Distribution { count: 50, most: longest, ..Distribution::default() };
        let Verdict::Bad(reason) = verdict(&record, &Environment::default()) else { panic!() };
        assert!(reason.contains("the longest step is 1.00 ms"), "{reason}");
    }

    #[test]
    fn a_disturbance_spoils_what_is_not_good_and_nothing_else() {
        let mut machine = Environment::default();
        machine.activity.steal = Some(0.02);
        assert_eq!(verdict(&record(), &machine), Verdict::Good);
        let mut record = record();
        record.received[0].samples = 999;
        let Verdict::Spoiled { reason, share } = verdict(&record, &machine) else { panic!() };
        assert!(reason.contains("hypervisor") && reason.contains("1 of 2000"), "{reason}");
        assert_eq!(share, 0.02);
    }

    #[test]
    fn a_sender_that_oversleeps_unhindered_spoils_the_trial() {
        let mut record = record();
        record.sent.due = Some(1010);
        let Verdict::Spoiled { share, .. } = verdict(&record, &Environment::default()) else {
            panic!()
        };
        assert_eq!(share, 0.01);
    }
}
