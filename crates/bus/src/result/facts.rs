//! What is counted over a whole run.

use statrs::distribution::{ChiSquared, ContinuousCDF};
use wiregauge_participant::clock_alignment::Alignment;
use wiregauge_participant::control::ReceiverResult;
use wiregauge_participant::sample::HEADER_SIZE;
use wiregauge_participant::window::Window;
use wiregauge_result::run::Fact;
use wiregauge_result::stats::{mean, variance};
use wiregauge_sample_log as sample_log;
use wiregauge_timing::latency::{slowest, Distribution};

use crate::record::windows::{counted_windows, throughput, total, undisturbed};
use crate::record::RunRecord;
use crate::result::measured_trial::MeasuredTrial;

/// Shares of a distribution that become figures.
const REPORTED_SHARES: [(f64, &str); 4] =
    [(0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (0.999, "p99.9")];

impl MeasuredTrial<'_> {
    /// What is counted over the whole run. Of several receivers, losses are
    /// added up and the slowest tells the times.
    pub fn facts(&self) -> Vec<Fact> {
        let RunRecord { sent, received, .. } = self.record;
        let mut facts = Facts { measured: self, facts: Vec::new() };
        if self.load.has_several() {
            facts.add("topics", "1", (self.load.senders * self.load.topics) as f64);
            facts.add("senders", "1", self.load.senders as f64);
        }
        if let Some(rate) = self.load.rate() {
            facts.add("offered", "MB/s", self.load.size as f64 * rate / 1e6);
        }
        let windows: Vec<&Window> =
            received.iter().flat_map(|r| counted_windows(&r.windows)).collect();
        let counts: Vec<f64> = windows.iter().map(|w| w.samples as f64).collect();
        if let (Some(arrival), Some(mean_of_windows)) = (self.arrival(), self.mean_of_windows()) {
            facts.add("throughput", "MB/s", arrival.throughput());
            facts.add("throughput/mean", "MB/s", mean_of_windows);
            facts.add("samples", "1", mean(&counts).unwrap_or(0.0));
            facts.add("rate", "1/s", arrival.rate());
        }
        let quiet = undisturbed(&windows);
        let throughputs: Vec<f64> = quiet.iter().map(|w| throughput(w)).collect();
        if let Some(variance) = variance(&throughputs) {
            facts.add("variance", "(MB/s)²", variance);
            let (low, high) = interval(variance, throughputs.len());
            facts.add("variance/low", "(MB/s)²", low);
            facts.add("variance/high", "(MB/s)²", high);
        }
        if quiet.len() < windows.len() {
            facts.add("variance/left-out", "1", (windows.len() - quiet.len()) as f64);
        }
        if self.record.broken.is_some() {
            facts.add("complete", "1", 0.0);
            return facts.facts;
        }
        let sum = |of: fn(&ReceiverResult) -> u64| total(received.iter().map(of)) as f64;
        facts.add("sent", "1", sent.samples as f64);
        facts.add("lost", "1", self.lost() as f64);
        facts.add("late", "1", sum(|r| r.late));
        facts.add("reordered", "1", sum(|r| r.reordered));
        for (metric, count) in [
            ("unsent", self.unsent() as f64),
            ("repeated", sum(|r| r.repeated)),
            ("damaged", sum(|r| r.damaged)),
            ("foreign", sum(|r| r.foreign)),
            ("timeouts", sent.timeouts as f64),
            ("udp-errors", sum(|r| r.usage.udp_errors)),
        ] {
            if count > 0.0 {
                facts.add(metric, "1", count);
            }
        }
        let misses = self.misses();
        facts
            .facts
            .extend(misses.iter().flat_map(|m| sample_log::miss_facts(self.case, self.subject, m)));
        facts.distribution("latency", received.iter().map(|r| &r.latency));
        let topics = received.iter().filter_map(|r| r.slowest_topic.as_ref());
        let p99 = topics.filter_map(|(topic, times)| Some((times.quantile(0.99)?, *topic)));
        if let Some((p99, topic)) = p99.max() {
            facts.add("topic/p99", "ns", p99 as f64);
            facts.add("topic/number", "1", topic as f64);
        }
        if let Some(pinged) = &self.record.round_trips {
            facts.distribution("round-trip", [&pinged.times]);
            if pinged.lost > 0 {
                facts.add("round-trip/lost", "1", pinged.lost as f64);
            }
        }
        facts.distribution("jitter", received.iter().map(|r| &r.jitter));
        facts.distribution("write", [&sent.write]);
        facts.distribution("lateness", [&sent.lateness]);
        if sent.step.count > 0 {
            let steps = sent.samples / self.samples_of_cycle();
            let steps = steps.saturating_sub(sent.timeouts);
            facts.add("steps", "1/s", steps as f64 / (self.span() as f64 / 1e9));
            facts.distribution("step", [&sent.step]);
            facts.distribution("barrier", [&sent.barrier]);
        }
        let seconds = self.span() as f64;
        let most =
            |of: fn(&ReceiverResult) -> u64| received.iter().map(of).max().unwrap_or(0) as f64;
        facts.add("cpu/sender", "%", 100.0 * sent.usage.cpu as f64 / seconds);
        facts.add("cpu/receiver", "%", 100.0 * most(|r| r.usage.cpu) / seconds);
        facts.add("memory/sender", "B", sent.usage.memory as f64);
        facts.add("memory/receiver", "B", most(|r| r.usage.memory));
        let clocks = || received.iter().map(|r| &r.alignment);
        let apart = clocks().filter(|clock| !clock.shared).count() + sent.clocks.len();
        if apart > 0 {
            facts.add("clock/apart", "1", apart as f64);
        }
        // A latency is between two clocks, each of which may be another than the master's.
        let senders = least_known(sent.clocks.iter());
        let of_sender = senders.map_or(0, |clock| clock.uncertainty);
        if let Some(least) = least_known(clocks()) {
            let own = if least.shared && senders.is_some() { 0 } else { least.uncertainty };
            facts.clock("clock", least, own + of_sender, clocks());
        }
        if let Some(least) = senders {
            facts.clock("clock/sender", least, of_sender, sent.clocks.iter());
        }
        if let Some(background) = &self.record.background {
            for (metric, unit, taken) in [
                ("background/processors", "1", background.processors),
                ("background/sent", "Mbit/s", background.sent.map(|bits| bits / 1e6)),
                ("background/arrived", "Mbit/s", background.arrived.map(|bits| bits / 1e6)),
            ] {
                taken.into_iter().for_each(|taken| facts.add(metric, unit, taken));
            }
        }
        if !sent.encodes.is_empty() {
            facts.add("size", "B", (self.load.size - HEADER_SIZE) as f64);
            facts.add("cycle/time", "ns", self.load.cycle.as_nanos() as f64);
            facts.distribution("wake-up", received.iter().map(|r| &r.wake_up));
        }
        facts.add("valid", "1", f64::from(u8::from(self.invalid().is_none())));
        facts.facts
    }
}

/// What the variance of so many values lies in with a confidence of 95 %, for
/// values that are normally distributed.
fn interval(variance: f64, count: usize) -> (f64, f64) {
    let freedom = count.saturating_sub(1).max(1) as f64;
    let Ok(chi_squared) = ChiSquared::new(freedom) else { return (0.0, f64::INFINITY) };
    let at = |share: f64| freedom * variance / chi_squared.inverse_cdf(share);
    (at(0.975), at(0.025))
}

/// The clock that is known least well: one that is shared only where all are.
fn least_known<'c>(clocks: impl Iterator<Item = &'c Alignment>) -> Option<&'c Alignment> {
    clocks.max_by_key(|clock| (!clock.shared, clock.uncertainty))
}

struct Facts<'a> {
    measured: &'a MeasuredTrial<'a>,
    facts: Vec<Fact>,
}

impl Facts<'_> {
    fn add(&mut self, metric: &str, unit: &str, value: f64) {
        self.facts.push(Fact {
            case: self.measured.case.into(),
            subject: self.measured.subject.into(),
            metric: metric.into(),
            unit: unit.into(),
            value,
        });
    }

    /// What was found out about the clock that is known least well of some, and the jump of the one
    /// that was set, whichever it is.
    fn clock<'c>(
        &mut self,
        of: &str,
        least: &Alignment,
        uncertainty: u64,
        all: impl Iterator<Item = &'c Alignment>,
    ) {
        self.add(&format!("{of}/offset"), "ns", least.offset as f64);
        self.add(&format!("{of}/uncertainty"), "ns", uncertainty as f64);
        self.add(&format!("{of}/drift"), "ns", least.drift as f64);
        let jump = all.map(|clock| clock.jump).max().unwrap_or(0);
        if jump > 0 {
            self.add(&format!("{of}/jump"), "ns", jump as f64);
        }
    }

    fn distribution<'d>(&mut self, metric: &str, of: impl IntoIterator<Item = &'d Distribution>) {
        let Some(times) = slowest(of) else { return };
        for (share, name) in REPORTED_SHARES {
            if let Some(time) = times.quantile(share) {
                self.add(&format!("{metric}/{name}"), "ns", time as f64);
            }
        }
        self.add(&format!("{metric}/max"), "ns", times.most as f64);
        self.add(&format!("{metric}/count"), "1", times.count as f64);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use wiregauge_participant::control::{Mode, SenderResult};
    use wiregauge_result::environment::Environment;
    use wiregauge_timing::misses::Misses;

    use super::*;
    use crate::load::Load;
    use crate::result::example::{fact, record, stalled, trial, window, LOAD};

    #[test]
    fn the_first_three_windows_and_the_last_are_dropped() {
        const S: u64 = 1_000_000_000;
        let wrong = || window(S, 1, 1);
        let windows = vec![
            wrong(),
            wrong(),
            wrong(),
            window(S, 10_000_000, 10),
            window(2 * S, 24_000_000, 11),
            wrong(),
        ];
        let record = record(windows);
        let machine = Environment::default();
        let measured = trial(&record, &machine);
        // 34 MB in three seconds, and the mean of 10 and 12 MB/s.
        let near = |metric, wanted: f64| (fact(&measured, metric).unwrap() - wanted).abs() < 1e-9;
        assert!(near("throughput", 34.0 / 3.0) && near("throughput/mean", 11.0));
        assert_eq!(
            (fact(&measured, "offered"), fact(&measured, "variance")),
            (Some(0.01), Some(2.0))
        );
        assert_eq!(fact(&measured, "samples"), Some(10.5));
        assert_eq!(fact(&measured, "rate"), Some(7.0));
        assert_eq!((fact(&measured, "lost"), fact(&measured, "unsent")), (Some(5.0), Some(10.0)));
        assert_eq!(counted_windows(&[wrong(), wrong(), wrong(), wrong()]), []);
    }

    #[test]
    fn what_broke_off_tells_its_windows_and_no_losses() {
        let broken = Some("beta is lost".to_owned());
        let record = RunRecord { broken, ..record(stalled(300_000_000, 0)) };
        let machine = Environment::default();
        let measured = trial(&record, &machine);
        assert_eq!((fact(&measured, "complete"), fact(&measured, "lost")), (Some(0.0), None));
        assert!(fact(&measured, "throughput").is_some() && !measured.measurements().is_empty());
        assert_eq!(record.require_complete().unwrap_err().to_string(), "beta is lost");
    }

    #[test]
    fn a_latency_is_as_uncertain_as_both_clocks_are() {
        let clock = |shared, uncertainty, jump| Alignment {
            shared,
            offset: -5,
            uncertainty,
            jump,
            ..Alignment::default()
        };
        let machine = Environment::default();
        let facts = |receivers: &[Alignment], senders: &[Alignment]| {
            let mut record = record(Vec::new());
            let one = record.received[0].clone();
            let receiver = |clock: &Alignment| {
                let alignment = clock.clone();
                ReceiverResult { alignment, ..one.clone() }
            };
            record.received = receivers.iter().map(receiver).collect();
            record.sent.clocks = senders.to_vec();
            let measured = trial(&record, &machine);
            ["apart", "uncertainty", "jump", "sender/uncertainty", "sender/jump"]
                .map(|figure| fact(&measured, &format!("clock/{figure}")))
        };
        // All on one machine: measured, and not used.
        assert_eq!(facts(&[clock(true, 7, 0)], &[]), [None, Some(7.0), None, None, None]);
        let two = [clock(false, 7, 30), clock(false, 9, 0)];
        assert_eq!(facts(&two, &[]), [Some(2.0), Some(9.0), Some(30.0), None, None]);
        // The receiver shares the timing master's clock, and another sender does not.
        let sender = [clock(false, 11, 40), clock(false, 4, 0)];
        let sums = [Some(2.0), Some(11.0), None, Some(11.0), Some(40.0)];
        assert_eq!(facts(&[clock(true, 7, 0)], &sender), sums);
        let sums = [Some(4.0), Some(20.0), Some(30.0), Some(11.0), Some(40.0)];
        assert_eq!(facts(&two, &sender), sums);
    }

    #[test]
    fn steps_are_counted_with_the_cycle_of_the_last() {
        let cycle = Duration::from_millis(100);
        let load = Load { cycle, mode: Mode::Discrete, ..LOAD };
        let step = Distribution { count: 10, ..Distribution::default() };
        // Ten steps, of which the last ended a millisecond after it began.
        let sent = SenderResult { samples: 10, span: 901_000_000, step, ..SenderResult::default() };
        let record = RunRecord { sent, ..record(Vec::new()) };
        let machine = Environment::default();
        let measured = MeasuredTrial { load: &load, ..trial(&record, &machine) };
        assert_eq!(fact(&measured, "steps"), Some(10.0));
        let fast = Load { fast: true, ..load };
        let steps = fact(&MeasuredTrial { load: &fast, ..measured }, "steps").unwrap();
        assert!((steps - 10.0 / 0.901).abs() < 1e-9, "{steps}");
    }

    #[test]
    fn windows_that_a_hypervisor_disturbed_are_no_variance() {
        const S: u64 = 1_000_000_000;
        let quiet = |bytes| window(S, bytes, 10);
        let stolen = Window { steal: 0.2, ..quiet(90_000_000) };
        let ends = || quiet(0);
        let even = [100_000_000, 102_000_000, 101_000_000].map(quiet);
        let windows = [ends(), ends(), ends()].into_iter().chain(even).chain([stolen, ends()]);
        let record = record(windows.collect());
        let machine = Environment::default();
        let measured = trial(&record, &machine);
        let fact = |metric| fact(&measured, metric).unwrap();
        assert_eq!((fact("variance"), fact("variance/left-out")), (1.0, 1.0));
        // By the table of the chi-squared distribution of two degrees of freedom.
        assert!((fact("variance/low") - 2.0 / 7.378).abs() < 1e-3);
        assert!((fact("variance/high") - 2.0 / 0.05064).abs() < 1e-2);
    }

    #[test]
    fn the_longest_run_of_misses_is_that_of_the_worst_receiver() {
        let misses = |longest, at| Misses { longest, sequence: 7, at };
        let receiver = |misses| ReceiverResult { misses, ..ReceiverResult::default() };
        let received = vec![receiver(misses(2, 5)), receiver(misses(30, 1_500_000_000))];
        let record = RunRecord { received, ..record(Vec::new()) };
        let machine = Environment::default();
        let measured = trial(&record, &machine);
        assert_eq!(fact(&measured, "misses/longest"), Some(30.0));
        assert_eq!(fact(&measured, "misses/longest/at"), Some(1.5));
        assert_eq!(fact(&measured, "misses/longest/sequence"), Some(7.0));
        let told = measured.describe_misses("TCP").unwrap();
        assert!(told.contains("TCP: 30 samples in a row") && told.contains("1.500 s"), "{told}");
        let unpaced = Load { cycle: Duration::ZERO, ..LOAD };
        assert_eq!(fact(&MeasuredTrial { load: &unpaced, ..measured }, "misses/longest"), None);
        let none = RunRecord { received: vec![receiver(Misses::default())], ..record.clone() };
        let measured = MeasuredTrial { record: &none, load: &LOAD, ..measured };
        assert_eq!(fact(&measured, "misses/longest"), Some(0.0));
        assert_eq!(
            (fact(&measured, "misses/longest/at"), measured.describe_misses("TCP")),
            (None, None)
        );
    }
}
