//! The gauge's side of the runner protocol (docs/runner-protocol.md).

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::plan::{Numbers, Reading};
use crate::process::{Broken, Child, Limits};
use crate::run::Status;

/// Version of the protocol.
pub const PROTOCOL: u32 = 2;

/// Settings of glibc's allocator, the same for every runner: memory that was
/// freed stays with the process, large pieces too. Otherwise both thresholds
/// would move with what ran before, and a fresh buffer of 40 MB would cost its
/// page faults or not (mallopt(3): M_MMAP_MAX, M_TRIM_THRESHOLD).
const MALLOC: [(&str, &str); 2] =
    [("MALLOC_MMAP_MAX_", "0"), ("MALLOC_TRIM_THRESHOLD_", "1099511627776")];

/// How to start a runner.
#[derive(Clone, Debug)]
pub struct Spec {
    /// [`crate::run::Subject::id`] of what it runs.
    pub id: String,
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// The schema as JSON, for a runner that is not compiled for the message.
    pub schema: Vec<u8>,
}

/// Why a request got no good answer.
#[derive(Debug)]
pub enum Trouble {
    /// The codec refused, and the runner lives on.
    Refused(String),
    /// The format cannot say the message, and the runner lives on.
    Rejected(String),
    /// The runner is gone.
    Broken(Broken),
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::Refused(why) | Trouble::Rejected(why) => f.write_str(why),
            Trouble::Broken(broken) => write!(f, "the runner {broken}"),
        }
    }
}

impl std::error::Error for Trouble {}

impl Trouble {
    /// What becomes of the subject whose runner has it.
    pub fn status(self) -> Status {
        match self {
            Trouble::Rejected(why) => Status::Rejected(why),
            trouble => Status::Failed(trouble.to_string()),
        }
    }
}

impl From<Broken> for Trouble {
    fn from(broken: Broken) -> Trouble {
        Trouble::Broken(broken)
    }
}

/// What a runner said of itself.
#[derive(Clone, Debug, Default)]
pub struct Hello {
    /// Library and version.
    pub library: String,
    /// The experiments that it can do.
    pub experiments: Vec<String>,
    /// Whether decoding and the reading experiments trust the bytes.
    pub unchecked: bool,
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

/// What a run of an experiment brought.
#[derive(Clone, Debug, Default)]
pub struct Epoch {
    /// Nanoseconds of all messages.
    pub ns: f64,
    /// Sum of what came out.
    pub sum: f64,
    /// What the one more iteration read, where it was asked for.
    pub read: Option<Numbers>,
    /// The bytes that it encoded.
    pub encoded: Option<Vec<u8>>,
    /// The canonical form of what it decoded.
    pub decoded: Option<Vec<u8>>,
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
        spec: &Spec,
        limits: Limits,
        preload: Option<(&PathBuf, &[(&str, String)])>,
        patience: Duration,
    ) -> Result<Runner, Trouble> {
        let mut command = Command::new(&spec.program);
        command.args(&spec.arguments).envs(MALLOC);
        if let Some((object, settings)) = preload {
            command.env("LD_PRELOAD", object);
            command.envs(settings.iter().map(|(key, value)| (key, value)));
        }
        let child = Child::spawn(command, limits).map_err(|error| {
            Trouble::Refused(format!("cannot start {}: {error}", spec.program.display()))
        })?;
        let mut runner = Runner { child, patience, hello: Hello::default() };
        runner.hello = runner.greet()?;
        runner.ask(&format!("schema {}", spec.schema.len()), &spec.schema)?;
        Ok(runner)
    }

    fn greet(&mut self) -> Result<Hello, Trouble> {
        let mut words = self.words(&format!("hello {PROTOCOL}"))?;
        let missing =
            |what: &str| Trouble::Broken(Broken::Nonsense(format!("its greeting lacks '{what}'")));
        Ok(Hello {
            library: words.remove("library").ok_or_else(|| missing("library"))?,
            experiments: words
                .remove("experiments")
                .ok_or_else(|| missing("experiments"))?
                .split_whitespace()
                .map(str::to_owned)
                .collect(),
            unchecked: words.remove("unchecked").is_some_and(|word| word == "yes"),
        })
    }

    /// Sends a request with its payload and returns the reply's.
    fn ask(&mut self, request: &str, payload: &[u8]) -> Result<Vec<u8>, Trouble> {
        let deadline = Instant::now() + self.patience;
        let mut message = Vec::with_capacity(request.len() + 1 + payload.len());
        message.extend_from_slice(request.as_bytes());
        message.push(b'\n');
        message.extend_from_slice(payload);
        self.child.write_all(&message, deadline)?;
        let line = self.child.read_line(deadline)?;
        let answer = line.trim_end().split_once(' ');
        let parsed = answer.and_then(|(word, size)| Some((word, size.parse::<u64>().ok()?)));
        let Some((word @ ("ok" | "error" | "rejected"), size)) = parsed else {
            let shown: String = line.trim_end().chars().take(60).collect();
            self.child.kill();
            return Err(Broken::Nonsense(format!("answered {shown:?} to '{request}'")).into());
        };
        let reply = self.child.read_exact(size, deadline)?;
        let why = || String::from_utf8_lossy(&reply).trim().to_owned();
        match word {
            "ok" => Ok(reply),
            "rejected" => Err(Trouble::Rejected(why())),
            _ => Err(Trouble::Refused(why())),
        }
    }

    /// A reply of lines `key value`.
    fn words(&mut self, request: &str) -> Result<BTreeMap<String, String>, Trouble> {
        Ok(words(&self.ask(request, &[])?))
    }

    /// A reply that cannot be: the runner is not believed any more.
    fn nonsense(&mut self, what: String) -> Trouble {
        self.child.kill();
        Trouble::Broken(Broken::Nonsense(what))
    }

    fn number(words: &BTreeMap<String, String>, key: &str) -> Result<f64, Trouble> {
        words
            .get(key)
            .and_then(|text| text.parse().ok())
            .ok_or_else(|| Trouble::Broken(Broken::Nonsense(format!("gave no number '{key}'"))))
    }

    /// Forgets all messages.
    pub fn reset(&mut self) -> Result<(), Trouble> {
        self.ask("reset", &[]).map(drop)
    }

    /// Adds a message by its canonical bytes; returns its encoded bytes.
    pub fn message(&mut self, canonical: &[u8]) -> Result<Vec<u8>, Trouble> {
        self.ask(&format!("message {}", canonical.len()), canonical)
    }

    /// Decodes bytes; returns the canonical form of what they hold.
    pub fn decode(&mut self, wire: &[u8]) -> Result<Vec<u8>, Trouble> {
        self.ask(&format!("decode {}", wire.len()), wire)
    }

    /// What the reading experiments find in message `index`: the full
    /// projection, the fixed field and the element's field.
    pub fn values(&mut self, index: usize) -> Result<[Reading; 3], Trouble> {
        let request = format!("values {index}");
        let words = self.words(&request)?;
        let mut read = |name: &str| {
            let line = words.get(name).map_or("", String::as_str);
            reading(line).ok_or_else(|| {
                self.nonsense(format!(
                    "answered '{name} {line}' to '{request}', not SUM COUNT HASH"
                ))
            })
        };
        Ok([read("project")?, read("fixed")?, read("element")?])
    }

    /// Runs an experiment on so many messages. With `prove` it is done once more
    /// on that message, untimed, and what came out comes back.
    pub fn run(
        &mut self,
        experiment: &str,
        iterations: u64,
        lifetimes: &Lifetimes,
        prove: Option<usize>,
    ) -> Result<Epoch, Trouble> {
        let prove = prove.map_or("none".into(), |index| index.to_string());
        let request = format!("run {experiment} {iterations} {lifetimes} prove={prove}");
        let asked = Instant::now();
        let reply = self.ask(&request, &[])?;
        let waited = asked.elapsed();
        let head =
            reply.windows(2).position(|pair| pair == b"\n\n").map_or(reply.len(), |at| at + 1);
        let words = words(&reply[..head]);
        let mut epoch = Epoch {
            ns: Self::number(&words, "ns")?,
            sum: Self::number(&words, "sum")?,
            ..Epoch::default()
        };
        if !(epoch.ns > 0.0 && epoch.ns <= longest(waited)) {
            return Err(self.nonsense(format!(
                "says that '{request}' took {:e} ns, its answer came after {:e} ns",
                epoch.ns,
                waited.as_nanos() as f64
            )));
        }
        let whole = |key: &str| words.get(key).and_then(|text| text.parse::<u64>().ok());
        if let (Some(count), Some(hash)) = (whole("count"), whole("hash")) {
            epoch.read = Some(Numbers { count, hash });
        }
        let mut rest = reply.get(head + 1..).unwrap_or_default();
        for (name, product) in [("encoded", &mut epoch.encoded), ("decoded", &mut epoch.decoded)] {
            let Some(size) = whole(name) else { continue };
            let Some((bytes, left)) = rest.split_at_checked(size as usize) else {
                return Err(self.nonsense(format!(
                    "announced {size} bytes of '{name}' to '{request}', {} are there",
                    rest.len()
                )));
            };
            *product = Some(bytes.to_vec());
            rest = left;
        }
        Ok(epoch)
    }

    /// Heap allocations and bytes requested per message in an experiment. The
    /// allocation counter must be preloaded.
    pub fn allocations(
        &mut self,
        experiment: &str,
        lifetimes: &Lifetimes,
    ) -> Result<(f64, f64), Trouble> {
        let words = self.words(&format!("allocations {experiment} {lifetimes}"))?;
        Ok((Self::number(&words, "allocations")?, Self::number(&words, "bytes")?))
    }
}

/// Lines of `key value`.
fn words(reply: &[u8]) -> BTreeMap<String, String> {
    String::from_utf8_lossy(reply)
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(key, value)| (key.to_owned(), value.trim().to_owned()))
        .collect()
}

/// `SUM COUNT HASH`.
fn reading(line: &str) -> Option<Reading> {
    let mut words = line.split_whitespace();
    let sum = words.next()?.parse().ok()?;
    let numbers = Numbers { count: words.next()?.parse().ok()?, hash: words.next()?.parse().ok()? };
    Some(Reading { sum, numbers })
}

/// The most nanoseconds that a runner can have timed in this time: its clock may
/// run a little fast beside ours.
fn longest(waited: Duration) -> f64 {
    waited.as_nanos() as f64 * 1.01 + 1e6
}
