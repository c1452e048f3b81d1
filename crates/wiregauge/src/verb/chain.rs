//! `wiregauge chain`: what a chain from sensor to actuator takes, and what would make it
//! faster.

use std::process::ExitCode;

use anyhow::{ensure, Result};
use wiregauge_build_tools::default_build_folder;
use wiregauge_chain::chain_args::ChainArgs;
use wiregauge_chain::chain_result::to_run;
use wiregauge_codec_run::tools;
use wiregauge_result::run_builder::RunBuilder;
use wiregauge_result::run_kind::RunKind;
use wiregauge_system::progress::ProgressDisplay;

use crate::exit_status::write_measured;
use crate::result_args::ResultArgs;

/// Measure a chain from sensor to actuator, and what would make it faster.
///
/// Where its stages name several machines, start it on each of them with the same file, in
/// any order. The machine of the first stage leads, and has the result.
#[derive(clap::Args)]
#[command(after_help = "\
docs/chain.md describes the file.

Examples:
  wiregauge chain brake.toml
  wiregauge chain brake.toml --duration 10m --require 'p99 chain < 100ms'
  wiregauge chain brake.toml --machine front
      on the machine of the first stage
  wiregauge chain brake.toml --machine rear --peer HOST
      on the other, where HOST is the first stage's machine")]
pub struct Arguments {
    #[command(flatten)]
    chain: ChainArgs,
    #[command(flatten)]
    delivery: ResultArgs,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        let chain = self.chain.read()?;
        let (folder, progress) = (default_build_folder()?, ProgressDisplay::new());
        if let Some(machine) = self.chain.joining_machine(&chain)? {
            ensure!(
                !self.delivery.is_given(),
                "only the machine that leads has the result; give -o, --format, --require and \
                 --junit there"
            );
            self.chain.join(&chain, machine, &folder, progress)?;
            return Ok(ExitCode::SUCCESS);
        }
        let outlet = self.delivery.open(&[self.chain.path()])?;
        let mut builder = RunBuilder::begin(RunKind::Chain);
        let measured = self.chain.measure(chain, &folder, &progress, &mut |messages| {
            builder.watch_machine(messages.tools(tools::versions()));
        })?;
        drop(progress);
        write_measured(to_run(&measured, builder), outlet)
    }
}
