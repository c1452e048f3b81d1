//! `wiregauge chain`: what a chain from sensor to actuator takes, and what would make it
//! faster.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use wiregauge_build_tools::default_build_folder;
use wiregauge_chain::chain::Chain;
use wiregauge_chain::chain_result::to_run;
use wiregauge_chain::measurement::measure;
use wiregauge_codec_run::tools;
use wiregauge_result::run_builder::RunBuilder;
use wiregauge_result::run_kind::RunKind;
use wiregauge_system::progress::ProgressDisplay;
use wiregauge_system::quantity::{parse_speed, parse_time};

use crate::exit_status::write_measured;
use crate::result_args::ResultArgs;

/// Measure a chain from sensor to actuator, and what would make it faster.
#[derive(clap::Args)]
#[command(after_help = "\
docs/chain.md describes the file.

Examples:
  wiregauge chain brake.toml
  wiregauge chain brake.toml --vehicle-speed 130km/h --require 'p99 chain < 150ms'")]
pub struct Arguments {
    /// The chain (TOML): its stages, and the hops between them.
    #[arg(value_name = "FILE")]
    chain: PathBuf,
    /// Speed of the vehicle, for distances: 100km/h, 60mph, 30m/s [default: the file's,
    /// else 100km/h].
    #[arg(long, value_name = "SPEED", value_parser = parse_speed)]
    vehicle_speed: Option<f64>,
    /// How long the chain is measured, and each of the best changes [default: the
    /// file's, else 30s].
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    duration: Option<Duration>,
    #[command(flatten)]
    delivery: ResultArgs,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        let outlet = self.delivery.open(&[&self.chain])?;
        let chain = Chain::read(&self.chain)?.with(self.vehicle_speed, self.duration)?;
        let (folder, progress) = (default_build_folder()?, ProgressDisplay::new());
        let mut builder = RunBuilder::begin(RunKind::Chain);
        let measured = measure(chain, &folder, &progress, &mut |messages| {
            builder.watch_machine(messages.tools(tools::versions()));
        })?;
        drop(progress);
        write_measured(to_run(&measured, builder), outlet)
    }
}
