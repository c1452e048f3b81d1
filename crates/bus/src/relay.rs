//! A program that carries a trace over a transport, and the way to it and back. It does not
//! outlive who started it: it ends when its standard input is closed, however that happens.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail, ensure, Context, Error, Result};
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::io::{ioctl_fionbio, Errno};
use rustix::process::{kill_process_group, waitid, Pid, Signal, WaitId, WaitIdOptions};
use wiregauge_participant::stream::setup::{
    parse_record_header, Setup, StreamReport, FAILURE, MAX_LINE, RECORD_HEADER_SIZE,
};
use wiregauge_system::{group, interrupt};
use wiregauge_timing::allocation::{allocate_zeroed, resize};

use crate::catalogue::program::Program;

/// How long it waits for a pipe until it looks whether the user wants to stop.
const SLICE: Duration = Duration::from_millis(50);
/// How long the program may take to end.
const GRACE: Duration = Duration::from_secs(5);
/// Wanted size of a pipe; the most that an ordinary user gets.
const PIPE: usize = 1 << 20;
/// What is read at once.
const BLOCK: usize = 1 << 20;

/// A program that carries a trace.
pub struct Relay {
    program: Program,
    process: Child,
    group: Pid,
    stdin: Option<ChildStdin>,
    stdout: ChildStdout,
    /// What was read: `inbox[taken..filled]` is still to be told.
    inbox: Vec<u8>,
    taken: usize,
    filled: usize,
}

/// What a listener gives.
pub enum RelayOutput<'r> {
    /// A sample, and when it came.
    Sample(u64, &'r [u8]),
    /// There was none in so long.
    Nothing,
    /// There will be none any more, and why.
    Ended(String),
}

impl Relay {
    /// Starts it, and tells it what to do.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(program: Program, setup: &Setup) -> Result<Relay> {
        let mut command = program.stream_command();
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        // Ctrl-C is for us: we tell it to end.
        command.process_group(0);
        let mut process =
            command.spawn().context("cannot start the program that carries the trace")?;
        let group = Pid::from_child(&process);
        group::register(group);
        let (stdin, stdout) = (process.stdin.take(), process.stdout.take());
        let (stdin, stdout) = (stdin.context("a pipe")?, stdout.context("a pipe")?);
        // Our ends alone: the program's go on blocking.
        ioctl_fionbio(&stdin, true)?;
        ioctl_fionbio(&stdout, true)?;
        // Only for speed, and the system may have no room left for it.
        let _ = rustix::pipe::fcntl_setpipe_size(&stdin, PIPE);
        let _ = rustix::pipe::fcntl_setpipe_size(&stdout, PIPE);
        let (stdin, inbox) = (Some(stdin), allocate_zeroed(BLOCK)?);
        let mut relay =
            Relay { program, process, group, stdin, stdout, inbox, taken: 0, filled: 0 };
        let mut line = serde_json::to_vec(setup)?;
        line.push(b'\n');
        relay.write(&line)?;
        Ok(relay)
    }

    /// Gives it bytes.
    ///
    /// # Errors
    /// What it says of its end, or that the user wants to stop: it is then still there.
    pub fn write(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            interrupt::check()?;
            let Some(stdin) = &mut self.stdin else { bail!("it accepts no more data") };
            match stdin.write(bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock => {
                        await_pipe(PollFd::new(stdin, PollFlags::OUT))?;
                    }
                    ErrorKind::Interrupted => {}
                    ErrorKind::BrokenPipe => return Err(self.end()),
                    _ => return Err(error.into()),
                },
            }
        }
        Ok(())
    }

    /// Why it ended: what it said, or how it died.
    fn end(&mut self) -> Error {
        let deadline = Instant::now() + GRACE;
        loop {
            match self.read_report_until(deadline) {
                Ok(StreamReport::Failed(why)) => return anyhow!("{why}"),
                Ok(_) => continue,
                Err(error) => return error,
            }
        }
    }

    /// What it says next.
    ///
    /// # Errors
    /// What it failed of, how it died, or that the user wants to stop: it is then still there.
    pub fn read_report(&mut self) -> Result<StreamReport> {
        loop {
            interrupt::check()?;
            if let Some(said) = self.try_read_report()? {
                return match said {
                    StreamReport::Failed(why) => Err(anyhow!("{why}")),
                    said => Ok(said),
                };
            }
        }
    }

    /// A line by a time, whether the user wants to stop or not.
    fn read_report_until(&mut self, deadline: Instant) -> Result<StreamReport> {
        loop {
            if let Some(said) = self.try_read_report()? {
                return Ok(said);
            }
            ensure!(Instant::now() < deadline, "{} does not answer", self.name());
        }
    }

    fn name(&self) -> &'static str {
        self.program.engine().map_or("the transport", |engine| engine.name)
    }

    /// A line, if one comes within a moment.
    fn try_read_report(&mut self) -> Result<Option<StreamReport>> {
        let unread = &self.inbox[self.taken..self.filled];
        if let Some(end) = unread.iter().position(|&byte| byte == b'\n') {
            let said =
                serde_json::from_slice(&unread[..end]).context("it sent a malformed message")?;
            self.taken += end + 1;
            return Ok(Some(said));
        }
        ensure!(unread.len() <= MAX_LINE, "it sent a malformed message");
        self.fill(MAX_LINE)?;
        Ok(None)
    }

    /// What a listener heard, if there was anything within a moment.
    ///
    /// # Errors
    /// How it died, or that the user wants to stop: it is then still there.
    pub fn read_output(&mut self, largest: usize) -> Result<RelayOutput<'_>> {
        interrupt::check()?;
        let unread = &self.inbox[self.taken..self.filled];
        let wanted = match unread.first_chunk::<RECORD_HEADER_SIZE>() {
            None => RECORD_HEADER_SIZE,
            Some(head) => {
                let size = parse_record_header(head).1;
                ensure!(
                    size <= largest.max(MAX_LINE),
                    "a frame has {size} bytes, which is too large"
                );
                RECORD_HEADER_SIZE + size
            }
        };
        if unread.len() < wanted {
            self.fill(wanted)?;
            return Ok(RelayOutput::Nothing);
        }
        let head = *unread.first_chunk().context("it was there")?;
        let (time, size, mark) = parse_record_header(&head);
        let start = self.taken + RECORD_HEADER_SIZE;
        self.taken = start + size;
        let bytes = &self.inbox[start..self.taken];
        Ok(match mark {
            FAILURE => RelayOutput::Ended(String::from_utf8_lossy(bytes).into_owned()),
            _ => RelayOutput::Sample(time, bytes),
        })
    }

    /// Reads more, if there is more within a moment, of what will be so long.
    fn fill(&mut self, wanted: usize) -> Result<()> {
        if self.taken == self.filled {
            (self.taken, self.filled) = (0, 0);
        } else if self.taken > 0 && self.inbox.len() - self.taken < wanted {
            self.inbox.copy_within(self.taken..self.filled, 0);
            (self.taken, self.filled) = (0, self.filled - self.taken);
        }
        if self.filled == self.inbox.len() {
            let size = (2 * self.filled).min(wanted).max(self.filled + BLOCK);
            resize(&mut self.inbox, size)?;
        }
        match self.stdout.read(&mut self.inbox[self.filled..]) {
            Ok(0) => return Err(self.death()),
            Ok(count) => self.filled += count,
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock => await_pipe(PollFd::new(&self.stdout, PollFlags::IN))?,
                ErrorKind::Interrupted => {}
                _ => return Err(error.into()),
            },
        }
        Ok(())
    }

    /// How it died, which closed its standard output.
    fn death(&mut self) -> Error {
        let name = self.name();
        match self.reap(GRACE) {
            Some(status) => {
                let death = status.to_string();
                anyhow!("{name} ended: {death}{}", self.program.advice(&death))
            }
            None => anyhow!("{name} stopped sending messages"),
        }
    }

    /// Has it end without a word, as when the user wants to stop: what it still says, if it
    /// ends in time.
    pub fn stop(&mut self) -> Option<StreamReport> {
        self.stdin = None;
        let deadline = Instant::now() + GRACE;
        let mut last = None;
        while let Ok(said) = self.read_report_until(deadline) {
            last = Some(said);
        }
        last
    }

    /// Has a listener end, whatever it still says.
    pub fn close(mut self) {
        self.stdin = None;
        let deadline = Instant::now() + GRACE;
        while self.fill(RECORD_HEADER_SIZE).is_ok() && Instant::now() < deadline {
            (self.taken, self.filled) = (0, 0);
        }
    }

    /// Waits so long until it has ended.
    fn reap(&mut self, patience: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + patience;
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        while let Ok(None) = waitid(WaitId::Pid(self.group), options) {
            if Instant::now() >= deadline {
                return None;
            }
            thread::sleep(Duration::from_millis(2));
        }
        // Before its number can be another's.
        group::unregister(self.group);
        self.process.wait().ok()
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.stdin = None;
        if self.reap(Duration::from_millis(500)).is_none() {
            let _ = kill_process_group(self.group, Signal::KILL);
            self.reap(GRACE);
        }
    }
}

/// Waits for a pipe for a moment.
fn await_pipe(pipe: PollFd<'_>) -> Result<()> {
    let slice = Timespec::try_from(SLICE)?;
    match poll(&mut [pipe], Some(&slice)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
