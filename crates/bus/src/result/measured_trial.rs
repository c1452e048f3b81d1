//! From what participants saw to `run.json`.
//!
//! Each is a load on a transport. The windows are the reference's: the
//! first three and the last are dropped, and what is left gives the mean
//! throughput, its variance and the samples of a window.

use wiregauge_participant::control::{Mode, ReceiverResult};
use wiregauge_participant::window::Window;
use wiregauge_result::environment::Environment;
use wiregauge_result::run::{Curve, Measurement};
use wiregauge_result::stats::mean;
use wiregauge_sample_log as sample_log;
use wiregauge_timing::latency::slowest;
use wiregauge_timing::misses::Misses;

use crate::load::Load;
use crate::record::windows::{counted_windows, throughput, total, Arrival};
use crate::record::RunRecord;

/// A load on a transport, measured.
pub struct MeasuredTrial<'a> {
    /// Key of the case.
    pub case: &'a str,
    /// What was sent.
    pub load: &'a Load,
    /// Key of the transport's row.
    pub subject: &'a str,
    /// What came of it.
    pub record: &'a RunRecord,
    /// The machine meanwhile.
    pub machine: &'a Environment,
}

impl MeasuredTrial<'_> {
    /// What is sampled window by window, for each receiver.
    pub fn measurements(&self) -> Vec<Measurement> {
        let receivers = &self.record.received;
        let samples = |figure: &dyn Fn(&Window) -> Option<f64>| -> Vec<Vec<Option<f64>>> {
            let of = |received: &ReceiverResult| {
                counted_windows(&received.windows).iter().map(figure).collect()
            };
            receivers.iter().map(of).collect()
        };
        let count = |received: &ReceiverResult| {
            mean(&figure_by_window(received, |w| w.samples as f64)).unwrap_or(0.0) as u64
        };
        let iterations: Vec<u64> = receivers.iter().map(count).collect();
        let measurement = |metric: &str, unit: &str, samples| Measurement {
            case: self.case.into(),
            subject: self.subject.into(),
            metric: metric.into(),
            unit: unit.into(),
            iterations: iterations.clone(),
            samples,
        };
        let median = |window: &Window| window.times.quantile(0.5).map(|time| time as f64);
        let steps = counted_windows(&self.record.sent.steps).iter().map(median).collect();
        let all = vec![
            measurement("latency", "ns", samples(&median)),
            measurement("step", "ns", vec![steps]),
            measurement("throughput/window", "MB/s", samples(&|w| Some(throughput(w)))),
        ];
        let cycle = self.cycle().into_iter().map(|(metric, s)| measurement(metric, "ns", s));
        let some = |m: &Measurement| m.samples.iter().flatten().any(Option::is_some);
        all.into_iter().chain(cycle).filter(some).collect()
    }

    /// The latency of the slowest receiver, window by window: what a sweep over
    /// the number of receivers goes by, as all of them have the sample only then.
    pub fn slowest(&self) -> Option<Measurement> {
        let latencies = self.record.received.iter().map(|r| &r.latency).enumerate();
        let timed = latencies.filter(|(_, times)| times.count > 0);
        let (slowest, _) = timed.max_by_key(|(_, times)| (times.quantile(0.5), times.most))?;
        let mut all = self.measurements().into_iter().find(|m| m.metric == "latency")?;
        Some(Measurement {
            metric: "slowest latency".into(),
            iterations: vec![all.iterations[slowest]],
            samples: vec![all.samples.swap_remove(slowest)],
            ..all
        })
    }

    /// How what was timed is distributed, of the slowest receiver.
    pub fn curves(&self) -> Vec<Curve> {
        let RunRecord { sent, received, .. } = self.record;
        let mut curves = Vec::new();
        let round_trips = self.record.round_trips.as_ref().map(|pinged| &pinged.times);
        for (metric, times) in [
            ("latency", slowest(received.iter().map(|r| &r.latency))),
            ("round-trip", slowest(round_trips)),
            ("step", slowest([&sent.step])),
        ] {
            let Some(times) = times else { continue };
            curves.push(Curve {
                case: self.case.into(),
                subject: self.subject.into(),
                metric: metric.into(),
                unit: "ns".into(),
                over: "share".into(),
                points: times.shares.iter().map(|(share, time)| (*share, *time as f64)).collect(),
            });
        }
        curves
    }

    /// What arrived at all receivers together; none without windows that count.
    pub fn arrival(&self) -> Option<Arrival> {
        let all = self.record.received.iter().map(|r| Arrival::from_windows(&r.windows));
        all.reduce(Arrival::merge).filter(|arrival| arrival.samples > 0)
    }

    /// The reference's throughput: the mean over the windows of each one's own.
    /// After a stall it lies above what was offered, as the short time in which
    /// much arrives counts as much as the long one in which nothing did.
    pub fn mean_of_windows(&self) -> Option<f64> {
        let windows = self.record.received.iter().flat_map(|r| counted_windows(&r.windows));
        let all: Vec<f64> = windows.map(throughput).collect();
        mean(&all)
    }

    /// The longest run of misses: of steps in discrete mode, otherwise of samples
    /// at the receiver that had the longest. None without a cycle, as then there
    /// is nothing to miss, or where it broke off.
    pub fn misses(&self) -> Option<Misses> {
        let RunRecord { sent, received, broken, .. } = self.record;
        if self.load.cycle.is_zero() || broken.is_some() {
            return None;
        }
        let receivers = received.iter().map(|received| received.misses);
        // Of two that are as long the earlier one.
        receivers.chain([sent.misses]).reduce(|a, b| if b.longest > a.longest { b } else { a })
    }

    /// The longest run of misses in words, if there is one.
    pub fn describe_misses(&self, title: &str) -> Option<String> {
        let misses = self.misses()?;
        let (one, were) = match self.load.mode {
            Mode::Discrete => ("step", "took longer than the cycle"),
            Mode::Continuous => ("sample", "came late or never"),
        };
        Some(format!("{title}: {}", sample_log::describe_misses(&misses, one, were, "the run")?))
    }

    /// How long the sender was at it, in nanoseconds. The cycle of the last
    /// sample belongs to it.
    pub(super) fn span(&self) -> u64 {
        let sent = &self.record.sent;
        let paced = self.load.rate().is_some();
        let cycle = self.load.cycle.as_nanos() as u64;
        let samples = sent.samples.div_ceil(self.samples_of_cycle());
        let cycles = if paced { cycle.saturating_mul(samples) } else { 0 };
        sent.span.max(cycles).max(1)
    }

    /// How many samples are sent in a cycle, on all topics by all senders.
    pub(super) fn samples_of_cycle(&self) -> u64 {
        (self.load.senders * self.load.topics).max(1) as u64
    }

    /// Samples that were sent and did not arrive, over all receivers.
    pub fn lost(&self) -> u64 {
        let RunRecord { sent, received, .. } = self.record;
        total(received.iter().map(|r| sent.samples.saturating_sub(r.samples)))
    }

    /// Samples that were due and were not sent.
    pub fn unsent(&self) -> u64 {
        let sent = &self.record.sent;
        sent.due.map_or(0, |due| due.saturating_sub(sent.samples))
    }
}

fn figure_by_window(received: &ReceiverResult, figure: fn(&Window) -> f64) -> Vec<f64> {
    counted_windows(&received.windows).iter().map(figure).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::example::{record, trial, window};
    use wiregauge_timing::latency::Distribution;

    #[test]
    fn the_slowest_receiver_is_told_from_the_others() {
        let times = |p50| Distribution { count: 9, shares: vec![(0.5, p50)], ..Default::default() };
        let receiver = |p50| {
            let window = Window { times: times(p50), ..window(1_000_000_000, 10, 1) };
            ReceiverResult {
                windows: vec![window; 5],
                latency: times(p50),
                ..ReceiverResult::default()
            }
        };
        let received = [10, 30, 20].map(receiver).to_vec();
        let record = RunRecord { received, ..record(Vec::new()) };
        let machine = Environment::default();
        let measured = trial(&record, &machine);
        let slowest = measured.slowest().unwrap();
        assert_eq!((slowest.metric.as_str(), slowest.unit.as_str()), ("slowest latency", "ns"));
        assert_eq!((slowest.samples, slowest.iterations), (vec![vec![Some(30.0)]], vec![1]));
        let record = RunRecord { received: Vec::new(), ..record.clone() };
        assert_eq!(MeasuredTrial { record: &record, ..measured }.slowest(), None);
    }
}
