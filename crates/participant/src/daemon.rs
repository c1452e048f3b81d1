//! A program that a participant starts beside itself, such as a library's daemon.

use std::io;
use std::process::{Child, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{
    getppid, kill_process, set_parent_process_death_signal, Pid, Signal as SystemSignal,
};

/// From one look to the next whether a program has ended.
const PAUSE: Duration = Duration::from_millis(5);

/// How a program is told to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// So that it can clean up.
    Terminate,
    /// At once.
    Kill,
}

/// What a child does before it becomes another program, so that it ends when its parent does,
/// however that ends. The signal comes when the thread ends that started it.
pub fn end_with_parent(parent: u32, how: Signal) -> impl FnMut() -> io::Result<()> + Send + Sync {
    let signal = match how {
        Signal::Terminate => SystemSignal::TERM,
        Signal::Kill => SystemSignal::KILL,
    };
    move || {
        set_parent_process_death_signal(Some(signal))?;
        // It may have ended before.
        match getppid().map(Pid::as_raw_pid) {
            Some(now) if now as u32 == parent => Ok(()),
            _ => Err(io::Error::other("its parent is gone")),
        }
    }
}

/// Has a child clean up and end, and kills it where it does not in this time. How it ended.
///
/// # Errors
/// When the system refuses.
pub fn terminate(child: &mut Child, patience: Duration) -> io::Result<ExitStatus> {
    // One that has ended is none of the system's any more only once it is waited for.
    kill_process(Pid::from_child(child), SystemSignal::TERM)?;
    let deadline = Instant::now() + patience;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if Instant::now() >= deadline {
            child.kill()?;
            return child.wait();
        }
        thread::sleep(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn who_cleans_up_may_and_who_does_not_is_killed() {
        let shell = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]).stdout(Stdio::piped());
            let mut child = command.spawn().unwrap();
            // Its handler is set.
            let mut out = BufReader::new(child.stdout.take().unwrap());
            assert_eq!(out.read_line(&mut String::new()).unwrap(), "ready\n".len());
            child
        };
        let mut clean = shell("trap 'exit 7' TERM; echo ready; while :; do sleep 0.01; done");
        assert_eq!(terminate(&mut clean, Duration::from_secs(60)).unwrap().code(), Some(7));
        let mut deaf = shell("trap '' TERM; echo ready; while :; do sleep 0.01; done");
        assert_eq!(terminate(&mut deaf, Duration::from_millis(100)).unwrap().signal(), Some(9));
    }
}
