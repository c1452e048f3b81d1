//! One run of a chain: its processes are started, and stopped at the end.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{ensure, Context, Error, Result};
use wiregauge_bus::catalogue::program::Program;
use wiregauge_bus::secret;
use wiregauge_participant::codec_process::CodecTask;
use wiregauge_participant::control::{DEFAULT_SILENCE_LIMIT, PROTOCOL_VERSION};
use wiregauge_participant::stage::setup::{
    CodecSource, LinkSetup, ProgramSetup, Schedule, StageOrder, StageSetup,
};
use wiregauge_participant::transport::Topic;
use wiregauge_result::random::Random;
use wiregauge_system::interrupt::{self, Interrupted};
use wiregauge_timing::clock::monotonic;
use wiregauge_timing::scratch::Scratch;
use wiregauge_timing::usage::host_id;

use crate::chain::{Chain, Hop};
use crate::chain_machines::ChainMachines;
use crate::chain_process::{ChainProcess, StageTimes};
use crate::machine_clock::{shift_schedule, MachineClock};
use crate::messages::Messages;

/// From the order to start to the first stretch, in nanoseconds.
const START_DELAY_NS: u64 = 50_000_000;
/// What a sample may take in a stretch beyond cycles and work, in nanoseconds.
const SLACK_NS: u64 = 30_000_000;
/// How long the stages behind the first one go on after the last stretch, in nanoseconds: longer
/// than a shared host takes its processors away.
const DRAIN_NS: u64 = 500_000_000;
/// How long to wait for the cause when something goes wrong.
const DIAGNOSIS_TIME: Duration = Duration::from_secs(1);
/// The same where another machine may have to tell it, which may be loaded.
const REMOTE_DIAGNOSIS_TIME: Duration = DEFAULT_SILENCE_LIMIT;
/// Between two looks for it.
const PAUSE: Duration = Duration::from_millis(10);
/// Samples of the first stage in a stretch, at least. Few, as those of one stretch have the
/// same phases and tell little more than one of them.
const SAMPLES: u64 = 4;
/// Stretches that do not count: the first one finds caches cold.
pub const DROPPED: usize = 1;

/// What is needed to run a chain.
pub struct ChainRunner<'a> {
    /// Its messages with their codecs.
    pub messages: &'a Messages,
    /// The programs of engines, and this one under an empty name.
    pub programs: &'a BTreeMap<&'static str, Program>,
    /// The other machines.
    pub machines: &'a ChainMachines,
}

/// What came of a run.
pub struct ChainRecord {
    /// What each stage did.
    pub stages: Vec<StageTimes>,
    /// When they were active.
    pub schedule: Schedule,
    /// How well the times of other machines are known on this one's clock, in nanoseconds: those
    /// that are known least well. None where all stages read this machine's clock.
    pub clock_uncertainty: Option<u64>,
}

impl ChainRunner<'_> {
    /// Runs a chain for so long.
    ///
    /// # Errors
    /// When a stage cannot do its part, or the user asks to stop.
    pub fn run(&self, chain: &Chain, duration: Duration, seed: u64) -> Result<ChainRecord> {
        let mut processes = Vec::new();
        match self.run_in(&mut processes, chain, duration, seed) {
            Ok(record) => {
                processes.into_iter().for_each(ChainProcess::finish);
                Ok(record)
            }
            Err(error) if error.is::<Interrupted>() => Err(error),
            Err(error) => Err(self.diagnose(processes).unwrap_or(error)),
        }
    }

    /// Why a run failed, where that is not what a stage says: it notices that another one is gone.
    fn diagnose(&self, processes: Vec<ChainProcess>) -> Option<Error> {
        let machines = self.machines.all();
        let limit = if machines.is_empty() { DIAGNOSIS_TIME } else { REMOTE_DIAGNOSIS_TIME };
        let deadline = Instant::now() + limit;
        let mut running = processes;
        loop {
            let lost = machines.iter().find_map(|machine| machine.loss_reason());
            let ended;
            (ended, running) = running.into_iter().partition(ChainProcess::has_ended);
            let killed = || ended.into_iter().find_map(ChainProcess::violent_death);
            let cause = lost.or_else(killed);
            if cause.is_some() || interrupt::interrupted() || Instant::now() >= deadline {
                return cause.map(Error::msg);
            }
            thread::sleep(PAUSE);
        }
    }

    fn run_in(
        &self,
        processes: &mut Vec<ChainProcess>,
        chain: &Chain,
        duration: Duration,
        seed: u64,
    ) -> Result<ChainRecord> {
        // As long as the run, and gone with it.
        let scratch = Scratch::new().context("the run has no folder")?;
        let plans = chain.processes()?;
        let topics = topics(chain, scratch.path())?;
        for plan in &plans {
            let stages = plan.stages.iter().map(|place| self.stage(chain, *place, &topics));
            let stages = stages.collect::<Result<_>>()?;
            let setup = ProgramSetup { version: PROTOCOL_VERSION, stages };
            let name = plan.engine.map_or("", |engine| engine.name);
            let program = self.programs.get(name).context("a program was not prepared")?;
            let machine = self.machines.find(&chain.stages[plan.stages[0]]);
            processes.push(ChainProcess::start(program, machine, setup)?);
        }
        let (mut endpoints, mut apart) = (Vec::new(), Vec::new());
        for (process, plan) in processes.iter_mut().zip(&plans) {
            let (host, opened) = process.await_opened()?;
            let is_here = self.machines.find(&chain.stages[plan.stages[0]]).is_none();
            let is_apart = host != host_id();
            ensure!(
                !(is_here && is_apart),
                "its stages have a clock of their own, not the machine's"
            );
            apart.push(is_apart);
            endpoints.extend(opened);
        }
        for (process, plan) in processes.iter_mut().zip(&plans) {
            let next = plan.stages.iter().map(|place| endpoints.get(place + 1).cloned());
            process.connect(next.map(Option::unwrap_or_default).collect())?;
        }
        for process in processes.iter_mut() {
            process.await_ready()?;
        }
        let mut offsets = Vec::new();
        for (process, apart) in processes.iter_mut().zip(&apart) {
            offsets.push(apart.then(|| process.measure_offset()).transpose()?);
        }
        interrupt::check()?;
        let schedule = schedule(chain, duration, seed);
        for (process, offset) in processes.iter_mut().zip(&offsets) {
            let ahead = offset.map_or(0, |measured| measured.offset);
            process.order(&StageOrder::Start(shift_schedule(&schedule, ahead)))?;
        }
        let run = Duration::from_nanos(schedule.end().saturating_sub(monotonic()));
        let (mut stages, mut clock_uncertainty) = (Vec::new(), None);
        for (process, before) in processes.iter_mut().zip(offsets) {
            let mut done = process.await_done(run)?;
            if let Some(before) = before {
                let clock = MachineClock { before, after: process.measure_offset()? };
                done.iter_mut().for_each(|times| clock.convert(times));
                clock_uncertainty = clock_uncertainty.max(Some(clock.uncertainty()));
            }
            stages.extend(done);
        }
        Ok(ChainRecord { stages, schedule, clock_uncertainty })
    }

    fn stage(&self, chain: &Chain, place: usize, topics: &[Topic]) -> Result<StageSetup> {
        let stage = &chain.stages[place];
        let is_here = self.machines.find(stage).is_none();
        let link = |hop: usize, task: CodecTask| -> Result<LinkSetup> {
            let Hop { transport, .. } = &chain.hops[hop];
            let codec = match is_here {
                true => CodecSource::Setup(self.messages.codec(&chain.hops[hop])?.clone()),
                false => CodecSource::Named(self.messages.codec_name(&chain.hops[hop])?),
            };
            let transport = transport.transport().to_owned();
            let topic = Topic { bind: self.machines.address(stage), ..topics[hop].clone() };
            Ok(LinkSetup { transport, topic, codec, task })
        };
        let before = place.checked_sub(1).map(|hop| link(hop, chain.hops[hop].read));
        let after = (place < chain.hops.len()).then(|| link(place, CodecTask::Encode));
        Ok(StageSetup {
            name: stage.name.clone(),
            period: stage.period,
            work: stage.work,
            input: before.transpose()?,
            output: after.transpose()?,
        })
    }
}

/// The topic of each hop, of this run alone.
fn topics(chain: &Chain, scratch: &Path) -> Result<Vec<Topic>> {
    static RUNS: AtomicU32 = AtomicU32::new(0);
    let run = RUNS.fetch_add(1, Ordering::Relaxed);
    let token = secret::new_token()?;
    let topic = |(place, hop): (usize, &Hop)| {
        let options = hop.transport.options.iter();
        Topic {
            several: None,
            // So that runs at the same time do not meet. DDS takes no hyphens.
            name: format!("wiregauge_{}_chain_{run}_{place}", std::process::id()),
            size: 0,
            varies: false,
            bind: IpAddr::V4(Ipv4Addr::LOCALHOST),
            readers: 1,
            token: token.clone(),
            scratch: Some(scratch.to_owned()),
            options: options.map(|(name, value)| (name.to_string(), value.to_string())).collect(),
        }
    };
    Ok(chain.hops.iter().enumerate().map(topic).collect())
}

/// When the stages are active. Phases are spread evenly: with `n` stretches, the phase of a
/// stage after that of the stage before it is once in each `n`th of its cycle (a Latin
/// hypercube), so that a run sees all waits as often as they are. Offsets are of the beginning
/// of each stretch.
fn schedule(chain: &Chain, duration: Duration, seed: u64) -> Schedule {
    let period = chain.stages[0].period;
    let passage = chain.longest() + SLACK_NS;
    let active = (SAMPLES * period).max(passage / period.max(1) * period);
    let stretch = period + active + passage;
    let count = (duration.as_nanos() as u64 / stretch).max(2) as usize + DROPPED;
    let mut random = Random::new(seed);
    let mut before = vec![0; count];
    let mut phases = Vec::new();
    for stage in &chain.stages {
        let mut own = vec![stage.offset.unwrap_or(0); count];
        if stage.offset.is_none() && stage.period > 0 {
            for (number, place) in random.shuffled(count).into_iter().enumerate() {
                let share = (place as f64 + random_share(&mut random)) / count as f64;
                let after = (share * stage.period as f64) as u64;
                own[number] = (before[number] + after) % stage.period;
            }
        }
        if stage.period > 0 {
            before.clone_from(&own);
        }
        phases.push((stage.name.clone(), own));
    }
    let epoch = monotonic() + START_DELAY_NS;
    let (active, count) = (active + period, count as u32);
    Schedule { epoch, stretch, active, count, drain: DRAIN_NS, phases }
}

/// A number from 0 to 1, without 1.
pub fn random_share(random: &mut Random) -> f64 {
    (random.next() >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain_file::tests_support::chain;

    #[test]
    fn phases_are_spread_over_the_cycle_and_offsets_stay() {
        let mut chain = chain(&[100, 20, 0, 50]);
        chain.stages[3].offset = Some(7_000_000);
        let schedule = schedule(&chain, Duration::from_secs(20), 3);
        let count = schedule.count as usize;
        assert!(count > 20, "{count}");
        let own = |number: usize| schedule.phases[number].1.iter().copied();
        let after = |number: usize, period: u64| {
            let pairs = own(number).zip(own(number - 1));
            pairs.map(|(own, before)| (own + period - before % period) % period).collect()
        };
        let firsts: Vec<u64> = own(0).collect();
        for (phases, period) in [(firsts, 100_000_000), (after(1, 20_000_000), 20_000_000)] {
            let cell = |phase: &u64| (*phase as f64 / period as f64 * count as f64) as usize;
            let mut cells: Vec<usize> = phases.iter().map(cell).collect();
            cells.sort_unstable();
            assert_eq!(cells, (0..count).collect::<Vec<_>>());
        }
        assert!(schedule.phases[3].1.iter().all(|phase| *phase == 7_000_000));
        // Whatever is taken comes through within the stretch.
        assert!(schedule.active + chain.longest() <= schedule.stretch);
        assert!(schedule.active >= SAMPLES * 100_000_000);
    }
}
