//! A program with stages on another machine, as the one that leads talks to it.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{bail, ensure, Context, Result};
use wiregauge_bus::catalogue::engine::Engine;
use wiregauge_bus::machines::remote::{RemoteMachine, RemoteProcess};
use wiregauge_bus::secret;
use wiregauge_participant::token::accept_with_token;
use wiregauge_system::interrupt;

/// How long the program may take to come.
const ARRIVAL_TIMEOUT: Duration = Duration::from_secs(30);
/// Longest wait between two looks at whether the program is still there.
const SLICE: Duration = Duration::from_millis(50);
/// Read at once, in bytes.
const CHUNK: usize = 64 << 10;
/// Longest line, in bytes.
const MAX_LINE: usize = 16 << 20;

/// A program with stages on another machine. It is ended when this is dropped.
pub struct RemoteStages {
    stream: TcpStream,
    /// Read and not yet taken.
    inbox: Vec<u8>,
    process: RemoteProcess,
}

impl RemoteStages {
    /// Starts it with the stages of these names, and waits until it comes.
    ///
    /// # Errors
    /// When it does not start, and why; when the machine is lost or the user asks to stop.
    pub fn start(
        machine: &Arc<RemoteMachine>,
        engine: Option<&Engine>,
        names: &[&str],
    ) -> Result<RemoteStages> {
        let at = machine.local_address();
        let listener = TcpListener::bind(at).with_context(|| format!("cannot listen at {at}"))?;
        listener.set_nonblocking(true)?;
        let token = secret::new_token()?;
        let process = machine.start(engine, listener.local_addr()?.port(), names, &token)?;
        let deadline = Instant::now() + ARRIVAL_TIMEOUT;
        let mut stream = None;
        while stream.is_none() {
            interrupt::check()?;
            ensure!(!process.has_ended(), describe_death(&process));
            ensure!(Instant::now() < deadline, "it did not come within {ARRIVAL_TIMEOUT:?}");
            accept_with_token(&listener, &token, "a program with stages", SLICE, |came| {
                stream = Some(came);
                Ok(ControlFlow::Break(()))
            })?;
        }
        let stream = stream.context("nobody came")?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(SLICE))?;
        stream.set_write_timeout(Some(ARRIVAL_TIMEOUT))?;
        Ok(RemoteStages { stream, inbox: Vec::new(), process })
    }

    /// Writes all of this.
    ///
    /// # Errors
    /// When it is gone, and why.
    pub fn write_all(&mut self, bytes: &[u8]) -> Result<()> {
        match self.stream.write_all(bytes) {
            Ok(()) => Ok(()),
            Err(error) => self.explain(error),
        }
    }

    /// Reads a line.
    ///
    /// # Errors
    /// When it is gone, and why; when none comes in time or the user asks to stop.
    pub fn read_line(&mut self, deadline: Instant) -> Result<String> {
        let mut seen = 0;
        loop {
            if let Some(end) = self.inbox[seen..].iter().position(|byte| *byte == b'\n') {
                let mut line: Vec<u8> = self.inbox.drain(..=seen + end).collect();
                line.pop();
                return String::from_utf8(line).context("it sent no text");
            }
            seen = self.inbox.len();
            ensure!(seen <= MAX_LINE, "it sent a line without an end");
            self.read_more(deadline)?;
        }
    }

    /// Reads so many bytes.
    ///
    /// # Errors
    /// As of a line.
    pub fn read_exact(&mut self, count: usize, deadline: Instant) -> Result<Vec<u8>> {
        while self.inbox.len() < count {
            self.read_more(deadline)?;
        }
        Ok(self.inbox.drain(..count).collect())
    }

    fn read_more(&mut self, deadline: Instant) -> Result<()> {
        let mut chunk = [0; CHUNK];
        loop {
            interrupt::check()?;
            match self.stream.read(&mut chunk) {
                Ok(0) => return self.explain(ErrorKind::UnexpectedEof.into()),
                Ok(count) => {
                    self.inbox.extend_from_slice(&chunk[..count]);
                    return Ok(());
                }
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => {
                        ensure!(!self.process.has_ended(), describe_death(&self.process));
                        ensure!(Instant::now() < deadline, "it did not answer in time");
                    }
                    _ => return self.explain(error),
                },
            }
        }
    }

    /// The error of a connection that broke: what the program died of says more.
    fn explain<T>(&self, error: io::Error) -> Result<T> {
        let deadline = Instant::now() + 10 * SLICE;
        while !self.process.has_ended() && Instant::now() < deadline {
            interrupt::check()?;
            std::thread::sleep(SLICE);
        }
        match self.process.has_ended() {
            true => bail!(describe_death(&self.process)),
            false => Err(error).context("the connection to it broke"),
        }
    }

    /// Whether it has ended, or its machine is lost.
    pub fn has_ended(&self) -> bool {
        self.process.has_ended()
    }

    /// What it died of, if it did.
    pub fn death(&self) -> Option<String> {
        self.process.death()
    }

    /// Has it end.
    pub fn finish(self, deadline: Instant) {
        drop(self.stream);
        self.process.finish(deadline);
    }
}

fn describe_death(process: &RemoteProcess) -> String {
    process.death().unwrap_or_else(|| "it ended".into())
}
