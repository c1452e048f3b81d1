//! Runners as contenders: proof, calibration, then interleaved rounds over
//! restarted processes.

pub mod check;
pub mod compress;
pub mod contender;
pub mod corrupt;
mod explanation;
mod instructions;
pub mod managed;
pub mod plan;
pub mod proof;
pub mod robustness;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{bail, Result};
use wiregauge_child_process::child::{ChildFailure, Limits};
use wiregauge_child_process::runner::{Launch, Runner, RunnerError};
use wiregauge_result::explanation::Explanation;
use wiregauge_result::random::Random;
use wiregauge_result::run::{Fact, Measurement, Status, Subject};
use wiregauge_result::warning::{self, Caution, Warning};
use wiregauge_system::interrupt::{self, Interrupted};

use crate::rounds::{run_rounds, Contender, ProcessRounds, Progress};
use crate::runners::contender::{load_all, RunnerContender};
use crate::runners::plan::Plan;
use crate::runners::proof::Proofs;
use crate::schedule::{self, CellCost};

/// Fewest rounds in a process of a cell that is dear, where time is short.
const MIN_ROUNDS: u32 = 3;

/// What was measured.
pub struct Measured {
    /// The subjects with their final status.
    pub subjects: Vec<Subject>,
    /// The samples.
    pub measurements: Vec<Measurement>,
    /// Sizes, allocations, robustness.
    pub facts: Vec<Fact>,
    /// Where instructions were executed, of those subjects of which it is to be explained.
    pub explanations: Vec<Explanation>,
    /// That it was interrupted, where it was.
    pub warnings: Vec<Warning>,
    /// Most rounds in a process.
    pub rounds: u32,
    /// What the process of each subject executed: its program, and the libraries that it
    /// had loaded.
    pub loaded: Vec<Vec<PathBuf>>,
}

/// Carries out a plan. A subject that fails is marked and left out from there
/// on; an error is one that concerns all. What was measured before an interruption
/// is a result.
///
/// # Errors
/// When it is interrupted before anything was measured.
pub fn measure(plan: &Plan, progress: Progress) -> Result<Measured> {
    let mut session = Session::new(plan);
    match session.carry_out(progress) {
        Err(error) if error.is::<Interrupted>() && session.has_figures() => session.interrupt(),
        outcome => outcome?,
    }
    Ok(session.finish())
}

struct Session<'a> {
    plan: &'a Plan,
    contenders: Vec<RunnerContender<'a>>,
    facts: Vec<Fact>,
    explanations: Vec<Explanation>,
    proofs: Proofs,
    random: Random,
    warnings: Vec<Warning>,
    /// Most rounds in a process.
    rounds: u32,
}

impl<'a> Session<'a> {
    fn new(plan: &'a Plan) -> Session<'a> {
        let contenders = plan.entrants.iter().map(|entrant| RunnerContender::new(plan, entrant));
        Session {
            plan,
            contenders: contenders.collect(),
            facts: Vec::new(),
            explanations: Vec::new(),
            proofs: Proofs::default(),
            random: Random::new(plan.settings.seed),
            warnings: Vec::new(),
            rounds: 0,
        }
    }

    fn carry_out(&mut self, progress: Progress) -> Result<()> {
        // Corruptions are asked for by number, and take the time that they take.
        self.corrupt(progress)?;
        let deadline = Instant::now() + self.plan.time;
        self.prove(progress)?;
        self.count_allocations(progress)?;
        if self.plan.timed {
            self.measure_cold_start(progress)?;
            self.sample(deadline, progress)?;
        }
        self.count_instructions(progress)
    }

    /// Whether any epoch was timed.
    fn has_figures(&self) -> bool {
        self.contenders.iter().any(RunnerContender::has_figures)
    }

    /// Says that there is no more, and of whom there is nothing.
    fn interrupt(&mut self) {
        self.warnings.extend(warning::merge(&[Caution::Interrupted]));
        for contender in &mut self.contenders {
            if contender.subject.status == Status::Measured && !contender.has_figures() {
                let why = "it was interrupted before anything was measured".into();
                contender.subject.status = Status::Skipped(why);
            }
            let cells = contender.cells.iter_mut();
            for samples in cells.flat_map(|cell| &mut cell.samples) {
                // Of processes that it did not come to.
                if samples.is_empty() {
                    *samples = vec![None; self.rounds as usize];
                }
            }
        }
    }

    /// Every subject shows on every case that it is right, and how long its
    /// epochs have to be.
    fn prove(&mut self, progress: Progress) -> Result<()> {
        let proofs = &mut self.proofs;
        for_each_contender(&mut self.contenders, "proving", progress, |contender, launch| {
            proofs.prove(contender, launch)
        })?;
        self.facts.append(&mut self.proofs.facts);
        Ok(())
    }

    fn count_allocations(&mut self, progress: Progress) -> Result<()> {
        let Some(counter) = &self.plan.counter else { return Ok(()) };
        let (plan, facts) = (self.plan, &mut self.facts);
        for_each_contender(
            &mut self.contenders,
            "counting allocations of",
            progress,
            |_, launch| {
                let preload = Some((counter, &[][..]));
                let mut runner = Runner::start(launch, Limits::default(), preload, plan.patience)?;
                for load in &plan.cases {
                    load_all(&mut runner, &load.samples)?;
                    for experiment in ["encode", "decode", "project"] {
                        // A runner in another language may not count.
                        let Ok((count, bytes)) = runner.allocations(experiment, &plan.lifetimes())
                        else {
                            return Ok(());
                        };
                        let figures =
                            [("allocations", "1", count), ("allocated", "B", Some(bytes))];
                        for (metric, unit, value) in figures {
                            let Some(value) = value else { continue };
                            facts.push(Fact {
                                case: load.case.id.clone(),
                                subject: launch.id.clone(),
                                metric: format!("{metric}/{experiment}"),
                                unit: unit.into(),
                                value,
                            });
                        }
                    }
                }
                Ok(())
            },
        )
    }

    /// What the first messages of a process cost, in languages where that is another
    /// matter.
    fn measure_cold_start(&mut self, progress: Progress) -> Result<()> {
        let (plan, facts) = (self.plan, &mut self.facts);
        for_each_contender(&mut self.contenders, "starting cold", progress, |contender, launch| {
            if contender.is_managed {
                facts.extend(managed::facts(plan, launch, contender.subject.bound)?);
            }
            Ok(())
        })
    }

    /// After what is timed, so that all processors can count.
    fn count_instructions(&mut self, progress: Progress) -> Result<()> {
        let Some(counter) = &self.plan.instructions else { return Ok(()) };
        let total = self.contenders.len();
        let outcomes = instructions::count_all(counter, &self.contenders, &|done| {
            progress("counting instructions", done, total);
        });
        for (contender, outcome) in self.contenders.iter_mut().zip(outcomes) {
            match outcome {
                Ok(counts) => {
                    self.facts.extend(counts.facts);
                    self.explanations.extend(counts.explanations);
                }
                Err(RunnerError::Broken(ChildFailure::Interrupted)) => bail!(Interrupted),
                Err(why) => contender.subject.not_counted = why.to_string(),
            }
        }
        Ok(())
    }

    fn corrupt(&mut self, progress: Progress) -> Result<()> {
        let (plan, facts) = (self.plan, &mut self.facts);
        if plan.corruptions == 0 {
            return Ok(());
        }
        for_each_contender(&mut self.contenders, "corrupting", progress, |contender, launch| {
            if contender.subject.bound {
                return Ok(());
            }
            for load in &plan.cases {
                let Some(sample) = load.samples.first() else { continue };
                let mut runner = Runner::start(launch, Limits::default(), None, plan.patience)?;
                let wire = runner.message(&sample.canonical)?;
                let tally = robustness::corrupt(plan, launch, &wire, &sample.canonical)?;
                facts.extend(tally.facts(&load.case.id, &launch.id));
            }
            Ok(())
        })
    }

    /// The interleaved rounds, until the deadline.
    fn sample(&mut self, deadline: Instant, progress: Progress) -> Result<()> {
        let plan = self.plan;
        let processes = plan.settings.processes;
        let cases: Vec<usize> = (0..plan.cases.len()).collect();
        // How much longer things take than calibration had it.
        let mut slowness = 1.0;
        for process in 0..processes {
            let began = Instant::now();
            let left = deadline.saturating_duration_since(began);
            let planned = left / (processes - process);
            let rounds = self.assign_rounds(planned, slowness);
            self.rounds = self.rounds.max(rounds);
            let expected = self.expected_duration();
            let process_rounds = ProcessRounds {
                process: process as usize,
                cases: &cases,
                experiments: plan.experiments.len(),
                rounds,
            };
            let show = |case: usize, _| {
                let left = deadline.saturating_duration_since(Instant::now());
                progress(
                    &format!(
                        "measuring {} (process {} of {processes}), {} left",
                        plan.cases[case].case.id,
                        process + 1,
                        time_left(left)
                    ),
                    plan.time.saturating_sub(left).as_millis() as usize,
                    plan.time.as_millis() as usize,
                );
            };
            run_rounds(&mut self.contenders, &process_rounds, &mut self.random, &show)?;
            let took = began.elapsed().as_secs_f64();
            slowness = (took / expected.as_secs_f64().max(1e-3)).clamp(0.5, 4.0);
        }
        Ok(())
    }

    /// Gives each cell its rounds in one process that may take so long; returns
    /// the most.
    fn assign_rounds(&mut self, time: Duration, slowness: f64) -> u32 {
        let plan = self.plan;
        let starting: Duration = self.contenders.iter().map(|c| c.starting).sum();
        let time = time.as_secs_f64() / slowness - starting.as_secs_f64();
        let cells = || self.contenders.iter().flat_map(|c| &c.cells);
        let shares: Vec<CellCost> = cells().map(|cell| cell.share).collect();
        let most = plan.most_rounds.max(plan.settings.rounds);
        let mut rounds = schedule::rounds(&shares, time * 1e9, plan.settings.rounds, most);
        let cost = |rounds: &[u32]| -> f64 {
            rounds.iter().zip(&shares).map(|(n, share)| f64::from(*n) * share.wall_ns).sum()
        };
        if cost(&rounds) > time * 1e9 {
            rounds =
                schedule::rounds(&shares, time * 1e9, MIN_ROUNDS.min(plan.settings.rounds), most);
        }
        let most = rounds.iter().copied().max().unwrap_or(0);
        let processes = plan.settings.processes as usize;
        let mut rounds = rounds.into_iter();
        let cells = self.contenders.iter_mut().flat_map(|contender| {
            let least = if contender.is_managed { 0 } else { plan.least_iterations };
            contender.cells.iter_mut().map(move |cell| (cell, least))
        });
        for (cell, least) in cells {
            cell.rounds = rounds.next().unwrap_or(0);
            if cell.samples.is_empty() {
                cell.samples = vec![Vec::new(); processes];
                let epochs = u64::from(plan.settings.processes) * u64::from(cell.rounds.max(1));
                let messages = plan.cases[cell.case].samples.len() as u64;
                let least = least.div_ceil(epochs).next_multiple_of(messages);
                if least > cell.iterations {
                    cell.share.wall_ns *= least as f64 / cell.iterations as f64;
                    cell.iterations = least;
                }
            }
        }
        most
    }

    /// What a process with these rounds takes, by calibration.
    fn expected_duration(&self) -> Duration {
        let starting: Duration = self.contenders.iter().map(|c| c.starting).sum();
        let cells = self.contenders.iter().flat_map(|c| &c.cells);
        let ns: f64 = cells.map(|cell| f64::from(cell.rounds) * cell.share.wall_ns).sum();
        starting + Duration::from_nanos(ns as u64)
    }

    fn finish(self) -> Measured {
        let Session { warnings, rounds, explanations, .. } = self;
        let (mut measurements, mut facts) = (self.proofs.measurements, self.facts);
        let mut subjects = Vec::with_capacity(self.contenders.len());
        let mut loaded = Vec::with_capacity(self.contenders.len());
        for mut contender in self.contenders {
            facts.extend(contender.warm_ups());
            loaded.push(std::mem::take(&mut contender.loaded));
            let (subject, own) = contender.finish();
            subjects.push(subject);
            measurements.extend(own);
        }
        Measured { subjects, measurements, facts, explanations, warnings, rounds, loaded }
    }
}

/// Has each contender that is still to be measured do something, in its turn.
fn for_each_contender<'a>(
    contenders: &mut [RunnerContender<'a>],
    what: &str,
    progress: Progress,
    mut act: impl FnMut(&mut RunnerContender<'a>, &'a Launch) -> Result<(), RunnerError>,
) -> Result<()> {
    let total = contenders.len();
    for (index, contender) in contenders.iter_mut().enumerate() {
        interrupt::check()?;
        progress(&format!("{what} {}", contender.subject.title), index, total);
        let Some(launch) = contender.runner() else { continue };
        let outcome = act(contender, launch);
        contender.record_outcome(outcome)?;
    }
    Ok(())
}

/// A time in the words of a progress bar.
fn time_left(left: Duration) -> String {
    match left.as_secs() {
        seconds @ 0..=90 => format!("{seconds} s"),
        seconds => format!("{} min", seconds.div_ceil(60)),
    }
}
