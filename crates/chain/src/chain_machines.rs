//! The machines that a chain runs on: that of the first stage leads, and the others join it.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{bail, ensure, Result};
use wiregauge_bus::background::Background;
use wiregauge_bus::machines::agent::{resolve_addresses, Agent};
use wiregauge_bus::machines::party::Party;
use wiregauge_bus::machines::remote::RemoteMachine;
use wiregauge_bus::secret::Key;
use wiregauge_participant::control::DEFAULT_SILENCE_LIMIT;
use wiregauge_participant::stage::setup::StageHost;
use wiregauge_timing::scratch::Scratch;

use crate::chain::{read_name, Chain, Hop, Stage};
use crate::messages::Messages;

/// The other machines of a chain; none where all stages run on this one.
#[derive(Clone, Default)]
pub struct ChainMachines(Vec<Arc<RemoteMachine>>);

impl ChainMachines {
    /// These.
    pub fn new(machines: &[Arc<RemoteMachine>]) -> ChainMachines {
        ChainMachines(machines.to_vec())
    }

    /// All of them.
    pub fn all(&self) -> &[Arc<RemoteMachine>] {
        &self.0
    }

    /// The machine that a stage runs on, if it is not this one.
    pub fn find(&self, stage: &Stage) -> Option<&Arc<RemoteMachine>> {
        self.0.iter().find(|machine| machine.names().contains(&stage.name))
    }

    /// The address at which others reach a stage.
    pub fn address(&self, stage: &Stage) -> IpAddr {
        // One that came by the loopback is on this machine, and reaches it at any address.
        let own = self.0.iter().map(|machine| machine.local_address().ip());
        let own = own.min_by_key(IpAddr::is_loopback).unwrap_or(Ipv4Addr::LOCALHOST.into());
        self.find(stage).map_or(own, |machine| machine.address())
    }
}

/// Checks that a machine is one of the chain's, and says whether it leads.
///
/// # Errors
/// A machine that is not named where there are several, or that the chain has not.
pub fn check_machine(chain: &Chain, machine: Option<&str>) -> Result<bool> {
    let known = chain.machines();
    let Some(machine) = machine else {
        ensure!(
            !chain.has_several_machines(),
            "the chain runs on several machines; start it on each with its name: --machine {}",
            known.join(" or --machine ")
        );
        return Ok(true);
    };
    if !known.contains(&machine) {
        match known.is_empty() {
            true => bail!("no stage names a machine; give each machine = \"{machine}\" or another"),
            false => bail!("no stage runs on '{machine}'; there are {}", known.join(", ")),
        }
    }
    Ok(known[0] == machine)
}

/// What the machines of a chain must agree on.
///
/// # Errors
/// A message that cannot be read any more.
pub fn party(chain: &Chain, messages: &Messages) -> Result<Party> {
    let mut content = BTreeMap::new();
    for (place, Stage { name, period, offset, work, machine }) in chain.stages.iter().enumerate() {
        let machine = machine.as_deref().unwrap_or_default();
        let said = format!("{name} on {machine}, {period} ns, {offset:?}, works {work} ns");
        content.insert(format!("stage {place}"), said);
    }
    for (place, Hop { codec, transport, read, .. }) in chain.hops.iter().enumerate() {
        let said = format!("{codec} over {}, {}", transport.id, read_name(*read));
        content.insert(format!("hop {place}"), said);
    }
    for (place, hash) in messages.hashes()?.into_iter().enumerate() {
        content.insert(format!("values of message {place}"), hash);
    }
    Ok(Party {
        file: "chain",
        names: chain.stages.iter().map(|stage| stage.name.clone()).collect(),
        content,
        listen: chain.listen,
        alive: DEFAULT_SILENCE_LIMIT,
    })
}

/// Joins the machine of the first stage, at this address, and has the stages of this machine
/// run as it says, until all is done. Engines are built below `folder`.
///
/// # Errors
/// When it is not there in time, refuses, or is gone before the end; when the user asks to
/// stop. No process is left either way.
pub fn join(
    (chain, machine): (&Chain, &str),
    messages: &Messages,
    folder: &Path,
    (leader, key): (&str, Option<&Key>),
    wait: Duration,
    tell: &dyn Fn(&str),
) -> Result<()> {
    let party = party(chain, messages)?;
    let scratch = Scratch::new()?;
    let host = StageHost { codecs: messages.codecs(), scratch: scratch.path().to_owned() };
    let agent = Agent {
        party: &party,
        names: &chain.stages_on(machine),
        background: Background::default(),
        stages: Some(&host),
        folder,
        key,
        tell,
    };
    let find = || resolve_addresses(leader, chain.listen.port());
    agent.serve(&find, wait, Duration::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain_file::tests_support::chain;

    #[test]
    fn a_machine_is_one_of_the_chains_and_the_first_leads() {
        let mut chain = chain(&[100, 50, 0]);
        assert!(check_machine(&chain, None).unwrap());
        let refused = |chain: &Chain, name| check_machine(chain, name).unwrap_err().to_string();
        assert!(refused(&chain, Some("rear")).contains("no stage names a machine"));
        for (stage, machine) in chain.stages.iter_mut().zip(["front", "rear", "front"]) {
            stage.machine = Some(machine.to_owned());
        }
        assert!(check_machine(&chain, Some("front")).unwrap());
        assert!(!check_machine(&chain, Some("rear")).unwrap());
        assert!(refused(&chain, None).contains("--machine front or --machine rear"));
        assert!(refused(&chain, Some("boot")).contains("there are front, rear"));
    }
}
