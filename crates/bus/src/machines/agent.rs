//! The agent of a machine: it joins the machine that leads, which has the first sender, and
//! starts and ends participants as that tells it, run after run.
//!
//! Both talk as conductor and participants do: lines of JSON over TCP, and a
//! beat each 100 ms. When the leader is gone, what the agent started ends, and
//! the agent too, unless the leader is there again soon.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail, ensure, Context, Result};
use indexmap::IndexMap;
use wiregauge_child_process::child::{Child, ChildFailure, Limits};
use wiregauge_participant::control::{self, ControlReceiver, ControlSender, HEARTBEAT_INTERVAL};
use wiregauge_participant::stage::setup::{StageHost, StageLead, StageStart};
use wiregauge_result::environment::Environment;
use wiregauge_system::interrupt;

use crate::background::child::BackgroundChild;
use crate::background::message::{BackgroundReport, BackgroundSetup, FlowEnd};
use crate::background::Background;
use crate::catalogue::engine::Engine;
use crate::catalogue::engines;
use crate::catalogue::program::{background_command, Program};
use crate::machines::message::{version, AgentReport, JoinMessage, Start, Task};
use crate::machines::party::Party;
use crate::secret::{Key, PATIENCE_TO_BE_HEARD};
use wiregauge_timing::threads::start_thread;

/// From one attempt to reach the leader to the next.
const RETRY_PAUSE: Duration = Duration::from_millis(500);
/// How often a leader may leave us without an answer: all ranks of a job come at once.
const MAX_UNHEARD: usize = 4;
/// How long an attempt may take.
const ATTEMPT: Duration = Duration::from_secs(2);
/// How long participants may take to end.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(3);

/// Asks where the leader is: its name may be known only once it runs.
pub type FindLeader<'a> = &'a dyn Fn() -> Result<Vec<SocketAddr>>;

/// A machine on which participants of a scenario, or stages of a chain, are to run.
pub struct Agent<'a> {
    /// Who measures together, and what.
    pub party: &'a Party,
    /// What of it runs here.
    pub names: &'a [String],
    /// What may load this machine.
    pub background: Background,
    /// Where stages of a chain run here: what they are to know; none where participants do.
    pub stages: Option<&'a StageHost>,
    /// Where engines are built.
    pub folder: &'a Path,
    /// What the leader must prove to have, if anything.
    pub key: Option<&'a Key>,
    /// Tells what goes on.
    pub tell: &'a dyn Fn(&str),
}

/// What happens.
enum AgentEvent {
    Ordered(Task),
    Lost(String),
    Built(Result<(), String>),
}

/// What an agent has of a leader that answered it.
struct Joined {
    leader: SocketAddr,
    speaker: ControlSender,
    listener: ControlReceiver,
}

/// A program that was started for the leader.
struct Started {
    /// Its participants.
    names: Vec<String>,
    /// None once it ended by itself.
    child: Option<Child>,
    machine: Environment,
}

impl Agent<'_> {
    /// Joins the leader at one of its addresses, for which is asked at each attempt, and does
    /// what it says until all is done. A leader that is lost is looked for again, for as
    /// long as `again` says.
    ///
    /// # Errors
    /// When the leader is not there in time, refuses, or is gone before the
    /// end; when the user asks to stop. No process is left either way.
    pub fn serve(&self, leader: FindLeader, wait: Duration, again: Duration) -> Result<()> {
        let deadline = Instant::now() + wait;
        let mut unheard = 0;
        let mut joined = loop {
            let stream = self.connect_to_leader(leader, wait, deadline)?;
            let leader = stream.peer_addr()?;
            let answer = self.join(stream);
            if answer.is_err() && unheard < MAX_UNHEARD {
                unheard += 1;
                thread::sleep(RETRY_PAUSE);
                continue;
            }
            match answer? {
                (Task::Welcome, joined) => break joined,
                (Task::Later(why), _) if Instant::now() < deadline => {
                    (self.tell)(&format!("the leading machine at {leader} says: {why}"));
                    thread::sleep(RETRY_PAUSE);
                }
                (Task::Refused(why) | Task::Later(why), _) => {
                    bail!("the leading machine at {leader} refuses: {why}")
                }
                (other, _) => {
                    bail!("the leading machine at {leader} sent {other:?} before 'welcome'")
                }
            }
        };
        loop {
            let leader = joined.leader;
            (self.tell)(&format!("joined the leading machine at {leader}"));
            let Some(lost) = self.run_tasks(joined)? else { return Ok(()) };
            let lost = format!("the leading machine at {leader} is lost: {lost}");
            joined = self.join_again(leader, &lost, again)?;
        }
    }

    /// Proves to have the key, and says who it is. What the leader answers.
    fn join(&self, mut stream: TcpStream) -> Result<(Task, Joined)> {
        let leader = stream.peer_addr()?;
        let address = stream.local_addr()?.ip().to_canonical();
        let seal = match self.key {
            Some(key) => Some(key.handshake(&mut stream, true).with_context(|| {
                format!("the leading machine at {leader} does not have this key")
            })?),
            None => None,
        };
        let (speaker, mut listener) = control::split_encrypted(stream, seal)?;
        speaker.send(&AgentReport::Join(JoinMessage {
            version: version(),
            names: self.names.to_vec(),
            scenario: self.party.content.clone(),
            address,
            machine: describe_machine(),
        }))?;
        listener.set_silence_limit(PATIENCE_TO_BE_HEARD)?;
        let answer: Result<Task> = listener.receive().with_context(|| {
            let key = match self.key {
                Some(_) => "",
                None => ", or it needs a --key",
            };
            format!("no leading machine at {leader}{key}")
        });
        listener.set_silence_limit(self.party.alive)?;
        Ok((answer?, Joined { leader, speaker, listener }))
    }

    /// Does what the leader says until all is done, or says why it is lost. Then
    /// nothing that was started runs any more.
    fn run_tasks(&self, joined: Joined) -> Result<Option<String>> {
        let Joined { leader, speaker, listener } = joined;
        let (events, heard) = mpsc::channel();
        receive_tasks(listener, events.clone())?;
        send_heartbeats(speaker.clone())?;
        let (started, background) = (HashMap::new(), None);
        let work = AgentSession { agent: self, leader, speaker, events, started, background };
        work.run(&heard)
    }

    /// Joins the leader that was lost again, if it is there still.
    fn join_again(&self, leader: SocketAddr, lost: &str, patience: Duration) -> Result<Joined> {
        (self.tell)(&format!("{lost}; trying to reach it again for {patience:?}"));
        let deadline = Instant::now() + patience;
        loop {
            interrupt::check()?;
            let why = match TcpStream::connect_timeout(&leader, ATTEMPT) {
                Ok(stream) => match self.join(stream) {
                    Ok((Task::Welcome, joined)) => return Ok(joined),
                    Ok((Task::Refused(why) | Task::Later(why), _)) => why,
                    Ok((other, _)) => format!("it sent {other:?} before 'welcome'"),
                    Err(error) => format!("{error:#}"),
                },
                // Whoever leads listens to the end.
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
                    bail!("{lost}; no sender runs there any more")
                }
                Err(error) => error.to_string(),
            };
            ensure!(
                Instant::now() < deadline,
                "{lost}; it did not accept this machine again: {why}"
            );
            thread::sleep(RETRY_PAUSE);
        }
    }

    /// Tries until the leader is there.
    fn connect_to_leader(
        &self,
        leader: FindLeader,
        wait: Duration,
        deadline: Instant,
    ) -> Result<TcpStream> {
        let mut said = false;
        let sender = self.party.leader();
        loop {
            interrupt::check()?;
            let mut refusal = None;
            let found = leader();
            for address in found.as_deref().unwrap_or_default() {
                match TcpStream::connect_timeout(address, ATTEMPT) {
                    Ok(stream) => return Ok(stream),
                    Err(error) => refusal = Some((*address, error)),
                }
            }
            if Instant::now() >= deadline {
                found.with_context(|| format!("'{sender}' was not found within {wait:?}"))?;
                let (address, error) = refusal.context("the leading machine has no address")?;
                return Err(error).with_context(|| {
                    format!(
                        "no sender answered at {address} within {wait:?}; start '{sender}' there, \
                         and open TCP port {} in its firewall",
                        address.port()
                    )
                });
            }
            if !std::mem::replace(&mut said, true) {
                let why = match (found, refusal) {
                    (Err(error), _) => format!(": {error:#}"),
                    (_, Some((address, error))) => format!(" at {address}: {error}"),
                    _ => String::new(),
                };
                (self.tell)(&format!("waiting for the leading machine{why}"));
            }
            thread::sleep(RETRY_PAUSE);
        }
    }
}

/// The agent at work.
struct AgentSession<'a> {
    agent: &'a Agent<'a>,
    leader: SocketAddr,
    speaker: ControlSender,
    events: Sender<AgentEvent>,
    started: HashMap<u64, Started>,
    /// What loads this machine, and for which run.
    background: Option<(u64, BackgroundChild)>,
}

impl AgentSession<'_> {
    /// Until all is done, or why the leader is lost.
    fn run(mut self, heard: &Receiver<AgentEvent>) -> Result<Option<String>> {
        let outcome = loop {
            interrupt::check()?;
            let news = match heard.recv_timeout(HEARTBEAT_INTERVAL / 2) {
                Ok(AgentEvent::Ordered(Task::Quit)) => return Ok(None),
                Ok(AgentEvent::Ordered(task)) => self.carry_out(task)?,
                Ok(AgentEvent::Built(outcome)) => Some(AgentReport::Prepared(outcome)),
                Ok(AgentEvent::Lost(reason)) => break reason,
                Err(RecvTimeoutError::Timeout) => self.take_died_program(),
                Err(RecvTimeoutError::Disconnected) => break "the connection is closed".into(),
            };
            let Some(news) = news else { continue };
            if let Err(error) = self.speaker.send(&news) {
                break format!("{error:#}");
            }
        };
        self.speaker.close();
        Ok(Some(outcome))
    }

    fn carry_out(&mut self, task: Task) -> Result<Option<AgentReport>> {
        match task {
            Task::Prepare(name) => {
                let (folder, events) = (self.agent.folder.to_owned(), self.events.clone());
                (self.agent.tell)(&format!("building {name}, if it is not built yet"));
                // In a thread, as it takes minutes: the leader may be gone before.
                let build = move || {
                    let built =
                        find_engine(&name).and_then(|engine| engine.build(&folder, &|_, _, _| {}));
                    let outcome = built.map(drop).map_err(|error| format!("{error:#}"));
                    let _ = events.send(AgentEvent::Built(outcome));
                };
                start_thread("build", build)?;
                Ok(None)
            }
            Task::Start(start) => Ok(self
                .start(&start)
                .err()
                .map(|error| AgentReport::Died(start.run, format!("{error:#}")))),
            Task::End(run) => {
                let Some(mut started) = self.started.remove(&run) else {
                    return Ok(Some(AgentReport::Ended(run, None)));
                };
                if let Some(child) = started.child {
                    // Killed if it does not end by itself.
                    let _ = child.finish(Instant::now() + SHUTDOWN_TIMEOUT);
                }
                started.machine.finish();
                Ok(Some(AgentReport::Ended(run, started.machine.activity.steal)))
            }
            Task::StartBackground(run, setup) => Ok(Some(AgentReport::Background(
                run,
                match self.start_background(run, &setup) {
                    Ok(port) => BackgroundReport::Ready(port),
                    Err(error) => BackgroundReport::Failed(format!("{error:#}")),
                },
            ))),
            Task::EndBackground(run) => {
                let child = self.background.take_if(|(of, _)| *of == run);
                Ok(child.map(|(run, child)| {
                    let report = match child.finish() {
                        Ok(taken) => BackgroundReport::Took(taken),
                        Err(error) => BackgroundReport::Failed(format!("{error:#}")),
                    };
                    AgentReport::Background(run, report)
                }))
            }
            Task::Welcome | Task::Refused(_) | Task::Later(_) | Task::Quit | Task::Beat => Ok(None),
        }
    }

    /// Starts what the scenario knows to run here, once: whoever leads can have
    /// no other process, and no more of them.
    fn start(&mut self, start: &Start) -> Result<()> {
        ensure!(
            !start.names.is_empty(),
            "the leading machine asked for a program without participants"
        );
        for (number, name) in start.names.iter().enumerate() {
            ensure!(
                self.agent.names.contains(name),
                "the leading machine asked for a participant that does not run on this machine"
            );
            let runs = |started: &Started| started.names.contains(name);
            let twice = start.names[..number].contains(name) || self.started.values().any(runs);
            ensure!(!twice, "'{name}' is running here already");
        }
        ensure!(
            !self.started.contains_key(&start.run),
            "the leading machine used the number of a run twice"
        );
        let program = match &start.engine {
            None => Program::BuiltIn,
            Some(name) => {
                let engine = find_engine(name)?;
                let path = engine.find_built(self.agent.folder);
                Program::Engine(engine, path.with_context(|| format!("{name} is not built"))?)
            }
        };
        let control = SocketAddr::new(self.leader.ip(), start.port);
        let names: Vec<&str> = start.names.iter().map(String::as_str).collect();
        let command = match self.agent.stages {
            Some(_) => program.stage_command(),
            None => program.command(control, &names, &start.token),
        };
        let limits = Limits { lingers: true, ..Limits::default() };
        let mut child = Child::spawn(command, limits).context("cannot start a participant")?;
        if let Some(host) = self.agent.stages {
            let token = start.token.clone();
            let lead = StageLead { leader: control, token, host: host.clone() };
            let mut line = serde_json::to_vec(&StageStart::Led(lead))?;
            line.push(b'\n');
            let said = child.write_all(&line, Instant::now() + ATTEMPT);
            said.map_err(|failure| anyhow!("cannot start a stage: {failure}"))?;
        }
        let child = Some(child);
        let machine = Environment::probe(IndexMap::new());
        let names = start.names.clone();
        self.started.insert(start.run, Started { names, child, machine });
        Ok(())
    }

    /// Loads this machine as the scenario says, and no more: nobody sends a flow from here.
    fn start_background(&mut self, run: u64, setup: &BackgroundSetup) -> Result<Option<u16>> {
        let wanted = &self.agent.background;
        let is_wanted = match &setup.flow {
            None => wanted.link.is_none(),
            Some(FlowEnd::Receives { .. }) => wanted.link.is_some(),
            Some(FlowEnd::Sends { .. }) => false,
        };
        ensure!(
            is_wanted && setup.processors == wanted.processors && self.background.is_none(),
            "the leading machine asked for a background load that the scenario has not"
        );
        let child = BackgroundChild::start(background_command(), setup)?;
        let port = child.port;
        self.background = Some((run, child));
        Ok(port)
    }

    /// A program that ended by itself, and what it died of.
    fn take_died_program(&mut self) -> Option<AgentReport> {
        for (run, started) in &mut self.started {
            if let Some(mut child) = started.child.take_if(|child| child.has_ended()) {
                let reason = match child.read_line(Instant::now() + HEARTBEAT_INTERVAL) {
                    Err(ChildFailure::Died(death)) => death.to_string(),
                    _ => "it ended".into(),
                };
                return Some(AgentReport::Died(*run, reason));
            }
        }
        None
    }
}

fn find_engine(name: &str) -> Result<&'static Engine> {
    let found = engines().into_iter().find(|engine| engine.name == name);
    found.with_context(|| format!("unknown engine '{name}'"))
}

fn receive_tasks(mut listener: ControlReceiver, events: Sender<AgentEvent>) -> Result<()> {
    let hear = move || loop {
        let event = match listener.receive() {
            Ok(Task::Beat) => continue,
            Ok(task) => AgentEvent::Ordered(task),
            Err(error) => {
                let _ = events.send(AgentEvent::Lost(format!("{error:#}")));
                return;
            }
        };
        if events.send(event).is_err() {
            return;
        }
    };
    start_thread("leader", hear)?;
    Ok(())
}

fn send_heartbeats(speaker: ControlSender) -> Result<()> {
    start_thread("beat", move || {
        while speaker.send(&AgentReport::Beat).is_ok() {
            thread::sleep(HEARTBEAT_INTERVAL);
        }
    })?;
    Ok(())
}

/// This machine in a few words.
fn describe_machine() -> String {
    let Environment { cpu, system, .. } = Environment::probe(IndexMap::new());
    let threads = format!("{} hardware threads", cpu.usable);
    let kernel = system.kernel.map(|kernel| format!("Linux {kernel}"));
    let all = [cpu.model, Some(threads), system.os, kernel];
    all.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The addresses of `HOST` or `HOST:PORT`, with this port where none is given.
///
/// # Errors
/// A name that nobody knows.
pub fn resolve_addresses(text: &str, port: u16) -> Result<Vec<SocketAddr>> {
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    if let Ok(address) = bare.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(address, port)]);
    }
    let has_port = text.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let found = if has_port { text.to_socket_addrs() } else { (text, port).to_socket_addrs() };
    let found = found.with_context(|| format!("'{text}' is not HOST or HOST:PORT"))?;
    Ok(found.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_has_a_port_or_gets_one() {
        for (text, address) in [
            ("10.0.0.2", "10.0.0.2:7300"),
            ("10.0.0.2:81", "10.0.0.2:81"),
            ("::1", "[::1]:7300"),
            ("[::1]", "[::1]:7300"),
            ("[::1]:81", "[::1]:81"),
        ] {
            assert_eq!(resolve_addresses(text, 7300).unwrap(), [address.parse().unwrap()]);
        }
        for text in ["", "10.0.0.2:port", "no such host"] {
            let error = resolve_addresses(text, 7300).unwrap_err();
            assert!(format!("{error:#}").contains("is not HOST"), "{error:#}");
        }
    }
}
