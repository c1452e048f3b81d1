//! The gauge's side of the runner protocol (docs/runner-protocol.md).

use std::env;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use crate::child::{Child, ChildFailure, Limits};
use crate::reply::{self, Collections, Epoch, Hello, Reading, ReplyStatus};

/// Version of the protocol.
pub const PROTOCOL: u32 = 2;

/// Settings of glibc's allocator, the same for every runner: memory that was
/// freed stays with the process, large pieces too. Otherwise both thresholds
/// would move with what ran before, and a fresh buffer of 40 MB would cost its
/// page faults or not (mallopt(3): M_MMAP_MAX, M_TRIM_THRESHOLD).
pub const MALLOC: [(&str, &str); 2] =
    [("MALLOC_MMAP_MAX_", "0"), ("MALLOC_TRIM_THRESHOLD_", "1099511627776")];

/// How long a runner sleeps and takes no time of a processor that waits for a request.
const IDLE: Duration = Duration::from_millis(1);

/// How to start a runner.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    /// Id of the subject that it runs.
    pub id: String,
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// The schema as JSON, for a runner that is not compiled for the message.
    pub schema: Vec<u8>,
    /// Folders of shared libraries that it loads before those of the machine.
    pub libraries: Vec<PathBuf>,
}

impl Launch {
    /// The variable by which the system's loader is told its libraries, where there are any.
    pub fn library_path(&self) -> Option<(&'static str, OsString)> {
        let path = env::join_paths(&self.libraries).ok().filter(|path| !path.is_empty())?;
        Some(("LD_LIBRARY_PATH", path))
    }
}

/// Why a request got no good answer.
#[derive(Debug)]
pub enum RunnerError {
    /// The codec refused, and the runner lives on.
    Refused(String),
    /// The format cannot say the message, and the runner lives on.
    Rejected(String),
    /// The runner is gone.
    Broken(ChildFailure),
}

impl fmt::Display for RunnerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunnerError::Refused(why) | RunnerError::Rejected(why) => f.write_str(why),
            RunnerError::Broken(broken) => write!(f, "the runner {broken}"),
        }
    }
}

impl std::error::Error for RunnerError {}

impl From<ChildFailure> for RunnerError {
    fn from(broken: ChildFailure) -> RunnerError {
        RunnerError::Broken(broken)
    }
}

/// How long what a codec uses lives: `reused` from message to message, or
/// `fresh` for each. Every request states all three.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lifetimes {
    /// What a user of the library keeps that is no message.
    pub scratch: String,
    /// The library's own form of a message, and the normalized one.
    pub objects: String,
    /// Output buffers.
    pub buffers: String,
}

impl fmt::Display for Lifetimes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Lifetimes { scratch, objects, buffers } = self;
        write!(f, "scratch={scratch} objects={objects} buffers={buffers}")
    }
}

/// A running runner.
pub struct Runner {
    child: Child,
    /// How long an answer may take.
    patience: Duration,
    /// What it said of itself.
    pub hello: Hello,
}

impl Runner {
    /// Starts a runner and greets it. With `preload`, that shared object is
    /// loaded into it, with these settings for it.
    pub fn start(
        launch: &Launch,
        limits: Limits,
        preload: Option<(&PathBuf, &[(&str, String)])>,
        patience: Duration,
    ) -> Result<Runner, RunnerError> {
        let mut command = Command::new(&launch.program);
        command.args(&launch.arguments).envs(MALLOC).envs(launch.library_path());
        if let Some((object, settings)) = preload {
            command.env("LD_PRELOAD", object);
            command.envs(settings.iter().map(|(key, value)| (key, value)));
        }
        let child = Child::spawn(command, limits).map_err(|error| {
            RunnerError::Refused(format!("cannot start {}: {error}", launch.program.display()))
        })?;
        let mut runner = Runner { child, patience, hello: Hello::default() };
        runner.hello = runner.greet()?;
        runner.send_request(&format!("schema {}", launch.schema.len()), &launch.schema)?;
        Ok(runner)
    }

    /// Asks for something in which nothing is timed.
    pub fn greet(&mut self) -> Result<Hello, RunnerError> {
        let reply = self.send_request(&format!("hello {PROTOCOL}"), &[])?;
        reply::hello(&reply).map_err(|what| self.protocol_error(what))
    }

    /// Sends a request with its payload and returns the reply's.
    fn send_request(&mut self, request: &str, payload: &[u8]) -> Result<Vec<u8>, RunnerError> {
        let deadline = Instant::now() + self.patience;
        let mut message = Vec::new();
        let size = request.len() + 1 + payload.len();
        message.try_reserve_exact(size).map_err(|_| {
            RunnerError::Refused(format!("there is no memory for a message of {size} bytes"))
        })?;
        message.extend_from_slice(request.as_bytes());
        message.push(b'\n');
        message.extend_from_slice(payload);
        self.child.write_all(&message, deadline)?;
        let line = self.child.read_line(deadline)?;
        let Some((word, size)) = reply::parse_head(&line) else {
            let shown: String = line.trim_end().chars().take(60).collect();
            return Err(self.protocol_error(format!("answered {shown:?} to '{request}'")));
        };
        let reply = self.child.read_exact(size, deadline)?;
        match word {
            ReplyStatus::Ok => Ok(reply),
            ReplyStatus::Rejected => Err(RunnerError::Rejected(reply::error_text(&reply))),
            ReplyStatus::Error => Err(RunnerError::Refused(reply::error_text(&reply))),
        }
    }

    /// A reply that cannot be: the runner is not believed any more.
    fn protocol_error(&mut self, what: String) -> RunnerError {
        self.child.kill();
        RunnerError::Broken(ChildFailure::Nonsense(what))
    }

    /// Waits until the runner waits for a request: what it did after its reply is done.
    pub fn await_idle(&self) -> Result<(), RunnerError> {
        let deadline = Instant::now() + self.patience;
        let mut before = None;
        while Instant::now() < deadline {
            let now = self.child.time_used_asleep();
            if now.is_some() && now == before {
                return Ok(());
            }
            before = now;
            thread::sleep(IDLE);
        }
        Err(RunnerError::Refused("does not wait for requests after its reply".into()))
    }

    /// The files that its process executes: the program and the libraries that it has
    /// loaded until now, also those of an interpreter.
    pub fn loaded_files(&self) -> Vec<PathBuf> {
        let maps = fs::read_to_string(format!("/proc/{}/maps", self.child.id()));
        // proc_pid_maps(5): the path is the rest of a line after five fields.
        let executed = |line: &str| {
            let (_, rest) = line.split_once(' ')?;
            let path = rest.find('/').filter(|_| rest.as_bytes().get(2) == Some(&b'x'))?;
            Some(PathBuf::from(&rest[path..]))
        };
        let mut files: Vec<PathBuf> =
            maps.unwrap_or_default().lines().filter_map(executed).collect();
        files.dedup();
        files
    }

    /// Forgets all messages.
    pub fn reset(&mut self) -> Result<(), RunnerError> {
        self.send_request("reset", &[]).map(drop)
    }

    /// Adds a message by its canonical bytes; returns its encoded bytes.
    pub fn message(&mut self, canonical: &[u8]) -> Result<Vec<u8>, RunnerError> {
        self.send_request(&format!("message {}", canonical.len()), canonical)
    }

    /// Decodes bytes; returns the canonical form of what they hold.
    pub fn decode(&mut self, wire: &[u8]) -> Result<Vec<u8>, RunnerError> {
        self.send_request(&format!("decode {}", wire.len()), wire)
    }

    /// The same for bytes that a decoder may hang of: it has, once it has taken more than this of
    /// the processors.
    pub fn decode_within(&mut self, wire: &[u8], limit: Duration) -> Result<Vec<u8>, RunnerError> {
        self.child.limit_processor_time(Some(limit));
        let decoded = self.decode(wire);
        self.child.limit_processor_time(None);
        decoded
    }

    /// What the reading experiments find in message `index`: the full
    /// projection, the fixed field and the element's field.
    pub fn values(&mut self, index: usize) -> Result<[Reading; 3], RunnerError> {
        let request = format!("values {index}");
        let reply = self.send_request(&request, &[])?;
        reply::values(&reply)
            .map_err(|what| self.protocol_error(format!("answered {what} to '{request}'")))
    }

    /// Runs an experiment on so many messages. With `prove` it is done once more
    /// on that message, untimed, and what came out comes back.
    pub fn run(
        &mut self,
        experiment: &str,
        iterations: u64,
        lifetimes: &Lifetimes,
        prove: Option<usize>,
    ) -> Result<Epoch, RunnerError> {
        let prove = prove.map_or("none".into(), |index| index.to_string());
        let request = format!("run {experiment} {iterations} {lifetimes} prove={prove}");
        let asked = Instant::now();
        let reply = self.send_request(&request, &[])?;
        let waited = asked.elapsed();
        let epoch = reply::epoch(&reply)
            .map_err(|what| self.protocol_error(format!("{what} to '{request}'")))?;
        if !(epoch.ns > 0.0 && epoch.ns <= max_measured_ns(waited)) {
            return Err(self.protocol_error(format!(
                "reported {:e} ns for '{request}', but answered after {:e} ns",
                epoch.ns,
                waited.as_nanos() as f64
            )));
        }
        Ok(epoch)
    }

    /// Heap allocations, where they are counted, and bytes requested per message in an
    /// experiment. The allocation counter must be preloaded.
    pub fn allocations(
        &mut self,
        experiment: &str,
        lifetimes: &Lifetimes,
    ) -> Result<(Option<f64>, f64), RunnerError> {
        let request = format!("allocations {experiment} {lifetimes}");
        let reply = self.send_request(&request, &[])?;
        reply::allocations(&reply)
            .map_err(|what| self.protocol_error(format!("{what} to '{request}'")))
    }

    /// Nanoseconds of the process's first encoding and of its first decoding.
    pub fn cold(&mut self) -> Result<(f64, f64), RunnerError> {
        let reply = self.send_request("cold", &[])?;
        reply::cold(&reply).map_err(|what| self.protocol_error(format!("{what} to 'cold'")))
    }

    /// How much of so many messages of an experiment is the collection of garbage.
    pub fn collections(
        &mut self,
        experiment: &str,
        iterations: u64,
        lifetimes: &Lifetimes,
    ) -> Result<Collections, RunnerError> {
        let request = format!("collections {experiment} {iterations} {lifetimes}");
        let reply = self.send_request(&request, &[])?;
        reply::collections(&reply)
            .map_err(|what| self.protocol_error(format!("{what} to '{request}'")))
    }
}

/// The most nanoseconds that a runner can have timed in this time: its clock may
/// run a little fast beside ours.
fn max_measured_ns(waited: Duration) -> f64 {
    waited.as_nanos() as f64 * 1.01 + 1e6
}
