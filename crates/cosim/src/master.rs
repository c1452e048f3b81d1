//! The measurement itself: packages, proof, calibration, then interleaved
//! rounds over restarted processes.

pub mod plan;
pub mod record;
pub mod samples;
pub mod tally;

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{bail, Context, Result};
use wiregauge_conversation::child::Broken;
use wiregauge_participant::latency::shares;
use wiregauge_participant::scratch::Scratch;
use wiregauge_participant::slowest::Slow;
use wiregauge_result::random::Random;
use wiregauge_result::run::{Curve, Fact, Measurement, Slowest, Status, Subject};
use wiregauge_result::stats::tail;
use wiregauge_result::warning::Warning;
use wiregauge_system::interrupt;
use wiregauge_system::text::safe;

use crate::host::job::{Account, Chain, Job, Product, Proof, Ran, Seat, Step};
use crate::host::remote::{files, Remote, Trouble};
use crate::logs::log::{self, Log};
use crate::logs::phase;
use crate::master::plan::{Entrant, Load, Pair, Parameters, Plan, Work};
use crate::master::record::Record;
use crate::master::samples::{Phases, Samples, Whose};
use crate::master::tally::Tally;
use crate::package::content;
use crate::package::coupling::{couple, Coupling};
use crate::package::{names_apart, Package};

/// Steps with messages that a proof wants to see.
const PROOF: usize = 3;
/// Steps that it waits for them, or as many as the warm-up has.
const SILENT: u64 = 100;
/// Simulation time at which all begin, in seconds.
const START: f64 = 0.0;
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

/// The metrics of which each step is kept, for percentiles.
const DISTRIBUTED: [&str; 2] = ["step", "exchange"];

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
    /// How the steps' times are distributed.
    pub curves: Vec<Curve>,
    /// The slowest steps, and what the machine did meanwhile.
    pub slowest: Vec<Slowest>,
    /// What is to be said of each case, by its place.
    pub notes: Vec<(usize, String)>,
    /// What the logs say against being trusted.
    pub warnings: Vec<Warning>,
    /// Rounds in each process.
    pub rounds: u32,
}

/// Carries out a plan. A subject that fails is marked and left out from there
/// on; an error is one that concerns all, such as an interruption. Steps go into
/// the samples, if there are any, until then.
///
/// # Errors
/// When it is interrupted.
pub fn measure(plan: &Plan, samples: Option<&mut Samples>, progress: Progress) -> Result<Measured> {
    let mut session = Session::new(plan, samples);
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
    /// Where the step size comes from, in words.
    step_by: &'static str,
}

/// One subject during the measurement.
struct Contender<'a> {
    entrant: &'a Entrant,
    subject: Subject,
    ready: Option<Ready>,
    cells: Vec<Cell>,
    /// What its hosts said of each case when they were done.
    accounts: Vec<(usize, Account)>,
    /// How the simulation ended before the rounds did, in each case.
    ends: Vec<(usize, String)>,
}

/// One subject on one case.
struct Cell {
    case: usize,
    /// Sizes of the source's and of the model's message.
    sizes: [u64; 2],
    /// Steps of an epoch.
    steps: u64,
    /// Steps of each process that are not counted.
    warm_up: u64,
    /// Most rounds that a process has steps for, and why; none where it has no
    /// end.
    most: Option<(u64, String)>,
    /// What an epoch takes in calibration, and a start, in nanoseconds.
    epoch_ns: f64,
    start_ns: f64,
    /// One for each metric: `samples[process][round]`.
    samples: Vec<Vec<Vec<Option<f64>>>>,
    /// What each measured step took, for each of [`DISTRIBUTED`].
    times: [Vec<f64>; 2],
    /// The steps of the process that runs.
    record: Option<Record>,
    /// What those of all processes come to.
    tally: Tally,
}

/// A host that runs, and the epochs that it was measured in.
struct Live {
    remote: Remote,
    logs: [Option<PathBuf>; 2],
    /// Rounds, and the places of their steps among all.
    epochs: Vec<(usize, Vec<u64>)>,
    /// Why there are no more steps.
    ended: Option<String>,
}

struct Session<'a, 's> {
    plan: &'a Plan,
    samples: Option<&'s mut Samples>,
    contenders: Vec<Contender<'a>>,
    facts: Vec<Fact>,
    warnings: Vec<Warning>,
    random: Random,
}

impl<'a, 's> Session<'a, 's> {
    fn new(plan: &'a Plan, samples: Option<&'s mut Samples>) -> Session<'a, 's> {
        let contenders = plan.entrants.iter().map(|entrant| Contender {
            entrant,
            subject: entrant.subject.clone(),
            ready: None,
            cells: Vec::new(),
            accounts: Vec::new(),
            ends: Vec::new(),
        });
        Session {
            plan,
            samples,
            contenders: contenders.collect(),
            facts: Vec::new(),
            warnings: Vec::new(),
            random: Random::new(plan.settings.seed),
        }
    }

    /// Unpacks every FMU once and couples them.
    fn prepare(&mut self) -> Result<()> {
        let mut packages: HashMap<(PathBuf, String), Rc<Package>> = HashMap::new();
        let mut open = |path: &Path, name: &str| -> Result<Rc<Package>> {
            let key = (path.to_owned(), name.to_owned());
            if let Some(package) = packages.get(&key) {
                return Ok(Rc::clone(package));
            }
            let package = Rc::new(Package::open_as(path, name)?);
            packages.insert(key, Rc::clone(&package));
            Ok(package)
        };
        for contender in &mut self.contenders {
            interrupt::check()?;
            let Some(Work::Fmus(pair)) = contender.work() else { continue };
            let mut ready = || -> Result<Ready> {
                let names = names_apart(&pair.source, &pair.model);
                let (source, model) =
                    (open(&pair.source, &names[0])?, open(&pair.model, &names[1])?);
                let coupling = couple(&source, &model, &pair.wanted)?;
                let (step, step_by) = step_size(pair, &source, &model)?;
                Ok(Ready { source, model, coupling, step, step_by })
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
                contender.ends.extend(cell.most.as_ref().map(|(_, end)| (case, end.clone())));
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
                    if contender.subject.bound || size == 0 {
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
        let rounds =
            (fitting as u32).clamp(settings.rounds, self.plan.most_rounds.max(settings.rounds));
        // Where every simulation ends, the bounds need not go on alone.
        let ends: Option<Vec<u64>> = self
            .contenders
            .iter()
            .filter(|contender| !contender.subject.bound)
            .flat_map(|contender| contender.cells.iter().map(|cell| Some(cell.most.as_ref()?.0)))
            .collect();
        match ends.and_then(|ends| ends.into_iter().max()) {
            Some(most) => rounds.min(u32::try_from(most).unwrap_or(u32::MAX)).max(1),
            None => rounds,
        }
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
                let show = |round: usize| {
                    let what = format!(
                        "measuring {} (process {} of {processes}, round {} of {rounds})",
                        load.case.id,
                        process + 1,
                        round + 1
                    );
                    progress(&what, done + round, total);
                };
                let outcome = self.process(process, case, rounds as usize, &show);
                // What was done until then is kept, however it ended.
                for contender in &mut self.contenders {
                    close(plan, &mut self.samples, contender, case, process, &[], &[]);
                }
                outcome?;
                done += rounds as usize;
            }
        }
        Ok(())
    }

    /// All rounds of one process of each subject.
    fn process(
        &mut self,
        process: usize,
        case: usize,
        rounds: usize,
        show: &dyn Fn(usize),
    ) -> Result<()> {
        let mut live = self.start_all(case)?;
        for round in 0..rounds {
            interrupt::check()?;
            show(round);
            self.round(&mut live, process, case, round)?;
        }
        self.gather(live, process, case)
    }

    /// How many steps of a process are kept.
    fn room(&self, case: usize) -> usize {
        if self.samples.is_none() {
            return 0;
        }
        let fmus = || self.contenders.iter().filter(|contender| contender.ready.is_some());
        let all: usize = fmus().map(|contender| contender.cells.len()).sum();
        let of_case = |contender: &&Contender| contender.cells.iter().any(|c| c.case == case);
        let processes = all as u64 * u64::from(self.plan.settings.processes);
        samples::room(processes, fmus().filter(of_case).count() as u64)
    }

    /// A new process for every subject that is still there, warmed up.
    fn start_all(&mut self, case: usize) -> Result<Vec<Option<Live>>> {
        let mut all = Vec::with_capacity(self.contenders.len());
        let room = self.room(case);
        for contender in &mut self.contenders {
            interrupt::check()?;
            let work = contender.work();
            let Some(cell) = contender.cells.iter_mut().find(|cell| cell.case == case) else {
                all.push(None);
                continue;
            };
            let started = match (work, &contender.ready) {
                (Some(Work::Fmus(pair)), Some(ready)) => {
                    cell.record = Some(Record::new(cycle(ready.step), room));
                    start(self.plan, &self.plan.cases[case], pair, ready, false, None)
                }
                (Some(Work::Memcpy(_)), _) => start_memcpy(self.plan, cell.sizes),
                _ => {
                    all.push(None);
                    continue;
                }
            };
            let warm_up = cell.warm_up;
            let warm = started.and_then(|mut live| {
                live.skip(warm_up)?;
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
            let Live { remote, logs, epochs, ended } = live;
            let load = &self.plan.cases[case];
            let finished = remote.finish().map_err(|trouble| on_case(trouble, load, self.plan));
            let Some((folder, account)) = contender.settle(finished)? else { continue };
            contender.ends.extend(ended.map(|end| (case, end)));
            let (steps, slowest) = (account.steps, account.slowest.clone());
            contender.accounts.push((case, account));
            let Some(ready) = &contender.ready else { continue };
            let phases = Logs::read(folder.path(), &logs).phases(steps, ready.step);
            let cell = contender.cells.iter_mut().find(|cell| cell.case == case);
            let Some(cell) = cell else { continue };
            for (round, numbers) in epochs {
                let mean = |phase: usize| {
                    let of = numbers.iter().map(|&number| phases.get(number as usize)?[phase]);
                    Some(of.sum::<Option<f64>>()? / numbers.len() as f64)
                };
                cell.put(process, round, phase_values(std::array::from_fn(mean)));
                let whole = numbers.iter().filter_map(|&number| {
                    phases.get(number as usize)?.iter().copied().sum::<Option<f64>>()
                });
                cell.times[0].extend(whole);
            }
            close(self.plan, &mut self.samples, contender, case, process, &phases, &slowest);
        }
        Ok(())
    }

    fn finish(mut self, rounds: u32) -> Measured {
        let mut measurements = Vec::new();
        self.tell();
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
        let curves = self.distributions();
        let (slowest, notes) = self.tallies();
        Measured {
            subjects: self.contenders.into_iter().map(|c| c.subject).collect(),
            measurements,
            facts: self.facts,
            curves,
            slowest,
            notes,
            warnings: merge(self.warnings),
            rounds,
        }
    }
}

impl Session<'_, '_> {
    /// How the times of single steps are distributed, with the facts that
    /// percentiles need.
    fn distributions(&mut self) -> Vec<Curve> {
        let mut curves = Vec::new();
        for contender in &mut self.contenders {
            for cell in &mut contender.cells {
                let case = &self.plan.cases[cell.case].case.id;
                for (metric, times) in DISTRIBUTED.iter().zip(&mut cell.times) {
                    times.sort_by(f64::total_cmp);
                    let Some(most) = times.last().copied() else { continue };
                    let count = times.len() as f64;
                    for (what, unit, value) in [("max", "ns", most), ("count", "1", count)] {
                        self.facts.push(Fact {
                            case: case.clone(),
                            subject: contender.subject.id.clone(),
                            metric: format!("{metric}/{what}"),
                            unit: unit.into(),
                            value,
                        });
                    }
                    curves.push(Curve {
                        case: case.clone(),
                        subject: contender.subject.id.clone(),
                        metric: (*metric).into(),
                        unit: "ns".into(),
                        over: "share".into(),
                        points: tail::distribution(times, &shares()),
                    });
                }
            }
        }
        curves
    }

    /// The slowest steps, and what is to be said of steps that took longer than
    /// they simulate, with the facts of them.
    fn tallies(&mut self) -> (Vec<Slowest>, Vec<(usize, String)>) {
        let (mut slowest, mut notes) = (Vec::new(), Vec::new());
        for contender in &self.contenders {
            let Subject { id, title, .. } = &contender.subject;
            for Cell { case, tally, .. } in &contender.cells {
                let key = &self.plan.cases[*case].case.id;
                self.facts.extend(tally.facts(key, id));
                slowest.extend(tally.slowest(key, id));
                notes.extend(tally.told(title).into_iter().map(|told| (*case, told)));
            }
        }
        (slowest, notes)
    }

    /// What the hosts said of their steps, as warnings and facts.
    fn tell(&mut self) {
        for contender in &self.contenders {
            let Some(ready) = &contender.ready else { continue };
            for (case, load) in self.plan.cases.iter().enumerate() {
                let accounts: Vec<&Account> = contender
                    .accounts
                    .iter()
                    .filter(|(of, _)| *of == case)
                    .map(|(_, a)| a)
                    .collect();
                let sum =
                    |part: &dyn Fn(&Account) -> u64| accounts.iter().map(|a| part(a)).sum::<u64>();
                let at = if self.plan.cases.len() > 1 {
                    format!(" at {}", load.case.id)
                } else {
                    String::new()
                };
                let mut warn = |code: &str, text: String, remedy: &str| {
                    self.warnings.push(Warning { code: code.into(), text, remedy: remedy.into() });
                };
                let steps = sum(&|account| account.steps);
                for (seat, package) in [&ready.source, &ready.model].into_iter().enumerate() {
                    let count = sum(&|account| account.warnings[seat]);
                    if count == 0 {
                        continue;
                    }
                    let words = accounts.iter().map(|account| &account.complaints[seat]);
                    let words = words.into_iter().find(|words| !words.is_empty());
                    let words =
                        words.map_or(String::new(), |words| format!("; the first said: {words}"));
                    warn(
                        "fmi-warning",
                        format!(
                            "{}: DoStep returned a warning in {count} of {steps} steps{at}{words}",
                            package.name
                        ),
                        "see whether its figures are those of a healthy FMU",
                    );
                    self.facts.push(Fact {
                        case: load.case.id.clone(),
                        subject: contender.subject.id.clone(),
                        metric: format!("warnings/{}", ["source", "model"][seat]),
                        unit: "1".into(),
                        value: count as f64,
                    });
                }
                let empty = sum(&|account| account.empty);
                if empty > 0 {
                    warn(
                        "empty-steps",
                        format!(
                            "{}: {} held no message in {empty} of {steps} steps{at}, which are \
                             not counted",
                            ready.source.name, ready.coupling.output.name
                        ),
                        "none, where it is meant to be silent then",
                    );
                }
                let end = contender.ends.iter().find(|(of, _)| *of == case);
                if let Some((_, end)) = end {
                    warn(
                        "ended",
                        format!("{end}{at}: the steps before are measured"),
                        "more steps give narrower intervals: a longer trace, more --processes",
                    );
                }
            }
        }
    }
}

/// Takes the steps of a process into the account, and puts those that are kept
/// into the file, with what the FMUs logged of them and what the host said of the
/// slowest. Done once, it does nothing more.
fn close(
    plan: &Plan,
    samples: &mut Option<&mut Samples>,
    contender: &mut Contender,
    case: usize,
    process: usize,
    phases: &[Phases],
    slowest: &[Slow],
) {
    let Some(ready) = &contender.ready else { return };
    let Some(cell) = contender.cells.iter_mut().find(|cell| cell.case == case) else { return };
    let Some(record) = cell.record.take() else { return };
    cell.tally.add(process, &record, slowest);
    if let Some(samples) = samples {
        let whose = Whose {
            case: &plan.cases[case].case.id,
            subject: &contender.subject.id,
            process,
            simulated: (START, ready.step),
            cycle: record.cycle,
        };
        samples.add(&whose, &record.kept, phases);
    }
}

/// What a step may take if the simulation is to keep up with the time, in
/// nanoseconds: the time that it simulates.
fn cycle(step: f64) -> u64 {
    (step * 1e9).round() as u64
}

/// The step size of a pair, and where it comes from.
fn step_size(pair: &Pair, source: &Package, model: &Package) -> Result<(f64, &'static str)> {
    if let Some(step) = pair.step {
        return Ok((step, "as asked for"));
    }
    for (package, by) in [(source, "as the source proposes"), (model, "as the model proposes")] {
        if let Some(text) = &package.description.no_step {
            bail!(
                "{}: the stepSize '{text}' in its modelDescription.xml is no step size of 1e-9 to \
                 1e6 seconds; give one with --step-size",
                package.name
            );
        }
        if let Some(step) = package.description.step {
            return Ok((step, by));
        }
    }
    Ok((STEP, "as neither FMU proposes one"))
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
    /// One that is not calibrated yet.
    fn new(case: usize, sizes: [u64; 2], warm_up: u64, start_ns: f64) -> Cell {
        Cell {
            case,
            sizes,
            steps: 1,
            warm_up,
            most: None,
            epoch_ns: 0.0,
            start_ns,
            samples: Vec::new(),
            times: Default::default(),
            record: None,
            tally: Tally::default(),
        }
    }

    fn put(&mut self, process: usize, round: usize, values: Vec<(usize, f64)>) {
        for (metric, value) in values {
            self.samples[metric][process][round] = Some(value);
        }
    }
}

/// The phases that are there as metrics, with the sums that are whole.
fn phase_values(phases: [Option<f64>; 5]) -> Vec<(usize, f64)> {
    let sum = |range: std::ops::Range<usize>| phases[range].iter().copied().sum::<Option<f64>>();
    [(0, sum(0..5)), (6, sum(0..2)), (7, sum(2..5))]
        .into_iter()
        .chain((1..).zip(phases))
        .filter_map(|(metric, ns)| Some((metric, ns?)))
        .collect()
}

impl Live {
    fn skip(&mut self, count: u64) -> Result<(), Trouble> {
        if count > 0 {
            self.ended = self.remote.skip(count)?.end;
        }
        Ok(())
    }

    fn run(&mut self, lead: u64, count: u64) -> Result<Ran, Trouble> {
        let ran = self.remote.run(lead, count)?;
        self.ended = ran.end.clone();
        Ok(ran)
    }

    /// One epoch. Where it has several steps, one more goes before it, so that
    /// the caches are this subject's own again; in a long step that matters
    /// little. What the end of a simulation cuts off is no epoch.
    fn epoch(
        &mut self,
        cell: &mut Cell,
        process: usize,
        round: usize,
        bound: bool,
    ) -> Result<(), Trouble> {
        if self.ended.is_some() {
            return Ok(());
        }
        let lead = usize::from(cell.steps > 1);
        let ran = self.run(lead as u64, cell.steps)?.steps;
        let (led, steps) = ran.split_at(lead.min(ran.len()));
        let whole = steps.len() as u64 == cell.steps;
        if let Some(record) = &mut cell.record {
            record.add(round, false, led);
            record.add(round, whole, steps);
        }
        if !whole {
            return Ok(());
        }
        let mean = |part: fn(&Step) -> u64| {
            steps.iter().map(part).sum::<u64>() as f64 / steps.len() as f64
        };
        let parts = [
            mean(|step| step.source),
            mean(|step| step.get),
            mean(|step| step.set),
            mean(|step| step.model),
        ];
        let whole = |step: &Step| step.exchange() as f64;
        cell.times[1].extend(steps.iter().map(whole));
        if bound {
            cell.times[0].extend(steps.iter().map(whole));
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
        self.epochs.push((round, steps.iter().map(|step| step.number).collect()));
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
            Some(version) => safe(&format!("{standard}, OSI {version}")),
            None => standard.to_owned(),
        };
    }
    for (package, description) in [(&ready.source, source), (&ready.model, model)] {
        subject.options.push(safe(&format!("{}: {}", package.name, description.model)));
    }
    subject.options.push(format!("steps of {} s, {}", ready.step, ready.step_by));
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
    let folder = Scratch::new()?;
    let mut logs = [None, None];
    let mut seat = |at: usize, package: &Package, case: &Parameters, own: &Parameters| {
        let mut parameters: Parameters = Vec::new();
        let is_text = |name: &str| {
            package.description.variable(name).is_some_and(|variable| variable.kind == "String")
        };
        let own = own.iter().map(|(name, value)| {
            let path = if is_text(name) { here(value) } else { None };
            (name.clone(), path.unwrap_or(value.clone()))
        });
        for (name, value) in case.iter().cloned().chain(own) {
            parameters.retain(|(known, _)| *known != name);
            parameters.push((name, value));
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
        result: ready.coupling.result.as_ref().map(|result| result.name.clone()),
        start: START,
        step: ready.step,
        logging,
        dump,
    };
    let job = Job::Fmus(Box::new(chain));
    let remote = Remote::start_in(folder, &plan.host, &job, plan.patience)?;
    Ok(Live { remote, logs, epochs: Vec::new(), ended: None })
}

/// A text that is a path relative to where the user stands, which is not where
/// the FMU runs: one that begins with `./` or `../`, that names something
/// which is there, or something in a folder that is there. Plain words are no
/// paths, even where there is something of that name.
fn here(value: &str) -> Option<String> {
    let path = Path::new(value);
    if value.is_empty() || path.is_absolute() || !value.contains(['/', '.']) {
        return None;
    }
    let begins = value.starts_with("./") || value.starts_with("../");
    let in_folder = path.parent().is_some_and(|folder| folder != Path::new("") && folder.is_dir());
    if !begins && !in_folder && !path.exists() {
        return None;
    }
    Some(std::path::absolute(path).ok()?.display().to_string())
}

fn start_memcpy(plan: &Plan, [source, model]: [u64; 2]) -> Result<Live, Trouble> {
    let job = Job::Memcpy { source, model };
    let remote = Remote::start(&plan.host, &job, plan.patience)?;
    Ok(Live { remote, logs: [None, None], epochs: Vec::new(), ended: None })
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
    let sink = ready.coupling.result.is_none();
    let mut first = start(plan, load, pair, ready, true, dump)?;
    let Proof { products, end } = look(plan, &mut first, sink)?;
    let Live { remote, logs, .. } = first;
    let (folder, account) = remote.finish()?;
    let warnings = Logs::read(folder.path(), &logs).warnings(ready, &products, account.steps);

    let began = Instant::now();
    let mut second = start(plan, load, pair, ready, false, None)?;
    let start_ns = began.elapsed().as_nanos() as f64;
    let again = second.remote.prove(products.len() as u64)?;
    let count = products.len();
    if again.products.len() != count && !pair.varying {
        return Err(Trouble::Refused(format!(
            "{}: it ends when it is run again ({count} steps before; --varying allows that)",
            again.end.unwrap_or_default()
        )));
    }
    let mut ends = vec![(&ready.source, &ready.coupling.output)];
    ends.extend(ready.coupling.result.as_ref().map(|result| (&ready.model, result)));
    for (at, (package, binary)) in ends.into_iter().enumerate() {
        let named =
            |what: String| Trouble::Refused(format!("{}: {} {what}", package.name, binary.name));
        for (step, (one, other)) in products.iter().zip(&again.products).enumerate() {
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
            let end = end.map_or(String::new(), |end| format!("; {end}"));
            return Err(named(format!(
                "holds no message in the first {count} steps (--warm-up N waits for N){end}"
            )));
        }
    }
    let sizes = |products: &[Product; 2]| products.each_ref().map(|product| product.size);
    let last = products.iter().rev().find(|products| is_whole(products, sink));
    let sizes = last.or(products.last()).map(sizes).unwrap_or_default();
    // What comes before the first message is warming up.
    let silent = products.iter().position(|products| is_whole(products, sink)).unwrap_or(0) as u64;
    let warm_up = plan.warm_up.max(silent);
    let seen = products.iter().skip(warm_up as usize).filter(|products| products[0].size > 0);
    let cell = Cell::new(case, sizes, warm_up, start_ns);
    let left = warm_up.saturating_sub(count as u64);
    let cell = calibrate(plan, cell, second, left, seen.count() as u64)?;
    Ok((cell, warnings))
}

/// Whether a step has all messages that it can have.
fn is_whole(products: &[Product; 2], sink: bool) -> bool {
    products[0].size > 0 && (sink || products[1].size > 0)
}

/// Steps until enough of them had messages, for as long as is worth waiting.
fn look(plan: &Plan, live: &mut Live, sink: bool) -> Result<Proof, Trouble> {
    let began = Instant::now();
    let mut proof = Proof::default();
    let most = PROOF + plan.warm_up.max(SILENT) as usize;
    loop {
        let more = live.remote.prove(1)?;
        proof.products.extend(more.products);
        proof.end = more.end;
        let whole = proof.products.iter().filter(|products| is_whole(products, sink)).count();
        let enough = whole >= PROOF || proof.products.len() >= most;
        if enough || proof.end.is_some() || began.elapsed() >= plan.patience {
            return Ok(proof);
        }
    }
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
    let start_ns = began.elapsed().as_nanos() as f64;
    let warm_up = plan.warm_up;
    let cell = Cell::new(case, sizes, warm_up, start_ns);
    calibrate(plan, cell, live, warm_up, 0)
}

/// How many steps make an epoch that is long enough, and how long it is. A
/// simulation that ends has its steps shared out among the least rounds.
/// `warm_up` steps go before, and `seen` that count were done.
fn calibrate(
    plan: &Plan,
    mut cell: Cell,
    mut live: Live,
    warm_up: u64,
    mut seen: u64,
) -> Result<Cell, Trouble> {
    let wanted = plan.settings.epoch_ns as f64;
    cell.steps = plan.steps.unwrap_or(1);
    let warming = Instant::now();
    live.skip(warm_up)?;
    cell.start_ns += warming.elapsed().as_nanos() as f64;
    while live.ended.is_none() {
        let began = Instant::now();
        let timed = live.run(0, cell.steps)?.steps;
        cell.epoch_ns = began.elapsed().as_nanos() as f64;
        seen += timed.len() as u64;
        let sum: u64 = timed.iter().map(Step::exchange).sum();
        let ns = (sum as f64).max(1.0);
        if ns >= wanted || cell.steps >= MOST_STEPS || plan.steps.is_some() || live.ended.is_some()
        {
            break;
        }
        let factor = (wanted / ns * 1.1).clamp(1.2, 20.0);
        cell.steps = ((cell.steps as f64 * factor) as u64 + 1).min(MOST_STEPS);
    }
    if let Some(end) = &live.ended {
        if seen == 0 {
            return Err(Trouble::Refused(format!(
                "{end}: all steps before are those of the warm-up (--warm-up 0 counts them)"
            )));
        }
        let share = seen / u64::from(plan.settings.rounds.max(1));
        cell.steps = cell.steps.min(share.saturating_sub(1)).max(1);
        let most = seen / (cell.steps + u64::from(cell.steps > 1));
        cell.most = Some((most, end.clone()));
    }
    live.remote.finish()?;
    Ok(cell)
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
    fn read(folder: &Path, told: &[Option<PathBuf>; 2]) -> Logs {
        let mut logs = Logs { source: None, model: None, faults: Vec::new() };
        let told_to: Vec<&PathBuf> = told.iter().flatten().collect();
        let others = files(folder);
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

    /// The five phases of each step in nanoseconds, as far as the logs say.
    fn phases(&self, done: u64, size: f64) -> Vec<Phases> {
        let [source, model] = [&self.source, &self.model].map(|log| match log {
            Some(log) => phase::placed(phase::steps(log).0, done, START, size),
            None => vec![None; done as usize],
        });
        let join = |(source, model): (Option<phase::Step>, Option<phase::Step>)| {
            std::array::from_fn(|at| {
                let (step, at) = if at < 2 { (&source, at) } else { (&model, at - 2) };
                step.as_ref()?.phases.get(at).copied().flatten().map(|ns| ns as f64)
            })
        };
        source.into_iter().zip(model).map(join).collect()
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
            let logged: Vec<u64> = phase::steps(log).0.iter().map(|step| step.size).collect();
            let real: Vec<u64> = products
                .iter()
                .map(|products| products[at].size)
                .filter(|&size| size > 0)
                .collect();
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
        let there = |range: std::ops::Range<usize>| {
            phases.iter().any(|phases| phases[range.clone()].iter().any(Option::is_some))
        };
        let have = [there(0..2), there(2..5)];
        let mut why: Vec<String> = Vec::new();
        for (package, log) in both {
            let name = &package.name;
            match log {
                None => why.push(format!("{name} wrote no performance log")),
                Some(log) => why.extend(
                    phase::lacking(log, &phase::steps(log).0)
                        .map(|lacking| format!("in the log of {name} {lacking}")),
                ),
            }
        }
        if self.source.is_none() || self.model.is_none() {
            why.extend(self.faults.first().cloned());
        }
        if !why.is_empty() {
            let (source, model) = (&ready.source.name, &ready.model.name);
            let what = match have {
                [false, false] => format!("{source} and {model} have no phases"),
                [true, false] => format!("{model} has no phases"),
                [false, true] => format!("{source} has no phases"),
                [true, true] => format!("some steps of {source} and {model} have no phases"),
            };
            warnings.push(warning(
                "no-phases",
                format!("{what}: {}", why.join("; ")),
                "instrument both FMUs (docs/cosim.md); what the master measures is there all \
                 the same",
            ));
        }
        warnings
    }
}

/// Whether a file may be a performance log.
fn like_a_log(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(1 << 16).read_to_end(&mut head));
    read.is_ok()
        && head.windows(11).any(|window| window == b"\"OsiEvents\"" || window == b"EventFields")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_told_from_words() {
        // Where the tests run there is src/lib.rs.
        for path in ["src/lib.rs", "./new", "../new", "src/new", "Cargo.toml", "."] {
            let absolute = here(path).unwrap_or_else(|| panic!("{path} is a path"));
            assert!(absolute.starts_with('/'), "{absolute}");
        }
        for word in ["", "src", "full", "1.5", "a/b", "text/plain", "/tmp", "file:///tmp"] {
            assert_eq!(here(word), None, "{word}");
        }
    }

    #[test]
    fn phases_that_are_missing_leave_their_sums_out() {
        let metrics = |phases| -> Vec<&str> {
            phase_values(phases).into_iter().map(|(metric, _)| METRICS[metric]).collect()
        };
        assert_eq!(metrics([Some(1.0); 5]).len(), 8);
        let source = [Some(1.0), Some(2.0), None, None, None];
        assert_eq!(
            metrics(source),
            ["source", "step/source generation", "step/source serialization"]
        );
        let sink = [Some(1.0), Some(2.0), Some(3.0), None, None];
        assert!(metrics(sink).contains(&"step/model deserialization"));
        assert!(!metrics(sink).contains(&"model") && !metrics(sink).contains(&"step"));
    }
}
