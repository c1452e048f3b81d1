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
use crate::secret::Key;

/// Most who say at the same time who they are.
const MOST_AT_ONCE: usize = 32;
/// Longest that who comes may have to say, in bytes: a scenario.
const INTRODUCTION: usize = 2 << 20;
/// Most names, or characters of a version, that are shown of who comes.
const SHOWN: usize = 64;
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
    /// What who comes must prove to have, if anything.
    pub key: Option<&'a Key>,
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
        if self.key.is_none() {
            (self.tell)(&format!(
                "anyone who reaches {at} and knows the scenario may join: there is no --key"
            ));
        }
        let (came, visitors) = mpsc::channel();
        let at_once = Arc::new(());
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
            // No more strangers than this are listened to, and for no longer than
            // it takes to say who one is.
            for (stream, from) in std::iter::from_fn(|| door.accept().ok()).take(MOST_AT_ONCE) {
                if Arc::strong_count(&at_once) > MOST_AT_ONCE {
                    continue;
                }
                let (came, key, one) = (came.clone(), self.key.cloned(), Arc::clone(&at_once));
                let receive = move || {
                    receive(stream, from, key.as_ref(), &came);
                    drop(one);
                };
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
            let address = visitor.address;
            let outcome = self.check(&visitor, machines).map_err(|why| {
                // What differs from the scenario is for the eyes of this machine.
                let Refusal { told, known } = why;
                let _ = visitor.speaker.say(&Task::Refused(told.clone()));
                known.map_or(told.clone(), |known| format!("{told}: {known}"))
            });
            let names = visitor.join.names.iter().take(SHOWN).cloned().collect::<Vec<_>>();
            let names = names.join(", ");
            let outcome = outcome.and_then(|()| {
                let Visitor { join, speaker, mut listener, address, here } = visitor;
                let borne = listener.bear(self.scenario.terms.alive);
                borne.map_err(|error| format!("{error:#}"))?;
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

    /// Whether a visitor may join. A refusal tells a stranger nothing of what the
    /// scenario says.
    fn check(&self, visitor: &Visitor, machines: &[Arc<Remote>]) -> Result<(), Refusal> {
        let Visitor { join, address, here, .. } = visitor;
        ensure(join.version == version(), || {
            let theirs: String = join.version.chars().take(SHOWN).collect();
            format!("it speaks version {theirs} of the protocol and this wiregauge {}", version())
        })?;
        ensure(self.only.is_empty() || self.only.contains(address), || {
            "it is not at the address that --peer names here".into()
        })?;
        for (key, here) in self.scenario.content() {
            let there = join.scenario.get(&key).map_or("nothing", String::as_str);
            if there != here {
                return Err(Refusal {
                    told: "its scenario is another one".into(),
                    known: Some(format!("'{key}' is '{there}' there and '{here}' here")),
                });
            }
        }
        let most = self.scenario.participants.len();
        ensure(!join.names.is_empty(), || "it names no participant".into())?;
        let unknown = || "it names a participant that the scenario has not".to_owned();
        ensure(join.names.len() <= most, unknown)?;
        let named = self.scenario.named(&join.names);
        for (name, role) in named.map_err(|_| Refusal { told: unknown(), known: None })? {
            ensure(role == Role::Receiver, || format!("'{name}' sends, and runs here"))?;
            ensure(!self.own.contains(&name), || format!("'{name}' is there already"))?;
        }
        ensure(join.address == *address, || {
            format!(
                "it calls itself {} and comes from {address}: participants must reach each \
                     other without address translation",
                join.address
            )
        })?;
        fits(machines, &join.names, *here)
            .map_err(|error| Refusal { told: format!("{error:#}"), known: None })
    }
}

/// Why someone may not join.
struct Refusal {
    /// What is said to whoever it is.
    told: String,
    /// What only this machine says to its user.
    known: Option<String>,
}

fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), Refusal> {
    match holds {
        true => Ok(()),
        false => Err(Refusal { told: otherwise(), known: None }),
    }
}

/// Hears who is at the door. Who does not say so, or has not the key, is not
/// listened to.
fn receive(mut stream: TcpStream, from: SocketAddr, key: Option<&Key>, came: &Sender<Visitor>) {
    let visitor = || -> Result<Visitor> {
        let here = stream.local_addr()?.ip().to_canonical();
        let seal = key.map(|key| key.prove(&mut stream, false)).transpose()?;
        let (speaker, mut listener) = control::split_sealed(stream, seal)?;
        listener.limit(Some(INTRODUCTION));
        let News::Join(join) = listener.hear()? else { bail!("no agent") };
        listener.limit(None);
        Ok(Visitor { join, speaker, listener, address: from.ip().to_canonical(), here })
    };
    if let Ok(visitor) = visitor() {
        let _ = came.send(visitor);
    }
}
