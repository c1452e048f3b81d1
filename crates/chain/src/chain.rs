//! A chain: its stages and hops, and what is to be considered instead.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{bail, ensure, Context, Result};
use wiregauge_bus::catalogue::engine::Engine;
use wiregauge_bus::catalogue::{Reach, TransportEntry};
use wiregauge_participant::codec_process::CodecTask;

/// Shortest measurement.
const MIN_DURATION: Duration = Duration::from_secs(1);

/// A chain as it is drawn.
#[derive(Clone, Debug)]
pub struct Chain {
    /// Title of the result.
    pub title: String,
    /// Speed of the vehicle, in meters per second.
    pub speed: f64,
    /// How long it is measured.
    pub duration: Duration,
    /// Seed of generated values and of phases.
    pub seed: u64,
    /// From the sensor to the actuator.
    pub stages: Vec<Stage>,
    /// Between each stage and the next.
    pub hops: Vec<Hop>,
    /// What is to be considered instead.
    pub consider: Consider,
    /// Where the machine of the first stage waits for the others.
    pub listen: SocketAddr,
}

/// A stage.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// Its name.
    pub name: String,
    /// From activation to activation in nanoseconds; 0 where each sample activates it.
    pub period: u64,
    /// From the beginning of the common cycle to its first activation, in nanoseconds; none
    /// where its clock is its own.
    pub offset: Option<u64>,
    /// How long it works on a sample, in nanoseconds.
    pub work: u64,
    /// The machine that it runs on; none where all run on this one.
    pub machine: Option<String>,
}

/// A hop from a stage to the next.
#[derive(Clone, Debug)]
pub struct Hop {
    /// What it carries.
    pub message: MessageSource,
    /// The codec that writes and reads it.
    pub codec: String,
    /// What carries it.
    pub transport: TransportEntry,
    /// What the receiving stage does with the bytes.
    pub read: CodecTask,
}

/// Where a message comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum MessageSource {
    /// A definition, with generated values: its name, and lengths of lists by their paths.
    Definition(String, Vec<(String, usize)>),
    /// The message of median size of a channel of a recording.
    Recording(PathBuf, Option<String>),
}

/// What is to be considered instead of what is drawn.
#[derive(Clone, Debug, Default)]
pub struct Consider {
    /// Other codecs.
    pub codecs: Vec<String>,
    /// Other transports.
    pub transports: Vec<TransportEntry>,
    /// Other ways to read.
    pub reads: Vec<CodecTask>,
    /// By how much a stage may be faster.
    pub faster: Vec<f64>,
    /// How many of the best changes are measured.
    pub check: usize,
}

impl Chain {
    /// The same at another speed and for another time, where these are given.
    ///
    /// # Errors
    /// Too short a time.
    pub fn with(self, speed: Option<f64>, duration: Option<Duration>) -> Result<Chain> {
        let duration = duration.unwrap_or(self.duration);
        ensure!(
            duration >= MIN_DURATION,
            "{duration:?} is too short; measure for {MIN_DURATION:?} or longer"
        );
        Ok(Chain { speed: speed.unwrap_or(self.speed), duration, ..self })
    }

    /// How a hop is called: `lidar to fusion`.
    pub fn hop_title(&self, hop: usize) -> String {
        format!("{} to {}", self.stages[hop].name, self.stages[hop + 1].name)
    }

    /// The time from sample to sample that comes to a stage, in nanoseconds: the longest of
    /// the cycles until there.
    pub fn period_at(&self, stage: usize) -> u64 {
        self.stages[..=stage].iter().map(|stage| stage.period).max().unwrap_or(0)
    }

    /// All cycles, and what all stages work, in nanoseconds: a sample without a delay in
    /// carrying it takes no longer.
    pub fn longest(&self) -> u64 {
        self.stages.iter().map(|stage| stage.period + stage.work).sum()
    }

    /// The machines that it names, that of the first stage first.
    pub fn machines(&self) -> Vec<&str> {
        let mut machines: Vec<&str> = Vec::new();
        for machine in self.stages.iter().filter_map(|stage| stage.machine.as_deref()) {
            if !machines.contains(&machine) {
                machines.push(machine);
            }
        }
        machines
    }

    /// Whether its stages run on more machines than this one.
    pub fn has_several_machines(&self) -> bool {
        self.machines().len() > 1
    }

    /// The stages that run on a machine, by their names.
    pub fn stages_on(&self, machine: &str) -> Vec<String> {
        let there = self.stages.iter().filter(|stage| stage.machine.as_deref() == Some(machine));
        there.map(|stage| stage.name.clone()).collect()
    }

    /// The stages that share a process, as the memory between them is of one process, by
    /// their places, with the engine of its program.
    ///
    /// # Errors
    /// A process that would need two engines, and a transport that does not reach from machine
    /// to machine.
    pub fn processes(&self) -> Result<Vec<StageProcessPlan>> {
        for (hop, pair) in self.hops.iter().zip(self.stages.windows(2)) {
            let reach = match hop.transport.reach {
                _ if pair[0].machine == pair[1].machine => continue,
                Reach::Network => continue,
                Reach::Machine => "machine",
                Reach::Process => "process",
            };
            bail!(
                "'{}' and '{}' are on two machines, but {} works within one {reach} only",
                pair[0].name,
                pair[1].name,
                hop.transport.id
            );
        }
        let mut plans: Vec<StageProcessPlan> = Vec::new();
        for place in 0..self.stages.len() {
            let before = place.checked_sub(1).map(|hop| self.hops[hop].transport.reach);
            match plans.last_mut().filter(|_| before == Some(Reach::Process)) {
                Some(plan) => plan.stages.push(place),
                None => plans.push(StageProcessPlan { stages: vec![place], engine: None }),
            }
        }
        for plan in &mut plans {
            let (first, last) = (plan.stages[0], plan.stages[plan.stages.len() - 1]);
            let hops = &self.hops[first.saturating_sub(1)..self.hops.len().min(last + 1)];
            for hop in hops {
                let Some(engine) = hop.transport.engine() else { continue };
                let other = plan.engine.filter(|other| other.name != engine.name);
                let name = &self.stages[first].name;
                ensure!(
                    other.is_none(),
                    "stage '{name}' would need {} and {} in one process; let tcp carry one of \
                     its sides, or the same transport both",
                    other.map_or("", |other| other.name),
                    engine.name
                );
                let memory = hops.iter().any(|hop| hop.transport.reach == Reach::Process);
                ensure!(
                    !memory,
                    "stage '{name}' would need memory and {} in one process; let tcp carry one \
                     of its sides",
                    engine.name
                );
                plan.engine = Some(engine);
            }
        }
        Ok(plans)
    }

    /// One hop of the chain alone, with samples as they come to it in the chain.
    ///
    /// # Errors
    /// A hop that the chain has not.
    pub fn single_hop(&self, hop: usize) -> Result<Chain> {
        let own = self.hops.get(hop).context("no such hop")?;
        let (from, to) = (&self.stages[hop], &self.stages[hop + 1]);
        let period = self.period_at(hop);
        let sends = Stage { period, offset: None, work: 0, ..from.clone() };
        let receives = Stage { offset: None, work: 0, ..to.clone() };
        Ok(Chain { stages: vec![sends, receives], hops: vec![own.clone()], ..self.clone() })
    }
}

/// Stages that share a process.
pub struct StageProcessPlan {
    /// Their places.
    pub stages: Vec<usize>,
    /// The engine whose program it is; none for this program.
    pub engine: Option<&'static Engine>,
}

/// How a task of a receiver is called in files and tables.
pub fn read_name(task: CodecTask) -> &'static str {
    match task {
        CodecTask::Encode => "encode",
        CodecTask::Decode => "decode",
        CodecTask::Project => "every number",
        CodecTask::Fixed => "one number",
    }
}
