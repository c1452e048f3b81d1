//! `wiregauge bus run`: loads of your own.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{ensure, Result};
use wiregauge_bus::catalogue;
use wiregauge_bus::load::modes::Modes;
use wiregauge_bus::placement::Placement;
use wiregauge_bus::result::fan_out::{senders_and_receivers, FanOut};
use wiregauge_bus::run_settings::DEFAULT_DURATION;
use wiregauge_bus::scenario::Scenario;
use wiregauge_bus::series::Series;
use wiregauge_system::progress::ProgressDisplay;
use wiregauge_system::quantity::{parse_bytes, parse_time};

use super::bus_result::measure_series;
use super::payload_args::PayloadArgs;
use super::run_args::RunArgs;
use super::samples_args::SamplesArgs;
use crate::unique_names::check_unique;

/// Send samples of a size in a cycle, and measure what arrives.
///
/// Without --transport it measures raw TCP and memory, which need nothing else.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge bus run --size 500 --cycle 1ms --transport dds,zenoh
  wiregauge bus run --size 10MB --cycle 100ms --mode both --duration 5m
  wiregauge bus run --size 500 --mode discrete --fast
      as many steps as possible
  wiregauge bus run --size 1MB --cycle 0
      as much as possible
  wiregauge bus run --message lidar --codecs flatbuffers,prost --cycle 100ms
      the time to encode, send and decode
  wiregauge bus run --cloud drive.mcap --channel /points --cycle 100ms
      the same for point clouds, and when making them small pays
  wiregauge bus run --participants 2..64 --mode both
      the cost of one more receiver
  wiregauge bus run --topics 1,10 --senders 1,4
      the cost of more topics and senders
  sudo wiregauge bus run --emulate 1gbit --cycle 0 --size 10MB --transport dds
      over a link between two hosts
  wiregauge bus run --scenario two_hosts.toml
      loads from a file, all on this machine")]
pub struct Arguments {
    /// Read loads, transports and participants from this file: docs/bus.md. All
    /// participants run on this machine.
    #[arg(long, value_name = "FILE", conflicts_with_all = SCENARIO_OPTIONS.split(' '))]
    scenario: Option<PathBuf>,
    /// Size of a sample in bytes: 500, 64kB, 10MB, 1GiB.
    #[arg(long, value_name = "BYTES,…", value_delimiter = ',', default_value = "500", value_parser = parse_bytes::<usize>, conflicts_with_all = ["message", "input", "cloud"])]
    size: Vec<usize>,
    /// Time from sample to sample, or simulated time of a step. 0 is as fast as possible.
    #[arg(long, value_name = "TIME", default_value = "1ms", value_parser = parse_time)]
    cycle: Duration,
    /// How participants stay in step.
    #[arg(long, value_enum, default_value = "continuous")]
    mode: Modes,
    /// Let simulated time run as fast as it can (discrete mode).
    #[arg(long)]
    fast: bool,
    /// Number of participants; the senders among them send, the others receive: 4, or a
    /// sweep such as 2,4,8, or 2..64 for the powers of two [default: one receiver].
    #[arg(long, value_name = "N")]
    participants: Option<FanOut>,
    /// Number of senders, each on topics of its own: 4, or several such as 1,4.
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "1", conflicts_with_all = ["message", "input", "cloud"])]
    senders: Vec<usize>,
    /// Number of topics of each sender, all read by each receiver: 10, or several such as 1,10.
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "1", conflicts_with_all = ["message", "input", "cloud"])]
    topics: Vec<usize>,
    #[command(flatten)]
    payload: PayloadArgs,
    #[command(flatten)]
    keep: SamplesArgs,
    #[command(flatten)]
    common: RunArgs,
}

/// What a scenario says in its own words.
const SCENARIO_OPTIONS: &str =
    "size cycle mode fast participants senders topics transport duration window timeout announce option seed \
     round_trips alive_within priority processors lock_memory background emulate message \
     input codecs cloud";

impl Arguments {
    /// Refuses what would have no effect.
    fn check(&self) -> Result<()> {
        check_unique("--size", &self.size)?;
        let steps = [
            ("--fast", self.fast),
            ("--timeout", self.common.timeout.is_some()),
            ("--announce", self.common.announce),
        ];
        for (option, given) in steps {
            ensure!(
                !given || self.mode != Modes::Continuous,
                "{option} has no effect without --mode discrete; --cycle 0 sends unpaced"
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
            let series = Series { samples, ..Series::from_scenario(scenario, placement) };
            return measure_series(series, outlet, &|| {});
        }
        self.check()?;
        let pairs = senders_and_receivers(self.participants.as_ref(), &self.senders)?;
        let loads = self.mode.loads(&self.size, &pairs, &self.topics, self.cycle, self.fast)?;
        let entries = catalogue::select_or_built_in(&self.common.transport)?;
        let terms = self.common.run_settings(DEFAULT_DURATION);
        terms.check_permissions(&entries)?;
        // Built when all else is known to make sense, as it takes minutes.
        let cargo = self.payload.load(self.common.seed, &ProgressDisplay::new())?;
        let message = cargo.as_ref().map_or("Samples", |cargo| &cargo.case.message);
        let series = Series {
            title: format!("{message} over a bus"),
            loads,
            entries,
            placement: self.common.placement()?,
            terms,
            cargo,
            samples,
            reference: None,
        };
        measure_series(series, outlet, &|| {})
    }
}
