//! Messages of a file in the order of their times, as far as a window of memory reaches.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use anyhow::{ensure, Result};

use crate::read::{MessageInfo, Nanoseconds};
use crate::select::SelectedMessages;

/// How the messages of a file are put in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SortOptions {
    /// How many bytes of messages of a file are held for it, and at least one message.
    pub window: u64,
    /// Whether a message that comes too late for that is an error.
    pub strict: bool,
}

/// Messages that wait for others of earlier times.
pub(crate) struct MessageSorter {
    of: SortOptions,
    waiting: BinaryHeap<Reverse<QueuedMessage>>,
    /// How many bytes wait.
    held: u64,
    /// How many messages were read.
    count: u64,
    /// The time of the last message that was read: one without a time stays behind it.
    before: Nanoseconds,
    /// The latest time that was handed on.
    latest: Nanoseconds,
    ended: bool,
}

/// A message that waits. Of equal times the one that was read first comes first.
struct QueuedMessage {
    time: Nanoseconds,
    number: u64,
    message: OwnedMessage,
}

impl Ord for QueuedMessage {
    fn cmp(&self, other: &QueuedMessage) -> Ordering {
        (self.time, self.number).cmp(&(other.time, other.number))
    }
}

impl PartialOrd for QueuedMessage {
    fn partial_cmp(&self, other: &QueuedMessage) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for QueuedMessage {
    fn eq(&self, other: &QueuedMessage) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for QueuedMessage {}

/// A message with its bytes.
pub(crate) struct OwnedMessage {
    pub head: MessageInfo,
    pub data: Vec<u8>,
}

impl MessageSorter {
    pub fn new(of: SortOptions) -> MessageSorter {
        let (waiting, before) = (BinaryHeap::new(), Nanoseconds::MIN);
        MessageSorter { of, waiting, held: 0, count: 0, before, latest: before, ended: false }
    }

    /// The next message in time of a file of this name.
    pub fn next(
        &mut self,
        name: &str,
        selected: &mut SelectedMessages,
    ) -> Result<Option<OwnedMessage>> {
        while !self.ended && (self.held < self.of.window || self.waiting.is_empty()) {
            let Some(head) = selected.advance()? else {
                self.ended = true;
                break;
            };
            let data = selected.reader().data()?.to_vec();
            self.before = head.time.unwrap_or(self.before);
            self.count += 1;
            let message = OwnedMessage { head, data };
            self.held += message.size();
            let (time, number) = (self.before, self.count);
            self.waiting.push(Reverse(QueuedMessage { time, number, message }));
        }
        let Some(Reverse(QueuedMessage { time, message, .. })) = self.waiting.pop() else {
            return Ok(None);
        };
        self.held -= message.size();
        ensure!(
            !self.of.strict || time >= self.latest,
            "{name}: {}: a message of {} s comes after one of {} s, too far for a window of {} \
             bytes; give a larger --sort-window, or leave out --sorted",
            message.head.place,
            time as f64 / 1e9,
            self.latest as f64 / 1e9,
            self.of.window
        );
        self.latest = self.latest.max(time);
        Ok(Some(message))
    }
}

impl OwnedMessage {
    /// How much memory it takes.
    fn size(&self) -> u64 {
        (self.data.len() + size_of::<QueuedMessage>()) as u64
    }
}
