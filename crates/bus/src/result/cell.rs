//! From what participants saw to `run.json`.
//!
//! Each cell is a load on a transport. The windows are the reference's: the
//! first three and the last are dropped, and what is left gives the mean
//! throughput, its variance and the samples of a window.

use statrs::distribution::{ChiSquared, ContinuousCDF};
use wiregauge_evidence as evidence;
use wiregauge_participant::control::{Mode, Received};
use wiregauge_participant::latency::Distribution;
use wiregauge_participant::misses::Misses;
use wiregauge_participant::sample::HEADER;
use wiregauge_participant::window::Window;
use wiregauge_result::environment::Environment;
use wiregauge_result::run::{Curve, Fact, Measurement};
use wiregauge_result::warning::{Caution, MOST_STEAL};

use crate::conduct::record::RunRecord;
use crate::load::Load;
use crate::result::windows::{kept, throughput, total, undisturbed, Arrival};

/// Share of the samples that may be sent more than a cycle late.
pub const MOST_LATE_SENT: f64 = 0.001;

/// Share of what was offered that a throughput may lie above it.
pub const MOST_SURPLUS: f64 = 0.01;

/// Shares of a distribution that become figures.
const TOLD: [(f64, &str); 4] = [(0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (0.999, "p99.9")];

/// A load on a transport, measured.
pub struct Cell<'a> {
    /// Key of the case.
    pub case: &'a str,
    /// What was sent.
    pub load: &'a Load,
    /// Key of the transport's row.
    pub subject: &'a str,
    /// What came of it.
    pub account: &'a RunRecord,
    /// The machine meanwhile.
    pub machine: &'a Environment,
}

/// What a cycle is made of, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Phases {
    encode: f64,
    write: f64,
    wire: f64,
    wake_up: f64,
    decode: f64,
}

impl Phases {
    /// Splits the one-way latency into the call that sends, the wire, and the
    /// wake-up. The receiver may have a sample before the call returns: then
    /// there is no more of the call in the cycle than that.
    fn new(encode: f64, write: f64, latency: f64, wake_up: f64, decode: f64) -> Phases {
        let write = write.min(latency);
        let wake_up = wake_up.min(latency - write);
        Phases { encode, write, wire: latency - write - wake_up, wake_up, decode }
    }

    fn sum(&self) -> f64 {
        self.encode + self.write + self.wire + self.wake_up + self.decode
    }
}

impl Cell<'_> {
    /// What is sampled window by window, for each receiver.
    pub fn measurements(&self) -> Vec<Measurement> {
        let receivers = &self.account.received;
        let samples = |figure: &dyn Fn(&Window) -> Option<f64>| -> Vec<Vec<Option<f64>>> {
            let of = |received: &Received| kept(&received.windows).iter().map(figure).collect();
            receivers.iter().map(of).collect()
        };
        let count = |received: &Received| mean(&figures(received, |w| w.samples as f64)) as u64;
        let iterations: Vec<u64> = receivers.iter().map(count).collect();
        let measurement = |metric: &str, unit: &str, samples| Measurement {
            case: self.case.into(),
            subject: self.subject.into(),
            metric: metric.into(),
            unit: unit.into(),
            iterations: iterations.clone(),
            samples,
        };
        let median = |window: &Window| window.times.at(0.5).map(|time| time as f64);
        let steps = kept(&self.account.sent.steps).iter().map(median).collect();
        let all = vec![
            measurement("latency", "ns", samples(&median)),
            measurement("step", "ns", vec![steps]),
            measurement("throughput/window", "MB/s", samples(&|w| Some(throughput(w)))),
        ];
        let cycle = self.cycle().into_iter().map(|(metric, s)| measurement(metric, "ns", s));
        let some = |m: &Measurement| m.samples.iter().flatten().any(Option::is_some);
        all.into_iter().chain(cycle).filter(some).collect()
    }

    /// With a codec: the cycle and its phases, of each receiver and window.
    fn cycle(&self) -> Vec<(&'static str, Vec<Vec<Option<f64>>>)> {
        let RunRecord { sent, received, .. } = self.account;
        if sent.encodes.is_empty() {
            return Vec::new();
        }
        let median = |windows: &[Window], at: usize| {
            kept(windows).get(at).and_then(|window| window.times.at(0.5)).map(|time| time as f64)
        };
        let phases = |receiver: &Received, at: usize| -> Option<Phases> {
            let latency = median(&receiver.windows, at)?;
            let wake_up = receiver.wake_up.at(0.5)? as f64;
            Some(Phases::new(
                median(&sent.encodes, at)?,
                median(&sent.writes, at)?,
                latency,
                wake_up,
                median(&receiver.decodes, at)?,
            ))
        };
        let of = |figure: fn(&Phases) -> f64| -> Vec<Vec<Option<f64>>> {
            let windows = |r: &Received| {
                (0..kept(&r.windows).len()).map(|at| phases(r, at).as_ref().map(figure)).collect()
            };
            received.iter().map(windows).collect()
        };
        vec![
            ("cycle", of(Phases::sum)),
            ("cycle/encode", of(|p| p.encode)),
            ("cycle/write", of(|p| p.write)),
            ("cycle/wire", of(|p| p.wire)),
            ("cycle/wake-up", of(|p| p.wake_up)),
            ("cycle/decode", of(|p| p.decode)),
        ]
    }

    /// The latency of the slowest receiver, window by window: what a sweep over
    /// the number of receivers goes by, as all of them have the sample only then.
    pub fn slowest(&self) -> Option<Measurement> {
        let latencies = self.account.received.iter().map(|r| &r.latency).enumerate();
        let timed = latencies.filter(|(_, times)| times.count > 0);
        let (slowest, _) = timed.max_by_key(|(_, times)| (times.at(0.5), times.most))?;
        let mut all = self.measurements().into_iter().find(|m| m.metric == "latency")?;
        Some(Measurement {
            metric: "slowest latency".into(),
            iterations: vec![all.iterations[slowest]],
            samples: vec![all.samples.swap_remove(slowest)],
            ..all
        })
    }

    /// What is counted over the whole run. Of several receivers, losses are
    /// added up and the slowest tells the times.
    pub fn facts(&self) -> Vec<Fact> {
        let RunRecord { sent, received, .. } = self.account;
        let mut facts = Facts { cell: self, facts: Vec::new() };
        if let Some(rate) = self.load.rate() {
            facts.add("offered", "MB/s", self.load.size as f64 * rate / 1e6);
        }
        let windows: Vec<&Window> = received.iter().flat_map(|r| kept(&r.windows)).collect();
        let counts: Vec<f64> = windows.iter().map(|w| w.samples as f64).collect();
        if let (Some(arrival), Some(mean_of_windows)) = (self.arrival(), self.mean_of_windows()) {
            facts.add("throughput", "MB/s", arrival.throughput());
            facts.add("throughput/mean", "MB/s", mean_of_windows);
            facts.add("samples", "1", mean(&counts));
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
        if self.account.broken.is_some() {
            facts.add("complete", "1", 0.0);
            return facts.facts;
        }
        let sum = |of: fn(&Received) -> u64| total(received.iter().map(of)) as f64;
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
        facts.facts.extend(misses.iter().flat_map(|m| evidence::facts(self.case, self.subject, m)));
        facts.distribution("latency", received.iter().map(|r| &r.latency));
        if let Some(pinged) = &self.account.round_trips {
            facts.distribution("round-trip", [&pinged.times]);
            if pinged.lost > 0 {
                facts.add("round-trip/lost", "1", pinged.lost as f64);
            }
        }
        facts.distribution("jitter", received.iter().map(|r| &r.jitter));
        facts.distribution("write", [&sent.write]);
        facts.distribution("lateness", [&sent.lateness]);
        if sent.step.count > 0 {
            let steps = sent.samples.saturating_sub(sent.timeouts);
            facts.add("steps", "1/s", steps as f64 / (self.span() as f64 / 1e9));
            facts.distribution("step", [&sent.step]);
            facts.distribution("barrier", [&sent.barrier]);
        }
        let seconds = self.span() as f64;
        let most = |of: fn(&Received) -> u64| received.iter().map(of).max().unwrap_or(0) as f64;
        facts.add("cpu/sender", "%", 100.0 * sent.usage.cpu as f64 / seconds);
        facts.add("cpu/receiver", "%", 100.0 * most(|r| r.usage.cpu) / seconds);
        facts.add("memory/sender", "B", sent.usage.memory as f64);
        facts.add("memory/receiver", "B", most(|r| r.usage.memory));
        let clocks = || received.iter().map(|r| &r.alignment);
        let apart = clocks().filter(|clock| !clock.shared).count();
        if apart > 0 {
            facts.add("clock/apart", "1", apart as f64);
        }
        let clock = clocks().max_by_key(|clock| (!clock.shared, clock.uncertainty));
        if let Some(clock) = clock {
            facts.add("clock/offset", "ns", clock.offset as f64);
            facts.add("clock/uncertainty", "ns", clock.uncertainty as f64);
            facts.add("clock/drift", "ns", clock.drift as f64);
            if clock.jump > 0 {
                facts.add("clock/jump", "ns", clock.jump as f64);
            }
        }
        if !sent.encodes.is_empty() {
            facts.add("size", "B", (self.load.size - HEADER) as f64);
            facts.add("cycle/time", "ns", self.load.cycle.as_nanos() as f64);
            facts.distribution("wake-up", received.iter().map(|r| &r.wake_up));
        }
        facts.add("valid", "1", f64::from(u8::from(self.invalid().is_none())));
        facts.facts
    }

    /// How what was timed is distributed, of the slowest receiver.
    pub fn curves(&self) -> Vec<Curve> {
        let RunRecord { sent, received, .. } = self.account;
        let mut curves = Vec::new();
        let round_trips = self.account.round_trips.as_ref().map(|pinged| &pinged.times);
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
        let all = self.account.received.iter().map(|r| Arrival::of(&r.windows));
        all.reduce(Arrival::and).filter(|arrival| arrival.samples > 0)
    }

    /// The reference's throughput: the mean over the windows of each one's own.
    /// After a stall it lies above what was offered, as the short time in which
    /// much arrives counts as much as the long one in which nothing did.
    pub fn mean_of_windows(&self) -> Option<f64> {
        let windows = self.account.received.iter().flat_map(|r| kept(&r.windows));
        let all: Vec<f64> = windows.map(throughput).collect();
        (!all.is_empty()).then(|| mean(&all))
    }

    /// The longest run of misses: of steps in discrete mode, otherwise of samples
    /// at the receiver that had the longest. None without a cycle, as then there
    /// is nothing to miss, or where it broke off.
    pub fn misses(&self) -> Option<Misses> {
        let RunRecord { sent, received, broken, .. } = self.account;
        if self.load.cycle.is_zero() || broken.is_some() {
            return None;
        }
        let receivers = received.iter().map(|received| received.misses);
        // Of two that are as long the earlier one.
        receivers.chain([sent.misses]).reduce(|a, b| if b.longest > a.longest { b } else { a })
    }

    /// The longest run of misses in words, if there is one.
    pub fn told_misses(&self, title: &str) -> Option<String> {
        let misses = self.misses()?;
        let (one, were) = match self.load.mode {
            Mode::Discrete => ("step", "took longer than the cycle"),
            Mode::Continuous => ("sample", "came late or never"),
        };
        Some(format!("{title}: {}", evidence::told(&misses, one, were, "the run")?))
    }

    /// How long the sender was at it, in nanoseconds. The cycle of the last
    /// sample belongs to it.
    fn span(&self) -> u64 {
        let sent = &self.account.sent;
        let paced = self.load.rate().is_some();
        let cycle = self.load.cycle.as_nanos() as u64;
        let cycles = if paced { cycle.saturating_mul(sent.samples) } else { 0 };
        sent.span.max(cycles).max(1)
    }

    /// Samples that were sent and did not arrive, over all receivers.
    pub fn lost(&self) -> u64 {
        let RunRecord { sent, received, .. } = self.account;
        total(received.iter().map(|r| sent.samples.saturating_sub(r.samples)))
    }

    /// Samples that were due and were not sent.
    pub fn unsent(&self) -> u64 {
        let sent = &self.account.sent;
        sent.due.map_or(0, |due| due.saturating_sub(sent.samples))
    }

    /// Why the figures say nothing of the transport, if so, and how bad it is.
    pub fn invalid(&self) -> Option<(String, f64)> {
        if let Some(steal) = self.machine.activity.steal.filter(|share| *share > MOST_STEAL) {
            let percent = steal * 100.0;
            return Some((format!("the hypervisor took {percent:.1} % of the CPU"), steal));
        }
        let cycle = self.load.cycle.as_nanos() as u64;
        let late = beyond(&self.account.sent.lateness, cycle);
        if late > MOST_LATE_SENT && !self.held_up() {
            let percent = late * 100.0;
            let reason = format!("{percent:.1} % of the samples were sent more than a cycle late");
            return Some((reason, late));
        }
        None
    }

    /// Whether it was the transport that made the sender late: the call that
    /// sends, or the step, takes about as long as the cycle.
    pub fn held_up(&self) -> bool {
        let cycle = self.load.cycle.as_nanos() as f64;
        let sent = &self.account.sent;
        sent.timeouts > 0 || sent.write.mean.max(sent.step.mean) > 0.5 * cycle
    }

    /// What keeps the cell from being trusted.
    pub fn cautions(&self, title: &str) -> Vec<Caution> {
        let cell = format!("{title} at {}", self.case);
        let mut cautions = Vec::new();
        if let Some((reason, share)) = self.invalid() {
            cautions.push(Caution::Invalid { cell: cell.clone(), reason, share });
        }
        let datagrams = total(self.account.received.iter().map(|r| r.usage.udp_errors));
        if datagrams > 0 {
            cautions.push(Caution::Datagrams { cell: cell.clone(), datagrams });
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
}

impl Cell<'_> {
    /// What was lost, as a caution: all of it is a failure, and some of it is
    /// told where the transport does not drop by design.
    pub fn losses(&self, title: &str, drops: bool) -> Option<Caution> {
        if self.account.broken.is_some() {
            return None;
        }
        let of = self.account.sent.samples.saturating_mul(self.load.receivers as u64);
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
fn beyond(times: &Distribution, limit: u64) -> f64 {
    let first = times.shares.iter().find(|(_, time)| *time > limit);
    first.map_or(0.0, |(share, _)| 1.0 - share)
}

/// That of the slowest who timed anything.
fn slowest<'d>(of: impl IntoIterator<Item = &'d Distribution>) -> Option<&'d Distribution> {
    of.into_iter().filter(|times| times.count > 0).max_by_key(|times| (times.at(0.5), times.most))
}

fn figures(received: &Received, figure: fn(&Window) -> f64) -> Vec<f64> {
    kept(&received.windows).iter().map(figure).collect()
}

/// The arithmetic mean; 0 of none.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The variance of a sample: over n − 1. None of fewer than two.
pub fn variance(values: &[f64]) -> Option<f64> {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (values.len() > 1).then(|| squares / (values.len() - 1) as f64)
}

/// What the variance of so many values lies in with a confidence of 95 %, for
/// values that are normally distributed.
fn interval(variance: f64, count: usize) -> (f64, f64) {
    let freedom = count.saturating_sub(1).max(1) as f64;
    let Ok(chi_squared) = ChiSquared::new(freedom) else { return (0.0, f64::INFINITY) };
    let at = |share: f64| freedom * variance / chi_squared.inverse_cdf(share);
    (at(0.975), at(0.025))
}

struct Facts<'a> {
    cell: &'a Cell<'a>,
    facts: Vec<Fact>,
}

impl Facts<'_> {
    fn add(&mut self, metric: &str, unit: &str, value: f64) {
        self.facts.push(Fact {
            case: self.cell.case.into(),
            subject: self.cell.subject.into(),
            metric: metric.into(),
            unit: unit.into(),
            value,
        });
    }

    fn distribution<'d>(&mut self, metric: &str, of: impl IntoIterator<Item = &'d Distribution>) {
        let Some(times) = slowest(of) else { return };
        for (share, name) in TOLD {
            if let Some(time) = times.at(share) {
                self.add(&format!("{metric}/{name}"), "ns", time as f64);
            }
        }
        self.add(&format!("{metric}/max"), "ns", times.most as f64);
        self.add(&format!("{metric}/count"), "1", times.count as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use wiregauge_participant::control::{About, Sent};
    use wiregauge_participant::window::Windows;

    fn window(span: u64, bytes: u64, samples: u64) -> Window {
        Window { span, bytes, samples, ..Window::default() }
    }

    fn account(windows: Vec<Window>) -> RunRecord {
        let about = About {
            name: "t".into(),
            library: String::new(),
            options: Vec::new(),
            knows: Vec::new(),
        };
        let received = Received { windows, samples: 95, ..Received::default() };
        let sent = Sent { samples: 100, due: Some(110), ..Sent::default() };
        RunRecord { about, round_trips: None, sent, received: vec![received], broken: None }
    }

    const LOAD: Load = Load {
        size: 10,
        cycle: Duration::from_millis(1),
        mode: Mode::Continuous,
        fast: false,
        receivers: 1,
    };

    fn fact(cell: &Cell, metric: &str) -> Option<f64> {
        cell.facts().iter().find(|fact| fact.metric == metric).map(|fact| fact.value)
    }

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
        let account = account(windows);
        let machine = Environment::default();
        let cell =
            Cell { case: "c", load: &LOAD, subject: "t", account: &account, machine: &machine };
        // 34 MB in three seconds, and the mean of 10 and 12 MB/s.
        let near = |metric, wanted: f64| (fact(&cell, metric).unwrap() - wanted).abs() < 1e-9;
        assert!(near("throughput", 34.0 / 3.0) && near("throughput/mean", 11.0));
        assert_eq!((fact(&cell, "offered"), fact(&cell, "variance")), (Some(0.01), Some(2.0)));
        assert_eq!(fact(&cell, "samples"), Some(10.5));
        assert_eq!(fact(&cell, "rate"), Some(7.0));
        assert_eq!((fact(&cell, "lost"), fact(&cell, "unsent")), (Some(5.0), Some(10.0)));
        assert_eq!(kept(&[wrong(), wrong(), wrong(), wrong()]), []);
    }

    /// What a receiver sees of 500 B a millisecond that stands still for 800 ms.
    fn stalled(window: u64, stall: u64) -> Vec<Window> {
        let mut windows = Windows::new(window);
        for due in (0..10_000).map(|at| at * 1_000_000) {
            let stands = (stall..stall + 800_000_000).contains(&due);
            let now = if stands { stall + 800_000_000 } else { due };
            windows.add_due(now, 500, 0, due);
        }
        windows.closed()
    }

    #[test]
    fn distributions_are_told_at_the_percentiles_of_the_gauge() {
        let participants = wiregauge_participant::latency::shares();
        assert_eq!(participants, wiregauge_result::stats::tail::told());
    }

    #[test]
    fn a_stall_makes_no_throughput() {
        let load = Load { size: 500, ..LOAD };
        let machine = Environment::default();
        for window in [300_000_000, 1_000_000_000] {
            // In the windows that count, and in those that are dropped.
            for stall in [5_000_000_000, 2 * window + window / 2] {
                let account = account(stalled(window, stall));
                let (account, machine) = (&account, &machine);
                let cell = Cell { case: "c", load: &load, subject: "t", account, machine };
                let found = fact(&cell, "throughput").unwrap();
                assert!(found <= 0.5 * 1.001 && found > 0.49, "{found} MB/s of 0.5");
                assert!(fact(&cell, "rate").unwrap() <= 1000.0 * 1.001);
            }
        }
        // The reference's way shows it, and is warned of.
        let account = account(stalled(300_000_000, 5_000_000_000));
        let cell =
            Cell { case: "c", load: &load, subject: "t", account: &account, machine: &machine };
        assert!(fact(&cell, "throughput/mean").unwrap() > 0.505);
        let cautions = cell.cautions("T");
        let surplus = |c: &Caution| matches!(c, Caution::Surplus { figure, .. } if figure == "throughput/mean");
        assert!(cautions.len() == 1 && surplus(&cautions[0]), "{cautions:?}");
    }

    #[test]
    fn more_than_a_transport_carries_is_not_offered() {
        // It takes two milliseconds a sample and falls behind for good.
        let mut windows = Windows::new(1_000_000_000);
        (0..5_000).for_each(|at| windows.add_due(at * 2_000_000, 500, 0, at * 1_000_000));
        let arrival = Arrival::of(&windows.closed());
        assert!((arrival.rate() - 500.0).abs() < 1.0, "{}", arrival.rate());
    }

    #[test]
    fn losses_are_told_and_all_is_a_failure() {
        let mut account = account(Vec::new());
        let machine = Environment::default();
        let losses = |account: &RunRecord, drops| {
            let cell = Cell { case: "c", load: &LOAD, subject: "t", account, machine: &machine };
            cell.losses("T", drops)
        };
        let lost = Caution::Lost { cell: "T at c".into(), lost: 5, of: 100 };
        assert_eq!((losses(&account, false), losses(&account, true)), (Some(lost), None));
        account.received[0].samples = 0;
        let failed = losses(&account, true).unwrap();
        assert!(failed.to_string().contains("none of 100 samples arrived"), "{failed}");
        account.received[0].samples = 100;
        assert_eq!(losses(&account, false), None);
    }

    #[test]
    fn what_broke_off_tells_its_windows_and_no_losses() {
        let broken = Some("beta is lost".to_owned());
        let account = RunRecord { broken, ..account(stalled(300_000_000, 0)) };
        let machine = Environment::default();
        let cell =
            Cell { case: "c", load: &LOAD, subject: "t", account: &account, machine: &machine };
        assert_eq!((fact(&cell, "complete"), fact(&cell, "lost")), (Some(0.0), None));
        assert!(fact(&cell, "throughput").is_some() && !cell.measurements().is_empty());
        assert_eq!(account.whole().unwrap_err().to_string(), "beta is lost");
    }

    #[test]
    fn steps_are_counted_with_the_cycle_of_the_last() {
        let cycle = Duration::from_millis(100);
        let load = Load { cycle, mode: Mode::Discrete, ..LOAD };
        let step = Distribution { count: 10, ..Distribution::default() };
        // Ten steps, of which the last ended a millisecond after it began.
        let sent = Sent { samples: 10, span: 901_000_000, step, ..Sent::default() };
        let account = RunRecord { sent, ..account(Vec::new()) };
        let machine = Environment::default();
        let cell =
            Cell { case: "c", load: &load, subject: "t", account: &account, machine: &machine };
        assert_eq!(fact(&cell, "steps"), Some(10.0));
        let fast = Load { fast: true, ..load };
        let steps = fact(&Cell { load: &fast, ..cell }, "steps").unwrap();
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
        let account = account(windows.collect());
        let machine = Environment::default();
        let cell =
            Cell { case: "c", load: &LOAD, subject: "t", account: &account, machine: &machine };
        let fact = |metric| fact(&cell, metric).unwrap();
        assert_eq!((fact("variance"), fact("variance/left-out")), (1.0, 1.0));
        // By the table of the chi-squared distribution of two degrees of freedom.
        assert!((fact("variance/low") - 2.0 / 7.378).abs() < 1e-3);
        assert!((fact("variance/high") - 2.0 / 0.05064).abs() < 1e-2);
    }

    #[test]
    fn the_longest_run_of_misses_is_that_of_the_worst_receiver() {
        let misses = |longest, at| Misses { longest, sequence: 7, at };
        let receiver = |misses| Received { misses, ..Received::default() };
        let received = vec![receiver(misses(2, 5)), receiver(misses(30, 1_500_000_000))];
        let account = RunRecord { received, ..account(Vec::new()) };
        let machine = Environment::default();
        let cell =
            Cell { case: "c", load: &LOAD, subject: "t", account: &account, machine: &machine };
        assert_eq!(fact(&cell, "misses/longest"), Some(30.0));
        assert_eq!(fact(&cell, "misses/longest/at"), Some(1.5));
        assert_eq!(fact(&cell, "misses/longest/sequence"), Some(7.0));
        let told = cell.told_misses("TCP").unwrap();
        assert!(told.contains("TCP: 30 samples in a row") && told.contains("1.500 s"), "{told}");
        let unpaced = Load { cycle: Duration::ZERO, ..LOAD };
        assert_eq!(fact(&Cell { load: &unpaced, ..cell }, "misses/longest"), None);
        let none = RunRecord { received: vec![receiver(Misses::default())], ..account.clone() };
        let cell = Cell { account: &none, load: &LOAD, ..cell };
        assert_eq!(fact(&cell, "misses/longest"), Some(0.0));
        assert_eq!((fact(&cell, "misses/longest/at"), cell.told_misses("TCP")), (None, None));
    }

    #[test]
    fn the_slowest_receiver_is_told_from_the_others() {
        let times = |p50| Distribution { count: 9, shares: vec![(0.5, p50)], ..Default::default() };
        let receiver = |p50| {
            let window = Window { times: times(p50), ..window(1_000_000_000, 10, 1) };
            Received { windows: vec![window; 5], latency: times(p50), ..Received::default() }
        };
        let received = [10, 30, 20].map(receiver).to_vec();
        let account = RunRecord { received, ..account(Vec::new()) };
        let machine = Environment::default();
        let cell =
            Cell { case: "c", load: &LOAD, subject: "t", account: &account, machine: &machine };
        let slowest = cell.slowest().unwrap();
        assert_eq!((slowest.metric.as_str(), slowest.unit.as_str()), ("slowest latency", "ns"));
        assert_eq!((slowest.samples, slowest.iterations), (vec![vec![Some(30.0)]], vec![1]));
        let account = RunRecord { received: Vec::new(), ..account.clone() };
        assert_eq!(Cell { account: &account, ..cell }.slowest(), None);
    }

    #[test]
    fn the_phases_add_up_to_the_cycle() {
        let phases = Phases::new(100.0, 20.0, 50.0, 10.0, 200.0);
        assert_eq!((phases.write, phases.wire, phases.wake_up), (20.0, 20.0, 10.0));
        assert_eq!(phases.sum(), 350.0);
        // It arrived before the call had returned, or sooner than a wake-up takes.
        let phases = Phases::new(100.0, 60.0, 50.0, 10.0, 200.0);
        assert_eq!((phases.write, phases.wire, phases.wake_up), (50.0, 0.0, 0.0));
        let phases = Phases::new(100.0, 20.0, 25.0, 10.0, 200.0);
        assert_eq!((phases.write, phases.wire, phases.wake_up), (20.0, 0.0, 5.0));
    }

    #[test]
    fn a_stolen_cpu_and_a_missed_pace_make_a_run_invalid() {
        let mut account = account(Vec::new());
        let mut machine = Environment::default();
        let check = |account: &RunRecord, machine: &Environment| {
            let cell = Cell { case: "c", load: &LOAD, subject: "t", account, machine };
            assert_eq!(fact(&cell, "valid") == Some(0.0), cell.invalid().is_some());
            cell.invalid().map(|(reason, _)| reason)
        };
        assert_eq!(check(&account, &machine), None);
        machine.activity.steal = Some(0.02);
        assert!(check(&account, &machine).unwrap().contains("2.0 %"));
        machine.activity.steal = None;
        account.sent.lateness.shares = vec![(0.5, 1000), (0.99, 1_500_000)];
        assert!(check(&account, &machine).unwrap().contains("1.0 % of the samples"));
        // It was the transport that took the time.
        account.sent.write.mean = 900_000.0;
        assert_eq!(check(&account, &machine), None);
    }
}
