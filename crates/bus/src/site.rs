//! Where participants run, and who runs where.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::thread;

use anyhow::{Context, Result};
use wiregauge_gauge::process::{Child, Limits};
use wiregauge_participant::control::Role;
use wiregauge_participant::participant::serve;
use wiregauge_participant::transport::Transport;

use crate::catalogue::Reach;
use crate::emulation::{Emulation, Host};
use crate::program::Program;

/// Where participants run: a host, as far as they can tell.
pub enum Place {
    /// This machine. They meet on its loopback.
    Here,
    /// Threads of this process, with these transports.
    Within(&'static [&'static dyn Transport]),
    /// A host that this machine emulates.
    Emulated(Host),
}

impl Place {
    /// The address at which the others reach a participant that runs here.
    pub fn address(&self) -> IpAddr {
        match self {
            Place::Here | Place::Within(_) => Ipv4Addr::LOCALHOST.into(),
            Place::Emulated(host) => host.address(),
        }
    }

    /// Opens the conductor's end of the control channels of this place.
    ///
    /// # Errors
    /// When there is no port.
    pub fn listen(&self) -> Result<TcpListener> {
        if let Place::Emulated(host) = self {
            return host.listen();
        }
        let address = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 0);
        TcpListener::bind(address).with_context(|| format!("cannot listen at {address}"))
    }

    /// Starts a program here with participants of these names. None where it
    /// is not a process of ours.
    ///
    /// # Errors
    /// When it does not start.
    pub fn start(
        &self,
        program: &Program,
        control: SocketAddr,
        names: &[&str],
    ) -> Result<Option<Child>> {
        if let &Place::Within(transports) = self {
            for name in names.iter().map(|name| (*name).to_owned()) {
                let run = move || serve(control, &name, transports, false);
                thread::Builder::new().name("participant".into()).spawn(run)?;
            }
            return Ok(None);
        }
        let mut command = program.command();
        command.arg("--control").arg(control.to_string());
        for name in names {
            command.arg("--name").arg(name);
        }
        if let Place::Emulated(host) = self {
            host.enter(&mut command)?;
        }
        let shown = command.get_program().to_string_lossy().into_owned();
        let child = Child::spawn(command, Limits::default());
        child.map(Some).with_context(|| format!("cannot start {shown}"))
    }
}

/// A process, the participants in it, and what each does.
#[derive(Debug)]
pub struct Station {
    /// Which of the site's places it is at.
    pub place: usize,
    /// Its participants.
    pub participants: Vec<(String, Role)>,
}

/// The places of a run and who is where.
pub struct Site {
    /// All places.
    pub places: Vec<Place>,
    /// What the reader of a figure must know of them.
    pub notes: Vec<String>,
    /// Where the sender is.
    sender: usize,
    /// Where the receivers are.
    receivers: usize,
}

impl Site {
    /// Everyone on this machine.
    pub fn here() -> Site {
        Site { places: vec![Place::Here], notes: Vec::new(), sender: 0, receivers: 0 }
    }

    /// Everyone in this process.
    pub fn within(transports: &'static [&'static dyn Transport]) -> Site {
        let places = vec![Place::Within(transports)];
        Site { places, notes: Vec::new(), sender: 0, receivers: 0 }
    }

    /// The sender on one emulated host, all receivers on the other.
    pub fn emulated(emulation: &Emulation) -> Site {
        let hosts = [&emulation.sender, &emulation.receiver];
        Site {
            places: hosts.map(|host| Place::Emulated(host.clone())).into(),
            notes: emulation.notes(),
            sender: 0,
            receivers: 1,
        }
    }

    /// Why a transport of this reach does not reach from the sender to the
    /// receivers, if so.
    pub fn out_of(&self, reach: Reach) -> Option<&'static str> {
        match reach {
            _ if self.sender == self.receivers => None,
            Reach::Network => None,
            Reach::Machine => Some("it does not leave a machine"),
            Reach::Process => Some("it does not leave a process"),
        }
    }

    /// The processes of a run, receivers first. A transport that stays in a
    /// process has all participants in one.
    pub fn stations(&self, receivers: usize, reach: Reach) -> Vec<Station> {
        let name = |number: usize| match receivers {
            1 => "receiver".to_owned(),
            _ => format!("receiver-{number}"),
        };
        let receiver = |number| (name(number), Role::Receiver, self.receivers);
        let sender = ("sender".to_owned(), Role::Sender, self.sender);
        let mut stations: Vec<Station> = Vec::new();
        for (name, role, place) in (1..=receivers).map(receiver).chain([sender]) {
            match stations.first_mut().filter(|_| reach == Reach::Process) {
                Some(station) => station.participants.push((name, role)),
                None => stations.push(Station { place, participants: vec![(name, role)] }),
            }
        }
        stations
    }
}
