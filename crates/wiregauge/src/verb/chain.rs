//! `wiregauge chain`: what a chain from sensor to actuator takes, and what would make it
//! faster.

use std::process::ExitCode;

use anyhow::Result;
use wiregauge_build_tools::default_build_folder;
use wiregauge_chain::chain_args::ChainArgs;
use wiregauge_chain::chain_result::to_run;
use wiregauge_chain::measurement::measure;
use wiregauge_codec_run::tools;
use wiregauge_result::run_builder::RunBuilder;
use wiregauge_result::run_kind::RunKind;
use wiregauge_system::progress::ProgressDisplay;

use crate::exit_status::write_measured;
use crate::result_args::ResultArgs;

/// Measure a chain from sensor to actuator, and what would make it faster.
#[derive(clap::Args)]
#[command(after_help = "\
docs/chain.md describes the file.

Examples:
  wiregauge chain brake.toml
  wiregauge chain brake.toml --duration 10m --require 'p99 chain < 100ms'")]
pub struct Arguments {
    #[command(flatten)]
    chain: ChainArgs,
    #[command(flatten)]
    delivery: ResultArgs,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        let outlet = self.delivery.open(&[self.chain.path()])?;
        let chain = self.chain.read()?;
        let (folder, progress) = (default_build_folder()?, ProgressDisplay::new());
        let mut builder = RunBuilder::begin(RunKind::Chain);
        let measured = measure(chain, &folder, &progress, &mut |messages| {
            builder.watch_machine(messages.tools(tools::versions()));
        })?;
        drop(progress);
        write_measured(to_run(&measured, builder), outlet)
    }
}
