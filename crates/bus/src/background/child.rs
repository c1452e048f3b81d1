//! A process that loads this machine, as who started it sees it.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{bail, ensure, Context, Result};
use wiregauge_child_process::child::{Child, ChildFailure, Limits};
use wiregauge_system::interrupt::Interrupted;

use crate::background::message::{BackgroundReport, BackgroundSetup, TakenBackground};

/// How long it may take to answer: its own loops keep it from its processor.
pub const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);
const LOST: &str = "the background load is lost";

/// A process that loads this machine. It is killed when this is dropped.
#[derive(Debug)]
pub struct BackgroundChild {
    child: Child,
    /// Where its flow comes, if one does.
    pub port: Option<u16>,
}

impl BackgroundChild {
    /// Starts it, and waits until the machine is loaded.
    ///
    /// # Errors
    /// When it cannot be loaded so, and why; when the user asks to stop.
    pub fn start(command: Command, setup: &BackgroundSetup) -> Result<BackgroundChild> {
        let child = Child::spawn(command, Limits::default());
        let child = child.context("cannot start the background load")?;
        let mut started = BackgroundChild { child, port: None };
        let mut line = serde_json::to_vec(setup)?;
        line.push(b'\n');
        match started.ask(&line)? {
            BackgroundReport::Ready(port) => started.port = port,
            other => bail!("the background load answers {other:?}"),
        }
        Ok(started)
    }

    /// Looks whether it still loads the machine.
    ///
    /// # Errors
    /// When it has ended by itself.
    pub fn check(&self) -> Result<()> {
        ensure!(!self.child.has_ended(), LOST);
        Ok(())
    }

    /// Ends it: what it took.
    ///
    /// # Errors
    /// When it has ended by itself, so that nobody knows since when; when the user asks to stop.
    pub fn finish(mut self) -> Result<TakenBackground> {
        match self.ask(b"\n")? {
            BackgroundReport::Took(taken) => Ok(taken),
            other => bail!("the background load answers {other:?}"),
        }
    }

    fn ask(&mut self, line: &[u8]) -> Result<BackgroundReport> {
        let deadline = Instant::now() + ANSWER_TIMEOUT;
        let said = self.child.write_all(line, deadline);
        match said.and_then(|()| self.child.read_line(deadline)) {
            Ok(line) => match serde_json::from_str(&line).context("the background load")? {
                BackgroundReport::Failed(why) => bail!("the background load fails: {why}"),
                report => Ok(report),
            },
            Err(ChildFailure::Interrupted) => Err(Interrupted.into()),
            Err(failure) => Err(failure).context(LOST),
        }
    }
}
