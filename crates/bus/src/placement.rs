//! Where participants run, and who runs where.

pub mod emulation;
pub mod process;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use wiregauge_child_process::child::{Child, Limits};
use wiregauge_participant::control::Role;
use wiregauge_participant::participant::serve;
use wiregauge_participant::transport::Transport;
use wiregauge_timing::scratch;

use crate::catalogue::engine::Engine;
use crate::catalogue::program::Program;
use crate::catalogue::Reach;
use crate::machines::remote::RemoteMachine;
use crate::placement::emulation::{Emulation, Host};
use crate::placement::process::Process;
use wiregauge_timing::threads::start_thread;

/// Where participants run: a host, as far as they can tell.
pub enum Location {
    /// This machine. They meet on its loopback.
    Local,
    /// This machine, at the address at which others reach it.
    LocalAt(IpAddr),
    /// Another machine.
    Remote(Arc<RemoteMachine>),
    /// Threads of this process, with these transports.
    InProcess(&'static [&'static dyn Transport]),
    /// A host that this machine emulates.
    Emulated(Host),
}

impl Location {
    /// The address at which the others reach a participant that runs here.
    pub fn address(&self) -> IpAddr {
        match self {
            Location::Local | Location::InProcess(_) => Ipv4Addr::LOCALHOST.into(),
            Location::Emulated(host) => host.address(),
            Location::LocalAt(address) => *address,
            Location::Remote(remote) => remote.address(),
        }
    }

    /// Opens the conductor's end of the control channels of this place.
    ///
    /// # Errors
    /// When there is no port.
    pub fn listen(&self) -> Result<TcpListener> {
        let address = match self {
            Location::Emulated(host) => return host.listen(),
            Location::Remote(remote) => remote.local_address(),
            _ => SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 0),
        };
        let listener = TcpListener::bind(address);
        let listener = listener.with_context(|| format!("cannot listen at {address}"))?;
        check_loopback(listener.local_addr()?)?;
        Ok(listener)
    }

    /// Starts a program here with participants of these names, who say this token.
    /// Those of this machine know the run's folder from the beginning.
    ///
    /// # Errors
    /// When it does not start, or the place is lost.
    pub fn start(
        &self,
        program: &Program,
        control: SocketAddr,
        names: &[&str],
        token: &str,
        scratch: Option<&Path>,
    ) -> Result<Process> {
        match self {
            &Location::InProcess(transports) => {
                for name in names.iter().map(|name| (*name).to_owned()) {
                    let token = token.to_owned();
                    let run = move || serve(control, &name, &token, transports, false);
                    start_thread("participant", run)?;
                }
                Ok(Process::InProcess)
            }
            Location::Local | Location::LocalAt(_) | Location::Emulated(_) => {
                let mut command = program.command(control, names, token);
                if let Location::Emulated(host) = self {
                    host.enter(&mut command)?;
                }
                let shown = command.get_program().to_string_lossy().into_owned();
                if let Some(scratch) = scratch {
                    command.env(scratch::ENV_VAR, scratch);
                }
                let limits = Limits { lingers: true, ..Limits::default() };
                let child = Child::spawn(command, limits);
                child.map(Process::Child).with_context(|| format!("cannot start {shown}"))
            }
            Location::Remote(remote) => {
                remote.start(program.engine(), control.port(), names, token).map(Process::Remote)
            }
        }
    }

    /// Sees to it that an engine is there, where that is not this machine.
    fn prepare(&self, engine: Option<&Engine>) -> Result<()> {
        match self {
            Location::Remote(remote) => remote.prepare(engine),
            _ => Ok(()),
        }
    }

    /// Share of the last run's time that a hypervisor took from this place,
    /// where it is not this machine.
    pub fn steal(&self) -> Option<f64> {
        match self {
            Location::Remote(remote) => remote.steal(),
            _ => None,
        }
    }
}

/// Looks whether the loopback, where it is one, carries anything: a network
/// namespace begins with one that is down.
fn check_loopback(address: SocketAddr) -> Result<()> {
    if !address.ip().is_loopback() {
        return Ok(());
    }
    // Which sends nothing.
    let any: IpAddr = match address {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let tried = UdpSocket::bind(SocketAddr::new(any, 0));
    tried
        .and_then(|socket| socket.connect(address))
        .with_context(|| format!("{} cannot be reached; run 'ip link set lo up'", address.ip()))
}

/// A process, the participants in it, and what each does.
#[derive(Debug)]
pub struct ProcessPlan {
    /// Which of the placement's places it is at.
    pub place: usize,
    /// Its participants.
    pub participants: Vec<(String, Role)>,
}

/// The places of a run and who is where.
pub struct Placement {
    /// All places.
    pub locations: Vec<Location>,
    /// What the reader of a figure must know of them.
    notes: Vec<String>,
    /// Where the sender is.
    sender: usize,
    /// Where the receivers are.
    receivers: usize,
    /// Who is where, if they have names of their own; otherwise a sender and
    /// receivers by number.
    roster: Vec<(String, Role, usize)>,
}

impl Placement {
    /// Everyone at the first of these places.
    fn new(places: Vec<Location>) -> Placement {
        Placement {
            locations: places,
            notes: Vec::new(),
            sender: 0,
            receivers: 0,
            roster: Vec::new(),
        }
    }

    /// Everyone on this machine.
    pub fn local() -> Placement {
        Placement::new(vec![Location::Local])
    }

    /// Everyone in this process.
    pub fn in_process(transports: &'static [&'static dyn Transport]) -> Placement {
        Placement::new(vec![Location::InProcess(transports)])
    }

    /// The sender on one emulated host, all receivers on the other.
    pub fn emulated(emulation: &Emulation) -> Placement {
        let hosts = [&emulation.sender, &emulation.receiver];
        let places = hosts.map(|host| Location::Emulated(host.clone())).into();
        Placement { notes: emulation.notes(), receivers: 1, ..Placement::new(places) }
    }

    /// Participants of these names: those of other machines there, all others
    /// on this one.
    pub fn on_machines(
        participants: &[(String, Role)],
        machines: &[Arc<RemoteMachine>],
    ) -> Placement {
        // An agent on this machine may have come by the loopback, where others do not reach us.
        let own = machines.iter().map(|remote| remote.local_address().ip());
        let own = own.min_by_key(IpAddr::is_loopback).map_or(Location::Local, Location::LocalAt);
        let others = machines.iter().map(|remote| Location::Remote(Arc::clone(remote)));
        let place = |name: &String| {
            let there = machines.iter().position(|remote| remote.names().contains(name));
            there.map_or(0, |number| number + 1)
        };
        let roster: Vec<_> =
            participants.iter().map(|(name, role)| (name.clone(), *role, place(name))).collect();
        Placement { roster, ..Placement::new([own].into_iter().chain(others).collect()) }
    }

    /// Why a transport of this reach does not reach from the sender to the
    /// receivers, if so.
    pub fn unreachable_reason(&self, reach: Reach) -> Option<&'static str> {
        match reach {
            _ if !self.has_link() => None,
            Reach::Network => None,
            Reach::Machine => Some("it works within one machine only"),
            Reach::Process => Some("it works within one process only"),
        }
    }

    /// Whether there is a link between participants, as they are not all on one host.
    pub fn has_link(&self) -> bool {
        let apart = |first: &(String, Role, usize)| self.roster.iter().any(|one| one.2 != first.2);
        self.sender != self.receivers || self.roster.first().is_some_and(apart)
    }

    /// Whether other machines take part.
    pub fn has_remote(&self) -> bool {
        self.locations.iter().any(|place| matches!(place, Location::Remote(_)))
    }

    /// Sees to it that an engine is there on all other machines.
    ///
    /// # Errors
    /// Where it cannot be, and why.
    pub fn prepare(&self, engine: Option<&Engine>) -> Result<()> {
        self.locations.iter().try_for_each(|place| place.prepare(engine))
    }

    /// What a reader must know of it, if anything.
    pub fn notes(&self) -> Vec<String> {
        let remote = |place: &Location| match place {
            Location::Remote(remote) => Some(remote.to_string()),
            _ => None,
        };
        self.notes.iter().cloned().chain(self.locations.iter().filter_map(remote)).collect()
    }

    /// The processes of a run, receivers first. A transport that stays in a
    /// process has all participants in one.
    pub fn plans(&self, receivers: usize, reach: Reach) -> Vec<ProcessPlan> {
        self.plans_of_senders(1, receivers, reach)
    }

    /// The processes of a run with so many senders, of which the first is the timing master.
    pub fn plans_of_senders(
        &self,
        senders: usize,
        receivers: usize,
        reach: Reach,
    ) -> Vec<ProcessPlan> {
        let name = |what: &str, number: usize, count: usize| match count {
            1 => what.to_owned(),
            _ => format!("{what}-{number}"),
        };
        let receiver = |n| (name("receiver", n, receivers), Role::Receiver, self.receivers);
        let sender = |n| (name("sender", n, senders), Role::Sender, self.sender);
        let mut everyone: Vec<_> = match self.roster.is_empty() {
            true => (1..=receivers).map(receiver).chain((1..=senders).map(sender)).collect(),
            false => self.roster.clone(),
        };
        everyone.sort_by_key(|(_, role, _)| *role == Role::Sender);
        let mut plans: Vec<ProcessPlan> = Vec::new();
        for (name, role, place) in everyone {
            match plans.first_mut().filter(|_| reach == Reach::Process) {
                Some(plan) => plan.participants.push((name, role)),
                None => plans.push(ProcessPlan { place, participants: vec![(name, role)] }),
            }
        }
        plans
    }
}
