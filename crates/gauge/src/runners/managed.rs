//! What runners of managed languages are asked beside: how many epochs they take to
//! warm up, what the first messages of a process cost, and how much of the time is
//! the collection of garbage.

use wiregauge_child_process::child::Limits;
use wiregauge_child_process::runner::{Launch, Runner, RunnerError};
use wiregauge_result::run::Fact;

use crate::runners::plan::{Load, Plan};
use crate::schedule;

/// The most processes that are started for what is cold.
const PROCESSES: u32 = 3;
/// What is called the first thousand.
const THOUSAND: u64 = 1000;
/// The longest that a thousand messages may take, in nanoseconds: what is dearer has
/// no figure of them.
const LONGEST: f64 = 2e9;
/// How long garbage is counted for, in nanoseconds; some languages tell it in
/// milliseconds.
const GARBAGE_TIME_NS: f64 = 3e8;
/// How long a message is repeated before, since what is cold collects less.
const GARBAGE_WARM_UP_NS: f64 = 3e8;
/// An epoch is faster than another where it takes less than this part of its time.
const FASTER_RATIO: f64 = 0.97;
/// So many epochs in a row that are not faster show that it is warm, if they take so
/// many nanoseconds: a compiler that works beside needs time, not epochs.
const STEADY_EPOCHS: u32 = 3;
const STEADY: f64 = 5e7;

/// What part of the time of a process's samples warming up may take besides.
pub const WARM_UP_SHARE: f64 = 0.5;
/// How many epochs' time it may take in each process besides.
const MIN_WARM_UP_EPOCHS: f64 = 500.0;
/// What part of the time that is left for it an experiment may take: the first compile
/// most for those that follow.
const EXPERIMENT_SHARE: f64 = 1.0 / 3.0;

/// Nanoseconds that a process has to warm up however short its samples are.
pub fn min_warm_up_ns(epoch_ns: u64) -> f64 {
    MIN_WARM_UP_EPOCHS * epoch_ns as f64
}

/// Those that an experiment has of what is left, where its own samples take so many.
pub fn warm_up_share(left: f64, samples: f64) -> f64 {
    (left * EXPERIMENT_SHARE).max(left.min(samples * WARM_UP_SHARE))
}

/// How a cell warmed up, in the process that took longest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WarmUp {
    /// Whether epochs still became faster when the time for it was over.
    pub is_cut: bool,
    /// Epochs until they became no faster.
    pub epochs: u32,
}

/// How long epochs should be, where they have to be found.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// How long each should be, in nanoseconds.
    pub epoch_ns: f64,
    /// Messages that take turns: an epoch is whole turns of them.
    pub messages: u64,
}

impl Pace {
    /// How many messages to try next where so many took `ns`.
    pub fn more_iterations(&self, iterations: u64, ns: f64) -> u64 {
        schedule::more_iterations(iterations, ns, self.epoch_ns).next_multiple_of(self.messages)
    }
}

/// Warms up by epochs, whose nanoseconds `epoch` tells of so many messages, until a
/// message becomes no faster or they took so many nanoseconds. Epochs begin short, since
/// code that is not compiled yet is many times as slow, and grow as it becomes faster.
/// Says how many nanoseconds all took, too.
pub fn warm_up(
    time: f64,
    pace: Pace,
    mut epoch: impl FnMut(u64) -> Result<f64, RunnerError>,
) -> Result<(WarmUp, f64), RunnerError> {
    let (mut best, mut took, mut epochs, mut fastest) = (f64::INFINITY, 0.0, 0, 0);
    let (mut steady, mut iterations) = (0.0, pace.messages);
    loop {
        let ns = epoch(iterations)?;
        let each = ns / iterations as f64;
        epochs += 1;
        took += ns;
        steady += ns;
        if each < best * FASTER_RATIO {
            fastest = epochs;
            steady = 0.0;
        }
        best = best.min(each);
        if epochs - fastest >= STEADY_EPOCHS && steady >= STEADY {
            return Ok((WarmUp { is_cut: false, epochs: fastest }, took));
        }
        if took >= time || iterations >= schedule::MOST {
            return Ok((WarmUp { is_cut: true, epochs }, took));
        }
        if ns < pace.epoch_ns {
            iterations = pace.more_iterations(iterations, ns.max(1.0));
        }
    }
}

/// The figures of a runner that is not measured yet; none where its language is not
/// managed.
pub fn facts(plan: &Plan, launch: &Launch, is_bound: bool) -> Result<Vec<Fact>, RunnerError> {
    let mut facts = Vec::new();
    for load in plan.cases.iter().filter(|_| !is_bound) {
        let mut figures: Vec<(String, &str, Vec<f64>)> = Vec::new();
        for number in 0..plan.settings.processes.min(PROCESSES) {
            let mut runner = Runner::start(launch, Limits::default(), None, plan.patience)?;
            if !runner.hello.managed {
                return Ok(facts);
            }
            for (metric, unit, value) in measure_process(plan, load, &mut runner, number == 0)? {
                match figures.iter_mut().find(|(name, ..)| *name == metric) {
                    Some((_, _, values)) => values.push(value),
                    None => figures.push((metric, unit, vec![value])),
                }
            }
        }
        for (metric, unit, mut values) in figures {
            values.sort_by(f64::total_cmp);
            let (case, subject) = (load.case.id.clone(), launch.id.clone());
            let value = values[values.len() / 2];
            facts.push(Fact { case, subject, metric, unit: unit.into(), value });
        }
    }
    Ok(facts)
}

/// The figures of one process, which has done nothing yet. To ask for the garbage takes
/// most of the time: one is asked.
fn measure_process(
    plan: &Plan,
    load: &Load,
    runner: &mut Runner,
    is_asked: bool,
) -> Result<Vec<(String, &'static str, f64)>, RunnerError> {
    let mut figures = Vec::new();
    let Some(sample) = load.samples.first() else { return Ok(figures) };
    let wire = runner.message(&sample.canonical)?;
    runner.decode(&wire)?;
    let (encode, decode) = runner.cold()?;
    for (name, first) in [("encode", encode), ("decode", decode)] {
        figures.push((format!("cold/{name}"), "ns", first));
        // The first may be dear, the next tells what others cost.
        let mut each = runner.run(name, 1, &plan.lifetimes(), None)?.ns;
        if each * THOUSAND as f64 <= LONGEST {
            each += runner.run(name, THOUSAND - 1, &plan.lifetimes(), None)?.ns;
            each /= THOUSAND as f64;
            figures.push((format!("cold/{name}/thousand"), "ns", each));
        }
        if !is_asked {
            continue;
        }
        let mut heated = 0.0;
        while heated < GARBAGE_WARM_UP_NS {
            let iterations = (GARBAGE_WARM_UP_NS / 4.0 / each.max(1.0)).clamp(1.0, 1e6) as u64;
            let ns = runner.run(name, iterations, &plan.lifetimes(), None)?.ns;
            each = ns / iterations as f64;
            heated += ns;
        }
        let iterations = (GARBAGE_TIME_NS / each.max(1.0)).clamp(8.0, 1e7) as u64;
        let counted = runner.collections(name, iterations, &plan.lifetimes())?;
        figures.push((format!("collecting/{name}"), "1", counted.collecting / counted.ns));
    }
    Ok(figures)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of epochs of one message in units of a third of what has to be steady, the last
    /// for ever.
    fn simulate(epochs: &[f64], time: f64) -> WarmUp {
        let unit = STEADY / 3.0;
        let last = epochs.last().copied().unwrap_or(1.0);
        let mut epochs = epochs.iter().copied().chain(std::iter::repeat(last));
        let pace = Pace { epoch_ns: 0.0, messages: 1 };
        warm_up(time * unit, pace, |_| Ok(epochs.next().unwrap_or(1.0) * unit))
            .expect("nothing fails")
            .0
    }

    #[test]
    fn it_is_warm_where_epochs_become_no_faster() {
        assert_eq!(simulate(&[9.0, 5.0, 5.0, 4.9, 5.1], 1e9), WarmUp { is_cut: false, epochs: 2 });
        assert_eq!(simulate(&[1.0], 1e9), WarmUp { is_cut: false, epochs: 1 });
        // Short ones show it only together: a compiler may still be at work.
        let short: Vec<f64> = [0.1; 20].into_iter().chain([0.05; 9]).collect();
        assert_eq!(simulate(&short, 1e9), WarmUp { is_cut: false, epochs: 21 });
    }

    #[test]
    fn what_does_not_become_steady_is_said_to_be_so() {
        let falling: Vec<f64> = (0..1100).map(|n| 0.96_f64.powi(n)).collect();
        assert_eq!(simulate(&falling, 20.0), WarmUp { is_cut: true, epochs: 40 });
        assert_eq!(simulate(&[9.0, 8.0, 7.0], 17.0), WarmUp { is_cut: true, epochs: 2 });
    }

    #[test]
    fn epochs_grow_as_code_becomes_fast() {
        // Ten thousand messages take 3 µs each, all others 100 ns.
        let (mut done, mut longest) = (0, 0.0_f64);
        let pace = Pace { epoch_ns: 2e6, messages: 3 };
        let warm = warm_up(1e9, pace, |iterations| {
            assert_eq!(iterations % 3, 0);
            let slow = iterations.min(10_000_u64.saturating_sub(done));
            done += iterations;
            let ns = slow as f64 * 3e3 + (iterations - slow) as f64 * 100.0;
            longest = if slow > 0 { longest.max(ns) } else { longest };
            Ok(ns)
        });
        let (warm, _) = warm.expect("nothing fails");
        assert!(!warm.is_cut && warm.epochs > STEADY_EPOCHS, "{warm:?}");
        // Slow ones made no long epoch, and what is steady comes behind them.
        assert!(longest < 4e6, "{longest}");
        assert!(done > 10_000 + (STEADY / 100.0) as u64, "{done}");
    }
}
