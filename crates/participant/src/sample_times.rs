//! Every sample of a run, kept until it is over. Nothing is told meanwhile, so
//! that who measures has no more to do than to write a few words into memory.

use anyhow::Result;
use serde::{Deserialize, Serialize};

use wiregauge_timing::allocation::allocate_filled;

/// Most samples that are told at once.
pub const CHUNK_SIZE: usize = 1 << 14;

/// A time that there is not: a sample that did not arrive, a step that was not
/// acknowledged.
const NO_TIME: u64 = u64::MAX;

/// Times of samples, by their sequence.
pub struct SampleTimes<const N: usize> {
    times: Vec<[u64; N]>,
    /// One after the last that was kept.
    end: usize,
}

impl<const N: usize> SampleTimes<N> {
    /// Room for so many samples. All of it is written, so that no page of it is
    /// missing when it is needed.
    ///
    /// # Errors
    /// When there is no memory for them.
    pub fn new(samples: u64) -> Result<SampleTimes<N>> {
        Ok(SampleTimes { times: allocate_filled([NO_TIME; N], samples)?, end: 0 })
    }

    /// Keeps a time of a sample, if there is room for it.
    pub fn set_time(&mut self, sequence: u32, column: usize, time: u64) {
        let at = sequence as usize;
        if let Some(times) = self.times.get_mut(at) {
            times[column] = time;
            self.end = self.end.max(at + 1);
        }
    }

    /// The samples from this one on, as many as are told at once.
    pub fn chunk(&self, first: u64) -> Vec<[Option<u64>; N]> {
        let kept = self.times[..self.end].get(first as usize..).unwrap_or_default();
        let known = |time: u64| (time != NO_TIME).then_some(time);
        kept.iter().take(CHUNK_SIZE).map(|times| times.map(known)).collect()
    }
}

/// Some of what a participant kept. Times are in nanoseconds; those at which
/// something was done are since the epoch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SampleTimesChunk {
    /// Of the sender.
    Sent {
        /// When the first sample of the run was due; none without a pace.
        start: Option<u64>,
        /// When a sample was sent, the time in the call that sends, and in
        /// discrete mode the step.
        times: Vec<[Option<u64>; 3]>,
    },
    /// Of a receiver: when a sample arrived.
    Received(Vec<[Option<u64>; 1]>),
}

/// What a participant kept.
pub enum RecordedTimes {
    /// The sender.
    Sent {
        /// When the first sample of the run was due; none without a pace.
        start: Option<u64>,
        /// When a sample was sent, the time in the call that sends, the step.
        record: SampleTimes<3>,
    },
    /// A receiver: when samples arrived.
    Received(SampleTimes<1>),
}

impl RecordedTimes {
    /// What is told from this sample on.
    pub fn chunk(&self, first: u64) -> SampleTimesChunk {
        match self {
            RecordedTimes::Sent { start, record } => {
                SampleTimesChunk::Sent { start: *start, times: record.chunk(first) }
            }
            RecordedTimes::Received(record) => SampleTimesChunk::Received(record.chunk(first)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_told_by_pieces() {
        let samples = CHUNK_SIZE as u64 + 3;
        let mut record = SampleTimes::<2>::new(samples).unwrap();
        assert!(record.chunk(0).is_empty());
        for sequence in [0, 2, CHUNK_SIZE as u32, CHUNK_SIZE as u32 + 1] {
            record.set_time(sequence, 1, 7);
        }
        // There is no room for it.
        record.set_time(samples as u32, 0, 7);
        let first = record.chunk(0);
        assert_eq!((first.len(), first[0], first[1]), (CHUNK_SIZE, [None, Some(7)], [None, None]));
        assert_eq!(record.chunk(CHUNK_SIZE as u64), [[None, Some(7)]; 2]);
        assert!(record.chunk(CHUNK_SIZE as u64 + 2).is_empty());
        assert!(record.chunk(u64::MAX).is_empty());
        assert!(SampleTimes::<1>::new(0).unwrap().chunk(0).is_empty());
    }
}
