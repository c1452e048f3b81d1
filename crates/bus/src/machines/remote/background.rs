//! What loads another machine, as the leader sees it.

use std::sync::atomic::Ordering;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{bail, Result};
use wiregauge_participant::control::HEARTBEAT_INTERVAL;
use wiregauge_system::interrupt;

use super::{Link, RemoteMachine};
use crate::background::child::ANSWER_TIMEOUT;
use crate::background::message::{BackgroundReport, BackgroundSetup, TakenBackground};
use crate::machines::message::Task;

/// A process on another machine that loads it. It is ended when this is dropped.
#[derive(Debug)]
pub struct RemoteBackground {
    remote: Arc<RemoteMachine>,
    link: Arc<Link>,
    run: u64,
    /// Where its flow comes, if one does.
    pub port: Option<u16>,
}

impl RemoteMachine {
    /// Loads it.
    ///
    /// # Errors
    /// When it cannot be loaded so or is lost; when the user asks to stop.
    pub fn start_background(self: &Arc<Self>, setup: BackgroundSetup) -> Result<RemoteBackground> {
        let run = self.runs.fetch_add(1, Ordering::Relaxed);
        let (remote, link) = (Arc::clone(self), self.link());
        self.send(&link, &Task::StartBackground(run, setup))?;
        let mut started = RemoteBackground { remote, link, run, port: None };
        match started.answer()? {
            BackgroundReport::Ready(port) => started.port = port,
            other => bail!("the background load answers {other:?}"),
        }
        Ok(started)
    }
}

impl RemoteBackground {
    /// Ends it: what it took.
    ///
    /// # Errors
    /// When it or the machine is lost; when the user asks to stop.
    pub fn finish(self) -> Result<TakenBackground> {
        self.remote.send(&self.link, &Task::EndBackground(self.run))?;
        match self.answer()? {
            BackgroundReport::Took(taken) => Ok(taken),
            other => bail!("the background load answers {other:?}"),
        }
    }

    fn answer(&self) -> Result<BackgroundReport> {
        let (run, deadline) = (self.run, Instant::now() + ANSWER_TIMEOUT);
        loop {
            interrupt::check()?;
            let known = &self.link.known;
            let mut state =
                known.wait(HEARTBEAT_INTERVAL, |state| !state.background.contains_key(&run));
            let report = state.background.remove(&run);
            drop(state);
            match report {
                Some(BackgroundReport::Failed(why)) => {
                    bail!("{why}, on the machine of {}", self.remote.names.join(", "))
                }
                Some(report) => return Ok(report),
                None => {}
            }
            if let Some(lost) = self.remote.format_loss(&self.link) {
                bail!(lost);
            }
            if Instant::now() >= deadline {
                let names = self.remote.names.join(", ");
                bail!("the background load of the machine of {names} does not answer");
            }
        }
    }
}

impl Drop for RemoteBackground {
    fn drop(&mut self) {
        // Who is gone ends it by itself; of one that has ended it answers nothing.
        let _ = self.link.speaker.send(&Task::EndBackground(self.run));
    }
}
