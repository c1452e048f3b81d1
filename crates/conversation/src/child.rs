//! A child process that cannot hang us and does not outlive us.
//!
//! Whatever a runner does (be silent, die, flood its pipes, close them, leave
//! processes of its own behind), every call here returns by its deadline, and
//! dropping a [`Child`] kills and reaps what it started.
//!
//! One `poll` serves all three pipes: while a message is being written, answers
//! and complaints are read as well, so that two sides which both write a lot
//! cannot block each other. No thread competes with what is being measured.

use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Sender};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::process::{Pid, Resource, Rlimit, Signal, WaitId, WaitIdOptions};
use wiregauge_system::group;
use wiregauge_system::interrupt::{interrupted, Interrupted};
use wiregauge_system::text::safe;

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
const AHEAD: usize = 256 << 20;
/// Longest answer that [`Child::read_exact`] accepts, in bytes.
pub const LONGEST_ANSWER: u64 = 4 << 30;
/// Longest line that [`Child::read_line`] accepts, in bytes.
pub const LONGEST_LINE: usize = 1 << 20;
/// How much of standard error is kept: its end, in bytes.
pub const STDERR_KEPT: usize = 4096;

/// What a child may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Largest address space in bytes (`RLIMIT_AS`); allocations beyond fail.
    pub address_space: Option<u64>,
    /// Whether it goes on when we die without dropping it: it notices that by
    /// itself, and has something to put away.
    pub lingers: bool,
}

/// Why a conversation with a child ended. The child is dead by then.
#[derive(Debug)]
pub enum Broken {
    /// Nothing came, or nothing was taken, until the deadline.
    Hung,
    /// It ended, or closed its pipes.
    Died(Death),
    /// It said something that cannot be an answer; the text says what.
    Nonsense(String),
    /// The user asked to stop.
    Interrupted,
    /// The system failed us.
    Io(io::Error),
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Broken::Hung => f.write_str("hung: no answer in time"),
            Broken::Died(death) => death.fmt(f),
            Broken::Nonsense(text) => write!(f, "answered nonsense: {text}"),
            Broken::Interrupted => Interrupted.fmt(f),
            Broken::Io(error) => write!(f, "cannot be talked to: {error}"),
        }
    }
}

impl std::error::Error for Broken {}

/// How a child ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Death {
    /// Its exit status; none when it closed its pipes but went on running, and
    /// had to be killed.
    pub status: Option<ExitStatus>,
    /// The end of what it wrote to standard error.
    pub stderr: String,
}

impl Death {
    /// Whether it ended for want of memory: at the limit of `runners/alloc`, or
    /// because an allocation failed at the limit of the address space.
    pub fn out_of_memory(&self) -> bool {
        const SIGNS: [&str; 3] = ["memory allocation of ", "std::bad_alloc", "MemoryError"];
        self.status.and_then(|status| status.code()) == Some(86)
            || SIGNS.iter().any(|sign| self.stderr.contains(sign))
    }
}

impl fmt::Display for Death {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.status {
            Some(status) => f.write_str(&describe(status))?,
            None => f.write_str("closed its pipes but went on running")?,
        }
        match self.stderr.lines().rev().find(|line| !line.trim().is_empty()) {
            Some(line) => write!(f, " ({})", safe(line.trim())),
            None => Ok(()),
        }
    }
}

/// An exit status in words: `killed by SIGSEGV`, `exit code 86`.
pub fn describe(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(number), _) => match signal_hook::low_level::signal_name(number) {
            Some(name) => format!("killed by {name}"),
            None => format!("killed by signal {number}"),
        },
        (None, Some(code)) => format!("exit code {code}"),
        (None, None) => status.to_string(),
    }
}

/// A running child with pipes on its three standard streams.
///
/// It leads a process group of its own, so that Ctrl-C in a terminal reaches
/// only us and its own children die with it. (A grandchild that moves to
/// another group or session escapes.) It is killed when dropped; when we die
/// without dropping it, the kernel kills it, but not its children; unless it
/// lingers.
#[derive(Debug)]
pub struct Child {
    process: std::process::Child,
    group: Pid,
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
        let mut process = spawn_from_lasting_thread(command)?;
        let group = Pid::from_child(&process);
        group::note(group);
        // From here on dropping it cleans up, whatever fails.
        let child = Child {
            stdin: process.stdin.take(),
            stdout: process.stdout.take(),
            stderr: process.stderr.take(),
            process,
            group,
            inbox: Vec::new(),
            taken: 0,
            complaint: Vec::new(),
            status: None,
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

    /// The end of what it wrote to standard error, as far as it was read:
    /// that happens during every other call.
    pub fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.complaint).into_owned()
    }

    /// Writes all bytes, reading meanwhile what the child writes.
    ///
    /// # Errors
    /// [`Broken`]; the child is then dead.
    pub fn write_all(&mut self, mut bytes: &[u8], deadline: Instant) -> Result<(), Broken> {
        while !bytes.is_empty() {
            let Some(stdin) = &mut self.stdin else { return self.closed(deadline) };
            match stdin.write(bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock => self.turn(Until::Writable, deadline)?,
                    ErrorKind::BrokenPipe => self.stdin = None,
                    ErrorKind::Interrupted => {}
                    _ => return self.fail(Broken::Io(error)),
                },
            }
        }
        Ok(())
    }

    /// Reads one line, without its line end.
    ///
    /// # Errors
    /// [`Broken`]; the child is then dead. A line longer than [`LONGEST_LINE`]
    /// or not in UTF-8 is [`Broken::Nonsense`].
    pub fn read_line(&mut self, deadline: Instant) -> Result<String, Broken> {
        let mut searched = 0;
        let length = loop {
            let unread = self.unread();
            let end = unread[searched..].iter().position(|&byte| byte == b'\n');
            searched = end.map_or(unread.len(), |end| searched + end);
            if searched > LONGEST_LINE {
                let text = format!("a line of more than {LONGEST_LINE} bytes");
                return self.fail(Broken::Nonsense(text));
            }
            if end.is_some() {
                break searched;
            }
            self.turn(Until::Line, deadline)?;
        };
        let line = &self.unread()[..length];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        match std::str::from_utf8(line).map(str::to_owned) {
            Ok(line) => {
                self.take(length + 1);
                Ok(line)
            }
            Err(_) => {
                let start = String::from_utf8_lossy(&line[..line.len().min(40)]);
                let text = format!("\"{}…\" is not UTF-8 text", start.escape_debug());
                self.fail(Broken::Nonsense(text))
            }
        }
    }

    /// Reads exactly `count` bytes. Memory grows with what arrives and not
    /// with what was announced.
    ///
    /// # Errors
    /// [`Broken`]; the child is then dead. More than [`LONGEST_ANSWER`] is
    /// [`Broken::Nonsense`].
    pub fn read_exact(&mut self, count: u64, deadline: Instant) -> Result<Vec<u8>, Broken> {
        let count = match usize::try_from(count) {
            Ok(size) if count <= LONGEST_ANSWER => size,
            _ => return self.fail(Broken::Nonsense(format!("an answer of {count} bytes"))),
        };
        let buffered = count.min(self.unread().len());
        let mut answer = self.unread()[..buffered].to_vec();
        self.take(buffered);
        // The rest goes from the pipe straight to its place: the inbox is empty.
        while answer.len() < count {
            let most = CHUNK.min(count - answer.len());
            match drain(&mut self.stdout, &mut answer, most) {
                Ok(Drained::Full) => {
                    self.look_at_the_clock(deadline)?;
                }
                Ok(Drained::Dry) => self.turn(Until::Readable, deadline)?,
                Ok(Drained::Ended) => return self.closed(deadline),
                Err(error) => return self.fail(Broken::Io(error)),
            }
        }
        Ok(answer)
    }

    /// Closes its standard input, which asks a runner to end, and waits until
    /// it has. What it still says is not kept.
    ///
    /// # Errors
    /// [`Broken::Hung`] when it does not end by the deadline, as for any other
    /// call; the child is dead either way.
    pub fn finish(mut self, deadline: Instant) -> Result<Death, Broken> {
        self.stdin = None;
        while !self.has_ended() {
            self.look_at_the_clock(deadline)?;
            self.listen();
            self.inbox.clear();
            if let Err(error) = drain(&mut self.stdout, &mut self.inbox, CHUNK) {
                return self.fail(Broken::Io(error));
            }
            thread::sleep(Duration::from_millis(1));
        }
        Ok(self.death())
    }

    /// Kills it and everything in its group, and reaps it.
    pub fn kill(&mut self) {
        if self.status.is_none() {
            // Before reaping: until then nobody else can get its number.
            let _ = rustix::process::kill_process_group(self.group, Signal::KILL);
            // It may have moved to another group.
            let _ = self.process.kill();
            group::forget(self.group);
            self.status = self.process.wait().ok();
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
    fn take(&mut self, count: usize) {
        self.taken += count;
        if self.taken == self.inbox.len() {
            self.taken = 0;
            self.inbox.clear();
            // After a large message, its room goes back.
            self.inbox.shrink_to(CHUNK);
        }
    }

    /// Waits for a pipe, for at most a [`SLICE`], and reads what came.
    fn turn(&mut self, until: Until, deadline: Instant) -> Result<(), Broken> {
        let left = self.look_at_the_clock(deadline)?;
        if self.stdout.is_none() && until != Until::Writable {
            return self.closed(deadline);
        }
        // Asked before, since an answer may come between a silence and a death.
        let has_ended = self.has_ended();
        let full = self.unread().len() >= AHEAD;
        let mut waited = Vec::with_capacity(3);
        if let (Some(stdin), Until::Writable) = (&self.stdin, until) {
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
            Err(error) => return self.fail(Broken::Io(error.into())),
        };
        if ready == 0 {
            // A grandchild may hold the pipes open.
            return if has_ended { self.closed(deadline) } else { Ok(()) };
        }
        self.listen();
        if until != Until::Readable && !full {
            self.inbox.drain(..self.taken);
            self.taken = 0;
            if let Err(error) = drain(&mut self.stdout, &mut self.inbox, CHUNK) {
                return self.fail(Broken::Io(error));
            }
        }
        Ok(())
    }

    /// The time left. It is an error when there is none, or when the user
    /// wants to stop.
    fn look_at_the_clock(&mut self, deadline: Instant) -> Result<Duration, Broken> {
        if interrupted() {
            return self.fail(Broken::Interrupted);
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return self.fail(Broken::Hung);
        }
        Ok(left)
    }

    /// Reads what is on standard error and keeps its end.
    fn listen(&mut self) {
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
    fn closed<T>(&mut self, deadline: Instant) -> Result<T, Broken> {
        let patience = deadline.min(Instant::now() + GRACE);
        while !self.has_ended() && Instant::now() < patience {
            if interrupted() {
                return self.fail(Broken::Interrupted);
            }
            self.listen();
            thread::sleep(Duration::from_millis(1));
        }
        Err(Broken::Died(self.death()))
    }

    /// How it ended; if it has not, it is killed.
    fn death(&mut self) -> Death {
        let by_itself = self.has_ended();
        self.listen();
        self.kill();
        Death { status: self.status.filter(|_| by_itself), stderr: self.stderr() }
    }

    /// The end of a conversation for another reason.
    fn fail<T>(&mut self, broken: Broken) -> Result<T, Broken> {
        self.listen();
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
enum Until {
    /// Room in standard input; answers go to the inbox meanwhile.
    Writable,
    /// More in the inbox.
    Line,
    /// Something in standard output, which the caller will read.
    Readable,
}

/// What [`drain`] found.
enum Drained {
    /// As much as was wanted.
    Full,
    /// Less: the pipe is empty for now.
    Dry,
    /// Less: the other side closed the pipe.
    Ended,
}

/// Appends what is in a pipe, `most` bytes of it. A pipe at its end becomes
/// none.
fn drain<P: Read>(pipe: &mut Option<P>, to: &mut Vec<u8>, most: usize) -> io::Result<Drained> {
    let Some(open) = pipe else { return Ok(Drained::Ended) };
    match open.take(most as u64).read_to_end(to) {
        Ok(count) if count == most => Ok(Drained::Full),
        Ok(_) => {
            *pipe = None;
            Ok(Drained::Ended)
        }
        // What came before is in place.
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(Drained::Dry),
        Err(error) => Err(error),
    }
}

/// Runs in the child between fork and exec: system calls only.
fn prepare(parent: Pid, limits: Limits) -> io::Result<()> {
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

/// Starts a program from a thread that lives as long as we do.
///
/// "When the parent dies" means, to Linux, when the *thread* that forked ends:
/// started from a worker thread, the child would be killed as soon as that
/// worker was done.
fn spawn_from_lasting_thread(command: Command) -> io::Result<std::process::Child> {
    type Order = (Command, Sender<io::Result<std::process::Child>>);
    static SPAWNER: OnceLock<Sender<Order>> = OnceLock::new();
    if SPAWNER.get().is_none() {
        let (orders, received) = mpsc::channel::<Order>();
        thread::Builder::new().name("spawner".into()).spawn(move || {
            for (mut command, reply) in received {
                // Nobody gives up waiting for the reply.
                let _ = reply.send(command.spawn());
            }
        })?;
        // If another thread was faster, this spawner ends without orders.
        let _ = SPAWNER.set(orders);
    }
    let gone = || io::Error::other("the thread that starts programs is gone");
    let (reply, answer) = mpsc::channel();
    SPAWNER.get().ok_or_else(gone)?.send((command, reply)).map_err(|_| gone())?;
    answer.recv().map_err(|_| gone())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Child {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Child::spawn(command, Limits::default()).unwrap()
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_millis(200)
    }

    fn later() -> Instant {
        Instant::now() + Duration::from_secs(20)
    }

    fn died(broken: Broken) -> Death {
        match broken {
            Broken::Died(death) => death,
            other => panic!("{other}"),
        }
    }

    /// Whether a process runs; one that is dead and not reaped does not.
    fn runs(id: u32) -> bool {
        let Ok(stat) = std::fs::read_to_string(format!("/proc/{id}/stat")) else { return false };
        !stat.rsplit(") ").next().unwrap().starts_with(['Z', 'X'])
    }

    fn comes_true(mut condition: impl FnMut() -> bool) -> bool {
        let deadline = later();
        while Instant::now() < deadline {
            if condition() {
                return true;
            }
            thread::sleep(Duration::from_millis(5));
        }
        false
    }

    #[test]
    fn talks_in_lines_and_blocks() {
        let mut child = shell("read a; echo got $a; printf 'x\\r\\n1234567rest\\n'; cat");
        child.write_all(b"hello\n", later()).unwrap();
        assert_eq!(child.read_line(later()).unwrap(), "got hello");
        assert_eq!(child.read_line(later()).unwrap(), "x");
        assert_eq!(child.read_exact(0, later()).unwrap(), b"");
        assert_eq!(child.read_exact(7, later()).unwrap(), b"1234567");
        assert_eq!(child.read_line(later()).unwrap(), "rest");
        child.write_all(b"ab", later()).unwrap();
        assert_eq!(child.read_exact(2, later()).unwrap(), b"ab");
        let death = child.finish(later()).unwrap();
        assert_eq!(death.to_string(), "exit code 0");
    }

    #[test]
    fn a_program_that_is_not_there_is_an_error() {
        let result = Child::spawn(Command::new("/no/such/program"), Limits::default());
        assert_eq!(result.unwrap_err().kind(), ErrorKind::NotFound);
    }

    #[test]
    fn silence_is_reported_in_time_and_ended() {
        for script in ["sleep 60", "trap '' TERM INT HUP; while :; do sleep 60; done"] {
            let mut child = shell(script);
            let id = child.id();
            let start = Instant::now();
            assert!(matches!(child.read_line(soon()), Err(Broken::Hung)));
            assert!(start.elapsed() < Duration::from_secs(5));
            assert!(!runs(id));
        }
    }

    #[test]
    fn a_child_that_takes_nothing_hangs() {
        let mut child = shell("sleep 60");
        let bytes = vec![0; 4 << 20];
        assert!(matches!(child.write_all(&bytes, soon()), Err(Broken::Hung)));
        // And stays dead.
        assert!(matches!(child.read_line(later()), Err(Broken::Died(_))));
        assert!(matches!(child.write_all(b"x", later()), Err(Broken::Died(_))));
    }

    #[test]
    fn death_is_told_with_its_last_words() {
        let mut child = shell("echo early >&2; echo 'no such codec' >&2; kill -SEGV $$");
        let death = died(child.read_line(later()).unwrap_err());
        assert_eq!(death.to_string(), "killed by SIGSEGV (no such codec)");
        assert_eq!(death.stderr, "early\nno such codec\n");

        let mut child = shell("echo half; printf tail; exit 86");
        assert_eq!(child.read_line(later()).unwrap(), "half");
        let death = died(child.read_exact(100, later()).unwrap_err());
        assert_eq!(death.to_string(), "exit code 86");
        assert!(death.out_of_memory());
    }

    #[test]
    fn only_the_end_of_standard_error_is_kept() {
        let mut child = shell("yes complaint | head -c 3000000 >&2; echo last >&2; echo done");
        assert_eq!(child.read_line(later()).unwrap(), "done");
        assert!(comes_true(|| {
            child.listen();
            child.stderr().ends_with("last\n")
        }));
        assert!(child.stderr().len() <= STDERR_KEPT);
    }

    #[test]
    fn nonsense_is_not_taken_for_an_answer() {
        let mut child = shell("printf '\\377\\376\\n'; sleep 60");
        let error = child.read_line(later()).unwrap_err();
        assert!(matches!(error, Broken::Nonsense(_)), "{error}");

        // Without end, and without a line in it.
        let mut child = shell("exec cat /dev/zero");
        let error = child.read_line(later()).unwrap_err();
        assert!(matches!(error, Broken::Nonsense(_)), "{error}");

        let mut child = shell("sleep 60");
        let error = child.read_exact(u64::MAX, later()).unwrap_err();
        assert!(matches!(error, Broken::Nonsense(_)), "{error}");
    }

    #[test]
    fn an_announced_size_takes_no_memory() {
        let mut child = shell("printf 12345; sleep 60");
        assert!(matches!(child.read_exact(LONGEST_ANSWER, soon()), Err(Broken::Hung)));
    }

    #[test]
    fn closing_the_pipes_ends_the_conversation() {
        let mut child = shell("exec 1>&-; sleep 60");
        let id = child.id();
        let death = died(child.read_line(later()).unwrap_err());
        assert_eq!(death.to_string(), "closed its pipes but went on running");
        assert!(!runs(id));

        let mut child = shell("exec 0<&-; sleep 60");
        let death = died(child.write_all(&vec![0; 4 << 20], later()).unwrap_err());
        assert_eq!(death.status, None);
    }

    #[test]
    fn a_grandchild_dies_too() {
        for drop_it in [true, false] {
            let mut child = shell("sleep 60 & echo $!; read line");
            let grandchild = child.read_line(later()).unwrap().parse().unwrap();
            assert!(runs(grandchild));
            if drop_it {
                drop(child);
            } else {
                // The child ends by itself; the grandchild holds its pipes.
                child.write_all(b"\n", later()).unwrap();
                let death = died(child.read_line(later()).unwrap_err());
                assert_eq!(death.to_string(), "exit code 0");
            }
            assert!(comes_true(|| !runs(grandchild)));
        }
    }

    #[test]
    fn dropping_reaps() {
        let child = shell("sleep 60");
        let id = child.id();
        drop(child);
        // Not even a zombie: its number is free.
        assert!(!std::path::Path::new(&format!("/proc/{id}")).exists());
    }

    #[test]
    fn both_sides_write_much_at_once() {
        let bytes: Vec<u8> = (0..50_000_000_u32).map(|i| ((i * 7) >> 3) as u8).collect();
        let mut child = shell("exec cat");
        let start = Instant::now();
        child.write_all(&bytes, later()).unwrap();
        let echo = child.read_exact(bytes.len() as u64, later()).unwrap();
        println!("50 MB there and back in {:?}", start.elapsed());
        assert!(echo == bytes);
        child.write_all(b"again\n", later()).unwrap();
        assert_eq!(child.read_line(later()).unwrap(), "again");
    }

    #[test]
    fn a_child_outlives_the_thread_that_started_it() {
        let mut child = thread::spawn(|| shell("read line; echo $line")).join().unwrap();
        thread::sleep(Duration::from_millis(50));
        child.write_all(b"alive\n", later()).unwrap();
        assert_eq!(child.read_line(later()).unwrap(), "alive");
    }

    #[test]
    fn the_address_space_is_limited() {
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -v; ulimit -c"]);
        let limits = Limits { address_space: Some(1 << 30), ..Limits::default() };
        let mut child = Child::spawn(command, limits).unwrap();
        assert_eq!(child.read_line(later()).unwrap(), "1048576");
        assert_eq!(child.read_line(later()).unwrap(), "0");
    }

    /// Not a test by itself: what the next two tests run in a process of its
    /// own. It starts a child, tells its number, and waits for it.
    #[test]
    #[ignore = "run by other tests"]
    fn helper_that_waits_for_a_child() {
        wiregauge_system::interrupt::install().unwrap();
        let mut child = shell("sleep 60 & echo $!; sleep 60");
        let grandchild = child.read_line(later()).unwrap();
        println!("\nids {} {grandchild}", child.id());
        let broken = child.read_line(later() + GRACE * 40).unwrap_err();
        println!("\nbroken {broken:?}");
        if std::env::var_os("WIREGAUGE_TEST_STUBBORN").is_some() {
            let _other = shell("sleep 60");
            loop {
                thread::park();
            }
        }
    }

    /// Starts the helper; its number is that of the test process.
    fn helper(stubborn: bool) -> (Child, Vec<u32>) {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["child::tests::helper_that_waits_for_a_child", "--exact", "--ignored"]);
        command.arg("--nocapture");
        if stubborn {
            command.env("WIREGAUGE_TEST_STUBBORN", "1");
        }
        let mut helper = Child::spawn(command, Limits::default()).unwrap();
        let ids = line_after(&mut helper, "ids ");
        (helper, ids.split(' ').map(|id| id.parse().unwrap()).collect())
    }

    fn line_after(child: &mut Child, start: &str) -> String {
        loop {
            if let Some(rest) = child.read_line(later()).unwrap().strip_prefix(start) {
                return rest.to_owned();
            }
        }
    }

    #[test]
    fn children_do_not_outlive_us() {
        let (helper, ids) = helper(false);
        rustix::process::kill_process(helper.group, Signal::KILL).unwrap();
        // The kernel ends children, but nobody ends grandchildren then.
        assert!(comes_true(|| !runs(ids[0])));
        let group = Pid::from_raw(ids[0] as i32).unwrap();
        let _ = rustix::process::kill_process_group(group, Signal::KILL);
    }

    #[test]
    fn an_interrupt_unwinds_and_a_second_one_ends() {
        for signal in [Signal::INT, Signal::TERM] {
            let (mut helper, ids) = helper(false);
            rustix::process::kill_process(helper.group, signal).unwrap();
            assert_eq!(line_after(&mut helper, "broken "), "Interrupted");
            assert!(comes_true(|| !ids.iter().any(|&id| runs(id))));
            assert_eq!(helper.finish(later()).unwrap().to_string(), "exit code 0");
        }
        let (mut helper, _) = helper(true);
        rustix::process::kill_process(helper.group, Signal::INT).unwrap();
        assert_eq!(line_after(&mut helper, "broken "), "Interrupted");
        rustix::process::kill_process(helper.group, Signal::INT).unwrap();
        assert_eq!(helper.finish(later()).unwrap().to_string(), "exit code 130");
    }
}
