//! An FMU that takes messages from the master: those of a trace.

use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::fmi::osmp::MessageSpan;
use crate::host::job::{Feed, HostSummary};
use crate::host::loaded_fmu::ReceivingFmu;
use crate::host::position::HostPosition;

/// An FMU with the last two messages that it was given: it may look at one until the next
/// step is done.
pub struct FedFmu {
    model: ReceivingFmu,
    message: PathBuf,
    result: PathBuf,
    messages: [Vec<u8>; 2],
    done: u64,
    end: Option<String>,
    account: HostSummary,
}

impl FedFmu {
    /// Loads and initializes it.
    ///
    /// # Errors
    /// Says what it refuses.
    pub fn load(feed: Feed, place: &HostPosition) -> Result<FedFmu> {
        Ok(FedFmu {
            model: ReceivingFmu::load(&feed.model, feed.start, true, place)?,
            message: feed.message,
            result: feed.result,
            messages: [Vec::new(), Vec::new()],
            done: 0,
            end: None,
            account: HostSummary::default(),
        })
    }

    /// One step from a time on, with the message that lies in its file. What comes out is put
    /// into another file; why there are no further steps is the answer.
    ///
    /// # Errors
    /// Names what fails, and how.
    pub fn step(&mut self, time: f64, size: f64, place: &HostPosition) -> Result<Option<String>> {
        if self.end.is_some() {
            return Ok(self.end.clone());
        }
        let [last, next] = &mut self.messages;
        std::mem::swap(last, next);
        *next = fs::read(&self.message)
            .with_context(|| format!("cannot read {}", self.message.display()))?;
        let span = MessageSpan { address: next.as_ptr() as usize, size: next.len() as i64 };
        let number = self.done;
        match self.model.step(span, [time, size], number, &mut self.account, place)? {
            ControlFlow::Break(end) => self.end = Some(end),
            ControlFlow::Continue(taken) => {
                self.done += 1;
                // SAFETY: an FMU keeps its message until its next step, and none is called
                // before the bytes are written.
                let bytes = unsafe { taken.result.bytes() }.map_err(anyhow::Error::msg)?;
                fs::write(&self.result, bytes)
                    .with_context(|| format!("cannot write {}", self.result.display()))?;
                let other_outputs = |at: usize| self.result.with_extension(at.to_string());
                self.model.write_other_outputs(number, place, other_outputs)?;
                self.end = self.model.end(number);
            }
        }
        Ok(self.end.clone())
    }

    /// Ends it.
    ///
    /// # Errors
    /// When it does not end well.
    pub fn finish(self, place: &HostPosition) -> Result<HostSummary> {
        self.model.finish(place)?;
        Ok(HostSummary { steps: self.done, ..self.account })
    }
}
