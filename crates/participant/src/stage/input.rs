//! What comes to a stage.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Result;

use crate::sample::{Message, SampleContent};
use crate::transport::Reader;
use wiregauge_timing::clock::monotonic;

/// Longest wait for a sample between two looks at whether to go on.
pub const SLICE: Duration = Duration::from_millis(20);

/// Samples as they come, checked against the message.
pub struct StageInput {
    reader: Box<dyn Reader>,
    message: Vec<u8>,
    size: usize,
    /// What came until now.
    pub received: ReceivedSamples,
}

/// What came to a stage.
#[derive(Debug, Default)]
pub struct ReceivedSamples {
    /// Sequence and time of each sample.
    pub arrivals: Vec<[u64; 2]>,
    /// Samples that were not what was sent.
    pub damaged: u64,
}

impl StageInput {
    /// What comes over a reader of samples of this size, which carry this message.
    pub fn new(reader: Box<dyn Reader>, message: Vec<u8>, size: usize) -> StageInput {
        StageInput { reader, message, size, received: ReceivedSamples::default() }
    }

    /// The sequence of the next sample, if one comes within a moment. Its time is taken
    /// before it is checked.
    ///
    /// # Errors
    /// When the stage before is gone.
    pub fn next(&mut self, epoch: u64) -> Result<Option<u64>> {
        let Some(sample) = self.reader.next(SLICE)? else { return Ok(None) };
        let now = monotonic();
        let content = SampleContent {
            size: self.size,
            seed: 0,
            count: u64::from(u32::MAX),
            message: Some(Message::behind_header(&self.message)),
        };
        match content.check(sample, now.saturating_sub(epoch)) {
            Ok(header) => {
                let sequence = u64::from(header.sequence);
                self.received.arrivals.push([sequence, now]);
                Ok(Some(sequence))
            }
            Err(_) => {
                self.received.damaged += 1;
                Ok(None)
            }
        }
    }
}

/// The newest sample of a stage with a cycle: what came before it is overwritten.
#[derive(Clone, Default)]
pub struct NewestSample {
    sequence: Arc<Mutex<Option<u64>>>,
    closed: Arc<AtomicBool>,
}

impl NewestSample {
    /// Replaces what was there.
    pub fn put(&self, sequence: u64) {
        *self.sequence.lock().unwrap_or_else(PoisonError::into_inner) = Some(sequence);
    }

    /// Takes it, if there is one that was not taken yet.
    pub fn take(&self) -> Option<u64> {
        self.sequence.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Nobody takes any more.
    pub fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }

    /// Whether nobody takes any more.
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_newest_is_taken_and_only_once() {
        let newest = NewestSample::default();
        assert_eq!(newest.take(), None);
        newest.put(3);
        newest.put(4);
        assert_eq!((newest.take(), newest.take()), (Some(4), None));
    }
}
