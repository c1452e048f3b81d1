//! The measurement itself: proof, calibration, then interleaved rounds over
//! restarted processes.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use anyhow::{bail, Result};

use crate::check;
use crate::compress::{squeeze, Compressor};
use crate::plan::{Entrant, Experiment, Load, Plan, Sample};
use crate::robustness;
use crate::schedule::{self, Share};
use wiregauge_conversation::child::{Broken, Limits};
use wiregauge_conversation::runner::{Runner, Spec, Trouble};
use wiregauge_result::random::Random;
use wiregauge_result::run::{Case, Fact, Measurement, Status, Subject};
use wiregauge_system::interrupt;

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
    /// Most rounds in a process.
    pub rounds: u32,
}

/// Share of the time of what tells least: phases whose input has to be prepared,
/// and what costs no more than the harness.
const LITTLE: f64 = 0.25;
/// Fewest rounds in a process of a cell that is dear, where time is short.
const FEWEST: u32 = 3;

/// Carries out a plan. A subject that fails is marked and left out from there
/// on; an error is one that concerns all, such as an interruption.
pub fn measure(plan: &Plan, progress: Progress) -> Result<Measured> {
    let mut session = Session::new(plan);
    // Corruptions are asked for by number, and take the time that they take.
    session.corrupt(progress)?;
    let deadline = Instant::now() + plan.time;
    session.prove(progress)?;
    session.count_allocations(progress)?;
    let rounds = session.sample(deadline, progress)?;
    Ok(session.finish(rounds))
}

/// One subject during the measurement.
struct Contender<'a> {
    entrant: &'a Entrant,
    subject: Subject,
    /// One for each experiment that its runner can do, on each case.
    cells: Vec<Cell>,
    /// Time to start its runner and to load the messages.
    starting: Duration,
}

/// One experiment of one subject on one case.
struct Cell {
    case: usize,
    experiment: usize,
    /// Messages per epoch.
    iterations: u64,
    /// What a round of it costs in calibration.
    share: Share,
    /// Rounds in the process that runs.
    rounds: u32,
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
                starting: Duration::ZERO,
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
        let mut floors = Floors::new();
        let total = self.contenders.len();
        for index in 0..total {
            interrupt::check()?;
            let contender = &mut self.contenders[index];
            progress(&format!("proving {}", contender.subject.title), index, total);
            let Some(spec) = contender.runner() else { continue };
            let outcome = prove_one(
                self.plan,
                contender,
                spec,
                &mut floors,
                &mut self.facts,
                &mut self.measurements,
            );
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
                    load_all(&mut runner, &load.samples)?;
                    for experiment in ["encode", "decode", "project"] {
                        // A runner in another language may not count.
                        let lifetimes = self.plan.lifetimes();
                        let Ok((count, bytes)) = runner.allocations(experiment, &lifetimes) else {
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

    /// The interleaved rounds, until the deadline; returns the most rounds that a
    /// process had.
    fn sample(&mut self, deadline: Instant, progress: Progress) -> Result<u32> {
        let plan = self.plan;
        let processes = plan.settings.processes;
        let mut most = 0;
        // How much longer things take than calibration had it.
        let mut slowness = 1.0;
        for process in 0..processes {
            let began = Instant::now();
            let left = deadline.saturating_duration_since(began);
            let planned = left / (processes - process);
            let rounds = self.share_out(planned, slowness);
            most = most.max(rounds);
            let expected = self.expected();
            let mut runners = self.start_all()?;
            for (case, load) in plan.cases.iter().enumerate() {
                self.load(&mut runners, load)?;
                for round in 0..rounds {
                    interrupt::check()?;
                    let left = deadline.saturating_duration_since(Instant::now());
                    progress(
                        &format!(
                            "measuring {} (process {} of {processes}), {} left",
                            load.case.id,
                            process + 1,
                            time_left(left)
                        ),
                        plan.time.saturating_sub(left).as_millis() as usize,
                        plan.time.as_millis() as usize,
                    );
                    self.round(&mut runners, process as usize, case, round, rounds)?;
                }
            }
            let took = began.elapsed().as_secs_f64();
            slowness = (took / expected.as_secs_f64().max(1e-3)).clamp(0.5, 4.0);
        }
        Ok(most)
    }

    /// Gives each cell its rounds in one process that may take so long; returns
    /// the most.
    fn share_out(&mut self, time: Duration, slowness: f64) -> u32 {
        let plan = self.plan;
        let starting: Duration = self.contenders.iter().map(|c| c.starting).sum();
        let time = time.as_secs_f64() / slowness - starting.as_secs_f64();
        let cells = || self.contenders.iter().flat_map(|c| &c.cells);
        let shares: Vec<Share> = cells().map(|cell| cell.share).collect();
        let most = plan.most_rounds.max(plan.settings.rounds);
        let mut rounds = schedule::rounds(&shares, time * 1e9, plan.settings.rounds, most);
        let cost = |rounds: &[u32]| -> f64 {
            rounds.iter().zip(&shares).map(|(n, share)| f64::from(*n) * share.wall_ns).sum()
        };
        if cost(&rounds) > time * 1e9 {
            rounds = schedule::rounds(&shares, time * 1e9, FEWEST.min(plan.settings.rounds), most);
        }
        let most = rounds.iter().copied().max().unwrap_or(0);
        let processes = plan.settings.processes as usize;
        let mut rounds = rounds.into_iter();
        for cell in self.contenders.iter_mut().flat_map(|c| &mut c.cells) {
            cell.rounds = rounds.next().unwrap_or(0);
            if cell.samples.is_empty() {
                cell.samples = vec![Vec::new(); processes];
                let epochs = u64::from(plan.settings.processes) * u64::from(cell.rounds.max(1));
                let messages = plan.cases[cell.case].samples.len() as u64;
                let least = plan.least_iterations.div_ceil(epochs).next_multiple_of(messages);
                if least > cell.iterations {
                    cell.share.wall_ns *= least as f64 / cell.iterations as f64;
                    cell.iterations = least;
                }
            }
        }
        most
    }

    /// What a process with these rounds takes, by calibration.
    fn expected(&self) -> Duration {
        let starting: Duration = self.contenders.iter().map(|c| c.starting).sum();
        let cells = self.contenders.iter().flat_map(|c| &c.cells);
        let ns: f64 = cells.map(|cell| f64::from(cell.rounds) * cell.share.wall_ns).sum();
        starting + Duration::from_nanos(ns as u64)
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
            let loaded = load_all(runner, &load.samples);
            if contender.settle(loaded)?.is_none() {
                *slot = None;
            }
        }
        Ok(())
    }

    /// One round of a process: one epoch of every experiment for every subject
    /// whose turn it is, the subjects in another order each time.
    fn round(
        &mut self,
        runners: &mut [Option<Runner>],
        process: usize,
        case: usize,
        round: u32,
        rounds: u32,
    ) -> Result<()> {
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
                let own = schedule::turn(round, rounds, cell.rounds);
                let (Some(runner), Some(own)) = (&mut runners[turn], own) else {
                    cell.samples[process].push(None);
                    continue;
                };
                // The first and the last epoch of a process prove themselves.
                let prove = (own == 0 || own + 1 == cell.rounds).then_some(process + own as usize);
                let iterations = cell.iterations;
                let bound = contender.subject.bound;
                match epoch(runner, self.plan, case, experiment, iterations, bound, prove) {
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
                    self.subject.status = check::status(trouble);
                }
                Ok(None)
            }
        }
    }
}

/// What a message costs in the bounds of a language, by case and experiment: the
/// first of them is no operation.
type Floors = HashMap<(String, usize, usize), f64>;

/// Proof, size, compression and calibration of one subject on all cases.
fn prove_one(
    plan: &Plan,
    contender: &mut Contender,
    spec: &Spec,
    floors: &mut Floors,
    facts: &mut Vec<Fact>,
    measurements: &mut Vec<Measurement>,
) -> Result<(), Trouble> {
    let began = Instant::now();
    let mut runner = Runner::start(spec, Limits::default(), None, plan.patience)?;
    contender.starting = began.elapsed();
    if !plan.experiments.iter().any(|wanted| runner.hello.experiments.contains(&wanted.name)) {
        return Err(Trouble::Refused(format!(
            "offers none of the experiments ({}); a runner offers encode and decode at least",
            runner.hello.experiments.join(" ")
        )));
    }
    contender.subject.library.clone_from(&runner.hello.library);
    contender.subject.unchecked = runner.hello.unchecked;
    for (case, load) in plan.cases.iter().enumerate() {
        let bound = contender.subject.bound;
        let (encoded, loading) = check::prove(&mut runner, &load.samples, bound)
            .map_err(|trouble| on_case(trouble, &load.case, plan))?;
        contender.starting += loading;
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
        for (experiment, wanted) in plan.experiments.iter().enumerate() {
            if !runner.hello.experiments.contains(&wanted.name) {
                continue;
            }
            let (iterations, ns, wall_ns) =
                calibrate(&mut runner, plan, case, wanted, contender.subject.bound)
                    .map_err(|trouble| on_case(trouble, &load.case, plan))?;
            let each = ns / iterations as f64;
            let floor = floors.entry((contender.subject.language.clone(), case, experiment));
            let at_the_floor = match contender.subject.bound {
                true => *floor.or_insert(each) * 2.0 >= each,
                false => *floor.or_insert(0.0) * 2.0 >= each,
            };
            let prepared = matches!(wanted.name.as_str(), "encode/write" | "decode/extract");
            let weight = if at_the_floor || prepared { LITTLE } else { 1.0 };
            contender.cells.push(Cell {
                case,
                experiment,
                iterations,
                share: Share { wall_ns, weight },
                rounds: 0,
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
        Trouble::Rejected(why) if plan.cases.len() > 1 => {
            Trouble::Rejected(format!("at {}: {why}", case.id))
        }
        other => other,
    }
}

fn load_all(runner: &mut Runner, samples: &[Sample]) -> Result<(), Trouble> {
    runner.reset()?;
    for sample in samples {
        runner.message(&sample.canonical)?;
    }
    Ok(())
}

/// How many messages make an epoch that is long enough, how many nanoseconds it
/// is long, and how many it takes to ask for.
fn calibrate(
    runner: &mut Runner,
    plan: &Plan,
    case: usize,
    experiment: &Experiment,
    bound: bool,
) -> Result<(u64, f64, f64), Trouble> {
    const MOST: u64 = 1 << 32;
    let messages = plan.cases[case].samples.len().max(1) as u64;
    let wanted = plan.settings.epoch_ns as f64;
    let mut iterations = messages;
    loop {
        let began = Instant::now();
        let ns = epoch(runner, plan, case, experiment, iterations, bound, None)?;
        if ns >= wanted || iterations >= MOST {
            return Ok((iterations, ns, began.elapsed().as_nanos() as f64));
        }
        // Short runs are mostly start-up; grow step by step and measure again.
        let factor = (wanted / ns * 1.1).clamp(1.2, 20.0);
        iterations = ((iterations as f64 * factor) as u64 + 1).next_multiple_of(messages);
    }
}

/// A time in the words of a progress bar.
fn time_left(left: Duration) -> String {
    match left.as_secs() {
        seconds @ 0..=90 => format!("{seconds} s"),
        seconds => format!("{} min", seconds.div_ceil(60)),
    }
}

/// One epoch; what came out is checked as well, with `prove` by one more message,
/// which is of this turn.
fn epoch(
    runner: &mut Runner,
    plan: &Plan,
    case: usize,
    experiment: &Experiment,
    iterations: u64,
    bound: bool,
    prove: Option<usize>,
) -> Result<f64, Trouble> {
    let mut lifetimes = plan.lifetimes();
    if let Some(objects) = &experiment.objects {
        lifetimes.objects.clone_from(objects);
    }
    let samples = &plan.cases[case].samples;
    let prove = prove.filter(|_| !bound).map(|turn| turn % samples.len());
    let epoch = runner.run(&experiment.name, iterations, &lifetimes, prove)?;
    if !bound {
        check::epoch(runner, samples, &experiment.name, iterations, &epoch, prove)?;
    }
    Ok(epoch.ns)
}
