//! A process with stages of a chain, as who leads sees it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail, ensure, Context, Error, Result};
use wiregauge_bus::catalogue::program::Program;
use wiregauge_bus::machines::remote::RemoteMachine;
use wiregauge_child_process::child::{Child, ChildFailure, Limits};
use wiregauge_participant::clock_alignment::{fastest_offset, OffsetSample};
use wiregauge_participant::discovery::REPORT_TIMEOUT;
use wiregauge_participant::stage::setup::{
    Activation, ProgramSetup, StageCounts, StageOrder, StageReport, StageStart, ACTIVATION_NUMBERS,
    ARRIVAL_NUMBERS,
};
use wiregauge_system::interrupt::Interrupted;

use crate::remote_stages::RemoteStages;

/// How long it may take to end.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(4);

/// A process with stages.
pub struct ChainProcess {
    link: Link,
    program: Program,
    /// The names of its stages.
    names: String,
}

/// How it is talked to.
enum Link {
    /// On this machine.
    Child(Child),
    /// On another.
    Remote(RemoteStages),
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
    /// Starts it with its stages, on this machine or that one.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(
        program: &Program,
        machine: Option<&Arc<RemoteMachine>>,
        setup: ProgramSetup,
    ) -> Result<ChainProcess> {
        let names: Vec<&str> = setup.stages.iter().map(|stage| stage.name.as_str()).collect();
        let (shown, cannot) = (names.join(" and "), "cannot start the process of");
        let link = match machine {
            None => Child::spawn(program.stage_command(), Limits::default())
                .map(Link::Child)
                .with_context(|| format!("{cannot} {shown}"))?,
            Some(machine) => RemoteStages::start(machine, program.engine(), &names)
                .map(Link::Remote)
                .with_context(|| format!("{cannot} {shown}"))?,
        };
        let mut process = ChainProcess { link, program: program.clone(), names: shown };
        match machine {
            None => process.send(&StageStart::Here(setup))?,
            Some(_) => process.send(&setup)?,
        }
        Ok(process)
    }

    fn send(&mut self, what: &impl serde::Serialize) -> Result<()> {
        let mut line = serde_json::to_vec(what)?;
        line.push(b'\n');
        let sent = match &mut self.link {
            Link::Child(child) => {
                from_child(child.write_all(&line, Instant::now() + REPORT_TIMEOUT))
            }
            Link::Remote(stages) => stages.write_all(&line),
        };
        self.explain(sent)
    }

    /// Says of a failure whose it is.
    fn explain<T>(&self, outcome: Result<T>) -> Result<T> {
        outcome.map_err(|error| match error.is::<Interrupted>() {
            true => error,
            false => {
                let why = format!("{error:#}");
                anyhow!("{}: {why}{}", self.names, self.program.advice(&why))
            }
        })
    }

    fn report(&mut self, patience: Duration) -> Result<StageReport> {
        let deadline = Instant::now() + patience;
        let line = match &mut self.link {
            Link::Child(child) => from_child(child.read_line(deadline)),
            Link::Remote(stages) => stages.read_line(deadline),
        };
        let line = self.explain(line)?;
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
        match self.report(REPORT_TIMEOUT)? {
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
        match self.report(REPORT_TIMEOUT)? {
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

    /// How far the clock of its machine is ahead of this one's. It can be asked when the stages
    /// are ready, and when they are done.
    ///
    /// # Errors
    /// What went wrong.
    pub fn measure_offset(&mut self) -> Result<OffsetSample> {
        fastest_offset(|| {
            self.send(&StageOrder::TellTime)?;
            match self.report(REPORT_TIMEOUT)? {
                StageReport::Time(time) => Ok(time),
                _ => bail!("{}: a report came too early", self.names),
            }
        })
    }

    /// Waits for what its stages did in a run of this length.
    ///
    /// # Errors
    /// What went wrong.
    pub fn await_done(&mut self, run: Duration) -> Result<Vec<StageTimes>> {
        let StageReport::Done(counts) = self.report(run + REPORT_TIMEOUT)? else {
            bail!("{}: a report came too early", self.names);
        };
        counts.into_iter().map(|counts| self.read_times(counts)).collect()
    }

    fn read_times(&mut self, counts: StageCounts) -> Result<StageTimes> {
        let numbers = counts.activations * ACTIVATION_NUMBERS + counts.arrivals * ARRIVAL_NUMBERS;
        let (length, deadline) = (8 * numbers, Instant::now() + REPORT_TIMEOUT);
        let bytes = match &mut self.link {
            Link::Child(child) => from_child(child.read_exact(length as u64, deadline)),
            Link::Remote(stages) => stages.read_exact(length, deadline),
        };
        let bytes = self.explain(bytes)?;
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

    /// Whether it has ended, or its machine is lost.
    pub fn has_ended(&self) -> bool {
        match &self.link {
            Link::Child(child) => child.has_ended(),
            Link::Remote(stages) => stages.has_ended(),
        }
    }

    /// What killed one that has ended, if something did. Of a stage that cannot go on its program
    /// ends by itself.
    pub fn violent_death(self) -> Option<String> {
        let death = match self.link {
            Link::Child(child) => child.finish(Instant::now() + SHUTDOWN_TIMEOUT).ok()?.to_string(),
            Link::Remote(stages) => stages.death()?,
        };
        let advice = self.program.advice(&death);
        death.starts_with("killed by").then(|| format!("{}: {death}{advice}", self.names))
    }

    /// Has it end.
    pub fn finish(self) {
        let deadline = Instant::now() + SHUTDOWN_TIMEOUT;
        // Killed if it does not end by itself.
        match self.link {
            Link::Child(child) => drop(child.finish(deadline)),
            Link::Remote(stages) => stages.finish(deadline),
        }
    }
}

/// What a process of this machine says, as an error of any.
fn from_child<T>(outcome: Result<T, ChildFailure>) -> Result<T> {
    outcome.map_err(|failure| match failure {
        ChildFailure::Interrupted => Interrupted.into(),
        failure => Error::msg(failure.to_string()),
    })
}
