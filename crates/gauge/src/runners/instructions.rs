//! How many instructions an experiment takes for a message, by two lengths of its loop:
//! what is the same in both, as the reading of the clock, cancels.

use std::fmt::Display;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use wiregauge_child_process::child::Limits;
use wiregauge_child_process::runner::{Launch, Runner, RunnerError};
use wiregauge_instructions::{Count, Counted, Counter};
use wiregauge_result::run::Fact;

use crate::runners::contender::{load_all, Epoch, RunnerContender};
use crate::runners::plan::Sample;

/// How many times as long everything may take when it is counted.
const SLOWDOWN: u32 = 100;

/// Instructions that the shorter loop is to have: an allocator has its turns, too.
const LOOP: u64 = 2_000_000;
/// The most turns of all messages in it.
const MAX_TURNS: u64 = 1000;
/// The most pairs of readings of the clock in it, roughly.
const MAX_PAIRS: u64 = 100;
/// How often each loop is run. The least of them counts: where the heap lies in another way,
/// it takes some percent more to move what grows, often in every second loop.
const REPEATS: usize = 3;
/// How many times the least the same loop may take.
const REPEATABLE: f64 = 1.1;

/// The instructions of each experiment of each subject, or why they cannot be counted. As
/// many are counted at the same time as there are processors: it changes no number. `show`
/// is told how many are done.
pub fn count_all(
    counter: &Counter,
    contenders: &[RunnerContender],
    show: &dyn Fn(usize),
) -> Vec<Result<Vec<Fact>, RunnerError>> {
    let workers = thread::available_parallelism().map_or(1, |n| n.get().min(contenders.len()));
    let next = AtomicUsize::new(0);
    let (sender, outcomes) = mpsc::channel();
    let mut all: Vec<_> = contenders.iter().map(|_| Ok(Vec::new())).collect();
    thread::scope(|scope| {
        for _ in 0..workers {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(contender) = contenders.get(index) else { break };
                // Whoever receives does so until all senders are gone.
                let _ = sender.send((index, count(counter, contender)));
            });
        }
        drop(sender);
        show(0);
        for (done, (index, outcome)) in outcomes.into_iter().enumerate() {
            all[index] = outcome;
            show(done + 1);
        }
    });
    all
}

/// The instructions of each experiment of a subject.
fn count(counter: &Counter, contender: &RunnerContender) -> Result<Vec<Fact>, RunnerError> {
    let plan = contender.plan;
    let Some(launch) = contender.runner() else { return Ok(Vec::new()) };
    if contender.compiles {
        return Err(refused("it compiles while it runs, so no two runs execute the same"));
    }
    let mut process = CountedProcess::start(counter, launch, plan.patience * SLOWDOWN)?;
    let mut facts = Vec::new();
    for (case, load) in plan.cases.iter().enumerate() {
        process.load(&load.samples)?;
        for cell in contender.cells.iter().filter(|cell| cell.case == case) {
            let experiment = &plan.experiments[cell.experiment];
            let epoch = Epoch { plan, case, experiment, wanted: contender.expected(case) };
            let value = process.count_message(&epoch)?;
            let each = load.case.elements.map(|elements| value / elements);
            let figures = [("instructions", Some(value)), ("instructions-per-element", each)];
            facts.extend(figures.into_iter().filter_map(|(name, value)| {
                Some(Fact {
                    case: load.case.id.clone(),
                    subject: launch.id.clone(),
                    metric: format!("{name}/{}", experiment.metric),
                    unit: "1".into(),
                    value: value?,
                })
            }));
        }
    }
    Ok(facts)
}

/// A runner whose instructions are counted.
struct CountedProcess {
    count: Count,
    runner: Runner,
    /// Instructions of a loop of no messages: of the readings of the clock.
    clock: f64,
}

impl CountedProcess {
    fn start(
        counter: &Counter,
        launch: &Launch,
        patience: Duration,
    ) -> Result<CountedProcess, RunnerError> {
        let count = counter.count(launch).map_err(refused)?;
        let runner = Runner::start(&count.launch, Limits::default(), None, patience)?;
        let mut process = CountedProcess { count, runner, clock: 0.0 };
        process.forget()?;
        process.runner.greet()?;
        process.runner.await_idle()?;
        process.count.learn_idle_readings().map_err(refused)?;
        Ok(process)
    }

    /// Loads messages in place of others; what that took is not counted.
    fn load(&mut self, samples: &[Sample]) -> Result<(), RunnerError> {
        load_all(&mut self.runner, samples)?;
        self.forget()
    }

    /// Forgets what was counted until now.
    fn forget(&mut self) -> Result<(), RunnerError> {
        self.runner.await_idle()?;
        self.count.skip().map_err(refused)
    }

    /// Instructions of an experiment for a message, in the mean of all messages.
    fn count_message(&mut self, epoch: &Epoch) -> Result<f64, RunnerError> {
        let turn = epoch.pace().messages;
        // What is allocated once, is now.
        let first = self.run(epoch, turn)?;
        let turns = LOOP.div_ceil(first.timed.max(1)).min(MAX_TURNS);
        // Each pair of readings writes a file.
        let messages = turn
            * if first.pairs == 1 { turns } else { turns.min(MAX_PAIRS.div_ceil(first.pairs)) };
        let (once, twice) =
            (self.run_least(epoch, messages)?, self.run_least(epoch, 2 * messages)?);
        let instructions = twice.timed.saturating_sub(once.timed) as f64;
        let pairs = twice.pairs.saturating_sub(once.pairs) as f64;
        if pairs == 0.0 {
            self.clock = (once.timed as f64 - instructions).max(0.0);
        }
        Ok((instructions - pairs * self.clock).max(0.0) / messages as f64)
    }

    /// The least that an epoch of so many messages takes.
    fn run_least(&mut self, epoch: &Epoch, messages: u64) -> Result<Counted, RunnerError> {
        let mut least = self.run(epoch, messages)?;
        let mut most = least.timed;
        for _ in 1..REPEATS {
            let again = self.run(epoch, messages)?;
            most = most.max(again.timed);
            if again.timed < least.timed {
                least = again;
            }
        }
        let name = &epoch.experiment.metric;
        if most as f64 > least.timed as f64 * REPEATABLE {
            return Err(refused(format!(
                "{name} of the same messages took {} instructions and also {most}",
                least.timed
            )));
        }
        // A phase may have more to prepare than to do.
        let is_whole = !name.contains('/');
        if is_whole && least.timed >= LOOP && least.timed < least.all / 2 {
            return Err(refused(format!(
                "{name} executes most of its instructions where no time is taken"
            )));
        }
        Ok(least)
    }

    fn run(&mut self, epoch: &Epoch, messages: u64) -> Result<Counted, RunnerError> {
        epoch.run(&mut self.runner, messages, None)?;
        self.runner.await_idle()?;
        self.count.take().map_err(refused)
    }
}

fn refused(error: impl Display) -> RunnerError {
    RunnerError::Refused(format!("{error:#}"))
}
