//! `wiregauge bus run`: loads of your own.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{ensure, Result};
use clap::ValueEnum;
use wiregauge_bus::catalogue;
use wiregauge_bus::conduct::run_settings::DEFAULT_DURATION;
use wiregauge_bus::load::Load;
use wiregauge_bus::placement::Placement;
use wiregauge_bus::result::fan_out::FanOut;
use wiregauge_bus::scenario::Scenario;
use wiregauge_participant::control;
use wiregauge_system::quantity::{parse_bytes, parse_time};

use super::keep::Keep;
use super::payload::Payload;
use super::series::{Common, Series};
use crate::distinct::distinct;
use crate::progress::Progress;

/// Send samples of a size in a cycle, and measure what arrives.
///
/// Without --transport: over raw TCP and over memory, which need nothing.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge bus run --size 500 --cycle 1ms --transport dds,zenoh
  wiregauge bus run --size 10MB --cycle 100ms --mode both --duration 5m
  wiregauge bus run --size 500 --mode discrete --fast
      as many steps as there can be
  wiregauge bus run --size 1MB --cycle 0
      as much as gets through
  wiregauge bus run --message lidar --codec flatbuffers,prost --cycle 100ms
      what encode, wire and decode take
  wiregauge bus run --points drive.mcap --channel /ouster/points --cycle 100ms
      the same of points that are made small, and where that pays
  wiregauge bus run --participants 2..64 --mode both
      what a receiver more costs
  sudo wiregauge bus run --emulate 1gbit --cycle 0 --size 10MB --transport dds
      over a link between two hosts
  wiregauge bus run --scenario two_hosts.toml
      as a file says, all on this machine")]
pub struct Arguments {
    /// What to send over what, and to whom, in a file: docs/bus.md. All
    /// participants run on this machine.
    #[arg(long, value_name = "FILE", conflicts_with_all = SAID)]
    scenario: Option<PathBuf>,
    /// Size of a sample in bytes: 500, 64kB, 10MB, 1GiB.
    #[arg(long, value_name = "BYTES,…", value_delimiter = ',', default_value = "500", value_parser = parse_bytes::<usize>, conflicts_with_all = ["message", "input", "points"])]
    size: Vec<usize>,
    /// From sample to sample, or the simulated time of a step; 0 is as fast as
    /// it goes.
    #[arg(long, value_name = "TIME", default_value = "1ms", value_parser = parse_time)]
    cycle: Duration,
    /// How participants keep together.
    #[arg(long, value_enum, default_value = "continuous")]
    mode: Modes,
    /// Simulated time runs as fast as it can (discrete mode).
    #[arg(long)]
    fast: bool,
    /// One sends, the others receive: 4, or a sweep such as 2,4,8, or 2..64 for
    /// the powers of two.
    #[arg(long, value_name = "N", default_value = "2")]
    participants: FanOut,
    #[command(flatten)]
    payload: Payload,
    #[command(flatten)]
    keep: Keep,
    #[command(flatten)]
    common: Common,
}

/// What a scenario says in its own words.
const SAID: [&str; 22] = [
    "size",
    "cycle",
    "mode",
    "fast",
    "participants",
    "transport",
    "duration",
    "window",
    "timeout",
    "announce",
    "option",
    "seed",
    "round_trips",
    "alive_within",
    "priority",
    "processors",
    "lock_memory",
    "emulate",
    "message",
    "input",
    "codec",
    "points",
];

/// One mode or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Modes {
    /// The sender paces to absolute deadlines of the common time.
    Continuous,
    /// Lockstep: a step is done when all have acknowledged its data.
    Discrete,
    /// One after the other.
    Both,
}

impl Modes {
    /// Each of them.
    pub fn all(self) -> Vec<control::Mode> {
        match self {
            Modes::Continuous => vec![control::Mode::Continuous],
            Modes::Discrete => vec![control::Mode::Discrete],
            Modes::Both => vec![control::Mode::Continuous, control::Mode::Discrete],
        }
    }
}

impl Arguments {
    /// Refuses what would have no effect.
    fn check(&self) -> Result<()> {
        distinct("--size", &self.size)?;
        let steps = [
            ("--fast", self.fast),
            ("--timeout", self.common.timeout.is_some()),
            ("--announce", self.common.announce),
        ];
        for (option, given) in steps {
            ensure!(
                !given || self.mode != Modes::Continuous,
                "{option} would do nothing without steps (--mode discrete); --cycle 0 sends unpaced"
            );
        }
        Ok(())
    }

    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        let inputs = self.scenario.as_deref().or(self.payload.input());
        let outlet = self.common.delivery.open(inputs.as_slice())?;
        let samples = self.keep.open(inputs.as_slice(), &outlet)?;
        if let Some(path) = &self.scenario {
            let scenario = Scenario::read(path)?;
            scenario.terms.realtime.check_permissions()?;
            let placement = Placement::on_machines(&scenario.participants, &[]);
            return Series { samples, ..Series::of(scenario, placement) }.run(outlet);
        }
        self.check()?;
        let (cycle, fast) = (self.cycle, self.fast);
        let mut loads = Vec::new();
        for mode in self.mode.all() {
            for &size in &self.size {
                for receivers in self.participants.receivers() {
                    let load = Load { size, cycle, mode, fast, receivers };
                    load.check()?;
                    loads.push(load);
                }
            }
        }
        let entries = catalogue::select_or_built_in(&self.common.transport)?;
        let terms = self.common.terms(DEFAULT_DURATION);
        terms.check_permissions(&entries)?;
        // Built when all else is known to make sense, as it takes minutes.
        let cargo = self.payload.load(self.common.seed, &Progress::new())?;
        let series = Series {
            title: match &cargo {
                Some(cargo) => format!("{} over a bus", cargo.case.message),
                None => "Samples over a bus".into(),
            },
            loads,
            entries,
            placement: self.common.placement()?,
            terms,
            cargo,
            samples,
            reference: None,
        };
        series.run(outlet)
    }
}
