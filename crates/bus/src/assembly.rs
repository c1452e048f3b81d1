//! Waits until the machines of a scenario have joined the one that leads.

use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{bail, ensure, Context, Result};
use wiregauge_gauge::interrupt;
use wiregauge_participant::control::{self, Listener, Role, Speaker};

use crate::agent::{version, Join, News, Task};
use crate::remote::{fits, Remote};
use crate::scenario::Scenario;

/// From one look at the door to the next.
const LOOK: Duration = Duration::from_millis(20);

/// Who is waited for, and who may come.
pub struct Assembly<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// Its participants on this machine.
    pub own: &'a [String],
    /// Only machines at these addresses, if any.
    pub only: &'a [IpAddr],
    /// Tells who is waited for, who came and who was refused.
    pub tell: &'a dyn Fn(&str),
}

/// Someone at the door.
struct Visitor {
    join: Join,
    speaker: Speaker,
    listener: Listener,
    address: IpAddr,
    here: IpAddr,
}

impl Assembly<'_> {
    /// Waits until all are there.
    ///
    /// # Errors
    /// A port in use, someone who does not come in time, the user who asks to
    /// stop.
    pub fn gather(&self, wait: Duration) -> Result<Vec<Arc<Remote>>> {
        let mut machines: Vec<Arc<Remote>> = Vec::new();
        if self.missing(&machines).is_empty() {
            return Ok(machines);
        }
        let at = self.scenario.listen;
        let door = TcpListener::bind(at)
            .with_context(|| format!("cannot wait for the others at {at} ('listen')"))?;
        door.set_nonblocking(true)?;
        let at = door.local_addr()?;
        let (came, visitors) = mpsc::channel();
        let deadline = Instant::now() + wait;
        let mut told = Vec::new();
        loop {
            interrupt::check()?;
            machines.retain(|machine| {
                let lost = machine.lost();
                lost.iter().for_each(|lost| (self.tell)(lost));
                lost.is_none()
            });
            let missing = self.missing(&machines);
            if missing.is_empty() {
                return Ok(machines);
            }
            let names = missing.join(", ");
            if missing != told {
                (self.tell)(&format!("waiting for {names} at {at}"));
                told = missing;
            }
            ensure!(
                Instant::now() < deadline,
                "{names} did not join at {at} within {wait:?}; start it there with the same \
                 scenario and --peer, and let this machine's firewall admit TCP port {}",
                at.port()
            );
            while let Ok((stream, from)) = door.accept() {
                let came = came.clone();
                let receive = move || receive(stream, from, &came);
                thread::Builder::new().name("door".into()).spawn(receive)?;
            }
            self.admit(&visitors, &mut machines);
            thread::sleep(LOOK);
        }
    }

    /// Who is not there yet.
    fn missing(&self, machines: &[Arc<Remote>]) -> Vec<String> {
        let there = |name: &String| {
            self.own.contains(name) || machines.iter().any(|m| m.names().contains(name))
        };
        let names = self.scenario.participants.iter().map(|(name, _)| name);
        names.filter(|name| !there(name)).cloned().collect()
    }

    /// Welcomes those at the door, or says why not.
    fn admit(&self, visitors: &Receiver<Visitor>, machines: &mut Vec<Arc<Remote>>) {
        for visitor in visitors.try_iter() {
            let (names, address) = (visitor.join.names.join(", "), visitor.address);
            let outcome = self.check(&visitor, machines).map_err(|why| {
                let why = format!("{why:#}");
                let _ = visitor.speaker.say(&Task::Refused(why.clone()));
                why
            });
            let outcome = outcome.and_then(|()| {
                let Visitor { join, speaker, listener, address, here } = visitor;
                Remote::welcome(join, speaker, listener, address, here)
                    .map_err(|error| format!("{error:#}"))
            });
            match outcome {
                Ok(remote) => {
                    (self.tell)(&format!("{names} joined from {address}"));
                    machines.push(Arc::new(remote));
                }
                Err(why) => (self.tell)(&format!("refused {names} from {address}: {why}")),
            }
        }
    }

    fn check(&self, visitor: &Visitor, machines: &[Arc<Remote>]) -> Result<()> {
        let Visitor { join, address, here, .. } = visitor;
        ensure!(
            join.version == version(),
            "it speaks version {} of the protocol and this wiregauge {}",
            join.version,
            version()
        );
        ensure!(
            self.only.is_empty() || self.only.contains(address),
            "it is not at the address that --peer names here"
        );
        for (key, here) in self.scenario.content() {
            let there = join.scenario.get(&key).map_or("nothing", String::as_str);
            ensure!(
                there == here,
                "its scenario is another one: '{key}' is '{there}' there and '{here}' here"
            );
        }
        for (name, role) in self.scenario.named(&join.names)? {
            ensure!(role == Role::Receiver, "'{name}' sends, and runs here");
            ensure!(!self.own.contains(&name), "'{name}' runs on this machine already");
        }
        ensure!(
            join.address == *address,
            "it calls itself {} and comes from {address}: participants must reach each other \
             without address translation",
            join.address
        );
        fits(machines, &join.names, *here)
    }
}

/// Hears who is at the door. Who does not say so is not listened to.
fn receive(stream: TcpStream, from: SocketAddr, came: &Sender<Visitor>) {
    let visitor = || -> Result<Visitor> {
        let here = stream.local_addr()?.ip().to_canonical();
        let (speaker, mut listener) = control::split(stream)?;
        let News::Join(join) = listener.hear()? else { bail!("no agent") };
        Ok(Visitor { join, speaker, listener, address: from.ip().to_canonical(), here })
    };
    if let Ok(visitor) = visitor() {
        let _ = came.send(visitor);
    }
}
