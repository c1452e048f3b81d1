//! The measurement itself: proof, calibration, then interleaved rounds over
//! restarted processes.

use std::time::{Duration, Instant};

use anyhow::{bail, Result};

use crate::check;
use crate::compress::{squeeze, Compressor};
use crate::interrupt;
use crate::plan::{Entrant, Experiment, Load, Plan, Sample};
use crate::process::{Broken, Limits};
use crate::random::Random;
use crate::robustness;
use crate::run::{Case, Fact, Measurement, Status, Subject};
use crate::runner::{Runner, Spec, Trouble};

/// Repetitions of the compressors, which are not what is measured.
const SQUEEZES: usize = 5;

/// What a measurement tells of its progress: what it does, and how much of how
/// much is done.
pub type Progress<'a> = &'a dyn Fn(&str, usize, usize);

/// What was measured.
pub struct Measured {
    /// The subjects with their final status.
    pub subjects: Vec<Subject>,
    /// The samples.
    pub measurements: Vec<Measurement>,
    /// Sizes, allocations, robustness.
    pub facts: Vec<Fact>,
    /// Rounds in each process.
    pub rounds: u32,
}

/// Carries out a plan. A subject that fails is marked and left out from there
/// on; an error is one that concerns all, such as an interruption.
pub fn measure(plan: &Plan, progress: Progress) -> Result<Measured> {
    let mut session = Session::new(plan);
    let began = Instant::now();
    session.prove(progress)?;
    session.count_allocations(progress)?;
    session.corrupt(progress)?;
    let left = plan.time.saturating_sub(began.elapsed());
    let rounds = session.rounds(left);
    session.sample(rounds, progress)?;
    Ok(session.finish(rounds))
}

/// One subject during the measurement.
struct Contender<'a> {
    entrant: &'a Entrant,
    subject: Subject,
    /// One for each experiment that its runner can do, on each case.
    cells: Vec<Cell>,
}

/// One experiment of one subject on one case.
struct Cell {
    case: usize,
    experiment: usize,
    /// Messages per epoch.
    iterations: u64,
    /// Nanoseconds that an epoch took in calibration.
    epoch_ns: f64,
    samples: Vec<Vec<Option<f64>>>,
}

struct Session<'a> {
    plan: &'a Plan,
    contenders: Vec<Contender<'a>>,
    measurements: Vec<Measurement>,
    facts: Vec<Fact>,
    random: Random,
}

impl<'a> Session<'a> {
    fn new(plan: &'a Plan) -> Session<'a> {
        let contenders = plan
            .entrants
            .iter()
            .map(|entrant| Contender {
                entrant,
                subject: entrant.subject.clone(),
                cells: Vec::new(),
            })
            .collect();
        Session {
            plan,
            contenders,
            measurements: Vec::new(),
            facts: Vec::new(),
            random: Random::new(plan.settings.seed),
        }
    }

    /// Every subject shows on every case that it is right, and how long its
    /// epochs have to be.
    fn prove(&mut self, progress: Progress) -> Result<()> {
        let total = self.contenders.len();
        for index in 0..total {
            interrupt::check()?;
            let contender = &mut self.contenders[index];
            progress(&format!("proving {}", contender.subject.title), index, total);
            let Some(spec) = contender.runner() else { continue };
            let outcome =
                prove_one(self.plan, contender, spec, &mut self.facts, &mut self.measurements);
            contender.settle(outcome)?;
        }
        Ok(())
    }

    fn count_allocations(&mut self, progress: Progress) -> Result<()> {
        let Some(counter) = &self.plan.counter else { return Ok(()) };
        let total = self.contenders.len();
        for (index, contender) in self.contenders.iter_mut().enumerate() {
            interrupt::check()?;
            progress(&format!("counting allocations of {}", contender.subject.title), index, total);
            let Some(spec) = contender.runner() else { continue };
            let facts = &mut self.facts;
            let mut count = || -> Result<(), Trouble> {
                let preload = Some((counter, &[][..]));
                let mut runner =
                    Runner::start(spec, Limits::default(), preload, self.plan.patience)?;
                for load in &self.plan.cases {
                    load_all(&mut runner, self.plan, &load.samples)?;
                    for experiment in ["encode", "decode", "project"] {
                        // A runner in another language may not count.
                        let Ok((count, bytes)) = runner.allocations(experiment) else {
                            return Ok(());
                        };
                        for (metric, unit, value) in
                            [("allocations", "1", count), ("allocated", "B", bytes)]
                        {
                            facts.push(Fact {
                                case: load.case.id.clone(),
                                subject: spec.id.clone(),
                                metric: format!("{metric}/{experiment}"),
                                unit: unit.into(),
                                value,
                            });
                        }
                    }
                }
                Ok(())
            };
            let outcome = count();
            contender.settle(outcome)?;
        }
        Ok(())
    }

    fn corrupt(&mut self, progress: Progress) -> Result<()> {
        if self.plan.corruptions == 0 {
            return Ok(());
        }
        let total = self.contenders.len();
        for (index, contender) in self.contenders.iter_mut().enumerate() {
            interrupt::check()?;
            progress(&format!("corrupting {}", contender.subject.title), index, total);
            let Some(spec) = contender.runner() else { continue };
            if contender.subject.bound {
                continue;
            }
            let facts = &mut self.facts;
            let mut feed = || -> Result<(), Trouble> {
                for load in &self.plan.cases {
                    let Some(sample) = load.samples.first() else { continue };
                    let mut runner =
                        Runner::start(spec, Limits::default(), None, self.plan.patience)?;
                    let wire = runner.message(&sample.canonical)?;
                    let tally = robustness::corrupt(
                        spec,
                        self.plan.counter.as_ref(),
                        &wire,
                        &sample.canonical,
                        self.plan.corruptions,
                        self.plan.settings.seed,
                    )?;
                    facts.extend(tally.facts(&load.case.id, &spec.id));
                }
                Ok(())
            };
            let outcome = feed();
            contender.settle(outcome)?;
        }
        Ok(())
    }

    /// Rounds per process that fit into the time.
    fn rounds(&self, left: Duration) -> u32 {
        let settings = &self.plan.settings;
        let round_ns: f64 =
            self.contenders.iter().flat_map(|c| &c.cells).map(|cell| cell.epoch_ns).sum();
        let fitting = left.as_nanos() as f64 / (round_ns * f64::from(settings.processes)).max(1.0);
        (fitting as u32).clamp(settings.rounds, self.plan.most_rounds.max(settings.rounds))
    }

    /// The interleaved rounds.
    fn sample(&mut self, rounds: u32, progress: Progress) -> Result<()> {
        let plan = self.plan;
        let processes = plan.settings.processes;
        let cells = u64::from(processes) * u64::from(rounds);
        for contender in &mut self.contenders {
            for cell in &mut contender.cells {
                let least = plan.least_iterations.div_ceil(cells);
                let messages = plan.cases[cell.case].samples.len() as u64;
                cell.iterations = cell.iterations.max(least.next_multiple_of(messages));
                cell.samples = vec![Vec::with_capacity(rounds as usize); processes as usize];
            }
        }
        let total = processes as usize * plan.cases.len() * rounds as usize;
        let mut done = 0;
        for process in 0..processes as usize {
            let mut runners = self.start_all()?;
            for (case, load) in plan.cases.iter().enumerate() {
                self.load(&mut runners, load)?;
                for round in 0..rounds {
                    interrupt::check()?;
                    progress(
                        &format!(
                            "measuring {} (process {} of {processes}, round {} of {rounds})",
                            load.case.id,
                            process + 1,
                            round + 1
                        ),
                        done,
                        total,
                    );
                    self.round(&mut runners, process, case)?;
                    done += 1;
                }
            }
        }
        Ok(())
    }

    /// A new process for every subject that is still there.
    fn start_all(&mut self) -> Result<Vec<Option<Runner>>> {
        let mut runners = Vec::with_capacity(self.contenders.len());
        for contender in &mut self.contenders {
            let Some(spec) = contender.runner() else {
                runners.push(None);
                continue;
            };
            let started = Runner::start(spec, Limits::default(), None, self.plan.patience);
            runners.push(contender.settle(started)?);
        }
        Ok(runners)
    }

    fn load(&mut self, runners: &mut [Option<Runner>], load: &Load) -> Result<()> {
        for (contender, slot) in self.contenders.iter_mut().zip(runners) {
            let Some(runner) = slot else { continue };
            let loaded = load_all(runner, self.plan, &load.samples);
            if contender.settle(loaded)?.is_none() {
                *slot = None;
            }
        }
        Ok(())
    }

    /// One round: one epoch of every experiment for every subject, the
    /// subjects in another order each time.
    fn round(&mut self, runners: &mut [Option<Runner>], process: usize, case: usize) -> Result<()> {
        for (index, experiment) in self.plan.experiments.iter().enumerate() {
            for turn in self.random.shuffled(self.contenders.len()) {
                let contender = &mut self.contenders[turn];
                let Some(cell) = contender
                    .cells
                    .iter_mut()
                    .find(|cell| cell.case == case && cell.experiment == index)
                else {
                    continue;
                };
                let Some(runner) = &mut runners[turn] else {
                    cell.samples[process].push(None);
                    continue;
                };
                let iterations = cell.iterations;
                match epoch(
                    runner,
                    self.plan,
                    case,
                    experiment,
                    iterations,
                    contender.subject.bound,
                ) {
                    Ok(ns) => cell.samples[process].push(Some(ns / iterations as f64)),
                    Err(trouble) => {
                        cell.samples[process].push(None);
                        contender.settle::<()>(Err(trouble))?;
                        runners[turn] = None;
                    }
                }
            }
        }
        Ok(())
    }

    fn finish(mut self, rounds: u32) -> Measured {
        for contender in &mut self.contenders {
            for cell in std::mem::take(&mut contender.cells) {
                self.measurements.push(Measurement {
                    case: self.plan.cases[cell.case].case.id.clone(),
                    subject: contender.subject.id.clone(),
                    metric: self.plan.experiments[cell.experiment].metric.clone(),
                    unit: "ns".into(),
                    iterations: vec![cell.iterations; cell.samples.len()],
                    samples: cell.samples,
                });
            }
        }
        Measured {
            subjects: self.contenders.into_iter().map(|c| c.subject).collect(),
            measurements: self.measurements,
            facts: self.facts,
            rounds,
        }
    }
}

impl<'a> Contender<'a> {
    /// Its runner, while it is still to be measured.
    fn runner(&self) -> Option<&'a Spec> {
        match self.subject.status {
            Status::Measured => self.entrant.runner.as_ref(),
            _ => None,
        }
    }

    /// Takes note of trouble; passes on only what concerns all.
    fn settle<T>(&mut self, outcome: Result<T, Trouble>) -> Result<Option<T>> {
        match outcome {
            Ok(value) => Ok(Some(value)),
            Err(Trouble::Broken(Broken::Interrupted)) => bail!(interrupt::Interrupted),
            Err(trouble) => {
                if self.subject.status == Status::Measured {
                    self.subject.status = Status::Failed(trouble.to_string());
                }
                Ok(None)
            }
        }
    }
}

/// Proof, size, compression and calibration of one subject on all cases.
fn prove_one(
    plan: &Plan,
    contender: &mut Contender,
    spec: &Spec,
    facts: &mut Vec<Fact>,
    measurements: &mut Vec<Measurement>,
) -> Result<(), Trouble> {
    let mut runner = Runner::start(spec, Limits::default(), None, plan.patience)?;
    contender.subject.library.clone_from(&runner.hello.library);
    for (case, load) in plan.cases.iter().enumerate() {
        let bound = contender.subject.bound;
        let encoded = check::prove(&mut runner, &load.samples, bound)
            .map_err(|trouble| on_case(trouble, &load.case, plan))?;
        let total: usize = encoded.iter().map(Vec::len).sum();
        if total > 0 {
            let mut fact = |metric: &str, value: f64| {
                facts.push(Fact {
                    case: load.case.id.clone(),
                    subject: spec.id.clone(),
                    metric: metric.into(),
                    unit: "B".into(),
                    value,
                })
            };
            fact("size", total as f64 / encoded.len() as f64);
            for compressor in Compressor::ALL {
                let name = compressor.name();
                let (mut compress, mut decompress) = (Vec::new(), Vec::new());
                for _ in 0..SQUEEZES {
                    let squeezed = squeeze(compressor, &encoded)
                        .map_err(|error| Trouble::Refused(format!("{name}: {error}")))?;
                    compress.push(Some(squeezed.compress_ns));
                    decompress.push(Some(squeezed.decompress_ns));
                    if compress.len() == 1 {
                        fact(&format!("size/{name}"), squeezed.bytes);
                    }
                }
                for (verb, samples) in [("compress", compress), ("decompress", decompress)] {
                    measurements.push(Measurement {
                        case: load.case.id.clone(),
                        subject: spec.id.clone(),
                        metric: format!("{verb}/{name}"),
                        unit: "ns".into(),
                        iterations: vec![1],
                        samples: vec![samples],
                    });
                }
            }
        }
        apply(&mut runner, plan)?;
        for (experiment, wanted) in plan.experiments.iter().enumerate() {
            if !runner.hello.experiments.contains(&wanted.name) {
                continue;
            }
            let (iterations, epoch_ns) =
                calibrate(&mut runner, plan, case, wanted, contender.subject.bound)
                    .map_err(|trouble| on_case(trouble, &load.case, plan))?;
            contender.cells.push(Cell {
                case,
                experiment,
                iterations,
                epoch_ns,
                samples: Vec::new(),
            });
        }
    }
    Ok(())
}

/// Names the case in what a codec said, where there are several.
fn on_case(trouble: Trouble, case: &Case, plan: &Plan) -> Trouble {
    match trouble {
        Trouble::Refused(why) if plan.cases.len() > 1 => {
            Trouble::Refused(format!("at {}: {why}", case.id))
        }
        other => other,
    }
}

fn apply(runner: &mut Runner, plan: &Plan) -> Result<(), Trouble> {
    runner.set("buffers", &plan.settings.buffers)?;
    runner.set("objects", &plan.settings.objects)
}

fn load_all(runner: &mut Runner, plan: &Plan, samples: &[Sample]) -> Result<(), Trouble> {
    runner.reset()?;
    for sample in samples {
        runner.message(&sample.canonical)?;
    }
    apply(runner, plan)
}

/// How many messages make an epoch that is long enough, and how long it is.
fn calibrate(
    runner: &mut Runner,
    plan: &Plan,
    case: usize,
    experiment: &Experiment,
    bound: bool,
) -> Result<(u64, f64), Trouble> {
    const MOST: u64 = 1 << 32;
    let messages = plan.cases[case].samples.len().max(1) as u64;
    let wanted = plan.settings.epoch_ns as f64;
    let mut iterations = messages;
    loop {
        let ns = epoch(runner, plan, case, experiment, iterations, bound)?.max(1.0);
        if ns >= wanted || iterations >= MOST {
            return Ok((iterations, ns));
        }
        // Short runs are mostly start-up; grow step by step and measure again.
        let factor = (wanted / ns * 1.1).clamp(1.2, 20.0);
        iterations = ((iterations as f64 * factor) as u64 + 1).next_multiple_of(messages);
    }
}

/// One epoch; what came out is checked as well.
fn epoch(
    runner: &mut Runner,
    plan: &Plan,
    case: usize,
    experiment: &Experiment,
    iterations: u64,
    bound: bool,
) -> Result<f64, Trouble> {
    if let Some(objects) = &experiment.objects {
        runner.set("objects", objects)?;
    }
    let (ns, sum) = runner.run(&experiment.name, iterations)?;
    let value = ["project", "fixed", "element"].iter().position(|name| *name == experiment.name);
    if let (Some(value), false) = (value, bound) {
        let samples = &plan.cases[case].samples;
        let each: f64 = samples.iter().map(|sample| sample.values[value]).sum();
        let wanted = each * (iterations / samples.len() as u64) as f64;
        if !check::agree(sum, wanted) {
            return Err(Trouble::Refused(format!(
                "{}: {iterations} messages add up to {wanted:e}, it reads {sum:e}",
                experiment.name
            )));
        }
    }
    Ok(ns)
}
