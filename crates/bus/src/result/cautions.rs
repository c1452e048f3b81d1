//! What keeps a trial from being trusted.

use wiregauge_result::warning::{Caution, MOST_STEAL};
use wiregauge_timing::latency::Distribution;

use crate::record::windows::total;
use crate::result::measured_trial::MeasuredTrial;

/// Share of the samples that may be sent more than a cycle late.
pub const MOST_LATE_SENT: f64 = 0.001;

/// Share of what was offered that a throughput may lie above it.
pub const MOST_SURPLUS: f64 = 0.01;

impl MeasuredTrial<'_> {
    /// Why the figures say nothing of the transport, if so, and how bad it is.
    pub fn invalid(&self) -> Option<(String, f64)> {
        if let Some(steal) = self.machine.activity.steal.filter(|share| *share > MOST_STEAL) {
            let percent = steal * 100.0;
            return Some((format!("the hypervisor took {percent:.1} % of the CPU"), steal));
        }
        let cycle = self.load.cycle.as_nanos() as u64;
        let late = share_beyond(&self.record.sent.lateness, cycle);
        if late > MOST_LATE_SENT && !self.is_sender_blocked() {
            let percent = late * 100.0;
            let reason = format!("{percent:.1} % of the samples were sent more than a cycle late");
            return Some((reason, late));
        }
        None
    }

    /// Whether it was the transport that made the sender late: the call that
    /// sends, or the step, takes about as long as the cycle.
    pub fn is_sender_blocked(&self) -> bool {
        let cycle = self.load.cycle.as_nanos() as f64;
        let sent = &self.record.sent;
        sent.timeouts > 0 || sent.write.mean.max(sent.step.mean) > 0.5 * cycle
    }

    /// What keeps the trial from being trusted.
    pub fn cautions(&self, title: &str) -> Vec<Caution> {
        let cell = format!("{title} at {}", self.case);
        let mut cautions = Vec::new();
        if let Some((reason, share)) = self.invalid() {
            cautions.push(Caution::Invalid { cell: cell.clone(), reason, share });
        }
        let datagrams = total(self.record.received.iter().map(|r| r.usage.udp_errors));
        if datagrams > 0 {
            cautions.push(Caution::Datagrams { cell: cell.clone(), datagrams });
        }
        let short = self.record.background.and_then(|background| background.shortfall());
        if let Some((taken, share)) = short {
            cautions.push(Caution::Background { cell: cell.clone(), taken, share });
        }
        let offered = self.load.rate().map(|rate| rate * self.load.size as f64 / 1e6);
        let arrival = self.arrival().map(|arrival| arrival.throughput());
        let figures = [("throughput", arrival), ("throughput/mean", self.mean_of_windows())];
        for (figure, found) in figures {
            let (Some(found), Some(offered)) = (found, offered) else { continue };
            if found > offered * (1.0 + MOST_SURPLUS) {
                let figure = figure.into();
                cautions.push(Caution::Surplus { cell: cell.clone(), figure, found, offered });
            }
        }
        cautions
    }

    /// What was lost, as a caution: all of it is a failure, and some of it is
    /// told where the transport does not drop by design.
    pub fn losses(&self, title: &str, drops: bool) -> Option<Caution> {
        if self.record.broken.is_some() {
            return None;
        }
        let of = self.record.sent.samples.saturating_mul(self.load.receivers as u64);
        let lost = self.lost();
        let cell = format!("{title} at {}", self.case);
        if lost == of && of > 0 {
            let reason = format!("none of {of} samples arrived");
            return Some(Caution::Failed { cell, reason });
        }
        (lost > 0 && !drops).then_some(Caution::Lost { cell, lost, of })
    }
}

/// The least share of times that is known to lie beyond a limit.
fn share_beyond(times: &Distribution, limit: u64) -> f64 {
    let first = times.shares.iter().find(|(_, time)| *time > limit);
    first.map_or(0.0, |(share, _)| 1.0 - share)
}

#[cfg(test)]
mod tests {
    use wiregauge_result::environment::Environment;

    use super::*;
    use crate::load::Load;
    use crate::record::RunRecord;
    use crate::result::example::{fact, record, stalled, trial, LOAD};

    #[test]
    fn a_stall_makes_no_throughput() {
        let load = Load { size: 500, ..LOAD };
        let machine = Environment::default();
        for window in [300_000_000, 1_000_000_000] {
            // In the windows that count, and in those that are dropped.
            for stall in [5_000_000_000, 2 * window + window / 2] {
                let record = record(stalled(window, stall));
                let (record, machine) = (&record, &machine);
                let measured = MeasuredTrial { load: &load, ..trial(record, machine) };
                let found = fact(&measured, "throughput").unwrap();
                assert!(found <= 0.5 * 1.001 && found > 0.49, "{found} MB/s of 0.5");
                assert!(fact(&measured, "rate").unwrap() <= 1000.0 * 1.001);
            }
        }
        // The reference's way shows it, and is warned of.
        let record = record(stalled(300_000_000, 5_000_000_000));
        let measured = MeasuredTrial { load: &load, ..trial(&record, &machine) };
        assert!(fact(&measured, "throughput/mean").unwrap() > 0.505);
        let cautions = measured.cautions("T");
        let surplus = |c: &Caution| matches!(c, Caution::Surplus { figure, .. } if figure == "throughput/mean");
        assert!(cautions.len() == 1 && surplus(&cautions[0]), "{cautions:?}");
    }

    #[test]
    fn losses_are_told_and_all_is_a_failure() {
        let mut record = record(Vec::new());
        let machine = Environment::default();
        let losses = |record: &RunRecord, drops| {
            let measured = trial(record, &machine);
            measured.losses("T", drops)
        };
        let lost = Caution::Lost { cell: "T at c".into(), lost: 5, of: 100 };
        assert_eq!((losses(&record, false), losses(&record, true)), (Some(lost), None));
        record.received[0].samples = 0;
        let failed = losses(&record, true).unwrap();
        assert!(failed.to_string().contains("none of 100 samples arrived"), "{failed}");
        record.received[0].samples = 100;
        assert_eq!(losses(&record, false), None);
    }

    #[test]
    fn a_stolen_cpu_and_a_missed_pace_make_a_run_invalid() {
        let mut record = record(Vec::new());
        let mut machine = Environment::default();
        let check = |record: &RunRecord, machine: &Environment| {
            let measured = trial(record, machine);
            assert_eq!(fact(&measured, "valid") == Some(0.0), measured.invalid().is_some());
            measured.invalid().map(|(reason, _)| reason)
        };
        assert_eq!(check(&record, &machine), None);
        machine.activity.steal = Some(0.02);
        assert!(check(&record, &machine).unwrap().contains("2.0 %"));
        machine.activity.steal = None;
        record.sent.lateness.shares = vec![(0.5, 1000), (0.99, 1_500_000)];
        assert!(check(&record, &machine).unwrap().contains("1.0 % of the samples"));
        // It was the transport that took the time.
        record.sent.write.mean = 900_000.0;
        assert_eq!(check(&record, &machine), None);
    }
}
