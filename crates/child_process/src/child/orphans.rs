//! Processes that a child detached from itself, and that are left when it is gone.
//!
//! A process whose parent ends becomes a child of its nearest ancestor that takes such
//! orphans, which we do. Whose it is tells a mark in the environment that each child was
//! started with and that its descendants inherit. So nothing is ended that is not a
//! descendant of ours and was not started by that child. One without a mark, as it was started
//! with an environment of its own or has overwritten it, is ended with the last child.

use std::env;
use std::fs;
use std::os::fd::{AsFd, OwnedFd};
use std::process::Command;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::process::{
    getpid, pidfd_open, pidfd_send_signal, set_child_subreaper, waitid, Pid, PidfdFlags, Signal,
    WaitId, WaitIdOptions,
};

/// The variable of the marks: those of all children that a process descends from.
const VARIABLE: &str = "WIREGAUGE_CHILDREN";
/// How often it is looked again, as one may start another meanwhile.
const MAX_ROUNDS: usize = 100;
/// What the kernel says in a process's flags as it ends (`PF_EXITING`).
const EXITING: u32 = 4;
/// How far up a process's parents are followed: far more than anybody nests.
const DEPTH: usize = 100;

/// How long what was killed may take to end.
const GRACE: Duration = Duration::from_secs(1);

/// How many marks there are: what is adopted belongs to one of their children.
static LIVING: AtomicUsize = AtomicUsize::new(0);
/// Held while orphans are looked for: what another thread reaps between the list of processes and
/// the look at one of them would be gone without a trace, and whom it started not in the list.
static SEARCH: Mutex<()> = Mutex::new(());

/// What the descendants of a child are known by.
#[derive(Debug)]
pub(super) struct Mark(String);

/// A process as the kernel tells it.
struct Process {
    id: Pid,
    /// None of the first process.
    parent: Option<Pid>,
    /// 0 where who leads it is not in our namespace of processes, as in a container.
    group: i32,
    /// 0 as of the group.
    session: i32,
    has_ended: bool,
    /// Whether it has begun to end, if it has not ended.
    is_ending: bool,
    /// How many bytes its environment has. None where it has none yet, as another program is
    /// being started in it, or none any more.
    environment_size: Option<usize>,
}

impl Mark {
    /// Marks what is to be started. From then on we take orphans.
    pub(super) fn mark_command(command: &mut Command) -> Mark {
        static TAKES: OnceLock<()> = OnceLock::new();
        static COUNT: AtomicU32 = AtomicU32::new(0);
        // A kernel that refuses leaves orphans to the first process, as it was before.
        TAKES.get_or_init(|| set_child_subreaper(Some(getpid())).unwrap_or_default());
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        // Always as long: how long the environment is moves what lies behind it.
        let own = format!("{:010}.{number:010};", getpid().as_raw_nonzero());
        let given = command.get_envs().find(|(name, _)| *name == VARIABLE).and_then(|(_, of)| of);
        let before = given.map(ToOwned::to_owned).or_else(|| env::var_os(VARIABLE));
        let before = before.map_or_else(String::new, |of| of.to_string_lossy().into_owned());
        command.env(VARIABLE, before + &own);
        LIVING.fetch_add(1, Ordering::SeqCst);
        Mark(own)
    }

    /// Ends what a child left behind that has ended and was reaped.
    ///
    /// What is looked at changes meanwhile: one that was there as the look began may have
    /// started another and ended before it could be told whose it is. So it is looked again
    /// until a look finds nothing that runs, that is about to end, or that has ended since the
    /// look before, and can tell of all others whose they are.
    pub(super) fn end_orphans(&self) {
        let _search = SEARCH.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(us) = process_of_ours() else { return };
        let (mut killed, mut ended): (Vec<OwnedFd>, Vec<Pid>) = (Vec::new(), Vec::new());
        for _ in 0..MAX_ROUNDS {
            let all = processes();
            // Behind the look: whatever was seen is of a child that was there by then.
            let is_last = LIVING.load(Ordering::SeqCst) == 1;
            let (mut is_settled, mut wanted) = (true, Vec::new());
            for of in &all {
                if of.has_ended {
                    if of.parent == Some(us.id) && !ended.contains(&of.id) {
                        ended.push(of.id);
                        is_settled = false;
                    }
                    if us.has_adopted(of) {
                        reap(WaitId::Pid(of.id));
                    }
                } else if of.may_descend_from(us.id, &all) {
                    let is_nobodys = is_last && us.has_adopted(of);
                    let is_ours = if is_nobodys { Some(true) } else { self.marks_process(of.id) };
                    match is_ours {
                        Some(true) => wanted.push((of.id, is_nobodys)),
                        Some(false) => {}
                        None => is_settled = false,
                    }
                }
            }
            if is_settled && wanted.is_empty() {
                break;
            }
            let kill = |(id, is_nobodys): (Pid, bool)| self.kill(id, is_nobodys.then_some(&us));
            killed.extend(wanted.into_iter().filter_map(kill));
            thread::sleep(Duration::from_millis(1));
            let deadline = Instant::now() + GRACE;
            while !killed.iter().all(has_ended) && Instant::now() < deadline {
                thread::sleep(Duration::from_millis(1));
            }
        }
        // One whose parent was killed too has become ours.
        for one in &killed {
            reap(WaitId::PidFd(one.as_fd()));
        }
    }

    /// Kills a process that has the mark, or that we have adopted.
    fn kill(&self, id: Pid, adopted_by: Option<&Process>) -> Option<OwnedFd> {
        let handle = pidfd_open(id, PidfdFlags::empty()).ok()?;
        // The number may have become another's since it was looked at: the handle is of the
        // one that has it now.
        let is_adopted = |us: &Process| process(id).is_some_and(|now| us.has_adopted(&now));
        if self.marks_process(id) != Some(true) && !adopted_by.is_some_and(is_adopted) {
            return None;
        }
        pidfd_send_signal(&handle, Signal::KILL).ok()?;
        Some(handle)
    }

    /// Whether a process has the mark. None where it cannot be told now: what ends has no
    /// environment any more, and what starts another program has none for a moment, or half of one.
    fn marks_process(&self, id: Pid) -> Option<bool> {
        let path = format!("/proc/{}/environ", id.as_raw_nonzero());
        let environment = fs::read(path);
        // Behind it: what it is compared with is of the program that was read, or of a later one.
        let now = process(id)?;
        let Ok(environment) = environment else { return (!now.is_ending).then_some(false) };
        let mut variables = environment.split(|byte| *byte == 0);
        let is_marked = variables.any(|variable| {
            let marks = variable.strip_prefix(VARIABLE.as_bytes());
            marks.is_some_and(|marks| String::from_utf8_lossy(marks).contains(&self.0))
        });
        let is_whole = now.environment_size == Some(environment.len());
        (is_marked || is_whole).then_some(is_marked)
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        LIVING.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Process {
    /// Whether a process became our child when its parent ended. Whoever we start is in our
    /// session, and in our group or leads one of its own; it is reaped by who started it.
    fn has_adopted(&self, process: &Process) -> bool {
        let is_started = [process.id.as_raw_nonzero().get(), self.group].contains(&process.group)
            && process.session == self.session;
        process.parent == Some(self.id) && !is_started
    }

    /// Whether it descends from a process, as far as these tell: one whose parent has ended
    /// since may.
    fn may_descend_from(&self, ancestor: Pid, all: &[Process]) -> bool {
        let mut process = self;
        for _ in 0..DEPTH {
            let Some(parent) = process.parent else { return false };
            if parent == ancestor {
                return true;
            }
            match all.iter().find(|of| of.id == parent) {
                Some(of) => process = of,
                None => return true,
            }
        }
        false
    }
}

/// Whether a process has ended, whoever reaps it.
fn has_ended(process: &OwnedFd) -> bool {
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&now)).is_ok_and(|ready| ready > 0)
}

/// Reaps a process, if it has ended and is ours to reap.
fn reap(id: WaitId) -> bool {
    waitid(id, WaitIdOptions::EXITED | WaitIdOptions::NOHANG).is_ok_and(|ended| ended.is_some())
}

/// The process that we are. None where `/proc` is of another namespace of processes: its
/// numbers are not those that we would kill.
fn process_of_ours() -> Option<Process> {
    let number = fs::read_link("/proc/self").ok()?;
    let is_ours = number.to_str()?.parse() == Ok(getpid().as_raw_nonzero().get());
    is_ours.then(|| process(getpid())).flatten()
}

/// All processes that we may know of.
fn processes() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let ids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter_map(|id| process(Pid::from_raw(id)?)).collect()
}

fn process(id: Pid) -> Option<Process> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", id.as_raw_nonzero())).ok()?;
    let mut words = super::fields_behind_name(&stat)?;
    let state = words.next()?;
    let parent = Pid::from_raw(words.next()?.parse().ok()?);
    let group = words.next()?.parse().ok()?;
    let session = words.next()?.parse().ok()?;
    // Behind its terminal.
    let flags: u32 = words.nth(2)?.parse().ok()?;
    let has_ended = ["Z", "X"].contains(&state);
    let is_ending = flags & EXITING != 0;
    // By proc_pid_stat(5) the flags are field 9, where the code starts is field 26, and where the
    // environment starts and ends are 50 and 51. Linux sets the first of these last.
    let code: u64 = words.nth(16)?.parse().ok()?;
    let begin: usize = words.nth(23)?.parse().ok()?;
    let end: usize = words.next()?.parse().ok()?;
    let environment_size = if code == 0 { None } else { end.checked_sub(begin) };
    Some(Process { id, parent, group, session, has_ended, is_ending, environment_size })
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::process::Stdio;

    use super::*;

    #[test]
    fn who_starts_another_program_is_not_taken_for_a_stranger() {
        for _ in 0..100 {
            let mut command = Command::new("sh");
            command.args(["-c", "echo; exec sh -c 'exec sh -c \"exec sh -c :\"'"]);
            let mark = Mark::mark_command(&mut command);
            let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
            let id = Pid::from_child(&child);
            // Until its first program has begun, it has our environment.
            child.stdout.take().unwrap().read_exact(&mut [0]).unwrap();
            while child.try_wait().unwrap().is_none() {
                assert_ne!(mark.marks_process(id), Some(false));
            }
        }
    }

    #[test]
    fn who_has_no_environment_is_a_stranger() {
        let mut command = Command::new("sh");
        let mark = Mark::mark_command(&mut command);
        let mut stranger = command.env_clear().args(["-c", "exec sleep 60"]).spawn().unwrap();
        let id = Pid::from_child(&stranger);
        let deadline = Instant::now() + GRACE * 20;
        while mark.marks_process(id).is_none() && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(mark.marks_process(id), Some(false));
        stranger.kill().unwrap();
        stranger.wait().unwrap();
    }
}
