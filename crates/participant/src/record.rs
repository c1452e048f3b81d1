//! Every sample of a run, kept until it is over. Nothing is told meanwhile, so
//! that who measures has no more to do than to write a few words into memory.

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::sample::filled;

/// Most samples that are told at once.
pub const PIECE: usize = 1 << 14;

/// A time that there is not: a sample that did not arrive, a step that was not
/// acknowledged.
const NONE: u64 = u64::MAX;

/// Times of samples, by their sequence.
pub struct Record<const N: usize> {
    times: Vec<[u64; N]>,
    /// One after the last that was kept.
    end: usize,
}

impl<const N: usize> Record<N> {
    /// Room for so many samples. All of it is written, so that no page of it is
    /// missing when it is needed.
    ///
    /// # Errors
    /// When there is no memory for them.
    pub fn new(samples: u64) -> Result<Record<N>> {
        Ok(Record { times: filled([NONE; N], samples)?, end: 0 })
    }

    /// Keeps a time of a sample, if there is room for it.
    pub fn keep(&mut self, sequence: u32, column: usize, time: u64) {
        let at = sequence as usize;
        if let Some(times) = self.times.get_mut(at) {
            times[column] = time;
            self.end = self.end.max(at + 1);
        }
    }

    /// The samples from this one on, as many as are told at once.
    pub fn piece(&self, first: u64) -> Vec<[Option<u64>; N]> {
        let kept = self.times[..self.end].get(first as usize..).unwrap_or_default();
        let known = |time: u64| (time != NONE).then_some(time);
        kept.iter().take(PIECE).map(|times| times.map(known)).collect()
    }
}

/// Some of what a participant kept. Times are in nanoseconds; those at which
/// something was done are since the epoch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Piece {
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
pub enum Kept {
    /// The sender.
    Sent {
        /// When the first sample of the run was due; none without a pace.
        start: Option<u64>,
        /// When a sample was sent, the time in the call that sends, the step.
        record: Record<3>,
    },
    /// A receiver: when samples arrived.
    Received(Record<1>),
}

impl Kept {
    /// What is told from this sample on.
    pub fn piece(&self, first: u64) -> Piece {
        match self {
            Kept::Sent { start, record } => {
                Piece::Sent { start: *start, times: record.piece(first) }
            }
            Kept::Received(record) => Piece::Received(record.piece(first)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_told_by_pieces() {
        let samples = PIECE as u64 + 3;
        let mut record = Record::<2>::new(samples).unwrap();
        assert!(record.piece(0).is_empty());
        for sequence in [0, 2, PIECE as u32, PIECE as u32 + 1] {
            record.keep(sequence, 1, 7);
        }
        // There is no room for it.
        record.keep(samples as u32, 0, 7);
        let first = record.piece(0);
        assert_eq!((first.len(), first[0], first[1]), (PIECE, [None, Some(7)], [None, None]));
        assert_eq!(record.piece(PIECE as u64), [[None, Some(7)]; 2]);
        assert!(record.piece(PIECE as u64 + 2).is_empty());
        assert!(record.piece(u64::MAX).is_empty());
        assert!(Record::<1>::new(0).unwrap().piece(0).is_empty());
    }
}
