//! A pair of FMUs, or a bound, while it is measured.

use std::path::PathBuf;

use anyhow::{bail, Result};
use wiregauge_child_process::child::ChildFailure;
use wiregauge_gauge::rounds::{Contender, ProcessRounds, Turn};
use wiregauge_result::run::{Status, Subject};
use wiregauge_system::interrupt;
use wiregauge_timing::scratch::Scratch;
use wiregauge_timing::slowest::SlowSample;

use crate::host::host_process::{HostError, HostExit};
use crate::host::job::{HostSummary, StepTimes};
use crate::master::case_run::CaseRun;
use crate::master::coupled_pair::CoupledPair;
use crate::master::live::{start, start_memcpy, LiveHost};
use crate::master::pair_logs::PairLogs;
use crate::master::plan::{Entrant, HostWork, Plan};
use crate::master::record::StepRecord;
use crate::master::samples::{Phases, StepFile, StepOrigin};
use crate::metric::{phase_values, EXCHANGE};

/// One subject during the measurement.
pub struct FmuContender<'a> {
    /// What it takes part in.
    pub plan: &'a Plan,
    /// What it was told to be.
    pub entrant: &'a Entrant,
    /// As it is in the result.
    pub subject: Subject,
    /// Its FMUs, if it has any, once they are unpacked.
    pub ready: Option<CoupledPair>,
    /// One for each case.
    pub runs: Vec<CaseRun>,
    /// What its hosts said of each case when they were done.
    pub accounts: Vec<(usize, HostSummary)>,
    /// How the simulation ended before the rounds did, in each case.
    pub ends: Vec<(usize, String)>,
    /// How many steps of a process are kept.
    pub room: usize,
    /// What the process that ended last left behind.
    left: ProcessLeftovers,
}

/// What a process leaves behind when it ends.
#[derive(Default)]
struct ProcessLeftovers {
    /// The phases of all steps.
    phases: Vec<Phases>,
    /// What the host said of the slowest.
    slowest: Vec<SlowSample>,
}

impl<'a> FmuContender<'a> {
    /// Nothing is known of it yet.
    pub fn new(plan: &'a Plan, entrant: &'a Entrant) -> FmuContender<'a> {
        FmuContender {
            plan,
            entrant,
            subject: entrant.subject.clone(),
            ready: None,
            runs: Vec::new(),
            accounts: Vec::new(),
            ends: Vec::new(),
            room: 0,
            left: ProcessLeftovers::default(),
        }
    }

    /// What it runs, while it is still to be measured.
    pub fn work(&self) -> Option<&'a HostWork> {
        match self.subject.status {
            Status::Measured => self.entrant.work.as_ref(),
            _ => None,
        }
    }

    /// It fails, unless it has done so before.
    pub fn fail(&mut self, reason: String) {
        if self.subject.status == Status::Measured {
            self.subject.status = Status::Failed(reason);
        }
    }

    /// It fails where its FMUs did not end well after the proof, and did so afterwards.
    pub fn fail_by_ending(&mut self) {
        if let Some(reason) = self.runs.iter_mut().find_map(|run| run.ending.take()) {
            self.fail(reason);
        }
    }

    /// Whether it was measured on any case.
    pub fn has_figures(&self) -> bool {
        self.runs.iter().any(CaseRun::has_figures)
    }

    /// Its figures on a case.
    pub fn run(&self, case: usize) -> Option<&CaseRun> {
        self.runs.iter().find(|run| run.case == case)
    }

    /// Takes the steps of a process into the tally, and puts those that are kept
    /// into the file, with what the FMUs logged of them and what the host said of
    /// the slowest. Done once, it does nothing more.
    pub fn close(&mut self, samples: &mut Option<&mut StepFile>, case: usize, process: usize) {
        let ProcessLeftovers { phases, slowest } = std::mem::take(&mut self.left);
        let Some(ready) = &self.ready else { return };
        let Some(run) = self.runs.iter_mut().find(|run| run.case == case) else { return };
        let Some(record) = run.record.take() else { return };
        run.tally.add(process, &record, &slowest);
        if let Some(samples) = samples {
            let whose = StepOrigin {
                case: &self.plan.cases[case].case.id,
                subject: &self.subject.id,
                process,
                simulated: (ready.start, ready.step),
                cycle: record.cycle,
            };
            samples.add(&whose, &record.kept, &phases);
        }
    }

    /// Starts and warms up its host; none where it does not take the case.
    fn begin(&mut self, case: usize) -> Result<Option<LiveHost>, HostError> {
        let work = self.work();
        let Some(run) = self.runs.iter_mut().find(|run| run.case == case) else {
            return Ok(None);
        };
        let mut live = match (work, &self.ready) {
            (Some(HostWork::Fmus(pair)), Some(ready)) => {
                run.record = Some(StepRecord::new(ready.cycle(), self.room));
                start(self.plan, &self.plan.cases[case], pair, ready, false, None)?
            }
            (Some(HostWork::Memcpy(_)), _) => start_memcpy(self.plan, run.sizes)?,
            _ => return Ok(None),
        };
        live.skip(run.warm_up)?;
        Ok(Some(live))
    }

    /// Takes what a host says in the end, and what its FMUs wrote.
    fn gather(&mut self, live: LiveHost, process: usize, case: usize) -> Result<(), HostError> {
        let LiveHost { remote, logs, epochs, ended } = live;
        let HostExit { left, trouble } = remote.end()?;
        self.ends.extend(ended.map(|end| (case, end)));
        if let Some((folder, account)) = left {
            self.take_account(case, process, account, (&folder, &logs), epochs);
        }
        trouble.map_or(Ok(()), Err)
    }

    /// Takes what a host said of its steps, and what its FMUs wrote.
    fn take_account(
        &mut self,
        case: usize,
        process: usize,
        account: HostSummary,
        (folder, logs): (&Scratch, &[Option<PathBuf>; 2]),
        epochs: Vec<(usize, Vec<u64>)>,
    ) {
        let (steps, slowest) = (account.steps, account.slowest.clone());
        self.accounts.push((case, account));
        let Some(ready) = &self.ready else { return };
        let phases = PairLogs::read(folder.path(), logs).phases(steps, (ready.start, ready.step));
        let Some(run) = self.runs.iter_mut().find(|run| run.case == case) else { return };
        for (round, numbers) in epochs {
            let mean = |phase: usize| {
                let of = numbers.iter().map(|&number| phases.get(number as usize)?[phase]);
                Some(of.sum::<Option<f64>>()? / numbers.len() as f64)
            };
            run.add_samples(process, round, phase_values(std::array::from_fn(mean)));
            let whole = numbers.iter().filter_map(|&number| {
                phases.get(number as usize)?.iter().copied().sum::<Option<f64>>()
            });
            run.times[0].extend(whole);
        }
        self.left = ProcessLeftovers { phases, slowest };
    }
}

impl Contender for FmuContender<'_> {
    type Live = LiveHost;
    type Trouble = HostError;

    /// Every case has a process of its own.
    fn start(&mut self, process_rounds: &ProcessRounds) -> Result<Option<LiveHost>, HostError> {
        let &[case] = process_rounds.cases else { return Ok(None) };
        self.begin(case).map_err(|trouble| name_case(trouble, case, self.plan))
    }

    fn load(&mut self, _: &mut LiveHost, _: usize) -> Result<(), HostError> {
        Ok(())
    }

    fn epoch(&mut self, live: &mut LiveHost, turn: &Turn) -> Result<(), HostError> {
        let run = self.runs.iter_mut().find(|run| run.case == turn.case);
        let Some(run) = run else { return Ok(()) };
        let (process, round) = (turn.process, turn.round as usize);
        run_epoch(live, run, process, round, self.subject.bound)
            .map_err(|trouble| name_case(trouble, turn.case, self.plan))
    }

    fn end(&mut self, live: LiveHost, process_rounds: &ProcessRounds) -> Result<(), HostError> {
        let &[case] = process_rounds.cases else { return Ok(()) };
        self.gather(live, process_rounds.process, case)
            .map_err(|trouble| name_case(trouble, case, self.plan))
    }

    fn record_failure(&mut self, trouble: HostError) -> Result<()> {
        if let HostError::Broken(ChildFailure::Interrupted, _) = trouble {
            bail!(interrupt::Interrupted);
        }
        self.fail(trouble.to_string());
        Ok(())
    }
}

/// One epoch. Where it has several steps, one more goes before it, so that
/// the caches are this subject's own again; in a long step that matters
/// little. What the end of a simulation cuts off is no epoch.
fn run_epoch(
    live: &mut LiveHost,
    run: &mut CaseRun,
    process: usize,
    round: usize,
    bound: bool,
) -> Result<(), HostError> {
    if live.ended.is_some() {
        return Ok(());
    }
    let lead = usize::from(run.steps > 1);
    let ran = live.run(lead as u64, run.steps)?.steps;
    let (led, steps) = ran.split_at(lead.min(ran.len()));
    let whole = steps.len() as u64 == run.steps;
    if let Some(record) = &mut run.record {
        record.add(round, false, led);
        record.add(round, whole, steps);
    }
    if !whole {
        return Ok(());
    }
    let mean = |part: fn(&StepTimes) -> u64| {
        steps.iter().map(part).sum::<u64>() as f64 / steps.len() as f64
    };
    let parts = [
        mean(|step| step.source),
        mean(|step| step.get),
        mean(|step| step.set),
        mean(|step| step.model),
    ];
    let whole = |step: &StepTimes| step.exchange() as f64;
    run.times[1].extend(steps.iter().map(whole));
    if bound {
        run.times[0].extend(steps.iter().map(whole));
        let [source, .., model] = parts;
        let phases = [(0, source + model), (2, source), (5, model), (6, source), (7, model)];
        run.add_samples(process, round, phases.to_vec());
        let exchange = [(0, source + model), (1, source), (4, model)];
        run.add_samples(process, round, exchange.map(|(at, ns)| (EXCHANGE + at, ns)).to_vec());
        return Ok(());
    }
    let mut values = vec![(EXCHANGE, parts.iter().sum())];
    values.extend(parts.into_iter().enumerate().map(|(at, ns)| (EXCHANGE + 1 + at, ns)));
    run.add_samples(process, round, values);
    live.epochs.push((round, steps.iter().map(|step| step.number).collect()));
    Ok(())
}

/// Names the case in what went wrong, where there are several.
pub fn name_case(trouble: HostError, case: usize, plan: &Plan) -> HostError {
    match trouble {
        HostError::Broken(ChildFailure::Interrupted, _) => trouble,
        trouble if plan.cases.len() > 1 => {
            HostError::Refused(format!("at {}: {trouble}", plan.cases[case].case.id))
        }
        other => other,
    }
}
