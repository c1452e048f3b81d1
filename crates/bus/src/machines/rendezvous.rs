//! Waits until the machines of a scenario have joined the one that leads.

use std::cell::Cell;
use std::net::{IpAddr, TcpListener};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{ensure, Context, Result};
use wiregauge_system::interrupt;

use crate::machines::join_listener::{JoinListener, JoinRequest, POLL_INTERVAL};
use crate::machines::message::{version, Task};
use crate::machines::party::Party;
use crate::machines::remote::{check_machines, RemoteMachine};
use crate::secret::Key;

/// Most names, or characters of a version, that are shown of who comes.
const MAX_SHOWN: usize = 64;

/// Who is waited for, and who may come.
pub struct Rendezvous<'a> {
    /// Who measures together, and what.
    pub party: &'a Party,
    /// What of it runs on this machine.
    pub own: &'a [String],
    /// Whether the others are processes of one job, and known by their ranks.
    pub ranked: bool,
    /// Only machines at these addresses, if any.
    pub only: &'a [IpAddr],
    /// What who comes must prove to have, if anything.
    pub key: Option<&'a Key>,
    /// Tells who is waited for, who came and who was refused.
    pub tell: &'a dyn Fn(&str),
}

/// The machines that joined, and the door for those that are lost and come back.
pub struct JoinedMachines<'a> {
    rendezvous: &'a Rendezvous<'a>,
    /// None where no other machine takes part.
    door: Option<JoinListener>,
    machines: Vec<Arc<RemoteMachine>>,
    /// Whether one did not come back in time.
    given_up: Cell<bool>,
}

impl Rendezvous<'_> {
    /// Waits until all are there.
    ///
    /// # Errors
    /// A port in use, someone who does not come in time, the user who asks to
    /// stop.
    pub fn await_all(&self, wait: Duration) -> Result<JoinedMachines<'_>> {
        let mut machines: Vec<Arc<RemoteMachine>> = Vec::new();
        if self.missing(&machines).is_empty() {
            let given_up = Cell::new(false);
            return Ok(JoinedMachines { rendezvous: self, door: None, machines, given_up });
        }
        let at = self.party.listen;
        let listener = TcpListener::bind(at)
            .with_context(|| format!("cannot wait for the others at {at} ('listen')"))?;
        let at = listener.local_addr()?;
        if self.key.is_none() {
            (self.tell)(&format!(
                "without --key, anyone who can reach {at} and knows the {} may join",
                self.party.file
            ));
        }
        let door = JoinListener::open(listener, self.key.cloned(), self.party.content.clone())?;
        let deadline = Instant::now() + wait;
        let mut told = Vec::new();
        loop {
            interrupt::check()?;
            machines.retain(|machine| {
                let lost = machine.loss_reason();
                lost.iter().for_each(|lost| (self.tell)(lost));
                lost.is_none()
            });
            let missing = self.missing(&machines);
            if missing.is_empty() {
                door.close_for_runs(&machines);
                let given_up = Cell::new(false);
                return Ok(JoinedMachines {
                    rendezvous: self,
                    door: Some(door),
                    machines,
                    given_up,
                });
            }
            let names = self.list_names(&missing);
            if missing != told {
                (self.tell)(&format!("waiting for {names} at {at}"));
                told = missing;
            }
            let remedy = match self.ranked {
                true => "see what these processes of the job said".to_owned(),
                false => format!("start it there with the same {} and --peer", self.party.file),
            };
            ensure!(
                Instant::now() < deadline,
                "{names} did not join at {at} within {wait:?}; {remedy}, and open TCP port {} in \
                 this machine's firewall",
                at.port()
            );
            door.take_requests().for_each(|visitor| self.admit(visitor, &mut machines));
            thread::sleep(POLL_INTERVAL);
        }
    }

    /// Who is not there yet.
    fn missing(&self, machines: &[Arc<RemoteMachine>]) -> Vec<String> {
        let there = |name: &String| {
            self.own.contains(name) || machines.iter().any(|m| m.names().contains(name))
        };
        self.party.names.iter().filter(|name| !there(name)).cloned().collect()
    }

    /// Some of the participants in a line, with their ranks in a job. Of three or more in a row
    /// it has the first and the last.
    fn list_names(&self, some: &[String]) -> String {
        let all = &self.party.names;
        let mut rows: Vec<(usize, usize)> = Vec::new();
        for rank in (0..all.len()).filter(|rank| some.contains(&all[*rank])) {
            match rows.last_mut().filter(|(_, last)| last + 1 == rank) {
                Some((_, last)) => *last = rank,
                None => rows.push((rank, rank)),
            }
        }
        let show = |(first, last): (usize, usize)| {
            let (names, ranks) = match last - first {
                0 => (all[first].clone(), format!("rank {first}")),
                1 => (all[first..=last].join(", "), format!("ranks {first}, {last}")),
                _ => {
                    (format!("{} to {}", all[first], all[last]), format!("ranks {first} to {last}"))
                }
            };
            if self.ranked {
                format!("{names} ({ranks})")
            } else {
                names
            }
        };
        rows.into_iter().map(show).collect::<Vec<_>>().join(", ")
    }

    /// Welcomes who is at the door, or says why not.
    fn admit(&self, visitor: JoinRequest, machines: &mut Vec<Arc<RemoteMachine>>) {
        let (shown, address) = (describe_request(&visitor), visitor.address);
        match self.check(&visitor, machines) {
            Ok(()) => match self.welcome(visitor) {
                Ok(remote) => {
                    (self.tell)(&format!("{shown} joined from {address}"));
                    machines.push(Arc::new(remote));
                }
                Err(error) => (self.tell)(&format!("refused {shown} from {address}: {error:#}")),
            },
            Err(why) => self.refuse(&visitor, why),
        }
    }

    fn welcome(&self, visitor: JoinRequest) -> Result<RemoteMachine> {
        let JoinRequest { join, speaker, mut listener, address, here } = visitor;
        listener.set_silence_limit(self.party.alive)?;
        RemoteMachine::accept(join, speaker, listener, address, here)
    }

    fn refuse(&self, visitor: &JoinRequest, why: Refusal) {
        let Refusal { told, known } = why;
        let _ = visitor.speaker.send(&Task::Refused(told.clone()));
        // What differs from the scenario is for the eyes of this machine.
        let why = known.map_or(told.clone(), |known| format!("{told}: {known}"));
        (self.tell)(&format!(
            "refused {} from {}: {why}",
            describe_request(visitor),
            visitor.address
        ));
    }

    /// Whether a visitor may join. A refusal tells a stranger nothing of what the
    /// scenario says.
    fn check(&self, visitor: &JoinRequest, machines: &[Arc<RemoteMachine>]) -> Result<(), Refusal> {
        let JoinRequest { join, address, here, .. } = visitor;
        refuse_unless(join.version == version(), || {
            let theirs: String = join.version.chars().take(MAX_SHOWN).collect();
            format!(
                "it uses version {theirs} of the protocol, but this wiregauge uses {}",
                version()
            )
        })?;
        refuse_unless(self.only.is_empty() || self.only.contains(address), || {
            "its address is not one that --peer names here".into()
        })?;
        for (key, here) in &self.party.content {
            let there = join.scenario.get(key).map_or("nothing", String::as_str);
            if there != here {
                return Err(Refusal {
                    told: format!("its {} differs", self.party.file),
                    known: Some(format!("'{key}' is '{there}' there and '{here}' here")),
                });
            }
        }
        refuse_unless(!join.names.is_empty(), || "it names no participant".into())?;
        refuse_unless(self.party.has_all(&join.names), || {
            format!("it names a participant that the {} does not have", self.party.file)
        })?;
        for name in &join.names {
            refuse_unless(!self.own.contains(name), || format!("'{name}' runs here already"))?;
        }
        refuse_unless(join.address == *address, || {
            format!(
                "it gives its address as {} but connects from {address}; participants must reach \
                 each other without address translation",
                join.address
            )
        })?;
        check_machines(machines, &join.names, *here)
            .map_err(|error| Refusal { told: format!("{error:#}"), known: None })
    }
}

impl JoinedMachines<'_> {
    /// The machines.
    pub fn machines(&self) -> &[Arc<RemoteMachine>] {
        &self.machines
    }

    /// Lets the machines go after the last run: those that are there end well where all runs
    /// did, and the user is told of those that were lost, but not where the user ended them.
    pub fn dismiss(&self, all_well: bool) {
        for machine in &self.machines {
            match machine.loss_reason() {
                Some(_) if interrupt::interrupted() => {}
                Some(lost) => (self.rendezvous.tell)(&lost),
                None if all_well => machine.dismiss(),
                None => {}
            }
        }
    }

    /// Waits between two runs until those that were lost are back, or for so long.
    /// One that does not come back is not waited for again.
    pub fn await_lost(&self, patience: Duration) {
        let Some(door) = &self.door else { return };
        let missing: Vec<_> =
            self.machines.iter().filter_map(|machine| machine.loss_reason()).collect();
        if missing.is_empty() || self.given_up.get() {
            return;
        }
        let tell = self.rendezvous.tell;
        for lost in missing {
            tell(&format!("{lost}; waiting up to {patience:?} for it to come back"));
        }
        door.reopen();
        let deadline = Instant::now() + patience;
        let is_missing = || self.machines.iter().any(|machine| machine.is_lost());
        while is_missing() && Instant::now() < deadline && !interrupt::interrupted() {
            door.take_requests().for_each(|visitor| self.admit(visitor));
            thread::sleep(POLL_INTERVAL);
        }
        door.close_for_runs(&self.machines);
        self.given_up.set(is_missing());
    }

    /// Welcomes who is at the door as one that was lost, or says why not.
    fn admit(&self, visitor: JoinRequest) {
        let (shown, address) = (describe_request(&visitor), visitor.address);
        let there: Vec<_> =
            self.machines.iter().filter(|machine| !machine.is_lost()).cloned().collect();
        let same = |machine: &&Arc<RemoteMachine>| {
            let here = (machine.address(), machine.local_address().ip());
            machine.names() == visitor.join.names && here == (address, visitor.here)
        };
        let checked = self.rendezvous.check(&visitor, &there).and_then(|()| {
            let found = self.machines.iter().find(same);
            found.ok_or_else(|| Refusal {
                told: "the runs have begun, and this machine did not take part in them".into(),
                known: None,
            })
        });
        let tell = self.rendezvous.tell;
        match checked {
            Ok(machine) => match self.rendezvous.welcome(visitor) {
                Ok(again) => {
                    machine.reconnect(again);
                    tell(&format!("{shown} is back from {address}"));
                }
                Err(error) => tell(&format!("refused {shown} from {address}: {error:#}")),
            },
            Err(why) => self.rendezvous.refuse(&visitor, why),
        }
    }
}

/// Who is at the door.
fn describe_request(visitor: &JoinRequest) -> String {
    visitor.join.names.iter().take(MAX_SHOWN).cloned().collect::<Vec<_>>().join(", ")
}

/// Why someone may not join.
struct Refusal {
    /// What is said to whoever it is.
    told: String,
    /// What only this machine says to its user.
    known: Option<String>,
}

fn refuse_unless(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), Refusal> {
    match holds {
        true => Ok(()),
        false => Err(Refusal { told: otherwise(), known: None }),
    }
}
