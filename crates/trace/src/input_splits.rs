//! Parts of a recording that are read apart, by several processes or machines: each message is
//! in exactly one of them.
//!
//! They are found by summaries and indexes, and by the lengths of an `.osi` file. A part has
//! the messages between two positions of the file, so that whatever an index says, none is
//! read twice and none between two parts is lost.

use crate::channel::Channel;

/// A part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputSplit {
    /// It has the messages from this position on; those of a chunk are where the chunk begins.
    pub from: u64,
    /// Up to before this one.
    pub to: u64,
    /// How many messages of the selected channels are before it, at whatever time; none where
    /// nobody counted, and it begins where the file does.
    pub first: Option<u64>,
    /// How many selected messages it has.
    pub messages: Option<u64>,
    /// How many bytes are read of it, unpacked.
    pub size: u64,
}

/// The parts of a file.
#[derive(Clone, Debug, Default)]
pub struct FileSplits {
    /// In the order of the file; none where it has no message that is wanted.
    pub splits: Vec<InputSplit>,
    /// The channels with messages that are wanted; none where the file does not tell before it
    /// is read.
    pub channels: Option<Vec<Channel>>,
    /// Why it has one part, or what it cost to find more.
    pub remark: &'static str,
}

impl FileSplits {
    /// All of a file as one part.
    pub(crate) fn unsplit(size: u64, remark: &'static str) -> FileSplits {
        let all = InputSplit { from: 0, to: u64::MAX, first: None, messages: None, size };
        FileSplits { splits: vec![all], channels: None, remark }
    }
}

/// Puts pieces together to parts.
pub(crate) struct SplitBuilder {
    most: u64,
    splits: Vec<InputSplit>,
    /// The part that is being put together.
    open: Option<InputSplit>,
    /// Messages of the channels before what comes next.
    number: u64,
}

impl SplitBuilder {
    pub fn new(most: u64) -> SplitBuilder {
        SplitBuilder { most, splits: Vec::new(), open: None, number: 0 }
    }

    /// Adds what begins at a position: how many messages of the channels it has, and how many
    /// of these are wanted. No part begins with what has none.
    pub fn add(&mut self, at: u64, messages: u64, wanted: u64, size: u64) {
        let is_full = |open: &InputSplit| open.size.saturating_add(size) > self.most;
        if wanted > 0 && self.open.as_ref().is_some_and(is_full) {
            self.end_part(at);
        }
        if wanted > 0 && self.open.is_none() {
            // What stands before the first one need not be hopped over.
            let from = if self.number == 0 { 0 } else { at };
            let (first, messages) = (Some(self.number), Some(0));
            self.open = Some(InputSplit { from, to: u64::MAX, first, messages, size: 0 });
        }
        if let Some(open) = &mut self.open {
            open.messages = open.messages.map(|count| count + wanted);
            open.size = open.size.saturating_add(size);
        }
        self.number += messages;
    }

    /// Ends the part before a position.
    pub fn end_part(&mut self, to: u64) {
        self.splits.extend(self.open.take().map(|open| InputSplit { to, ..open }));
    }

    /// The parts; the last one reaches to the end of the file, whatever is there.
    pub fn finish(mut self) -> Vec<InputSplit> {
        self.end_part(u64::MAX);
        self.splits
    }
}
