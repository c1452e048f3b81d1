//! The gauge's side of the runner protocol (docs/runner-protocol.md).

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::process::{Broken, Child, Limits};

/// Version of the protocol.
pub const PROTOCOL: u32 = 1;

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
    /// The runner is gone.
    Broken(Broken),
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::Refused(why) => f.write_str(why),
            Trouble::Broken(broken) => write!(f, "the runner {broken}"),
        }
    }
}

impl std::error::Error for Trouble {}

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
        command.args(&spec.arguments);
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
        let Some((word @ ("ok" | "error"), size)) = parsed else {
            let shown: String = line.trim_end().chars().take(60).collect();
            self.child.kill();
            return Err(Broken::Nonsense(format!("answered {shown:?} to '{request}'")).into());
        };
        let reply = self.child.read_exact(size, deadline)?;
        match word {
            "ok" => Ok(reply),
            _ => Err(Trouble::Refused(String::from_utf8_lossy(&reply).trim().to_owned())),
        }
    }

    /// A reply of lines `key value`.
    fn words(&mut self, request: &str) -> Result<BTreeMap<String, String>, Trouble> {
        let reply = self.ask(request, &[])?;
        Ok(String::from_utf8_lossy(&reply)
            .lines()
            .filter_map(|line| line.split_once(' '))
            .map(|(key, value)| (key.to_owned(), value.trim().to_owned()))
            .collect())
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

    /// Sets `buffers` or `objects` to `reused` or `fresh`.
    pub fn set(&mut self, what: &str, how: &str) -> Result<(), Trouble> {
        self.ask(&format!("set {what} {how}"), &[]).map(drop)
    }

    /// Adds a message by its canonical bytes; returns its encoded bytes.
    pub fn message(&mut self, canonical: &[u8]) -> Result<Vec<u8>, Trouble> {
        self.ask(&format!("message {}", canonical.len()), canonical)
    }

    /// Decodes bytes; returns the canonical form of what they hold.
    pub fn decode(&mut self, wire: &[u8]) -> Result<Vec<u8>, Trouble> {
        self.ask(&format!("decode {}", wire.len()), wire)
    }

    /// What the reading experiments find in message `index`: the sum of the
    /// full projection, the fixed field and the element's field.
    pub fn values(&mut self, index: usize) -> Result<[f64; 3], Trouble> {
        let words = self.words(&format!("values {index}"))?;
        Ok([
            Self::number(&words, "project")?,
            Self::number(&words, "fixed")?,
            Self::number(&words, "element")?,
        ])
    }

    /// Runs an experiment on so many messages; returns the nanoseconds of all
    /// of them and the sum of what came out.
    pub fn run(&mut self, experiment: &str, iterations: u64) -> Result<(f64, f64), Trouble> {
        let words = self.words(&format!("run {experiment} {iterations}"))?;
        Ok((Self::number(&words, "ns")?, Self::number(&words, "sum")?))
    }

    /// Heap allocations and bytes requested per message in an experiment. The
    /// allocation counter must be preloaded.
    pub fn allocations(&mut self, experiment: &str) -> Result<(f64, f64), Trouble> {
        let words = self.words(&format!("allocations {experiment}"))?;
        Ok((Self::number(&words, "allocations")?, Self::number(&words, "bytes")?))
    }
}
