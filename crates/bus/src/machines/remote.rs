//! Another machine as the leader sees it: the connection to its agent.

pub mod background;

use std::collections::HashMap;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{bail, ensure, Result};
use wiregauge_participant::control::{ControlReceiver, ControlSender, HEARTBEAT_INTERVAL};
use wiregauge_system::interrupt;

use crate::background::message::BackgroundReport;
use crate::catalogue::engine::Engine;
use crate::machines::message::{AgentReport, JoinMessage, Start, Task};
use wiregauge_timing::threads::start_thread;

/// A machine whose agent has joined. Its agent misses us when it is dropped.
#[derive(Debug)]
pub struct RemoteMachine {
    names: Vec<String>,
    machine: String,
    address: IpAddr,
    here: SocketAddr,
    /// Another one each time that it was lost and came back.
    link: Mutex<Arc<Link>>,
    runs: AtomicU64,
}

/// The connection to an agent. It closes when it is dropped.
#[derive(Debug)]
struct Link {
    speaker: ControlSender,
    known: Arc<MachineStatus>,
}

/// What is known of it, and that there is more to know.
#[derive(Debug, Default)]
struct MachineStatus {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Why it is lost, if it is.
    lost: Option<String>,
    /// Whether the engine that was asked for is there, once that is known.
    prepared: Option<Result<(), String>>,
    /// What programs died of that ended by themselves.
    died: HashMap<u64, String>,
    /// Runs that were ended.
    ended: Vec<u64>,
    /// What was heard of what loads it, by run.
    background: HashMap<u64, BackgroundReport>,
    /// Share of its time that a hypervisor took.
    steal: Option<f64>,
}

impl RemoteMachine {
    /// Welcomes a machine, which is reached at `address` and reaches this one
    /// at `here`.
    ///
    /// # Errors
    /// When it is gone already.
    pub fn accept(
        join: JoinMessage,
        speaker: ControlSender,
        listener: ControlReceiver,
        address: IpAddr,
        here: IpAddr,
    ) -> Result<RemoteMachine> {
        speaker.send(&Task::Welcome)?;
        let known = Arc::new(MachineStatus::default());
        let (hears, beats) = (Arc::clone(&known), speaker.clone());
        start_thread("agent", move || hears.receive_reports(listener))?;
        start_thread("beat", move || {
            while beats.send(&Task::Beat).is_ok() {
                thread::sleep(HEARTBEAT_INTERVAL);
            }
        })?;
        let JoinMessage { names, machine, .. } = join;
        let here = SocketAddr::new(here, 0);
        let link = Mutex::new(Arc::new(Link { speaker, known }));
        Ok(RemoteMachine { names, machine, address, here, link, runs: AtomicU64::new(0) })
    }

    /// It was lost and has joined again.
    pub fn reconnect(&self, again: RemoteMachine) {
        let link = again.link.into_inner().unwrap_or_else(PoisonError::into_inner);
        *self.link.lock().unwrap_or_else(PoisonError::into_inner) = link;
    }

    fn link(&self) -> Arc<Link> {
        Arc::clone(&self.link.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Its participants.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The address at which its participants are reached.
    pub fn address(&self) -> IpAddr {
        self.address
    }

    /// The address at which it reaches this machine, with any port.
    pub fn local_address(&self) -> SocketAddr {
        self.here
    }

    /// Why it is lost, if it is.
    pub fn loss_reason(&self) -> Option<String> {
        self.format_loss(&self.link())
    }

    /// Whether it is lost.
    pub fn is_lost(&self) -> bool {
        self.link().is_lost()
    }

    fn format_loss(&self, link: &Link) -> Option<String> {
        let state = link.known.lock();
        let why = state.lost.as_ref()?;
        Some(format!("the machine of {} at {} is lost: {why}", self.names.join(", "), self.address))
    }

    /// Share of the last run's time that a hypervisor took from it.
    pub fn steal(&self) -> Option<f64> {
        self.link().known.lock().steal
    }

    /// Sees to it that an engine's program is there. It may take the minutes of
    /// its building.
    ///
    /// # Errors
    /// When it cannot be, and why; when the machine is lost or the user asks to
    /// stop.
    pub fn prepare(&self, engine: Option<&Engine>) -> Result<()> {
        let Some(engine) = engine else { return Ok(()) };
        let link = self.link();
        link.known.lock().prepared = None;
        self.send(&link, &Task::Prepare(engine.name.into()))?;
        let outcome = loop {
            interrupt::check()?;
            let mut state = link.known.wait(HEARTBEAT_INTERVAL, |state| state.prepared.is_none());
            if let Some(outcome) = state.prepared.take() {
                break outcome;
            }
            drop(state);
            if let Some(lost) = self.format_loss(&link) {
                bail!(lost);
            }
        };
        outcome.map_err(|why| anyhow::anyhow!("{why}, on the machine of {}", self.names.join(", ")))
    }

    /// Starts a program there, for a conductor at this port of ours.
    ///
    /// # Errors
    /// When the machine is lost.
    pub fn start(
        self: &Arc<Self>,
        engine: Option<&Engine>,
        port: u16,
        names: &[&str],
        token: &str,
    ) -> Result<RemoteProcess> {
        let run = self.runs.fetch_add(1, Ordering::Relaxed);
        let link = self.link();
        link.known.lock().steal = None;
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        let engine = engine.map(|engine| engine.name.to_owned());
        let token = token.to_owned();
        self.send(&link, &Task::Start(Start { run, engine, names, port, token }))?;
        Ok(RemoteProcess { remote: Arc::clone(self), link, run, ended: false })
    }

    /// Tells it that all is done.
    pub fn dismiss(&self) {
        // Who is gone needs not be told.
        let _ = self.link().speaker.send(&Task::Quit);
    }

    fn send(&self, link: &Link, task: &Task) -> Result<()> {
        let said = link.speaker.send(task);
        if let Some(lost) = self.format_loss(link) {
            bail!(lost);
        }
        said
    }
}

impl fmt::Display for RemoteMachine {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} at {}: {}", self.names.join(", "), self.address, self.machine)
    }
}

impl Link {
    fn is_lost(&self) -> bool {
        self.known.lock().lost.is_some()
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.speaker.close();
    }
}

impl MachineStatus {
    /// Hears what the agent says until it is gone.
    fn receive_reports(&self, mut listener: ControlReceiver) {
        loop {
            let news = listener.receive();
            let last = news.is_err();
            let mut state = self.lock();
            match news {
                Ok(AgentReport::Prepared(outcome)) => state.prepared = Some(outcome),
                Ok(AgentReport::Died(run, reason)) => drop(state.died.insert(run, reason)),
                Ok(AgentReport::Ended(run, steal)) => {
                    state.ended.push(run);
                    state.steal = state.steal.into_iter().chain(steal).reduce(f64::max);
                }
                Ok(AgentReport::Background(run, report)) => {
                    drop(state.background.insert(run, report));
                }
                Ok(AgentReport::Join(_) | AgentReport::Beat) => {}
                Err(error) => state.lost = Some(format!("{error:#}")),
            }
            drop(state);
            self.changed.notify_all();
            if last {
                // An agent that was only silent may be there still, and must see that it is given up:
                // our beats would go on.
                listener.close();
                return;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits as long as this holds, at most for so long.
    fn wait(&self, most: Duration, holds: impl Fn(&State) -> bool) -> MutexGuard<'_, State> {
        let while_so = |state: &mut State| state.lost.is_none() && holds(state);
        let waited = self.changed.wait_timeout_while(self.lock(), most, while_so);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// A program on another machine. It is ended when this is dropped.
#[derive(Debug)]
pub struct RemoteProcess {
    remote: Arc<RemoteMachine>,
    /// The connection that it was started over.
    link: Arc<Link>,
    run: u64,
    ended: bool,
}

impl RemoteProcess {
    /// Whether it ended by itself, or its machine is lost.
    pub fn has_ended(&self) -> bool {
        let state = self.link.known.lock();
        state.lost.is_some() || state.died.contains_key(&self.run)
    }

    /// Whether its machine is lost.
    pub fn is_out_of_reach(&self) -> bool {
        self.link.is_lost()
    }

    /// What it died of.
    pub fn death(&self) -> Option<String> {
        let died = self.link.known.lock().died.get(&self.run).cloned();
        died.or_else(|| self.remote.format_loss(&self.link))
    }

    /// Waits for its end.
    pub fn finish(mut self, deadline: Instant) {
        self.stop();
        let run = self.run;
        while Instant::now() < deadline && !interrupt::interrupted() {
            let state =
                self.link.known.wait(HEARTBEAT_INTERVAL, |state| !state.ended.contains(&run));
            if state.lost.is_some() || state.ended.contains(&run) {
                return;
            }
        }
    }

    fn stop(&mut self) {
        if !std::mem::replace(&mut self.ended, true) {
            // Where the machine is lost, its agent ends all that it started.
            let _ = self.link.speaker.send(&Task::End(self.run));
        }
    }
}

impl Drop for RemoteProcess {
    fn drop(&mut self) {
        self.stop();
    }
}

/// That no participant of `names` is on one of these machines twice, and that
/// all others reach this one at the same address.
///
/// # Errors
/// What does not fit, as the one that comes is told.
pub fn check_machines(
    machines: &[Arc<RemoteMachine>],
    names: &[String],
    here: IpAddr,
) -> Result<()> {
    for other in machines {
        for name in names {
            ensure!(!other.names.contains(name), "a participant '{name}' has joined already");
        }
        // Who comes by the loopback is on this machine, and reaches us at any address.
        ensure!(
            other.here.ip() == here || other.here.ip().is_loopback() || here.is_loopback(),
            "it reaches this machine at {here}, but another machine uses another address; all must \
             use the same address"
        );
    }
    Ok(())
}
