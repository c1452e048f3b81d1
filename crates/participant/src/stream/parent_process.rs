//! Who started this program, at the other end of its standard input and output.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::{ensure, Context, Result};
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use serde::de::DeserializeOwned;
use serde::Serialize;

use super::setup::{Setup, MAX_LINE};
use crate::connect::{connect_with_retry, MAX_OUTAGE};
use crate::control::PROTOCOL_VERSION;
use crate::token::send_token;
use wiregauge_timing::threads::start_thread;

/// How long the program may take to end once nobody wants it any more.
const EXIT_TIMEOUT: Duration = Duration::from_secs(4);
/// Small records are put together with what comes before them.
const SMALL: usize = 16 << 10;

/// Who started this program.
pub struct ParentProcess {
    input: File,
    output: File,
    gone: Arc<AtomicBool>,
    together: Vec<u8>,
}

impl ParentProcess {
    /// Hears what is to be done. From then on the program ends itself, should it hang,
    /// soon after its standard input is closed.
    ///
    /// # Errors
    /// When that is nonsense.
    pub fn read_setup() -> Result<(ParentProcess, Setup)> {
        let mut parent = ParentProcess::open()?;
        let setup: Setup = parent.read_message()?;
        let own = PROTOCOL_VERSION;
        ensure!(setup.version == own, "the setup has version {}, not {own}", setup.version);
        parent.watch()?;
        Ok((parent, setup))
    }

    /// Who is there, and has said nothing yet.
    ///
    /// # Errors
    /// When there is nobody.
    pub fn open() -> Result<ParentProcess> {
        let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
        let output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
        let gone = Arc::new(AtomicBool::new(false));
        Ok(ParentProcess { input, output, gone, together: Vec::new() })
    }

    /// Who leads from another machine, instead of who started this program. That one is still
    /// watched, if [`ParentProcess::watch`] was called.
    ///
    /// # Errors
    /// When it cannot be reached.
    pub fn connect(self, leader: SocketAddr, token: &str) -> Result<ParentProcess> {
        let stream = connect_with_retry(leader, MAX_OUTAGE)
            .with_context(|| format!("cannot reach the leading machine at {leader}"))?;
        stream.set_nodelay(true)?;
        send_token(&stream, token)?;
        let input = File::from(OwnedFd::from(stream.try_clone()?));
        Ok(ParentProcess { input, output: File::from(OwnedFd::from(stream)), ..self })
    }

    /// Hears a line.
    ///
    /// # Errors
    /// When it is nonsense, or there is none.
    pub fn read_message<T: DeserializeOwned>(&mut self) -> Result<T> {
        serde_json::from_slice(&read_line(&mut self.input)?).context("no setup")
    }

    /// From now on the program ends itself, should it hang, soon after its standard input
    /// is closed.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn watch(&self) -> Result<()> {
        let input = File::from(self.input.as_fd().try_clone_to_owned()?);
        watch_input(input, Arc::clone(&self.gone))
    }

    /// Whether nobody wants anything any more.
    pub fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Relaxed)
    }

    /// Says something.
    ///
    /// # Errors
    /// When nobody hears it.
    pub fn send_report<T: Serialize>(&mut self, said: &T) -> Result<()> {
        let mut line = serde_json::to_vec(said)?;
        line.push(b'\n');
        self.output.write_all(&line).context("cannot write to the parent process")
    }

    /// Gives a record.
    ///
    /// # Errors
    /// When nobody takes it.
    pub fn write_record(&mut self, head: &[u8], bytes: &[u8]) -> Result<()> {
        self.together.clear();
        self.together.extend_from_slice(head);
        if bytes.len() <= SMALL {
            self.together.extend_from_slice(bytes);
            return self
                .output
                .write_all(&self.together)
                .context("cannot write to the parent process");
        }
        self.output.write_all(&self.together).context("cannot write to the parent process")?;
        self.output.write_all(bytes).context("cannot write to the parent process")
    }

    /// Whether there is something to read by now, or within so long.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn has_more(&self, patience: Duration) -> Result<bool> {
        let mut waited = [PollFd::new(&self.input, PollFlags::IN)];
        let patience = Timespec::try_from(patience)?;
        match poll(&mut waited, Some(&patience)) {
            Ok(_) => Ok(waited[0].revents().contains(PollFlags::IN)),
            Err(rustix::io::Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads so many bytes; whether they came.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn read(&mut self, bytes: &mut [u8]) -> Result<bool> {
        match self.input.read_exact(bytes) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

/// A line, byte by byte, as nothing behind it may be taken.
fn read_line(input: &mut File) -> Result<Vec<u8>> {
    let (mut line, mut byte) = (Vec::new(), [0]);
    loop {
        input.read_exact(&mut byte).context("no setup")?;
        if byte == *b"\n" {
            return Ok(line);
        }
        line.push(byte[0]);
        ensure!(line.len() <= MAX_LINE, "the setup is too long");
    }
}

/// Notices that standard input was closed, whatever is still in it.
fn watch_input(input: File, gone: Arc<AtomicBool>) -> Result<()> {
    start_thread("starter", move || {
        // What closes a connection is RDHUP, and a pipe HUP, which is always told.
        let mut waited = [PollFd::new(&input, PollFlags::RDHUP)];
        while !matches!(poll(&mut waited, None), Ok(count) if count > 0) {}
        gone.store(true, Ordering::Relaxed);
        thread::sleep(EXIT_TIMEOUT);
        // It waits for a reader that does not read, or for a library.
        std::process::exit(3);
    })?;
    Ok(())
}
