//! `wiregauge chain`: what a chain from sensor to actuator takes, and what would make it
//! faster.

use std::process::ExitCode;

use anyhow::{bail, ensure, Context, Result};
use wiregauge_build_tools::default_build_folder;
use wiregauge_bus::machines::rendezvous::Rendezvous;
use wiregauge_chain::chain::Chain;
use wiregauge_chain::chain_args::ChainArgs;
use wiregauge_chain::chain_machines::{self, check_machine, party, ChainMachines};
use wiregauge_chain::chain_result::to_run;
use wiregauge_chain::measurement::measure;
use wiregauge_chain::messages::Messages;
use wiregauge_codec_run::tools;
use wiregauge_result::run_builder::RunBuilder;
use wiregauge_result::run_kind::RunKind;
use wiregauge_system::interrupt;
use wiregauge_system::progress::ProgressDisplay;

use crate::exit_status::write_measured;
use crate::meeting_args::{print_foreign, MeetingArgs};
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
    /// Which machine of the chain this is, where its stages run on several.
    #[arg(long, value_name = "NAME")]
    machine: Option<String>,
    #[command(flatten)]
    meeting: MeetingArgs,
    #[command(flatten)]
    delivery: ResultArgs,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        let chain = self.chain.read()?;
        let leads = check_machine(&chain, self.machine.as_deref())
            .with_context(|| self.chain.path().display().to_string())?;
        match self.machine {
            Some(ref machine) if !leads => self.join(&chain, machine),
            _ => self.lead(chain),
        }
    }

    /// Has the stages of this machine run as the one that leads says.
    fn join(&self, chain: &Chain, machine: &str) -> Result<ExitCode> {
        ensure!(
            !self.delivery.is_given(),
            "only the machine that leads has the result; give -o, --format, --require and --junit \
             there"
        );
        let [peer] = &self.meeting.peer[..] else {
            bail!("--peer must name the one machine that leads: '{}'", chain.machines()[0])
        };
        let (key, folder) = (self.meeting.find_key()?, default_build_folder()?);
        let progress = ProgressDisplay::new();
        let messages = Messages::prepare(chain, &folder, &progress)?;
        drop(progress);
        let (part, leader) = ((chain, machine), (peer.as_str(), key.as_ref()));
        chain_machines::join(part, &messages, &folder, leader, self.meeting.wait, &print_foreign)?;
        Ok(ExitCode::SUCCESS)
    }

    /// Measures the chain, with the other machines where there are any.
    fn lead(&self, chain: Chain) -> Result<ExitCode> {
        let outlet = self.delivery.open(&[self.chain.path()])?;
        let (folder, progress) = (default_build_folder()?, ProgressDisplay::new());
        let messages = Messages::prepare(&chain, &folder, &progress)?;
        let party = party(&chain, &messages)?;
        let own = match self.machine.as_deref() {
            Some(machine) => chain.stages_on(machine),
            None => party.names.clone(),
        };
        let (only, key) =
            (self.meeting.peer_addresses(chain.listen.port())?, self.meeting.find_key()?);
        let rendezvous = Rendezvous {
            party: &party,
            own: &own,
            ranked: false,
            only: &only,
            key: key.as_ref(),
            tell: &print_foreign,
        };
        let gathering = rendezvous.await_all(self.meeting.wait)?;
        let machines = ChainMachines::new(gathering.machines());
        let mut builder = RunBuilder::begin(RunKind::Chain);
        let measured = measure(chain, messages, machines, &folder, &progress, &mut |messages| {
            builder.watch_machine(messages.tools(tools::versions()));
        });
        gathering.dismiss(measured.is_ok() && !interrupt::interrupted());
        drop(progress);
        write_measured(to_run(&measured?, builder), outlet)
    }
}
