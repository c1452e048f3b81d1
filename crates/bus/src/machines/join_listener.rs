//! The door of the machine that leads. It is there from the first to the last
//! run: before them who comes is welcomed or refused, and during them who comes
//! is told that they have begun.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{bail, Result};
use wiregauge_participant::control::{self, ControlReceiver, ControlSender};

use crate::machines::message::{version, AgentReport, JoinMessage, Task};
use crate::machines::remote::RemoteMachine;
use crate::secret::Key;
use wiregauge_timing::threads::start_thread;

/// Most who say at the same time who they are.
pub const MAX_AT_ONCE: usize = 32;
/// The same during runs, which they would disturb.
pub const MAX_DURING_RUNS: usize = 2;
/// Longest that who comes may have to say, in bytes: a scenario.
const MAX_JOIN_MESSAGE: usize = 2 << 20;
/// From one look at the door to the next.
pub const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// The same during runs.
const POLL_INTERVAL_DURING_RUNS: Duration = Duration::from_millis(100);

/// Someone at the door.
pub struct JoinRequest {
    /// Who.
    pub join: JoinMessage,
    /// What it is answered over.
    pub speaker: ControlSender,
    /// What it is heard by.
    pub listener: ControlReceiver,
    /// Where it comes from.
    pub address: IpAddr,
    /// And where to.
    pub here: IpAddr,
}

/// The door. It closes when it is dropped.
pub struct JoinListener {
    porter: Arc<AcceptState>,
    visitors: Receiver<JoinRequest>,
}

/// What is known at the door.
struct AcceptState {
    key: Option<Key>,
    scenario: BTreeMap<String, String>,
    /// Whether visitors are let in, and not sent away.
    open: AtomicBool,
    closed: AtomicBool,
    /// Those who joined.
    machines: Mutex<Vec<Arc<RemoteMachine>>>,
    came: Sender<JoinRequest>,
}

impl JoinListener {
    /// Opens it for visitors with this scenario, who have the key if there is one.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn open(
        listener: TcpListener,
        key: Option<Key>,
        scenario: BTreeMap<String, String>,
    ) -> Result<JoinListener> {
        listener.set_nonblocking(true)?;
        let (came, visitors) = mpsc::channel();
        let porter = Arc::new(AcceptState {
            key,
            scenario,
            open: AtomicBool::new(true),
            closed: AtomicBool::new(false),
            machines: Mutex::default(),
            came,
        });
        let porters = Arc::clone(&porter);
        start_thread("door", move || porters.accept_loop(&listener))?;
        Ok(JoinListener { porter, visitors })
    }

    /// Who came since the last time.
    pub fn take_requests(&self) -> impl Iterator<Item = JoinRequest> + '_ {
        self.visitors.try_iter()
    }

    /// From now on who comes is sent away, as the runs of these machines begin.
    pub fn close_for_runs(&self, machines: &[Arc<RemoteMachine>]) {
        let mut known = self.porter.machines.lock().unwrap_or_else(PoisonError::into_inner);
        *known = machines.to_vec();
        self.porter.open.store(false, Ordering::Relaxed);
    }

    /// Lets visitors in again.
    pub fn reopen(&self) {
        self.porter.open.store(true, Ordering::Relaxed);
    }
}

impl Drop for JoinListener {
    fn drop(&mut self) {
        self.porter.closed.store(true, Ordering::Relaxed);
    }
}

impl AcceptState {
    fn accept_loop(self: &Arc<Self>, listener: &TcpListener) {
        let at_once = Arc::new(());
        while !self.closed.load(Ordering::Relaxed) {
            let open = self.open.load(Ordering::Relaxed);
            let (most, pause) = if open {
                (MAX_AT_ONCE, POLL_INTERVAL)
            } else {
                (MAX_DURING_RUNS, POLL_INTERVAL_DURING_RUNS)
            };
            // No more strangers than this are listened to, and for no longer than it takes to
            // say who one is. Who comes before the runs waits for its turn in the system's
            // queue, as all ranks of a job come at once; during runs it is sent away.
            let heard = Arc::strong_count(&at_once) - 1;
            let taken = if open { most.saturating_sub(heard) } else { most };
            for (stream, from) in std::iter::from_fn(|| listener.accept().ok()).take(taken) {
                if Arc::strong_count(&at_once) > most {
                    continue;
                }
                let (porter, one) = (Arc::clone(self), Arc::clone(&at_once));
                let receive = move || {
                    // Who does not say who it is, or has not the key, is not
                    // listened to.
                    if let Ok(visitor) = porter.read_request(stream, from) {
                        porter.hand_over(visitor);
                    }
                    drop(one);
                };
                let _ = start_thread("visitor", receive);
            }
            thread::sleep(pause);
        }
    }

    /// Hears who is at the door.
    fn read_request(&self, mut stream: TcpStream, from: SocketAddr) -> Result<JoinRequest> {
        let here = stream.local_addr()?.ip().to_canonical();
        let seal = self.key.as_ref().map(|key| key.handshake(&mut stream, false)).transpose()?;
        let (speaker, mut listener) = control::split_encrypted(stream, seal)?;
        listener.limit_message_size(Some(MAX_JOIN_MESSAGE));
        let AgentReport::Join(join) = listener.receive()? else { bail!("no agent") };
        listener.limit_message_size(None);
        Ok(JoinRequest { join, speaker, listener, address: from.ip().to_canonical(), here })
    }

    /// Lets a visitor in, or sends it away.
    fn hand_over(&self, visitor: JoinRequest) {
        if self.open.load(Ordering::Relaxed) {
            let _ = self.came.send(visitor);
            return;
        }
        let answer = match self.is_lost_machine(&visitor.join) {
            true => Task::Later("it may join again after the present run".into()),
            false => Task::Refused("the runs have begun; no machine can join now".into()),
        };
        let _ = visitor.speaker.send(&answer);
    }

    /// Whether it is of a machine that was lost.
    fn is_lost_machine(&self, join: &JoinMessage) -> bool {
        let machines = self.machines.lock().unwrap_or_else(PoisonError::into_inner);
        let lost =
            |machine: &Arc<RemoteMachine>| machine.names() == join.names && machine.is_lost();
        join.version == version() && join.scenario == self.scenario && machines.iter().any(lost)
    }
}
