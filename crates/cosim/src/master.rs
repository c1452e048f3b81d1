//! The measurement itself: packages, proof, calibration, then interleaved
//! rounds over restarted processes.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{bail, Context, Result};
use tempfile::TempDir;
use wiregauge_gauge::interrupt;
use wiregauge_gauge::process::Broken;
use wiregauge_gauge::random::Random;
use wiregauge_gauge::run::{Fact, Measurement, Status, Subject};
use wiregauge_gauge::warning::Warning;

use crate::content;
use crate::coupling::{couple, Coupling};
use crate::job::{Chain, Job, Product, Seat, Step};
use crate::log::{self, Log};
use crate::package::Package;
use crate::phase;
use crate::plan::{Entrant, Load, Pair, Parameters, Plan, Work};
use crate::remote::{files, Remote, Trouble};

/// Steps of a proof.
const PROOF: u64 = 3;
/// Step size where neither the user nor the source says one, in seconds.
const STEP: f64 = 0.02;
/// Most steps of an epoch.
const MOST_STEPS: u64 = 1 << 16;
/// The parameter by which an FMU is told where to write its log.
const LOG: &str = "log";

/// The metrics of a run, in the order of its tables.
pub const METRICS: [&str; 13] = [
    "step",
    "step/source generation",
    "step/source serialization",
    "step/model deserialization",
    "step/model calculation",
    "step/model serialization",
    "source",
    "model",
    "exchange",
    "exchange/source do-step",
    "exchange/get",
    "exchange/set",
    "exchange/model do-step",
];
/// Where the metrics begin that the master measures by itself.
const EXCHANGE: usize = 8;

/// What a measurement tells of its progress.
pub type Progress<'a> = &'a dyn Fn(&str, usize, usize);

/// What was measured.
pub struct Measured {
    /// The subjects with their final status.
    pub subjects: Vec<Subject>,
    /// The samples.
    pub measurements: Vec<Measurement>,
    /// Sizes.
    pub facts: Vec<Fact>,
    /// What the logs say against being trusted.
    pub warnings: Vec<Warning>,
    /// Rounds in each process.
    pub rounds: u32,
}

/// Carries out a plan. A subject that fails is marked and left out from there
/// on; an error is one that concerns all, such as an interruption.
///
/// # Errors
/// When it is interrupted.
pub fn measure(plan: &Plan, progress: Progress) -> Result<Measured> {
    let mut session = Session::new(plan);
    let began = Instant::now();
    session.prepare()?;
    session.prove(progress)?;
    session.bounds()?;
    let rounds = session.rounds(plan.time.saturating_sub(began.elapsed()));
    session.sample(rounds, progress)?;
    Ok(session.finish(rounds))
}

/// Two FMUs that are unpacked and go together.
struct Ready {
    source: Rc<Package>,
    model: Rc<Package>,
    coupling: Coupling,
    step: f64,
}

/// One subject during the measurement.
struct Contender<'a> {
    entrant: &'a Entrant,
    subject: Subject,
    ready: Option<Ready>,
    cells: Vec<Cell>,
}

/// One subject on one case.
struct Cell {
    case: usize,
    /// Sizes of the source's and of the model's message.
    sizes: [u64; 2],
    /// Steps of an epoch.
    steps: u64,
    /// What an epoch takes in calibration, and a start, in nanoseconds.
    epoch_ns: f64,
    start_ns: f64,
    /// One for each metric: `samples[process][round]`.
    samples: Vec<Vec<Vec<Option<f64>>>>,
}

/// A host that runs, and the epochs that it was measured in.
struct Live {
    remote: Remote,
    logs: [Option<PathBuf>; 2],
    /// Round, first step and number of steps.
    epochs: Vec<(usize, u64, u64)>,
    /// Steps that were done in all.
    done: u64,
}

struct Session<'a> {
    plan: &'a Plan,
    contenders: Vec<Contender<'a>>,
    facts: Vec<Fact>,
    warnings: Vec<Warning>,
    random: Random,
}

impl<'a> Session<'a> {
    fn new(plan: &'a Plan) -> Session<'a> {
        let contenders = plan.entrants.iter().map(|entrant| Contender {
            entrant,
            subject: entrant.subject.clone(),
            ready: None,
            cells: Vec::new(),
        });
        Session {
            plan,
            contenders: contenders.collect(),
            facts: Vec::new(),
            warnings: Vec::new(),
            random: Random::new(plan.settings.seed),
        }
    }

    /// Unpacks every FMU once and couples them.
    fn prepare(&mut self) -> Result<()> {
        let mut packages: HashMap<PathBuf, Rc<Package>> = HashMap::new();
        let mut open = |path: &Path| -> Result<Rc<Package>> {
            if let Some(package) = packages.get(path) {
                return Ok(Rc::clone(package));
            }
            let package = Rc::new(Package::open(path)?);
            packages.insert(path.to_owned(), Rc::clone(&package));
            Ok(package)
        };
        for contender in &mut self.contenders {
            interrupt::check()?;
            let Some(Work::Fmus(pair)) = contender.work() else { continue };
            let mut ready = || -> Result<Ready> {
                let (source, model) = (open(&pair.source)?, open(&pair.model)?);
                let coupling = couple(&source, &model, &pair.wanted)?;
                let step = pair.step.or(source.description.step).or(model.description.step);
                Ok(Ready { source, model, coupling, step: step.unwrap_or(STEP) })
            };
            match ready() {
                Ok(ready) => {
                    describe(&mut contender.subject, &ready);
                    contender.ready = Some(ready);
                }
                Err(error) => contender.fail(format!("{error:#}")),
            }
        }
        Ok(())
    }

    /// Every pair of FMUs shows on every case that it is right, and how long
    /// its epochs have to be.
    fn prove(&mut self, progress: Progress) -> Result<()> {
        let total = self.contenders.len() * self.plan.cases.len();
        let mut done = 0;
        for contender in &mut self.contenders {
            for (case, load) in self.plan.cases.iter().enumerate() {
                interrupt::check()?;
                let title = &contender.subject.title;
                progress(&format!("proving {title} on {}", load.case.id), done, total);
                done += 1;
                if !contender.entrant.takes(&load.case) {
                    continue;
                }
                let (Some(Work::Fmus(pair)), Some(ready)) = (contender.work(), &contender.ready)
                else {
                    continue;
                };
                let outcome = prove_one(self.plan, load, case, pair, ready);
                let outcome = outcome.map_err(|trouble| on_case(trouble, load, self.plan));
                let Some((cell, flaws)) = contender.settle(outcome)? else { continue };
                self.warnings.extend(flaws);
                contender.cells.push(cell);
            }
        }
        Ok(())
    }

    /// The bounds get the sizes of the messages that they stand for.
    fn bounds(&mut self) -> Result<()> {
        for index in 0..self.contenders.len() {
            let Some(Work::Memcpy(like)) = self.contenders[index].work() else { continue };
            for case in 0..self.plan.cases.len() {
                let case_of = &self.plan.cases[case].case;
                if !self.contenders[index].entrant.takes(case_of) {
                    continue;
                }
                let proven = |other: &&Contender| {
                    other.ready.is_some() && other.cells.iter().any(|cell| cell.case == case)
                };
                let preferred = |other: &&Contender| Some(&other.subject.id) == like.as_ref();
                let model = self
                    .contenders
                    .iter()
                    .filter(proven)
                    .find(preferred)
                    .or(self.contenders.iter().find(proven))
                    .and_then(|other| {
                        let cell = other.cells.iter().find(|cell| cell.case == case)?;
                        Some((cell.sizes, other.subject.title.clone()))
                    });
                let Some((sizes, title)) = model else { continue };
                let contender = &mut self.contenders[index];
                if contender.subject.options.is_empty() {
                    contender.subject.options.push(format!(
                        "copies as many bytes as the messages of {title} have, each of the two \
                         once, into two buffers in turn"
                    ));
                }
                let outcome = bound(self.plan, case, sizes);
                if let Some(cell) = contender.settle(outcome)? {
                    contender.cells.push(cell);
                }
            }
            let contender = &mut self.contenders[index];
            if contender.cells.is_empty() && contender.subject.status == Status::Measured {
                let reason = "there are no messages whose bytes it could move";
                contender.subject.status = Status::Skipped(reason.into());
            }
        }
        for contender in &self.contenders {
            for cell in &contender.cells {
                for (metric, size) in ["size", "size/model output"].into_iter().zip(cell.sizes) {
                    if contender.subject.bound {
                        continue;
                    }
                    self.facts.push(Fact {
                        case: self.plan.cases[cell.case].case.id.clone(),
                        subject: contender.subject.id.clone(),
                        metric: metric.into(),
                        unit: "B".into(),
                        value: size as f64,
                    });
                }
            }
        }
        Ok(())
    }

    /// Rounds per process that fit into the time.
    fn rounds(&self, left: Duration) -> u32 {
        let settings = &self.plan.settings;
        let sum = |figure: fn(&Cell) -> f64| -> f64 {
            self.contenders.iter().flat_map(|c| &c.cells).map(figure).sum()
        };
        let processes = f64::from(settings.processes);
        let left = left.as_nanos() as f64 / processes - sum(|cell| cell.start_ns);
        let fitting = (left / sum(|cell| cell.epoch_ns).max(1.0)).max(0.0);
        (fitting as u32).clamp(settings.rounds, self.plan.most_rounds.max(settings.rounds))
    }

    /// The interleaved rounds.
    fn sample(&mut self, rounds: u32, progress: Progress) -> Result<()> {
        let plan = self.plan;
        let processes = plan.settings.processes as usize;
        for cell in self.contenders.iter_mut().flat_map(|c| &mut c.cells) {
            cell.samples = vec![vec![vec![None; rounds as usize]; processes]; METRICS.len()];
        }
        let total = processes * plan.cases.len() * rounds as usize;
        let mut done = 0;
        for process in 0..processes {
            for (case, load) in plan.cases.iter().enumerate() {
                progress(&format!("starting hosts for {}", load.case.id), done, total);
                let mut live = self.start_all(case)?;
                for round in 0..rounds as usize {
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
                    self.round(&mut live, process, case, round)?;
                    done += 1;
                }
                self.gather(live, process, case)?;
            }
        }
        Ok(())
    }

    /// A new process for every subject that is still there, warmed up.
    fn start_all(&mut self, case: usize) -> Result<Vec<Option<Live>>> {
        let mut all = Vec::with_capacity(self.contenders.len());
        for contender in &mut self.contenders {
            interrupt::check()?;
            let Some(cell) = contender.cells.iter().find(|cell| cell.case == case) else {
                all.push(None);
                continue;
            };
            let started = match (contender.work(), &contender.ready) {
                (Some(Work::Fmus(pair)), Some(ready)) => {
                    start(self.plan, &self.plan.cases[case], pair, ready, false, None)
                }
                (Some(Work::Memcpy(_)), _) => start_memcpy(self.plan, cell.sizes),
                _ => {
                    all.push(None);
                    continue;
                }
            };
            let warm = started.and_then(|mut live| {
                live.run(self.plan.warm_up)?;
                Ok(live)
            });
            let warm = warm.map_err(|trouble| on_case(trouble, &self.plan.cases[case], self.plan));
            all.push(contender.settle(warm)?);
        }
        Ok(all)
    }

    /// One round: one epoch for every subject, in another order each time.
    fn round(
        &mut self,
        live: &mut [Option<Live>],
        process: usize,
        case: usize,
        round: usize,
    ) -> Result<()> {
        for turn in self.random.shuffled(self.contenders.len()) {
            let contender = &mut self.contenders[turn];
            let Some(cell) = contender.cells.iter_mut().find(|cell| cell.case == case) else {
                continue;
            };
            let Some(running) = &mut live[turn] else { continue };
            let bound = contender.subject.bound;
            match running.epoch(cell, process, round, bound) {
                Ok(()) => {}
                Err(trouble) => {
                    let trouble = on_case(trouble, &self.plan.cases[case], self.plan);
                    contender.settle::<()>(Err(trouble))?;
                    live[turn] = None;
                }
            }
        }
        Ok(())
    }

    /// Ends the hosts and reads what the FMUs wrote.
    fn gather(&mut self, live: Vec<Option<Live>>, process: usize, case: usize) -> Result<()> {
        for (contender, live) in self.contenders.iter_mut().zip(live) {
            let Some(live) = live else { continue };
            let Live { remote, logs, epochs, done } = live;
            let load = &self.plan.cases[case];
            let ended = remote.finish().map_err(|trouble| on_case(trouble, load, self.plan));
            let Some(folder) = contender.settle(ended)? else { continue };
            let Some(ready) = &contender.ready else { continue };
            let logs = Logs::read(&folder, &logs);
            let Some(phases) = logs.phases(done, ready.step) else { continue };
            let cell = contender.cells.iter_mut().find(|cell| cell.case == case);
            let Some(cell) = cell else { continue };
            for (round, first, count) in epochs {
                let steps = &phases[first as usize..(first + count) as usize];
                let mut sums = [0.0; 5];
                let whole: Option<()> = steps.iter().try_for_each(|step| {
                    let step = step.as_ref()?;
                    sums.iter_mut().zip(step).for_each(|(sum, ns)| *sum += ns);
                    Some(())
                });
                if whole.is_some() {
                    cell.put(process, round, phase_values(sums.map(|sum| sum / count as f64)));
                }
            }
        }
        Ok(())
    }

    fn finish(self, rounds: u32) -> Measured {
        let mut measurements = Vec::new();
        for (index, metric) in METRICS.into_iter().enumerate() {
            for contender in &self.contenders {
                for cell in &contender.cells {
                    let Some(samples) = cell.samples.get(index) else { continue };
                    if samples.iter().flatten().all(Option::is_none) {
                        continue;
                    }
                    measurements.push(Measurement {
                        case: self.plan.cases[cell.case].case.id.clone(),
                        subject: contender.subject.id.clone(),
                        metric: metric.into(),
                        unit: "ns".into(),
                        iterations: vec![cell.steps; samples.len()],
                        samples: samples.clone(),
                    });
                }
            }
        }
        Measured {
            subjects: self.contenders.into_iter().map(|c| c.subject).collect(),
            measurements,
            facts: self.facts,
            warnings: merge(self.warnings),
            rounds,
        }
    }
}

/// The same warning for several cases is one.
fn merge(warnings: Vec<Warning>) -> Vec<Warning> {
    let mut merged: Vec<Warning> = Vec::new();
    for warning in warnings {
        if !merged.contains(&warning) {
            merged.push(warning);
        }
    }
    merged
}

impl<'a> Contender<'a> {
    /// What it runs, while it is still to be measured.
    fn work(&self) -> Option<&'a Work> {
        match self.subject.status {
            Status::Measured => self.entrant.work.as_ref(),
            _ => None,
        }
    }

    fn fail(&mut self, reason: String) {
        if self.subject.status == Status::Measured {
            self.subject.status = Status::Failed(reason);
        }
    }

    /// Takes note of trouble; passes on only what concerns all.
    fn settle<T>(&mut self, outcome: Result<T, Trouble>) -> Result<Option<T>> {
        match outcome {
            Ok(value) => Ok(Some(value)),
            Err(Trouble::Broken(Broken::Interrupted, _)) => bail!(interrupt::Interrupted),
            Err(trouble) => {
                self.fail(trouble.to_string());
                Ok(None)
            }
        }
    }
}

impl Cell {
    fn put(&mut self, process: usize, round: usize, values: Vec<(usize, f64)>) {
        for (metric, value) in values {
            self.samples[metric][process][round] = Some(value);
        }
    }
}

/// The five phases as metrics, with their sums.
fn phase_values(phases: [f64; 5]) -> Vec<(usize, f64)> {
    let mut values = vec![
        (0, phases.iter().sum()),
        (6, phases[..2].iter().sum()),
        (7, phases[2..].iter().sum()),
    ];
    values.extend(phases.into_iter().enumerate().map(|(at, ns)| (at + 1, ns)));
    values
}

impl Live {
    fn run(&mut self, count: u64) -> Result<(u64, Vec<Step>), Trouble> {
        if count == 0 {
            return Ok((self.done, Vec::new()));
        }
        let (first, steps) = self.remote.run(count)?;
        self.done += count;
        Ok((first, steps))
    }

    /// One epoch. Where it has several steps, one more goes before it, so that
    /// the caches are this subject's own again; in a long step that matters
    /// little.
    fn epoch(
        &mut self,
        cell: &mut Cell,
        process: usize,
        round: usize,
        bound: bool,
    ) -> Result<(), Trouble> {
        if cell.steps > 1 {
            self.run(1)?;
        }
        let (first, steps) = self.run(cell.steps)?;
        let mean = |part: fn(&Step) -> u64| {
            steps.iter().map(part).sum::<u64>() as f64 / steps.len() as f64
        };
        let parts = [
            mean(|step| step.source),
            mean(|step| step.get),
            mean(|step| step.set),
            mean(|step| step.model),
        ];
        if bound {
            let [source, .., model] = parts;
            let phases = [(0, source + model), (2, source), (5, model), (6, source), (7, model)];
            cell.put(process, round, phases.to_vec());
            let exchange = [(0, source + model), (1, source), (4, model)];
            cell.put(process, round, exchange.map(|(at, ns)| (EXCHANGE + at, ns)).to_vec());
            return Ok(());
        }
        let mut values = vec![(EXCHANGE, parts.iter().sum())];
        values.extend(parts.into_iter().enumerate().map(|(at, ns)| (EXCHANGE + 1 + at, ns)));
        cell.put(process, round, values);
        self.epochs.push((round, first, cell.steps));
        Ok(())
    }
}

/// Names the case in what went wrong, where there are several.
fn on_case(trouble: Trouble, load: &Load, plan: &Plan) -> Trouble {
    match trouble {
        Trouble::Broken(Broken::Interrupted, _) => trouble,
        trouble if plan.cases.len() > 1 => {
            Trouble::Refused(format!("at {}: {trouble}", load.case.id))
        }
        other => other,
    }
}

/// What a subject's FMUs say of themselves.
fn describe(subject: &mut Subject, ready: &Ready) {
    let (source, model) = (&ready.source.description, &ready.model.description);
    if subject.library.is_empty() {
        let standard = source.fmi.name();
        subject.library = match &ready.coupling.output.mime.version {
            Some(version) => format!("{standard}, OSI {version}"),
            None => standard.to_owned(),
        };
    }
    for (package, description) in [(&ready.source, source), (&ready.model, model)] {
        subject.options.push(format!("{}: {}", package.name, description.model));
    }
}

/// Starts a host with two FMUs.
fn start(
    plan: &Plan,
    load: &Load,
    pair: &Pair,
    ready: &Ready,
    logging: bool,
    dump: Option<PathBuf>,
) -> Result<Live, Trouble> {
    let folder = tempfile::Builder::new().prefix("wiregauge-host-").tempdir()?;
    let mut logs = [None, None];
    let mut seat = |at: usize, package: &Package, case: &Parameters, own: &Parameters| {
        let mut parameters: Parameters = Vec::new();
        for (name, value) in case.iter().chain(own) {
            parameters.retain(|(known, _)| known != name);
            parameters.push((name.clone(), value.clone()));
        }
        let logs_by_name = package
            .description
            .variable(LOG)
            .is_some_and(|variable| variable.kind == "String" && variable.causality == "parameter");
        if logs_by_name && parameters.iter().all(|(name, _)| name != LOG) {
            let path = folder.path().join(["source-log.json", "model-log.json"][at]);
            parameters.push((LOG.into(), path.display().to_string()));
            logs[at] = Some(path);
        }
        Seat { name: package.name.clone(), folder: package.path().to_owned(), parameters }
    };
    let chain = Chain {
        source: seat(0, &ready.source, &load.source, &pair.source_parameters),
        model: seat(1, &ready.model, &load.model, &pair.model_parameters),
        output: ready.coupling.output.name.clone(),
        input: ready.coupling.input.name.clone(),
        result: ready.coupling.result.name.clone(),
        start: 0.0,
        step: ready.step,
        logging,
        dump,
    };
    let job = Job::Fmus(Box::new(chain));
    let remote = Remote::start_in(folder, &plan.host, &job, plan.patience)?;
    Ok(Live { remote, logs, epochs: Vec::new(), done: 0 })
}

fn start_memcpy(plan: &Plan, [source, model]: [u64; 2]) -> Result<Live, Trouble> {
    let job = Job::Memcpy { source, model };
    let remote = Remote::start(&plan.host, &job, plan.patience)?;
    Ok(Live { remote, logs: [None, None], epochs: Vec::new(), done: 0 })
}

/// The same messages in two processes, each as declared; then calibration.
fn prove_one(
    plan: &Plan,
    load: &Load,
    case: usize,
    pair: &Pair,
    ready: &Ready,
) -> Result<(Cell, Vec<Warning>), Trouble> {
    let dump = match &plan.dump {
        Some(folder) => Some(dump_folder(folder, load, pair).map_err(refused)?),
        None => None,
    };
    let mut first = start(plan, load, pair, ready, true, dump)?;
    let products = first.remote.prove(PROOF)?;
    first.done += PROOF;
    let Live { remote, logs, done, .. } = first;
    let logs = Logs::read(&remote.finish()?, &logs);
    let warnings = logs.warnings(ready, &products, done);

    let began = Instant::now();
    let mut second = start(plan, load, pair, ready, false, None)?;
    let start_ns = began.elapsed().as_nanos() as f64;
    let again = second.remote.prove(PROOF)?;
    second.done += PROOF;
    let ends = [(&ready.source, &ready.coupling.output), (&ready.model, &ready.coupling.result)];
    for (at, (package, binary)) in ends.into_iter().enumerate() {
        let named =
            |what: String| Trouble::Refused(format!("{}: {} {what}", package.name, binary.name));
        for (step, (one, other)) in products.iter().zip(&again).enumerate() {
            if one[at] != other[at] && !pair.varying {
                return Err(named(format!(
                    "differs when it is run again, at step {}: {} B and {} B (--varying allows \
                     that)",
                    step + 1,
                    one[at].size,
                    other[at].size
                )));
            }
            content::check(&binary.mime, &one[at], pair.wanted.any_version).map_err(named)?;
        }
        if products.iter().all(|products| products[at].size == 0) {
            return Err(named(format!("holds no message in the first {PROOF} steps")));
        }
    }
    let last = products.last().map(|products| products.each_ref().map(|product| product.size));
    let sizes = last.unwrap_or_default();
    let cell = calibrate(plan, case, sizes, second, start_ns)?;
    Ok((cell, warnings))
}

fn refused(error: anyhow::Error) -> Trouble {
    Trouble::Refused(format!("{error:#}"))
}

/// A folder for the messages of one pair on one case.
fn dump_folder(folder: &Path, load: &Load, pair: &Pair) -> Result<PathBuf> {
    let stem = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let pair = format!("{}+{}", stem(&pair.source), stem(&pair.model));
    let path = std::path::absolute(folder)?.join(&load.case.id).join(pair);
    fs::create_dir_all(&path).with_context(|| format!("cannot make {}", path.display()))?;
    Ok(path)
}

fn bound(plan: &Plan, case: usize, sizes: [u64; 2]) -> Result<Cell, Trouble> {
    let began = Instant::now();
    let live = start_memcpy(plan, sizes)?;
    calibrate(plan, case, sizes, live, began.elapsed().as_nanos() as f64)
}

/// How many steps make an epoch that is long enough, and how long it is.
fn calibrate(
    plan: &Plan,
    case: usize,
    sizes: [u64; 2],
    mut live: Live,
    start_ns: f64,
) -> Result<Cell, Trouble> {
    let wanted = plan.settings.epoch_ns as f64;
    let mut steps = plan.steps.unwrap_or(1);
    let warming = Instant::now();
    live.run(plan.warm_up)?;
    let start_ns = start_ns + warming.elapsed().as_nanos() as f64;
    let epoch_ns = loop {
        let began = Instant::now();
        let (_, timed) = live.run(steps)?;
        let epoch_ns = began.elapsed().as_nanos() as f64;
        let sum: u64 =
            timed.iter().map(|step| step.source + step.get + step.set + step.model).sum();
        let ns = (sum as f64).max(1.0);
        if ns >= wanted || steps >= MOST_STEPS || plan.steps.is_some() {
            break epoch_ns;
        }
        let factor = (wanted / ns * 1.1).clamp(1.2, 20.0);
        steps = ((steps as f64 * factor) as u64 + 1).min(MOST_STEPS);
    };
    live.remote.finish()?;
    Ok(Cell { case, sizes, steps, epoch_ns, start_ns, samples: Vec::new() })
}

/// The logs of a pair; none where an FMU wrote none.
struct Logs {
    source: Option<Log>,
    model: Option<Log>,
    /// What could not be read.
    faults: Vec<String>,
}

impl Logs {
    /// Reads the logs where the FMUs were told to write them, and any others
    /// in their working folder.
    fn read(folder: &TempDir, told: &[Option<PathBuf>; 2]) -> Logs {
        let mut logs = Logs { source: None, model: None, faults: Vec::new() };
        let told_to: Vec<&PathBuf> = told.iter().flatten().collect();
        let others = files(folder.path());
        let others = others.iter().filter(|path| !told_to.contains(path) && like_a_log(path));
        for path in told_to.iter().copied().chain(others) {
            match log::read(path) {
                Ok(found) => {
                    for log in found {
                        let place =
                            if log.is_source() { &mut logs.source } else { &mut logs.model };
                        place.get_or_insert(log);
                    }
                }
                Err(error) => logs.faults.push(format!("{error:#}")),
            }
        }
        logs
    }

    /// The five phases of each step in nanoseconds, where both logs are there.
    fn phases(&self, done: u64, size: f64) -> Option<Vec<Option<[f64; 5]>>> {
        let (source, model) = (self.source.as_ref()?, self.model.as_ref()?);
        let [source, model] =
            [source, model].map(|log| phase::placed(phase::steps(log), done, 0.0, size));
        let join = |(source, model): (Option<phase::Step>, Option<phase::Step>)| {
            let phases: Vec<f64> =
                source?.phases?.into_iter().chain(model?.phases?).map(|ns| ns as f64).collect();
            phases.try_into().ok()
        };
        Some(source.into_iter().zip(model).map(join).collect())
    }

    /// What is wrong with the logs of a proof.
    fn warnings(&self, ready: &Ready, products: &[[Product; 2]], done: u64) -> Vec<Warning> {
        let warning = |code: &str, text: String, remedy: &str| Warning {
            code: code.into(),
            text,
            remedy: remedy.into(),
        };
        let mut warnings = Vec::new();
        let both = [(&ready.source, &self.source), (&ready.model, &self.model)];
        for (at, (package, log)) in both.into_iter().enumerate() {
            let Some(log) = log else { continue };
            let name = &package.name;
            for flaw in &log.flaws {
                warnings.push(warning(
                    "log",
                    format!("the log of {name}: {flaw}"),
                    "trust the times under 'exchange', which come from the master's own clock",
                ));
            }
            let logged: Vec<u64> = phase::steps(log).iter().map(|step| step.size).collect();
            let real: Vec<u64> = products.iter().map(|products| products[at].size).collect();
            if logged.len() == real.len() && logged != real && logged.iter().any(|&size| size > 0) {
                warnings.push(warning(
                    "log-size",
                    format!(
                        "the log of {name} says that its message has {} B; it has {} B",
                        logged.last().unwrap_or(&0),
                        real.last().unwrap_or(&0)
                    ),
                    "trust the sizes here, which the master saw",
                ));
            }
        }
        let phases = self.phases(done, ready.step);
        if !phases.is_some_and(|phases| phases.iter().any(Option::is_some)) {
            let missing: Vec<&str> = both
                .iter()
                .filter(|(_, log)| log.is_none())
                .map(|(package, _)| package.name.as_str())
                .collect();
            let what = match (missing.is_empty(), self.faults.first()) {
                (_, Some(fault)) => fault.clone(),
                (true, None) => "their logs hold no whole step".into(),
                (false, None) => format!("{} wrote no performance log", missing.join(" and ")),
            };
            warnings.push(warning(
                "no-phases",
                format!("{} and {} have no phases: {what}", ready.source.name, ready.model.name),
                "instrument both FMUs (docs/cosim.md); what the master measures is there all \
                 the same",
            ));
        }
        warnings
    }
}

/// Whether a file may be a performance log.
fn like_a_log(path: &Path) -> bool {
    const MOST: u64 = 1 << 30;
    fs::metadata(path).is_ok_and(|data| data.len() <= MOST)
        && fs::read(path).is_ok_and(|bytes| {
            let head = &bytes[..bytes.len().min(1 << 16)];
            head.windows(11).any(|window| window == b"\"OsiEvents\"" || window == b"EventFields")
        })
}
