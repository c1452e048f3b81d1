//! Processes that a child detached from itself, and that are left when it is gone.
//!
//! A process whose parent ends becomes a child of its nearest ancestor that takes such
//! orphans, which we do. Whose it is tells a mark in the environment that each child was
//! started with and that its descendants inherit. So nothing is ended that is not a
//! descendant of ours and was not started by that child. One that was started with an
//! environment of its own is not found.

use std::env;
use std::fs;
use std::os::fd::{AsFd, OwnedFd};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{
    getpgrp, getpid, pidfd_open, pidfd_send_signal, set_child_subreaper, waitid, Pid, PidfdFlags,
    Signal, WaitId, WaitIdOptions,
};

/// The variable of the marks: those of all children that a process descends from.
const VARIABLE: &str = "WIREGAUGE_CHILDREN";
/// How often it is looked again, as one may start another meanwhile.
const LOOKS: usize = 100;

/// How long what was killed may take to end.
const GRACE: Duration = Duration::from_secs(1);

/// What the descendants of a child are known by.
#[derive(Debug)]
pub(super) struct Mark(String);

/// A process as the kernel tells it.
struct Process {
    id: Pid,
    parent: Pid,
    group: i32,
    has_ended: bool,
}

impl Mark {
    /// Marks what is to be started. From then on we take orphans.
    pub(super) fn put(command: &mut Command) -> Mark {
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
        Mark(own)
    }

    /// Ends what a child left behind that has ended and was reaped.
    pub(super) fn end_orphans(&self) {
        let (us, own_group) = (getpid(), getpgrp().as_raw_nonzero().get());
        for _ in 0..LOOKS {
            let all = processes();
            let mut wanted = Vec::new();
            for Process { id, group, has_ended, .. } in all.iter().filter(|of| of.parent == us) {
                let number = id.as_raw_nonzero().get();
                if *has_ended {
                    // Whoever we start is in our group or leads one of its own, and is reaped
                    // by who started it. Another one was adopted.
                    if ![number, own_group].contains(group) {
                        reap(WaitId::Pid(*id));
                    }
                } else if self.is_on(*id) {
                    wanted.push(*id);
                }
            }
            if wanted.is_empty() {
                return;
            }
            let killed: Vec<OwnedFd> = wanted.into_iter().filter_map(|id| self.kill(id)).collect();
            // What they started themselves is found in the next look.
            let deadline = Instant::now() + GRACE;
            let mut left: Vec<&OwnedFd> = killed.iter().collect();
            while !left.is_empty() && Instant::now() < deadline {
                left.retain(|one| !reap(WaitId::PidFd(one.as_fd())));
                thread::sleep(Duration::from_millis(1));
            }
        }
    }

    /// Kills a process that has the mark.
    fn kill(&self, id: Pid) -> Option<OwnedFd> {
        let handle = pidfd_open(id, PidfdFlags::empty()).ok()?;
        // The number may have become another's since it was looked at: the handle is of the
        // one that has it now.
        if !self.is_on(id) {
            return None;
        }
        pidfd_send_signal(&handle, Signal::KILL).ok()?;
        Some(handle)
    }

    /// Whether a process has the mark.
    fn is_on(&self, id: Pid) -> bool {
        let path = format!("/proc/{}/environ", id.as_raw_nonzero());
        let Ok(environment) = fs::read(path) else { return false };
        let mut variables = environment.split(|byte| *byte == 0);
        variables.any(|variable| {
            let marks = variable.strip_prefix(VARIABLE.as_bytes());
            marks.is_some_and(|marks| String::from_utf8_lossy(marks).contains(&self.0))
        })
    }
}

/// Reaps a process, if it has ended and is ours to reap.
fn reap(id: WaitId) -> bool {
    waitid(id, WaitIdOptions::EXITED | WaitIdOptions::NOHANG).is_ok_and(|ended| ended.is_some())
}

/// All processes that we may know of.
fn processes() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let ids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter_map(process).collect()
}

fn process(id: i32) -> Option<Process> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name stands in parentheses and may have some itself.
    let mut words = stat.rsplit_once(')')?.1.split_whitespace();
    let state = words.next()?;
    let parent = Pid::from_raw(words.next()?.parse().ok()?)?;
    let group = words.next()?.parse().ok()?;
    Some(Process { id: Pid::from_raw(id)?, parent, group, has_ended: ["Z", "X"].contains(&state) })
}
