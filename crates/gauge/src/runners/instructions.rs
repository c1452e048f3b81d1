//! How many instructions an experiment takes for a message, by two lengths of its loop:
//! what is the same in both, as the reading of the clock, cancels.

use std::fmt::Display;
use std::iter;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use wiregauge_child_process::child::Limits;
use wiregauge_child_process::runner::{Launch, Runner, RunnerError};
use wiregauge_instructions::memory::MemoryCounter;
use wiregauge_instructions::profile::Profile;
use wiregauge_instructions::store_reads::AccessTrace;
use wiregauge_instructions::{Count, Counted, Counter};
use wiregauge_result::explanation::{Explanation, StoreReads};
use wiregauge_result::run::Fact;

use crate::runners::contender::{load_all, Epoch, RunnerContender};
use crate::runners::explanation::explain;
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
/// The same of a loop of so many instructions: half a second, in which a heap has had its turns.
const LONG_LOOP: u64 = 20_000_000;
const LONG_REPEATS: usize = 2;
/// Most instructions for a message of which each read and write is looked at: a million takes
/// about a second, and three messages are needed.
const MOST_TRACED: f64 = 4_000_000.0;
/// How many times the least the same loop may take.
const REPEATABLE: f64 = 1.1;

/// What was counted of a subject.
#[derive(Default)]
pub struct SubjectCounts {
    /// Instructions of each experiment.
    pub facts: Vec<Fact>,
    /// Where they were executed, if that is to be explained.
    pub explanations: Vec<Explanation>,
}

/// The instructions of each experiment of each subject, or why they cannot be counted. As
/// many are counted at the same time as there are processors: it changes no number. `show`
/// is told how many are done.
pub fn count_all(
    counter: &Counter,
    contenders: &[RunnerContender],
    show: &dyn Fn(usize),
) -> Vec<Result<SubjectCounts, RunnerError>> {
    let workers = thread::available_parallelism().map_or(1, |n| n.get().min(contenders.len()));
    let next = AtomicUsize::new(0);
    let (sender, outcomes) = mpsc::channel();
    let mut all: Vec<_> = contenders.iter().map(|_| Ok(SubjectCounts::default())).collect();
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
fn count(counter: &Counter, contender: &RunnerContender) -> Result<SubjectCounts, RunnerError> {
    let plan = contender.plan;
    let mut counts = SubjectCounts::default();
    let Some(launch) = contender.runner() else { return Ok(counts) };
    if contender.compiles {
        return Err(refused("it compiles while it runs, so no two runs execute the same"));
    }
    let explained = plan.explained.as_ref().filter(|all| all.subjects.contains(&launch.id));
    let count = counter.count(launch, explained.is_some()).map_err(refused)?;
    let mut process = CountedProcess::start(count, plan.patience * SLOWDOWN)?;
    process.is_explained = explained.is_some();
    let start = |counter: &MemoryCounter| {
        CountedProcess::start(counter.count(launch).map_err(refused)?, plan.patience)
    };
    let mut memory = explained.map(|explained| start(&explained.memory)).transpose()?;
    if let Some(memory) = &mut memory {
        memory.is_explained = true;
    }
    for (case, load) in plan.cases.iter().enumerate() {
        for process in iter::once(&mut process).chain(&mut memory) {
            process.load(&load.samples)?;
        }
        // Started where it has something to count, as its start is traced, too.
        let mut traced = None;
        for cell in contender.cells.iter().filter(|cell| cell.case == case) {
            let experiment = &plan.experiments[cell.experiment];
            let epoch = Epoch { plan, case, experiment, wanted: contender.expected(case) };
            let counted = process.count_message(&epoch)?;
            let value = counted.instructions;
            let each = load.case.elements.map(|elements| value / elements);
            let figures = [("instructions", Some(value)), ("instructions-per-element", each)];
            counts.facts.extend(figures.into_iter().filter_map(|(name, value)| {
                Some(Fact {
                    case: load.case.id.clone(),
                    subject: launch.id.clone(),
                    metric: format!("{name}/{}", experiment.metric),
                    unit: "1".into(),
                    value: value?,
                })
            }));
            if let Some(memory) = &mut memory {
                let used = memory.count_memory(&epoch, counted.messages)?;
                let of = (load.case.id.as_str(), launch.id.as_str(), experiment.metric.as_str());
                let mut explanation = explain(of, &counted.profile, &used, counted.messages);
                let is_whole = !experiment.metric.contains('/');
                if is_whole && counted.instructions <= MOST_TRACED {
                    if traced.is_none() {
                        traced = TracedProcess::start(counter, launch, &epoch)?;
                    }
                    let count = |traced: &mut TracedProcess| traced.count_message(&epoch);
                    explanation.store_reads = traced.as_mut().map(count).transpose()?;
                }
                counts.explanations.push(explanation);
            }
        }
    }
    Ok(counts)
}

/// A runner with the first message of a case, whose reads of what was written just before are
/// counted: each instruction is written down and read.
struct TracedProcess {
    trace: AccessTrace,
    runner: Runner,
}

impl TracedProcess {
    /// Nothing where the counter is no valgrind.
    fn start(
        counter: &Counter,
        launch: &Launch,
        epoch: &Epoch,
    ) -> Result<Option<TracedProcess>, RunnerError> {
        let Counter::Callgrind(valgrind) = counter else { return Ok(None) };
        let trace = AccessTrace::prepare(valgrind, launch).map_err(refused)?;
        let patience = epoch.plan.patience * SLOWDOWN;
        let mut runner = Runner::start(&trace.launch, Limits::default(), None, patience)?;
        runner.greet()?;
        let samples = &epoch.plan.cases[epoch.case].samples;
        load_all(&mut runner, samples.get(..1).unwrap_or_default())?;
        Ok(Some(TracedProcess { trace, runner }))
    }

    /// Reads for a message: what two take more than one.
    fn count_message(&mut self, epoch: &Epoch) -> Result<StoreReads, RunnerError> {
        // The sums of all messages are not those of the first.
        let Epoch { plan, case, experiment, .. } = *epoch;
        let epoch = Epoch { plan, case, experiment, wanted: None };
        let mut count = |messages| {
            self.runner.await_idle()?;
            self.trace.take().map_err(refused)?;
            epoch.run(&mut self.runner, messages, None)?;
            self.runner.await_idle()?;
            self.trace.take().map_err(refused)
        };
        let (one, two) = (count(1)?, count(2)?);
        let more = |two: u64, one: u64| two.saturating_sub(one) as f64;
        Ok(StoreReads {
            forwarded: more(two.forwarded, one.forwarded),
            blocked: more(two.blocked, one.blocked),
        })
    }
}

/// What was counted of an experiment.
struct MessageCount {
    /// Instructions for a message.
    instructions: f64,
    /// Messages that the profile is of.
    messages: u64,
    /// Where they were executed; nothing unless that is to be explained.
    profile: Profile,
}

/// What a loop took.
struct LoopCount {
    counted: Counted,
    profile: Profile,
}

impl LoopCount {
    /// What it took more than a shorter one.
    fn profile_beyond(mut self, shorter: &LoopCount) -> Result<Profile, RunnerError> {
        self.profile.add(&shorter.profile, -1).map_err(refused)?;
        Ok(self.profile)
    }
}

/// A runner whose instructions are counted.
struct CountedProcess {
    count: Count,
    runner: Runner,
    /// Instructions of a loop of no messages: of the readings of the clock.
    clock: f64,
    /// The same by function.
    clock_profile: Profile,
    /// Whether functions are told apart.
    is_explained: bool,
}

impl CountedProcess {
    fn start(count: Count, patience: Duration) -> Result<CountedProcess, RunnerError> {
        let runner = Runner::start(&count.launch, Limits::default(), None, patience)?;
        let clock_profile = Profile::default();
        let mut process =
            CountedProcess { count, runner, clock: 0.0, clock_profile, is_explained: false };
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
    fn count_message(&mut self, epoch: &Epoch) -> Result<MessageCount, RunnerError> {
        let turn = epoch.pace().messages;
        // What is allocated once, is now.
        let first = self.run(epoch, turn)?.counted;
        let turns = LOOP.div_ceil(first.timed.max(1)).min(MAX_TURNS);
        // Each pair of readings writes a file.
        let messages = turn
            * if first.pairs == 1 { turns } else { turns.min(MAX_PAIRS.div_ceil(first.pairs)) };
        let (once, twice) =
            (self.run_least(epoch, messages)?, self.run_least(epoch, 2 * messages)?);
        let (one, two) = (once.counted, twice.counted);
        let mut profile = twice.profile_beyond(&once)?;
        let instructions = two.timed.saturating_sub(one.timed) as f64;
        let pairs = two.pairs.saturating_sub(one.pairs);
        if pairs == 0 {
            self.clock = (one.timed as f64 - instructions).max(0.0);
            self.clock_profile = once.profile;
            self.clock_profile.add(&profile, -1).map_err(refused)?;
        } else if self.is_explained {
            let times = i64::try_from(pairs).unwrap_or(i64::MAX);
            profile.add(&self.clock_profile, -times).map_err(refused)?;
        }
        let instructions = (instructions - pairs as f64 * self.clock).max(0.0) / messages as f64;
        Ok(MessageCount { instructions, messages, profile })
    }

    /// What an experiment of so many messages copies and allocates.
    fn count_memory(&mut self, epoch: &Epoch, messages: u64) -> Result<Profile, RunnerError> {
        // What is allocated once, is now.
        self.run(epoch, epoch.pace().messages)?;
        let mut least = |messages| -> Result<LoopCount, RunnerError> {
            let mut least = self.run(epoch, messages)?;
            for _ in 1..REPEATS {
                let again = self.run(epoch, messages)?;
                // Where a block can grow in its place, nothing is copied.
                if again.counted.timed < least.counted.timed {
                    least = again;
                }
            }
            Ok(least)
        };
        let once = least(messages)?;
        least(2 * messages)?.profile_beyond(&once)
    }

    /// The least that an epoch of so many messages takes.
    fn run_least(&mut self, epoch: &Epoch, messages: u64) -> Result<LoopCount, RunnerError> {
        let mut least = self.run(epoch, messages)?;
        let mut most = least.counted.timed;
        let repeats = if most < LONG_LOOP { REPEATS } else { LONG_REPEATS };
        for _ in 1..repeats {
            let again = self.run(epoch, messages)?;
            most = most.max(again.counted.timed);
            if again.counted.timed < least.counted.timed {
                least = again;
            }
        }
        let counted = least.counted;
        let name = &epoch.experiment.metric;
        if most as f64 > counted.timed as f64 * REPEATABLE {
            return Err(refused(format!(
                "{name} of the same messages took {} instructions and also {most}",
                counted.timed
            )));
        }
        // A phase may have more to prepare than to do.
        let is_whole = !name.contains('/');
        if is_whole && counted.timed >= LOOP && counted.timed < counted.all / 2 {
            return Err(refused(format!(
                "{name} executes most of its instructions where no time is taken"
            )));
        }
        Ok(least)
    }

    fn run(&mut self, epoch: &Epoch, messages: u64) -> Result<LoopCount, RunnerError> {
        epoch.run(&mut self.runner, messages, None)?;
        self.runner.await_idle()?;
        let (counted, profile) = match self.is_explained {
            true => self.count.take_profile(),
            false => self.count.take().map(|counted| (counted, Profile::default())),
        }
        .map_err(refused)?;
        Ok(LoopCount { counted, profile })
    }
}

fn refused(error: impl Display) -> RunnerError {
    RunnerError::Refused(format!("{error:#}"))
}
