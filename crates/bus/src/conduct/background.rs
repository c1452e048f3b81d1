//! The background of a run: started on all hosts that take part, and ended with it.

use anyhow::Result;

use crate::background::child::BackgroundChild;
use crate::background::message::{BackgroundSetup, FlowEnd, TakenBackground};
use crate::background::Background;
use crate::catalogue::program::background_command;
use crate::machines::remote::background::RemoteBackground;
use crate::placement::{Location, Placement, ProcessPlan};
use crate::record::background::BackgroundRecord;
use crate::secret;
use wiregauge_participant::control::Role;

/// The hosts that a background loads.
pub struct BackgroundHosts<'a> {
    background: Background,
    /// The timing master's first, from which the flow goes to each of the others.
    hosts: Vec<&'a Location>,
}

impl<'a> BackgroundHosts<'a> {
    /// Those of these plans.
    pub fn new(
        background: Background,
        placement: &'a Placement,
        plans: &[ProcessPlan],
    ) -> BackgroundHosts<'a> {
        let sends = |plan: &&ProcessPlan| plan.participants.iter().any(|p| p.1 == Role::Sender);
        let mut places: Vec<usize> = Vec::new();
        for plan in plans.iter().find(sends).into_iter().chain(plans) {
            if !places.contains(&plan.place) {
                places.push(plan.place);
            }
        }
        let hosts = places.into_iter().map(|place| &placement.locations[place]).collect();
        BackgroundHosts { background, hosts }
    }

    /// Loads them; none where nothing is to be loaded.
    ///
    /// # Errors
    /// When a host cannot be loaded, or the user asks to stop.
    pub fn start(&self) -> Result<Option<RunningBackground>> {
        let Background { processors, link } = self.background;
        let Some((sender, others)) = self.hosts.split_first() else { return Ok(None) };
        if self.background.is_none() {
            return Ok(None);
        }
        let token = secret::new_token()?;
        let mut processes = Vec::new();
        for host in others {
            let receives = FlowEnd::Receives { at: host.address(), token: token.clone() };
            processes.push(HostBackground::start(host, processors, link.map(|_| receives))?);
        }
        let ports = others.iter().zip(&processes);
        let to = ports.filter_map(|(host, process)| Some((host.address(), process.port()?).into()));
        let flow = link.map(|rate| FlowEnd::Sends { to: to.collect(), rate: rate.bits, token });
        processes.insert(0, HostBackground::start(sender, processors, flow)?);
        Ok(Some(RunningBackground { background: self.background, processes }))
    }
}

/// A background that runs. It ends when it is dropped.
pub struct RunningBackground {
    background: Background,
    processes: Vec<HostBackground>,
}

impl RunningBackground {
    /// Looks whether this machine is still loaded, and its emulated hosts; other machines tell
    /// it in the end.
    ///
    /// # Errors
    /// When a part of it has ended by itself.
    pub fn check(&self) -> Result<()> {
        self.processes.iter().try_for_each(|process| match process {
            HostBackground::Child(child) => child.check(),
            HostBackground::Remote(_) => Ok(()),
        })
    }

    /// Ends it: what it took. The flow ends before those that it goes to.
    ///
    /// # Errors
    /// When a part of it has ended by itself.
    pub fn finish(self) -> Result<BackgroundRecord> {
        let taken = self.processes.into_iter().map(HostBackground::finish);
        let taken: Vec<TakenBackground> = taken.collect::<Result<_>>()?;
        Ok(BackgroundRecord::new(&self.background, &taken))
    }
}

/// The background of a host.
enum HostBackground {
    Child(BackgroundChild),
    Remote(RemoteBackground),
}

impl HostBackground {
    fn start(host: &Location, processors: usize, flow: Option<FlowEnd>) -> Result<HostBackground> {
        let setup = BackgroundSetup { processors, flow };
        let mut command = background_command();
        match host {
            Location::Remote(remote) => {
                return remote.start_background(setup).map(HostBackground::Remote);
            }
            Location::Emulated(host) => host.enter(&mut command)?,
            Location::Local | Location::LocalAt(_) | Location::InProcess(_) => {}
        }
        BackgroundChild::start(command, &setup).map(HostBackground::Child)
    }

    fn port(&self) -> Option<u16> {
        match self {
            HostBackground::Child(child) => child.port,
            HostBackground::Remote(remote) => remote.port,
        }
    }

    fn finish(self) -> Result<TakenBackground> {
        match self {
            HostBackground::Child(child) => child.finish(),
            HostBackground::Remote(remote) => remote.finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Reach;

    #[test]
    fn a_host_is_loaded_once_however_many_send_from_it() {
        let placement = Placement::local();
        let plans = placement.plans_of_senders(3, 2, Reach::Network);
        let background = BackgroundHosts::new(Background::default(), &placement, &plans);
        assert_eq!(background.hosts.len(), 1);
    }
}
