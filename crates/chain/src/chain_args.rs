//! The arguments that say which chain is measured, and how.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{bail, Context, Result};
use wiregauge_bus::machines::meeting_args::{print_foreign, MeetingArgs};
use wiregauge_bus::machines::rendezvous::Rendezvous;
use wiregauge_system::interrupt;
use wiregauge_system::progress::ProgressDisplay;
use wiregauge_system::quantity::{parse_speed, parse_time};

use crate::chain::Chain;
use crate::chain_machines::{check_machine, join, party, ChainMachines};
use crate::measurement::{measure, MeasuredChain};
use crate::messages::Messages;

/// Which chain is measured, and how.
#[derive(clap::Args)]
pub struct ChainArgs {
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
    /// Which machine of the chain this is, where its stages run on several.
    #[arg(long, value_name = "NAME")]
    machine: Option<String>,
    #[command(flatten)]
    meeting: MeetingArgs,
}

impl ChainArgs {
    /// The file.
    pub fn path(&self) -> &Path {
        &self.chain
    }

    /// The chain.
    ///
    /// # Errors
    /// Those of the file, and too short a time.
    pub fn read(&self) -> Result<Chain> {
        Chain::read(&self.chain)?.with(self.vehicle_speed, self.duration)
    }

    /// The name of this machine, where another one leads.
    ///
    /// # Errors
    /// A machine that is not named where there are several, or that the chain has not.
    pub fn joining_machine(&self, chain: &Chain) -> Result<Option<&str>> {
        let machine = self.machine.as_deref();
        let leads = check_machine(chain, machine);
        let leads = leads.with_context(|| self.chain.display().to_string())?;
        Ok(machine.filter(|_| !leads))
    }

    /// Has the stages of this machine run as the one that leads says. Codecs and engines are
    /// built below `folder`.
    ///
    /// # Errors
    /// Those of [`join`], and where it is not said which machine leads.
    pub fn join(
        &self,
        chain: &Chain,
        machine: &str,
        folder: &Path,
        progress: ProgressDisplay,
    ) -> Result<()> {
        let [peer] = &self.meeting.peer[..] else {
            bail!("--peer must name the one machine that leads: '{}'", chain.machines()[0])
        };
        let key = self.meeting.find_key()?;
        let messages = Messages::prepare(chain, folder, &progress)?;
        // What goes on from here is said in lines.
        drop(progress);
        let leader = (peer.as_str(), key.as_ref());
        join((chain, machine), &messages, folder, leader, self.meeting.wait, &print_foreign)
    }

    /// Measures the chain, with the other machines where there are any. `begin` is called
    /// before anything is measured.
    ///
    /// # Errors
    /// Those of [`measure`], and a machine that does not join in time.
    pub fn measure(
        &self,
        chain: Chain,
        folder: &Path,
        progress: &ProgressDisplay,
        begin: &mut dyn FnMut(&Messages),
    ) -> Result<MeasuredChain> {
        let messages = Messages::prepare(&chain, folder, progress)?;
        let party = party(&chain, &messages)?;
        let own = match self.machine.as_deref() {
            Some(machine) => chain.stages_on(machine),
            None => party.names.clone(),
        };
        let only = self.meeting.peer_addresses(chain.listen.port())?;
        let key = self.meeting.find_key()?;
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
        let measured = measure(chain, messages, machines, folder, progress, begin);
        gathering.dismiss(measured.is_ok() && !interrupt::interrupted());
        measured
    }
}
