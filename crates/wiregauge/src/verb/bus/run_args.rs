//! What all measuring sub-verbs take: how each run goes, and where the result goes.

use std::time::Duration;

use anyhow::Result;
use wiregauge_bus::background::Background;
use wiregauge_bus::placement::emulation::{Emulation, Rate};
use wiregauge_bus::placement::Placement;
use wiregauge_bus::run_settings::transport_option::{parse_transport_option, TransportOption};
use wiregauge_bus::run_settings::RunSettings;
use wiregauge_participant::realtime::Realtime;
use wiregauge_system::quantity::parse_time;

use crate::result_args::ResultArgs;

/// Shortest window unless the user says so.
const WINDOW: Duration = Duration::from_secs(1);

/// How long a step may go unacknowledged unless the user says so.
const PATIENCE: Duration = Duration::from_secs(5);

/// Round trips before each run unless the user says so.
const ROUND_TRIPS: u32 = 1000;

/// What all measuring sub-verbs take.
#[derive(clap::Args)]
pub struct RunArgs {
    /// Measure these transports, and raw TCP as the floor.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub transport: Vec<String>,
    /// How long each run lasts: 10s, 5m. It must be longer than five windows; the first
    /// three windows and the last one do not count. With eight more windows, seven
    /// transports can be told apart.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub duration: Option<Duration>,
    /// Shortest window of the receiver [default: 1s].
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub window: Option<Duration>,
    /// How long a step may stay unacknowledged in discrete mode [default: 5s].
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub timeout: Option<Duration>,
    /// Announce each step by its own message in discrete mode, not only by its sample.
    #[arg(long)]
    pub announce: bool,
    /// How many round trips to measure before each run, in two seconds at most [default: 1000].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    pub round_trips: Option<u32>,
    /// Emulate two hosts on this machine, with a link of this rate: 100mbit, 1gbit.
    /// Needs root.
    #[arg(long, value_name = "RATE")]
    emulate: Option<Rate>,
    /// How long a participant may be silent before it counts as lost.
    #[arg(long, value_name = "TIME", default_value = "3s", value_parser = parse_time)]
    alive_within: Duration,
    /// Run participants under SCHED_FIFO with this priority, from 1 to 99.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..=99))]
    priority: Option<i32>,
    /// Run participants on these processors only, numbered from 0.
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    processors: Vec<usize>,
    /// Lock the participants' memory (mlockall).
    #[arg(long)]
    lock_memory: bool,
    /// Load the hosts beside each run: processors=2 for busy loops, link=200mbit for a flow.
    #[arg(long, value_name = "LOAD")]
    background: Option<Background>,
    /// Set an option of a transport, such as dds.domain=7.
    #[arg(long, value_name = "TRANSPORT.NAME=VALUE", value_parser = parse_transport_option)]
    option: Vec<TransportOption>,
    /// Seed of the samples' content.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    pub delivery: ResultArgs,
}

impl RunArgs {
    /// How each run goes, which lasts so long unless the user says so.
    pub fn run_settings(&self, duration: Duration) -> RunSettings {
        RunSettings {
            duration: self.duration.unwrap_or(duration),
            window: self.window.unwrap_or(WINDOW),
            patience: self.timeout.unwrap_or(PATIENCE),
            announced: self.announce,
            round_trips: self.round_trips.unwrap_or(ROUND_TRIPS).into(),
            alive: self.alive_within,
            realtime: Realtime {
                priority: self.priority,
                processors: self.processors.clone(),
                locked: self.lock_memory,
            },
            background: self.background.unwrap_or_default(),
            seed: self.seed,
            choices: self.option.clone(),
        }
    }

    /// Where participants run.
    pub fn placement(&self) -> Result<Placement> {
        match self.emulate {
            Some(rate) => Ok(Placement::emulated(&Emulation::build(rate)?)),
            None => Ok(Placement::local()),
        }
    }
}
