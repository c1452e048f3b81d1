//! The measurement itself: packages, proof, calibration, then interleaved
//! rounds over restarted processes.

pub mod case_run;
pub mod contender;
pub mod coupled_pair;
pub mod derived_results;
pub mod live;
pub mod pair_logs;
pub mod plan;
pub mod proof;
pub mod record;
pub mod samples;
pub mod tally;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::Result;
use wiregauge_gauge::rounds::{run_rounds, Contender, ProcessRounds, Progress};
use wiregauge_result::random::Random;
use wiregauge_result::run::{Curve, Fact, Measurement, SlowestSample, Status, Subject};
use wiregauge_result::warning::{self, Caution, Warning};
use wiregauge_system::interrupt::{self, Interrupted};

use crate::master::case_run::CaseRun;
use crate::master::contender::{name_case, FmuContender};
use crate::master::coupled_pair::{start_time, step_size, step_size_sources, CoupledPair};
use crate::master::derived_results::DerivedResults;
use crate::master::plan::{HostWork, Plan};
use crate::master::samples::StepFile;
use crate::metric::METRICS;
use crate::package::coupling::couple;
use crate::package::{distinct_names, Package};

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
    pub slowest: Vec<SlowestSample>,
    /// What is to be said of each case, by its place.
    pub notes: Vec<(usize, String)>,
    /// What the logs say against being trusted.
    pub warnings: Vec<Warning>,
    /// Rounds in each process.
    pub rounds: u32,
}

/// Carries out a plan. A subject that fails is marked and left out from there
/// on; an error is one that concerns all. Steps go into the samples, if there are any,
/// until then. What was measured before an interruption is a result.
///
/// # Errors
/// When it is interrupted before anything was measured.
pub fn measure(
    plan: &Plan,
    samples: Option<&mut StepFile>,
    progress: Progress,
) -> Result<Measured> {
    let mut session = Session::new(plan, samples);
    match session.carry_out(progress) {
        Err(error) if error.is::<Interrupted>() && session.has_figures() => session.interrupt(),
        outcome => outcome?,
    }
    Ok(session.finish())
}

struct Session<'a, 's> {
    plan: &'a Plan,
    samples: Option<&'s mut StepFile>,
    contenders: Vec<FmuContender<'a>>,
    warnings: Vec<Warning>,
    random: Random,
    /// Rounds in each process.
    rounds: u32,
}

impl<'a, 's> Session<'a, 's> {
    fn new(plan: &'a Plan, samples: Option<&'s mut StepFile>) -> Session<'a, 's> {
        let contenders = plan.entrants.iter().map(|entrant| FmuContender::new(plan, entrant));
        Session {
            plan,
            samples,
            contenders: contenders.collect(),
            warnings: Vec::new(),
            random: Random::new(plan.settings.seed),
            rounds: 0,
        }
    }

    /// All of it.
    fn carry_out(&mut self, progress: Progress) -> Result<()> {
        let began = Instant::now();
        self.prepare()?;
        self.prove(progress)?;
        self.size_bounds()?;
        self.rounds = self.rounds(self.plan.time.saturating_sub(began.elapsed()));
        self.sample(self.rounds, progress)
    }

    /// Whether anything was measured.
    fn has_figures(&self) -> bool {
        self.contenders.iter().any(FmuContender::has_figures)
    }

    /// Says that there is no more, and of whom there is nothing.
    fn interrupt(&mut self) {
        self.warnings.extend(warning::merge(&[Caution::Interrupted]));
        for contender in &mut self.contenders {
            let has_figures = contender.has_figures();
            let status = &mut contender.subject.status;
            if *status == Status::Measured && !has_figures {
                *status = Status::Skipped("it was interrupted before anything was measured".into());
            }
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
            let Some(HostWork::Fmus(pair)) = contender.work() else { continue };
            let mut ready = || -> Result<CoupledPair> {
                let names = distinct_names(&pair.source, &pair.model);
                let (source, model) =
                    (open(&pair.source, &names[0])?, open(&pair.model, &names[1])?);
                let coupling = couple(&source, &model, &pair.wanted)?;
                let (step, step_by) = step_size(pair.step, &step_size_sources(&source, &model))?;
                let start = start_time(&[&source, &model]);
                Ok(CoupledPair { source, model, coupling, start, step, step_by })
            };
            match ready() {
                Ok(ready) => {
                    ready.describe(&mut contender.subject);
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
                let (Some(HostWork::Fmus(pair)), Some(ready)) =
                    (contender.work(), &contender.ready)
                else {
                    continue;
                };
                let outcome = proof::prove(self.plan, load, case, pair, ready)
                    .map_err(|trouble| name_case(trouble, case, self.plan));
                let Some((run, flaws)) = contender.record_outcome(outcome)? else { continue };
                self.warnings.extend(flaws);
                contender.ends.extend(run.most.as_ref().map(|(_, end)| (case, end.clone())));
                contender.runs.push(run);
            }
        }
        Ok(())
    }

    /// The bounds get the sizes of the messages that they stand for.
    fn size_bounds(&mut self) -> Result<()> {
        for index in 0..self.contenders.len() {
            let Some(HostWork::Memcpy(like)) = self.contenders[index].work() else { continue };
            for case in 0..self.plan.cases.len() {
                let case_of = &self.plan.cases[case].case;
                if !self.contenders[index].entrant.takes(case_of) {
                    continue;
                }
                let proven = |other: &&FmuContender| {
                    other.ready.is_some() && other.runs.iter().any(|run| run.case == case)
                };
                let preferred = |other: &&FmuContender| Some(&other.subject.id) == like.as_ref();
                let model = self
                    .contenders
                    .iter()
                    .filter(proven)
                    .find(preferred)
                    .or(self.contenders.iter().find(proven))
                    .and_then(|other| {
                        let run = other.runs.iter().find(|run| run.case == case)?;
                        Some((run.sizes, other.subject.title.clone()))
                    });
                let Some((sizes, title)) = model else { continue };
                let contender = &mut self.contenders[index];
                if contender.subject.options.is_empty() {
                    contender.subject.options.push(format!(
                        "copies as many bytes as the two messages of {title} have, each once, into \
                         two buffers in turn"
                    ));
                }
                let outcome = proof::prove_bound(self.plan, case, sizes);
                if let Some(run) = contender.record_outcome(outcome)? {
                    contender.runs.push(run);
                }
            }
            let contender = &mut self.contenders[index];
            if contender.runs.is_empty() && contender.subject.status == Status::Measured {
                let reason = "there is no measured encoding with message sizes to copy";
                contender.subject.status = Status::Skipped(reason.into());
            }
        }
        Ok(())
    }

    /// Rounds per process that fit into the time.
    fn rounds(&self, left: Duration) -> u32 {
        let settings = &self.plan.settings;
        let sum = |figure: fn(&CaseRun) -> f64| -> f64 {
            self.contenders.iter().flat_map(|c| &c.runs).map(figure).sum()
        };
        let processes = f64::from(settings.processes);
        let left = left.as_nanos() as f64 / processes - sum(|run| run.start_ns);
        let fitting = (left / sum(|run| run.epoch_ns).max(1.0)).max(0.0);
        let rounds =
            (fitting as u32).clamp(settings.rounds, self.plan.most_rounds.max(settings.rounds));
        // Where every simulation ends, the bounds need not go on alone.
        let ends: Option<Vec<u64>> = self
            .contenders
            .iter()
            .filter(|contender| !contender.subject.bound)
            .flat_map(|contender| contender.runs.iter().map(|run| Some(run.most.as_ref()?.0)))
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
        for run in self.contenders.iter_mut().flat_map(|c| &mut c.runs) {
            run.samples = vec![vec![vec![None; rounds as usize]; processes]; METRICS.len()];
        }
        let total = processes * plan.cases.len() * rounds as usize;
        let mut done = 0;
        for process in 0..processes {
            for (case, load) in plan.cases.iter().enumerate() {
                progress(&format!("starting hosts for {}", load.case.id), done, total);
                let show = |_, round: u32| {
                    let what = format!(
                        "measuring {} (process {} of {processes}, round {} of {rounds})",
                        load.case.id,
                        process + 1,
                        round + 1
                    );
                    progress(&what, done + round as usize, total);
                };
                let room = self.steps_kept(case);
                self.contenders.iter_mut().for_each(|contender| contender.room = room);
                let process_rounds =
                    ProcessRounds { process, cases: &[case], experiments: 1, rounds };
                let outcome =
                    run_rounds(&mut self.contenders, &process_rounds, &mut self.random, &show);
                // What was done until then is kept, however it ended.
                for contender in &mut self.contenders {
                    contender.close(&mut self.samples, case, process);
                }
                outcome?;
                done += rounds as usize;
            }
        }
        Ok(())
    }

    /// How many steps of a process are kept.
    fn steps_kept(&self, case: usize) -> usize {
        if self.samples.is_none() {
            return 0;
        }
        let fmus = || self.contenders.iter().filter(|contender| contender.ready.is_some());
        let all: usize = fmus().map(|contender| contender.runs.len()).sum();
        let of_case = |contender: &&FmuContender| contender.run(case).is_some();
        let processes = all as u64 * u64::from(self.plan.settings.processes);
        samples::steps_kept(processes, fmus().filter(of_case).count() as u64)
    }

    fn finish(mut self) -> Measured {
        for contender in &mut self.contenders {
            contender.fail_by_ending();
        }
        let mut measurements = Vec::new();
        for (index, metric) in METRICS.into_iter().enumerate() {
            for contender in &self.contenders {
                for run in &contender.runs {
                    let Some(samples) = run.samples.get(index) else { continue };
                    if samples.iter().flatten().all(Option::is_none) {
                        continue;
                    }
                    measurements.push(Measurement {
                        case: self.plan.cases[run.case].case.id.clone(),
                        subject: contender.subject.id.clone(),
                        metric: metric.into(),
                        unit: "ns".into(),
                        iterations: vec![run.steps; samples.len()],
                        samples: samples.clone(),
                    });
                }
            }
        }
        let findings = DerivedResults::from_contenders(self.plan, &mut self.contenders);
        let DerivedResults { facts, warnings, curves, slowest, notes } = findings;
        Measured {
            subjects: self.contenders.into_iter().map(|c| c.subject).collect(),
            measurements,
            facts,
            curves,
            slowest,
            notes,
            warnings: merge(self.warnings.into_iter().chain(warnings)),
            rounds: self.rounds,
        }
    }
}

/// The same warning for several cases is one.
fn merge(warnings: impl Iterator<Item = Warning>) -> Vec<Warning> {
    let mut merged: Vec<Warning> = Vec::new();
    for warning in warnings {
        if !merged.contains(&warning) {
            merged.push(warning);
        }
    }
    merged
}
