//! A runner while it is measured: its processes, its cells, what became of it.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{bail, Result};
use wiregauge_child_process::child::{ChildFailure, Limits};
use wiregauge_child_process::runner::{Launch, Runner, RunnerError};
use wiregauge_result::run::{Fact, Measurement, Status, Subject};
use wiregauge_system::interrupt;

use crate::rounds::{Contender, ProcessRounds, Turn};
use crate::runners::check::{self, ExpectedMessage};
use crate::runners::managed::{self, Pace, WarmUp};
use crate::runners::plan::{Deviation, Entrant, Experiment, Plan, Sample};
use crate::schedule::{self, CellCost};

/// One subject during the measurement.
pub struct RunnerContender<'a> {
    /// What it takes part in.
    pub plan: &'a Plan,
    /// What it was told to be.
    pub entrant: &'a Entrant,
    /// As it is in the result.
    pub subject: Subject,
    /// One for each experiment that its runner can do, on each case.
    pub cells: Vec<Cell>,
    /// How far each message of each case is from what was sent, where that is judged.
    pub deviations: Vec<Vec<Vec<Deviation>>>,
    /// Time to start its runner, to load the messages and, where its language has to, to
    /// warm up at least.
    pub starting: Duration,
    /// What its process executed while it was proven.
    pub loaded: Vec<PathBuf>,
    /// Whether its language has to warm up and collects garbage.
    pub is_managed: bool,
    /// Whether its language compiles while it runs.
    pub compiles: bool,
    /// What is left of its time to warm up in the process that runs, in nanoseconds.
    warming: f64,
}

/// One experiment of one subject on one case.
pub struct Cell {
    /// Which case of the plan.
    pub case: usize,
    /// Which experiment of the plan.
    pub experiment: usize,
    /// Messages per epoch.
    pub iterations: u64,
    /// What a round of it costs in calibration.
    pub share: CellCost,
    /// Rounds in the process that runs.
    pub rounds: u32,
    /// `samples[process][round]`; none where it sat out or failed.
    pub samples: Vec<Vec<Option<f64>>>,
    /// How it warmed up, where its language has to.
    pub warm_up: Option<WarmUp>,
}

impl Cell {
    /// How long its samples take in a process, in nanoseconds.
    fn sampling(&self) -> f64 {
        f64::from(self.rounds) * self.share.wall_ns / (1.0 + managed::WARM_UP_SHARE)
    }
}

impl<'a> RunnerContender<'a> {
    /// Nothing is known of it yet.
    pub fn new(plan: &'a Plan, entrant: &'a Entrant) -> RunnerContender<'a> {
        let subject = entrant.subject.clone();
        RunnerContender {
            plan,
            entrant,
            subject,
            cells: Vec::new(),
            deviations: Vec::new(),
            starting: Duration::ZERO,
            loaded: Vec::new(),
            is_managed: false,
            compiles: false,
            warming: 0.0,
        }
    }

    /// What its messages of a case must come back as, once they are proven.
    pub fn expected(&self, case: usize) -> Option<ExpectedMessage<'_>> {
        expected_message(self.entrant, &self.subject, &self.deviations, case)
    }

    /// Its runner, while it is still to be measured.
    pub fn runner(&self) -> Option<&'a Launch> {
        match self.subject.status {
            Status::Measured => self.entrant.runner.as_ref(),
            _ => None,
        }
    }

    /// Whether any of its epochs was timed.
    pub fn has_figures(&self) -> bool {
        let mut samples = self.cells.iter().flat_map(|cell| cell.samples.iter().flatten());
        samples.any(Option::is_some)
    }

    /// How many epochs its cells took to warm up.
    pub fn warm_ups(&self) -> Vec<Fact> {
        let fact = |cell: &Cell| {
            // Phases warm up with their whole.
            let is_whole = !self.plan.experiments[cell.experiment].name.contains('/');
            let warm_up = cell.warm_up.filter(|_| is_whole && !self.subject.bound)?;
            let name = if warm_up.is_cut { "not-warm-after" } else { "warm-after" };
            Some(Fact {
                case: self.plan.cases[cell.case].case.id.clone(),
                subject: self.subject.id.clone(),
                metric: format!("{name}/{}", self.plan.experiments[cell.experiment].metric),
                unit: "1".into(),
                value: warm_up.epochs.into(),
            })
        };
        self.cells.iter().filter_map(fact).collect()
    }

    /// Warms up the cells of a case, in what is left of the process's time for it.
    fn warm_up(&mut self, runner: &mut Runner, case: usize) -> Result<(), RunnerError> {
        let plan = self.plan;
        let wanted = expected_message(self.entrant, &self.subject, &self.deviations, case);
        for cell in self.cells.iter_mut().filter(|cell| cell.case == case && cell.rounds > 0) {
            let experiment = &plan.experiments[cell.experiment];
            let epoch = Epoch { plan, case, experiment, wanted };
            let time = managed::warm_up_share(self.warming, cell.sampling());
            let one = |iterations| epoch.run(runner, iterations, None);
            let (warm_up, took) = managed::warm_up(time, epoch.pace(), one)?;
            cell.warm_up = cell.warm_up.max(Some(warm_up));
            self.warming -= took;
        }
        Ok(())
    }

    /// Its samples, and the subject as it is in the end.
    pub fn finish(self) -> (Subject, Vec<Measurement>) {
        let measurement = |cell: Cell| Measurement {
            case: self.plan.cases[cell.case].case.id.clone(),
            subject: self.subject.id.clone(),
            metric: self.plan.experiments[cell.experiment].metric.clone(),
            unit: "ns".into(),
            iterations: vec![cell.iterations; cell.samples.len()],
            samples: cell.samples,
        };
        let timed = self.cells.into_iter().filter(|_| self.plan.timed);
        let measurements = timed.map(measurement).collect();
        (self.subject, measurements)
    }
}

fn expected_message<'w>(
    entrant: &'w Entrant,
    subject: &Subject,
    deviations: &'w [Vec<Vec<Deviation>>],
    case: usize,
) -> Option<ExpectedMessage<'w>> {
    match &entrant.judge {
        Some(judge) => Some(ExpectedMessage::Judged(judge, &deviations[case])),
        None => (!subject.bound).then_some(ExpectedMessage::Same),
    }
}

impl Contender for RunnerContender<'_> {
    type Live = Runner;
    type Trouble = RunnerError;

    fn start(&mut self, process_rounds: &ProcessRounds) -> Result<Option<Runner>, RunnerError> {
        for cell in &mut self.cells {
            cell.samples[process_rounds.process] = vec![None; process_rounds.rounds as usize];
        }
        let samples: f64 = self.cells.iter().map(Cell::sampling).sum();
        self.warming =
            samples * managed::WARM_UP_SHARE + managed::min_warm_up_ns(self.plan.settings.epoch_ns);
        let Some(launch) = self.runner() else { return Ok(None) };
        Runner::start(launch, Limits::default(), None, self.plan.patience).map(Some)
    }

    fn load(&mut self, runner: &mut Runner, case: usize) -> Result<(), RunnerError> {
        load_all(runner, &self.plan.cases[case].samples)?;
        match runner.hello.managed {
            true => self.warm_up(runner, case),
            false => Ok(()),
        }
    }

    fn epoch(&mut self, runner: &mut Runner, turn: &Turn) -> Result<(), RunnerError> {
        let own = |cell: &Cell| cell.case == turn.case && cell.experiment == turn.experiment;
        let Some(place) = self.cells.iter().position(own) else { return Ok(()) };
        let cell = &self.cells[place];
        let Some(own) = schedule::epoch_in_round(turn.round, turn.rounds, cell.rounds) else {
            return Ok(());
        };
        // The first and the last epoch of a process prove themselves.
        let prove = (own == 0 || own + 1 == cell.rounds).then_some(turn.process + own as usize);
        let epoch = Epoch {
            plan: self.plan,
            case: turn.case,
            experiment: &self.plan.experiments[turn.experiment],
            wanted: self.expected(turn.case),
        };
        let ns = epoch.run(runner, cell.iterations, prove)?;
        let cell = &mut self.cells[place];
        cell.samples[turn.process][turn.round as usize] = Some(ns / cell.iterations as f64);
        Ok(())
    }

    fn end(&mut self, _: Runner, _: &ProcessRounds) -> Result<(), RunnerError> {
        Ok(())
    }

    fn record_failure(&mut self, trouble: RunnerError) -> Result<()> {
        if let RunnerError::Broken(ChildFailure::Interrupted) = trouble {
            bail!(interrupt::Interrupted);
        }
        if self.subject.status == Status::Measured {
            self.subject.status = check::status(trouble);
        }
        Ok(())
    }
}

/// Gives a runner the messages of a case in place of others.
pub fn load_all(runner: &mut Runner, samples: &[Sample]) -> Result<(), RunnerError> {
    runner.reset()?;
    for sample in samples {
        runner.message(&sample.canonical)?;
    }
    Ok(())
}

/// Epochs of an experiment on a case.
pub struct Epoch<'a> {
    /// Whose settings they go by.
    pub plan: &'a Plan,
    /// Which case of the plan.
    pub case: usize,
    /// What is timed.
    pub experiment: &'a Experiment,
    /// What messages must come back as; none where there is nothing to prove.
    pub wanted: Option<ExpectedMessage<'a>>,
}

impl Epoch<'_> {
    /// How long it should be, and of which messages.
    pub fn pace(&self) -> Pace {
        let messages = self.plan.cases[self.case].samples.len().max(1) as u64;
        Pace { epoch_ns: self.plan.settings.epoch_ns as f64, messages }
    }

    /// One of so many messages; how long it took, in nanoseconds. What came out
    /// is checked as well, with `prove` by one more message, which is of this
    /// turn.
    pub fn run(
        &self,
        runner: &mut Runner,
        iterations: u64,
        prove: Option<usize>,
    ) -> Result<f64, RunnerError> {
        let mut lifetimes = self.plan.lifetimes();
        if let Some(objects) = &self.experiment.objects {
            lifetimes.objects.clone_from(objects);
        }
        let name = self
            .experiment
            .offered_name(&runner.hello.experiments)
            .unwrap_or(&self.experiment.name);
        let samples = &self.plan.cases[self.case].samples;
        let prove = prove.filter(|_| self.wanted.is_some()).map(|turn| turn % samples.len());
        let epoch = runner.run(name, iterations, &lifetimes, prove)?;
        if let Some(wanted) = &self.wanted {
            check::check_epoch(runner, samples, wanted, (name, iterations), &epoch, prove)?;
        }
        Ok(epoch.ns)
    }
}
