//! How the system is to treat a participant: first in turn, on processors of its
//! own, with its memory in place.

use std::fmt;
use std::io;
use std::thread;

use anyhow::{bail, ensure, Context, Result};
use rustix::io::Errno;
use rustix::mm::{mlockall, MlockAllFlags};
use rustix::process::{getrlimit, waitpid, Pid, Resource, WaitOptions};
use rustix::thread::{sched_getaffinity, sched_setaffinity, CpuSet};
use serde::{Deserialize, Serialize};

/// What participants ask of the system; nothing by default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Realtime {
    /// Priority under SCHED_FIFO, 1 to 99.
    pub priority: Option<i32>,
    /// The processors to run on; any where none is named.
    pub processors: Vec<usize>,
    /// Whether memory stays where it is (`mlockall`).
    pub locked: bool,
}

impl Realtime {
    /// Whether anything is asked.
    pub fn is_none(&self) -> bool {
        *self == Realtime::default()
    }

    /// Whether it makes sense on any machine.
    ///
    /// # Errors
    /// A priority that there is not.
    pub fn check(&self) -> Result<()> {
        if let Some(priority) = self.priority {
            ensure!((1..=99).contains(&priority), "the priority is 1 to 99, not {priority}");
        }
        Ok(())
    }

    /// Tries whether this machine grants all of it, which leaves nothing behind:
    /// memory is locked in a child process, and the rest in a thread.
    ///
    /// # Errors
    /// What it does not grant, and what to do about that.
    pub fn check_permissions(&self) -> Result<()> {
        if self.locked {
            try_to_lock().context(MEMLOCK_ADVICE)?;
        }
        let tried = thread::scope(|scope| scope.spawn(|| self.apply_to_thread()).join());
        tried.unwrap_or_else(|_| bail!("the trial panicked"))
    }

    /// Applies all of it to this thread and to those that it will start; memory
    /// is the whole process's. Who gets an error must not go on: some of it may
    /// be applied.
    ///
    /// # Errors
    /// What the system does not grant, and what to do about that.
    pub fn apply(&self) -> Result<()> {
        if self.locked {
            mlockall(MlockAllFlags::CURRENT | MlockAllFlags::FUTURE).context(MEMLOCK_ADVICE)?;
        }
        self.apply_to_thread()
    }

    /// Applies what is a thread's own.
    fn apply_to_thread(&self) -> Result<()> {
        if !self.processors.is_empty() {
            self.pin_to_processors()?;
        }
        if let Some(priority) = self.priority {
            set_fifo_priority(priority)?;
        }
        Ok(())
    }

    /// Stays on the processors.
    fn pin_to_processors(&self) -> Result<()> {
        let allowed = sched_getaffinity(None).context("cannot ask for the processors")?;
        let mut wanted = CpuSet::new();
        for &processor in &self.processors {
            let there = processor < CpuSet::MAX_CPU && allowed.is_set(processor);
            ensure!(
                there,
                "processor {processor} does not exist or is not allowed; choose from {}",
                format_ranges(
                    &(0..CpuSet::MAX_CPU).filter(|n| allowed.is_set(*n)).collect::<Vec<_>>()
                )
            );
            wanted.set(processor);
        }
        sched_setaffinity(None, &wanted).context("cannot stay on these processors")
    }
}

/// What to do where memory is not granted.
const MEMLOCK_ADVICE: &str =
    "memory cannot be locked; run as root, or raise 'ulimit -l' (memlock in \
                        /etc/security/limits.conf)";

/// Has a child process lock its memory, which is as large as ours, without having
/// any of it fetched.
fn try_to_lock() -> io::Result<()> {
    let all = MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT;
    // SAFETY: the child makes two system calls and touches nothing that a thread
    // of ours may have held.
    let child = match unsafe { libc::fork() } {
        -1 => return Err(io::Error::last_os_error()),
        0 => {
            let refused = mlockall(all).err().map_or(0, |error| error.raw_os_error());
            // SAFETY: it ends the child and nothing else.
            unsafe { libc::_exit(refused) }
        }
        child => Pid::from_raw(child),
    };
    let ended = loop {
        match waitpid(child, WaitOptions::empty()) {
            Err(Errno::INTR) => {}
            ended => break ended?,
        }
    };
    match ended.and_then(|(_, status)| status.exit_status()) {
        Some(0) => Ok(()),
        Some(refused) => Err(io::Error::from_raw_os_error(refused)),
        None => Err(io::Error::other("the trial was killed")),
    }
}

/// Runs this thread before all that are not under SCHED_FIFO with this priority
/// or a higher one.
fn set_fifo_priority(priority: i32) -> Result<()> {
    // SAFETY: a record of integers, for which zero is a value.
    let mut wanted: libc::sched_param = unsafe { std::mem::zeroed() };
    wanted.sched_priority = priority;
    // SAFETY: the kernel reads `wanted`, which outlives the call; 0 is the calling
    // thread.
    if unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &wanted) } == 0 {
        return Ok(());
    }
    let error = io::Error::last_os_error();
    let most = getrlimit(Resource::Rtprio).current.map_or("no limit".into(), |n| n.to_string());
    Err(error).with_context(|| {
        format!(
            "SCHED_FIFO with priority {priority} is not granted; run as root, or raise 'ulimit -r', \
             which is {most} (rtprio in /etc/security/limits.conf)"
        )
    })
}

/// `0-3, 6`.
fn format_ranges(ascending: &[usize]) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for &number in ascending {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let run = |(first, last): (usize, usize)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    runs.into_iter().map(run).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for Realtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let priority = self.priority.map(|priority| format!("SCHED_FIFO {priority}"));
        let processors = (!self.processors.is_empty())
            .then(|| format!("processors {}", format_ranges(&self.processors)));
        let locked = self.locked.then(|| "memory locked".to_owned());
        let all: Vec<String> = [priority, processors, locked].into_iter().flatten().collect();
        f.write_str(&all.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_told_in_words() {
        assert!(Realtime::default().is_none() && Realtime::default().to_string().is_empty());
        let all = Realtime { priority: Some(80), processors: vec![0, 1, 2, 5], locked: true };
        assert_eq!(all.to_string(), "SCHED_FIFO 80, processors 0-2, 5, memory locked");
    }

    #[test]
    fn a_processor_that_is_not_there_is_refused_and_nothing_stays() {
        let before = sched_getaffinity(None).unwrap();
        for missing in [CpuSet::MAX_CPU - 1, usize::MAX] {
            let asked = Realtime { processors: vec![missing], ..Realtime::default() };
            let error = format!("{:#}", asked.check_permissions().unwrap_err());
            assert!(error.contains("does not exist or is not allowed; choose from "), "{error}");
        }
        let first = (0..CpuSet::MAX_CPU).find(|n| before.is_set(*n)).unwrap();
        Realtime { processors: vec![first], ..Realtime::default() }.check_permissions().unwrap();
        assert_eq!(sched_getaffinity(None).unwrap(), before, "the trial was another thread's");
    }
}
