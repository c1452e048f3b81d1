//! A process with stages of a chain, as who started it sees it.

use std::time::{Duration, Instant};

use anyhow::{anyhow, bail, ensure, Context, Error, Result};
use wiregauge_bus::catalogue::program::Program;
use wiregauge_child_process::child::{Child, ChildFailure, Limits};
use wiregauge_participant::stage::setup::{
    Activation, ProgramSetup, StageCounts, StageOrder, StageReport, ACTIVATION_NUMBERS,
    ARRIVAL_NUMBERS,
};
use wiregauge_system::interrupt::Interrupted;

/// How long a process may take for an order.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long it may take to end.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(4);

/// A process with stages.
pub struct ChainProcess {
    child: Child,
    program: Program,
    /// The names of its stages.
    names: String,
}

/// What a stage did.
#[derive(Clone, Debug, Default)]
pub struct StageTimes {
    /// Its activations that took a sample, by sequence.
    pub activations: Vec<Activation>,
    /// Sequence and time of each sample that came.
    pub arrivals: Vec<[u64; 2]>,
    /// What it counted.
    pub counts: StageCounts,
}

impl ChainProcess {
    /// Starts it with its stages.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(program: &Program, setup: &ProgramSetup) -> Result<ChainProcess> {
        let names: Vec<&str> = setup.stages.iter().map(|stage| stage.name.as_str()).collect();
        let names = names.join(" and ");
        let child = Child::spawn(program.stage_command(), Limits::default())
            .with_context(|| format!("cannot start the process of {names}"))?;
        let mut process = ChainProcess { child, program: program.clone(), names };
        process.send(setup)?;
        Ok(process)
    }

    fn send(&mut self, what: &impl serde::Serialize) -> Result<()> {
        let mut line = serde_json::to_vec(what)?;
        line.push(b'\n');
        let sent = self.child.write_all(&line, Instant::now() + PATIENCE);
        sent.map_err(|failure| self.explain(failure))
    }

    /// What a failure of the process was.
    fn explain(&self, failure: ChildFailure) -> Error {
        match failure {
            ChildFailure::Interrupted => Interrupted.into(),
            failure => {
                let why = failure.to_string();
                anyhow!("{}: {why}{}", self.names, self.program.advice(&why))
            }
        }
    }

    fn report(&mut self, patience: Duration) -> Result<StageReport> {
        let line = self.child.read_line(Instant::now() + patience);
        let line = line.map_err(|failure| self.explain(failure))?;
        match serde_json::from_str(&line).context("a stage sent a malformed message")? {
            StageReport::Failed(why) => bail!("{why}"),
            report => Ok(report),
        }
    }

    /// Waits until its readers are open; the machine, and where they are.
    ///
    /// # Errors
    /// What went wrong.
    pub fn await_opened(&mut self) -> Result<(String, Vec<String>)> {
        match self.report(PATIENCE)? {
            StageReport::Opened { host, endpoints } => Ok((host, endpoints)),
            _ => bail!("{}: a report came too early", self.names),
        }
    }

    /// Tells it where the readers of its outputs are.
    ///
    /// # Errors
    /// When it is gone.
    pub fn connect(&mut self, endpoints: Vec<String>) -> Result<()> {
        self.send(&StageOrder::Connect(endpoints))
    }

    /// Waits until its writers have found their readers.
    ///
    /// # Errors
    /// What went wrong.
    pub fn await_ready(&mut self) -> Result<()> {
        match self.report(PATIENCE)? {
            StageReport::Ready => Ok(()),
            _ => bail!("{}: a report came too early", self.names),
        }
    }

    /// Tells it something more.
    ///
    /// # Errors
    /// When it is gone.
    pub fn order(&mut self, order: &StageOrder) -> Result<()> {
        self.send(order)
    }

    /// Waits for what its stages did in a run of this length.
    ///
    /// # Errors
    /// What went wrong.
    pub fn await_done(&mut self, run: Duration) -> Result<Vec<StageTimes>> {
        let StageReport::Done(counts) = self.report(run + PATIENCE)? else {
            bail!("{}: a report came too early", self.names);
        };
        counts.into_iter().map(|counts| self.read_times(counts)).collect()
    }

    fn read_times(&mut self, counts: StageCounts) -> Result<StageTimes> {
        let numbers = counts.activations * ACTIVATION_NUMBERS + counts.arrivals * ARRIVAL_NUMBERS;
        let bytes = self.child.read_exact(8 * numbers as u64, Instant::now() + PATIENCE);
        let bytes = bytes.map_err(|failure| self.explain(failure))?;
        let number = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
        let numbers: Vec<u64> = bytes.chunks_exact(8).map(number).collect();
        let (activations, arrivals) = numbers.split_at(counts.activations * ACTIVATION_NUMBERS);
        let activations = activations
            .chunks_exact(ACTIVATION_NUMBERS)
            .map(|numbers| Activation::from_numbers(numbers.try_into().expect("so many numbers")));
        let activations: Vec<Activation> = activations.collect();
        let arrivals: Vec<[u64; 2]> =
            arrivals.chunks_exact(ARRIVAL_NUMBERS).map(|pair| [pair[0], pair[1]]).collect();
        ensure!(
            activations.is_sorted_by_key(|one| one.sequence) && arrivals.is_sorted_by_key(|a| a[0]),
            "{}: samples came out of order",
            self.names
        );
        Ok(StageTimes { activations, arrivals, counts })
    }

    /// Has it end.
    pub fn finish(self) {
        // Killed if it does not end by itself.
        let _ = self.child.finish(Instant::now() + SHUTDOWN_TIMEOUT);
    }
}
