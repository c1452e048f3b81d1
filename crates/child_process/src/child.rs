//! A child process that cannot hang us and does not outlive us.
//!
//! Whatever a runner does (be silent, die, flood its pipes, close them, leave
//! processes of its own behind), every call here returns by its deadline, and
//! dropping a [`Child`] kills and reaps what it started.
//!
//! One `poll` serves all three pipes: while a message is being written, answers
//! and complaints are read as well, so that two sides which both write a lot
//! cannot block each other. No thread competes with what is being measured.

mod failure;
pub mod memory;
mod orphans;
mod pipe;
mod start;
#[cfg(test)]
mod tests;

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::os::unix::process::CommandExt;
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::str::SplitWhitespace;
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};
use wiregauge_system::group;
use wiregauge_system::interrupt::interrupted;

pub use self::failure::{describe, describe_memory_limit, ChildFailure, Death};
use self::orphans::Mark;
use self::pipe::{drain, Drained};
pub use self::start::Limits;
use self::start::{prepare, spawn_from_lasting_thread};

/// Longest wait between two looks at the interrupt flag and at the child.
const SLICE: Duration = Duration::from_millis(100);
/// How long a child may take to exit after it closed its pipes.
const GRACE: Duration = Duration::from_secs(1);
/// Wanted size of a pipe; the most that an ordinary user gets. Large messages
/// then take fewer turns between the two processes.
const PIPE: usize = 1 << 20;
/// Most that is read between two looks at the clock.
const CHUNK: usize = 16 << 20;
/// Unread answers kept while a message is written, before the child must wait.
const MAX_UNREAD: usize = 256 << 20;
/// Longest answer that [`Child::read_exact`] accepts, in bytes.
pub const LONGEST_ANSWER: u64 = 4 << 30;
/// Longest line that [`Child::read_line`] accepts, in bytes.
pub const LONGEST_LINE: usize = 1 << 20;
/// How much of standard error is kept: its end, in bytes.
/// A reason may stand before a long stack.
pub const STDERR_KEPT: usize = 1 << 14;

/// A running child with pipes on its three standard streams.
///
/// It leads a process group of its own, so that Ctrl-C in a terminal reaches
/// only us and its own children die with it. A grandchild that moves to
/// another group or session is ended when the child is gone. It is killed when dropped;
/// when we die without dropping it, the kernel kills it, but not its children; unless it
/// lingers.
#[derive(Debug)]
pub struct Child {
    process: std::process::Child,
    group: Pid,
    /// What its descendants are known by; none once they are ended.
    mark: Option<Mark>,
    /// None once the child no longer takes anything.
    stdin: Option<ChildStdin>,
    /// None once the child closed it.
    stdout: Option<ChildStdout>,
    /// None once the child closed it.
    stderr: Option<ChildStderr>,
    /// What was read and not yet asked for: `inbox[taken..]`.
    inbox: Vec<u8>,
    taken: usize,
    complaint: Vec<u8>,
    status: Option<ExitStatus>,
    /// When its memory was looked at last.
    looked: Instant,
    /// The limit of its memory, where that is why it was killed.
    beyond: Option<u64>,
    /// What it may have taken of the processors in the end, in clock ticks.
    most_ticks: Option<u64>,
}

impl Child {
    /// Starts a program. Its three standard streams are replaced by pipes, and
    /// it writes no core file.
    ///
    /// # Errors
    /// When the program cannot be started: not there, not executable.
    pub fn spawn(mut command: Command, limits: Limits) -> io::Result<Child> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.process_group(0);
        let parent = rustix::process::getpid();
        // SAFETY: between fork and exec `prepare` makes system calls alone: no
        // allocation and no lock.
        unsafe { command.pre_exec(move || prepare(parent, limits)) };
        let mark = Mark::mark_command(&mut command);
        let mut process = spawn_from_lasting_thread(command)?;
        let group = Pid::from_child(&process);
        group::register(group);
        // From here on dropping it cleans up, whatever fails.
        let child = Child {
            stdin: process.stdin.take(),
            stdout: process.stdout.take(),
            stderr: process.stderr.take(),
            process,
            group,
            mark: Some(mark),
            inbox: Vec::new(),
            taken: 0,
            complaint: Vec::new(),
            status: None,
            looked: Instant::now(),
            beyond: None,
            most_ticks: None,
        };
        let (stdin, stdout, stderr) = (&child.stdin, &child.stdout, &child.stderr);
        if let (Some(stdin), Some(stdout), Some(stderr)) = (stdin, stdout, stderr) {
            // Our ends alone: the child's go on blocking.
            rustix::io::ioctl_fionbio(stdin, true)?;
            rustix::io::ioctl_fionbio(stdout, true)?;
            rustix::io::ioctl_fionbio(stderr, true)?;
            // Only for speed, and the system may have no room left for it.
            let _ = rustix::pipe::fcntl_setpipe_size(stdin, PIPE);
            let _ = rustix::pipe::fcntl_setpipe_size(stdout, PIPE);
        }
        Ok(child)
    }

    /// The process id, which is also that of its group.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// The processor time that it has taken, in clock ticks of the system, if it sleeps now.
    pub fn time_used_asleep(&self) -> Option<u64> {
        self.time_used().and_then(|(is_asleep, ticks)| is_asleep.then_some(ticks))
    }

    /// Lets it take so much time of the processors from now on, or any where there is no limit.
    /// Who takes more has hung, as who does not answer by a deadline: on a loaded machine a
    /// deadline alone tells who hangs from who waits for a processor only if it is far away.
    pub fn limit_processor_time(&mut self, limit: Option<Duration>) {
        let ticks_per_second = rustix::param::clock_ticks_per_second();
        let ticks = limit.map(|limit| (limit.as_secs_f64() * ticks_per_second as f64) as u64);
        self.most_ticks = ticks.and_then(|ticks| Some(self.time_used()?.1 + ticks));
    }

    /// Whether it sleeps, and the processor time that it has taken, in clock ticks.
    fn time_used(&self) -> Option<(bool, u64)> {
        let text = fs::read_to_string(format!("/proc/{}/stat", self.id())).ok()?;
        parse_time_used(&text)
    }

    /// The end of what it wrote to standard error, as far as it was read:
    /// that happens during every other call.
    pub fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.complaint).into_owned()
    }

    /// Writes all bytes, reading meanwhile what the child writes.
    ///
    /// # Errors
    /// [`ChildFailure`]; the child is then dead.
    pub fn write_all(&mut self, mut bytes: &[u8], deadline: Instant) -> Result<(), ChildFailure> {
        while !bytes.is_empty() {
            let Some(stdin) = &mut self.stdin else { return self.fail_closed(deadline) };
            match stdin.write(bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock => self.wait_and_read(WaitFor::Writable, deadline)?,
                    ErrorKind::BrokenPipe => self.stdin = None,
                    ErrorKind::Interrupted => {}
                    _ => return self.fail(ChildFailure::Io(error)),
                },
            }
        }
        Ok(())
    }

    /// Reads one line, without its line end.
    ///
    /// # Errors
    /// [`ChildFailure`]; the child is then dead. A line longer than [`LONGEST_LINE`]
    /// or not in UTF-8 is [`ChildFailure::Nonsense`].
    pub fn read_line(&mut self, deadline: Instant) -> Result<String, ChildFailure> {
        let mut searched = 0;
        let length = loop {
            let unread = self.unread();
            let end = unread[searched..].iter().position(|&byte| byte == b'\n');
            searched = end.map_or(unread.len(), |end| searched + end);
            if searched > LONGEST_LINE {
                let text = format!("a line has more than {LONGEST_LINE} bytes");
                return self.fail(ChildFailure::Nonsense(text));
            }
            if end.is_some() {
                break searched;
            }
            self.wait_and_read(WaitFor::Line, deadline)?;
        };
        let line = &self.unread()[..length];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        match std::str::from_utf8(line).map(str::to_owned) {
            Ok(line) => {
                self.consume(length + 1);
                Ok(line)
            }
            Err(_) => {
                let start = String::from_utf8_lossy(&line[..line.len().min(40)]);
                let text = format!("\"{}…\" is not UTF-8 text", start.escape_debug());
                self.fail(ChildFailure::Nonsense(text))
            }
        }
    }

    /// Reads exactly `count` bytes. Memory grows with what arrives and not
    /// with what was announced.
    ///
    /// # Errors
    /// [`ChildFailure`]; the child is then dead. More than [`LONGEST_ANSWER`] is
    /// [`ChildFailure::Nonsense`].
    pub fn read_exact(&mut self, count: u64, deadline: Instant) -> Result<Vec<u8>, ChildFailure> {
        let count = match usize::try_from(count) {
            Ok(size) if count <= LONGEST_ANSWER => size,
            _ => {
                return self.fail(ChildFailure::Nonsense(format!(
                    "an answer has {count} bytes, which is too large"
                )))
            }
        };
        let buffered = count.min(self.unread().len());
        let mut answer = self.unread()[..buffered].to_vec();
        self.consume(buffered);
        // The rest goes from the pipe straight to its place: the inbox is empty.
        while answer.len() < count {
            let most = CHUNK.min(count - answer.len());
            match drain(&mut self.stdout, &mut answer, most) {
                Ok(Drained::Full) => {
                    self.check_limits(deadline)?;
                }
                Ok(Drained::Dry) => self.wait_and_read(WaitFor::Readable, deadline)?,
                Ok(Drained::Ended) => return self.fail_closed(deadline),
                Err(error) => return self.fail(ChildFailure::Io(error)),
            }
        }
        Ok(answer)
    }

    /// Closes its standard input, which asks a runner to end, and waits until
    /// it has. What it still says is not kept.
    ///
    /// # Errors
    /// [`ChildFailure::Hung`] when it does not end by the deadline, as for any other
    /// call; the child is dead either way.
    pub fn finish(mut self, deadline: Instant) -> Result<Death, ChildFailure> {
        self.stdin = None;
        while !self.has_ended() {
            self.check_limits(deadline)?;
            self.read_stderr();
            self.inbox.clear();
            if let Err(error) = drain(&mut self.stdout, &mut self.inbox, CHUNK) {
                return self.fail(ChildFailure::Io(error));
            }
            thread::sleep(Duration::from_millis(1));
        }
        Ok(self.death())
    }

    /// Kills it and everything in its group, reaps it, and ends what it had detached.
    pub fn kill(&mut self) {
        if self.status.is_none() {
            // Before reaping: until then nobody else can get its number.
            let _ = rustix::process::kill_process_group(self.group, Signal::KILL);
            // It may have moved to another group.
            let _ = self.process.kill();
            group::unregister(self.group);
            self.status = self.process.wait().ok();
            if let Some(mark) = self.mark.take() {
                mark.end_orphans();
            }
        }
        self.stdin = None;
        self.stdout = None;
        self.stderr = None;
    }

    /// What was read and not yet asked for.
    fn unread(&self) -> &[u8] {
        &self.inbox[self.taken..]
    }

    /// Counts some of it as asked for.
    fn consume(&mut self, count: usize) {
        self.taken += count;
        if self.taken == self.inbox.len() {
            self.taken = 0;
            self.inbox.clear();
            // After a large message, its room goes back.
            self.inbox.shrink_to(CHUNK);
        }
    }

    /// Waits for a pipe, for at most a [`SLICE`], and reads what came.
    fn wait_and_read(&mut self, until: WaitFor, deadline: Instant) -> Result<(), ChildFailure> {
        let left = self.check_limits(deadline)?;
        if self.stdout.is_none() && until != WaitFor::Writable {
            return self.fail_closed(deadline);
        }
        // Asked before, since an answer may come between a silence and a death.
        let has_ended = self.has_ended();
        let full = self.unread().len() >= MAX_UNREAD;
        let mut waited = Vec::with_capacity(3);
        if let (Some(stdin), WaitFor::Writable) = (&self.stdin, until) {
            waited.push(PollFd::new(stdin, PollFlags::OUT));
        }
        if let (Some(stdout), false) = (&self.stdout, full) {
            waited.push(PollFd::new(stdout, PollFlags::IN));
        }
        if let Some(stderr) = &self.stderr {
            waited.push(PollFd::new(stderr, PollFlags::IN));
        }
        let slice = Timespec::try_from(left.min(SLICE)).expect("a slice is short");
        let ready = match poll(&mut waited, Some(&slice)) {
            Ok(ready) => ready,
            Err(Errno::INTR) => return Ok(()),
            Err(error) => return self.fail(ChildFailure::Io(error.into())),
        };
        if ready == 0 {
            // A grandchild may hold the pipes open.
            return if has_ended { self.fail_closed(deadline) } else { Ok(()) };
        }
        self.read_stderr();
        if until != WaitFor::Readable && !full {
            self.inbox.drain(..self.taken);
            self.taken = 0;
            if let Err(error) = drain(&mut self.stdout, &mut self.inbox, CHUNK) {
                return self.fail(ChildFailure::Io(error));
            }
        }
        Ok(())
    }

    /// The time left. It is an error when there is none, when the user wants to
    /// stop, or when the child has taken more memory or processor time than it may.
    fn check_limits(&mut self, deadline: Instant) -> Result<Duration, ChildFailure> {
        if interrupted() {
            return self.fail(ChildFailure::Interrupted);
        }
        let now = Instant::now();
        if now.duration_since(self.looked) >= SLICE {
            self.looked = now;
            self.beyond = memory::exceeded_limit(self.id());
            if self.beyond.is_some() {
                self.kill();
                return Err(ChildFailure::Died(self.death()));
            }
            let used = self.most_ticks.and_then(|most| Some(self.time_used()?.1 > most));
            if used == Some(true) {
                return self.fail(ChildFailure::Hung);
            }
        }
        let left = deadline.saturating_duration_since(now);
        if left.is_zero() {
            return self.fail(ChildFailure::Hung);
        }
        Ok(left)
    }

    /// Reads what is on standard error and keeps its end.
    fn read_stderr(&mut self) {
        // Complaints are not worth an error of their own.
        let _ = drain(&mut self.stderr, &mut self.complaint, 1 << 16);
        let surplus = self.complaint.len().saturating_sub(STDERR_KEPT);
        self.complaint.drain(..surplus);
    }

    /// Whether it ended by itself. It is left to be reaped by [`Child::kill`],
    /// so that its number, and that of its group, stay its own until then.
    pub fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        self.status.is_some()
            || !matches!(rustix::process::waitid(WaitId::Pid(self.group), options), Ok(None))
    }

    /// The end of a conversation because the child closed a pipe.
    fn fail_closed<T>(&mut self, deadline: Instant) -> Result<T, ChildFailure> {
        let patience = deadline.min(Instant::now() + GRACE);
        while !self.has_ended() && Instant::now() < patience {
            if interrupted() {
                return self.fail(ChildFailure::Interrupted);
            }
            self.read_stderr();
            thread::sleep(Duration::from_millis(1));
        }
        Err(ChildFailure::Died(self.death()))
    }

    /// How it ended; if it has not, it is killed.
    fn death(&mut self) -> Death {
        let by_itself = self.has_ended();
        self.read_stderr();
        self.kill();
        let by_itself = by_itself && self.beyond.is_none();
        let status = self.status.filter(|_| by_itself);
        Death { status, stderr: self.stderr(), beyond: self.beyond }
    }

    /// The end of a conversation for another reason.
    fn fail<T>(&mut self, broken: ChildFailure) -> Result<T, ChildFailure> {
        self.read_stderr();
        self.kill();
        Err(broken)
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
    }
}

/// What a turn waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WaitFor {
    /// Room in standard input; answers go to the inbox meanwhile.
    Writable,
    /// More in the inbox.
    Line,
    /// Something in standard output, which the caller will read.
    Readable,
}

/// The fields of proc_pid_stat(5) from the third on, the state. The second, the name, is in
/// parentheses, and may have any in it.
fn fields_behind_name(stat: &str) -> Option<SplitWhitespace<'_>> {
    Some(stat.rsplit_once(')')?.1.split_whitespace())
}

/// Whether the state of a process is sleep, and its user and system time, the 14th and 15th field.
fn parse_time_used(stat: &str) -> Option<(bool, u64)> {
    let mut fields = fields_behind_name(stat)?;
    let is_asleep = fields.next()? == "S";
    let times: Vec<u64> = fields.skip(10).take(2).filter_map(|field| field.parse().ok()).collect();
    (times.len() == 2).then(|| (is_asleep, times.iter().sum()))
}
