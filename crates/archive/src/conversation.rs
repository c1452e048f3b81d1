//! A program that reads archives, which is asked for one part after another. `archive/src/main.rs`
//! documents what is spoken.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail, ensure, Context, Error, Result};
use serde::{Deserialize, Serialize};
use wiregauge_child_process::child::{Child, ChildFailure, Limits};
use wiregauge_system::interrupt::Interrupted;

/// What both sides speak.
const PROTOCOL: u32 = 1;

/// How long the program may take to start.
const START: Duration = Duration::from_secs(30);

/// How long an answer may take, with all that is tried again: the program itself gives up
/// before, unless the user lets it wait for longer.
const ANSWER: Duration = Duration::from_secs(3600);

/// A part of a file.
#[derive(Serialize)]
pub struct Request<'a> {
    pub url: &'a str,
    pub from: u64,
    pub length: u64,
    /// The version that it must be, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<&'a str>,
}

/// What comes before the bytes.
#[derive(Deserialize)]
#[serde(untagged)]
enum Head {
    Fault { fault: String },
    Part { length: u64, size: u64, version: String },
}

#[derive(Deserialize)]
struct Greeting {
    protocol: u32,
}

/// An answer.
pub struct Answer {
    pub bytes: Vec<u8>,
    /// Of the whole file.
    pub size: u64,
    pub version: String,
}

/// A program that was started.
pub struct Conversation(Child);

impl Conversation {
    /// Starts it.
    pub fn start(program: &Path) -> Result<Conversation> {
        let mut child = Child::spawn(Command::new(program), Limits::default())
            .with_context(|| format!("cannot start {}", program.display()))?;
        let line = child.read_line(Instant::now() + START).map_err(explain)?;
        let greeting: Greeting = serde_json::from_str(&line).unwrap_or(Greeting { protocol: 0 });
        ensure!(
            greeting.protocol == PROTOCOL,
            "{} is of another version of wiregauge; install both from one package",
            program.display()
        );
        Ok(Conversation(child))
    }

    /// Asks for a part; the inner error is one of the archive, and the program can be asked on.
    pub fn ask(&mut self, request: &Request) -> Result<Result<Answer>> {
        let deadline = Instant::now() + ANSWER;
        let line = format!("{}\n", serde_json::to_string(request)?);
        self.0.write_all(line.as_bytes(), deadline).map_err(explain)?;
        let head = self.0.read_line(deadline).map_err(explain)?;
        match serde_json::from_str(&head) {
            Ok(Head::Fault { fault }) => Ok(Err(anyhow!("{fault}"))),
            Ok(Head::Part { length, size, version }) if length <= request.length => {
                let bytes = self.0.read_exact(length, deadline).map_err(explain)?;
                Ok(Ok(Answer { bytes, size, version }))
            }
            _ => bail!("what reads archives sent a malformed answer"),
        }
    }
}

/// What happened to the program.
fn explain(failure: ChildFailure) -> Error {
    match failure {
        ChildFailure::Interrupted => Interrupted.into(),
        other => anyhow!("what reads archives {other}"),
    }
}
