//! How a program is started: with limits, from a thread that lasts.

use std::io;
use std::process::{self, Command};
use std::sync::mpsc::{self, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread;

use rustix::io::Errno;
use rustix::process::{Pid, Resource, Rlimit, Signal};

/// What a child may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Largest address space in bytes (`RLIMIT_AS`); allocations beyond fail.
    pub address_space: Option<u64>,
    /// Whether it goes on when we die without dropping it: it notices that by
    /// itself, and has something to put away.
    pub lingers: bool,
}

/// Runs in the child between fork and exec: system calls only.
pub(super) fn prepare(parent: Pid, limits: Limits) -> io::Result<()> {
    use rustix::process::{getppid, getrlimit, set_parent_process_death_signal, setrlimit};
    if !limits.lingers {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // The parent may have died before there was a signal to send.
        if getppid() != Some(parent) {
            return Err(Errno::SRCH.into());
        }
    }
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
    if let Some(wanted) = limits.address_space {
        let most = getrlimit(Resource::As).maximum.map_or(wanted, |most| most.min(wanted));
        setrlimit(Resource::As, Rlimit { current: Some(most), maximum: Some(most) })?;
    }
    Ok(())
}

/// A program to start, and where it is handed out.
type Order = (Command, Sender<io::Result<std::process::Child>>);

/// The process whose thread takes orders: one that was forked off has no threads of its parent's.
static SPAWNER: Mutex<Option<(u32, Sender<Order>)>> = Mutex::new(None);

/// Starts a program from a thread that lives as long as we do.
///
/// "When the parent dies" means, to Linux, when the *thread* that forked ends:
/// started from a worker thread, the child would be killed as soon as that
/// worker was done.
pub(super) fn spawn_from_lasting_thread(command: Command) -> io::Result<std::process::Child> {
    let gone = || io::Error::other("the thread that starts programs has ended");
    let (reply, answer) = mpsc::channel();
    orders()?.send((command, reply)).map_err(|_| gone())?;
    answer.recv().map_err(|_| gone())?
}

/// Where the thread takes orders; it is started with the first one.
fn orders() -> io::Result<Sender<Order>> {
    let mut spawner = SPAWNER.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, orders)) = spawner.as_ref().filter(|(of, _)| *of == process::id()) {
        return Ok(orders.clone());
    }
    let (orders, received) = mpsc::channel::<Order>();
    thread::Builder::new().name("spawner".into()).spawn(move || {
        for (mut command, reply) in received {
            // Nobody gives up waiting for the reply.
            let _ = reply.send(command.spawn());
        }
    })?;
    // What the parent's thread waits at is not ours to end.
    std::mem::forget(spawner.replace((process::id(), orders.clone())));
    Ok(orders)
}
