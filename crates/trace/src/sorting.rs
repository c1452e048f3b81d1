//! Messages of a file in the order of their times, as far as a window of memory reaches.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use anyhow::{ensure, Result};

use crate::read::{Head, Nanoseconds};
use crate::select::Selected;

/// How the messages of a file are put in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sorting {
    /// How many bytes of messages of a file are held for it, and at least one message.
    pub window: u64,
    /// Whether a message that comes too late for that is an error.
    pub strict: bool,
}

/// Messages that wait for others of earlier times.
pub(crate) struct Sorted {
    of: Sorting,
    waiting: BinaryHeap<Reverse<Waiting>>,
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
struct Waiting {
    time: Nanoseconds,
    number: u64,
    message: Whole,
}

impl Ord for Waiting {
    fn cmp(&self, other: &Waiting) -> Ordering {
        (self.time, self.number).cmp(&(other.time, other.number))
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Waiting) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Waiting) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Waiting {}

/// A message with its bytes.
pub(crate) struct Whole {
    pub head: Head,
    pub data: Vec<u8>,
}

impl Sorted {
    pub fn new(of: Sorting) -> Sorted {
        let (waiting, before) = (BinaryHeap::new(), Nanoseconds::MIN);
        Sorted { of, waiting, held: 0, count: 0, before, latest: before, ended: false }
    }

    /// The next message in time of a file of this name.
    pub fn next(&mut self, name: &str, selected: &mut Selected) -> Result<Option<Whole>> {
        while !self.ended && (self.held < self.of.window || self.waiting.is_empty()) {
            let Some(head) = selected.advance()? else {
                self.ended = true;
                break;
            };
            let data = selected.reader().data()?.to_vec();
            self.before = head.time.unwrap_or(self.before);
            self.count += 1;
            let message = Whole { head, data };
            self.held += message.size();
            let (time, number) = (self.before, self.count);
            self.waiting.push(Reverse(Waiting { time, number, message }));
        }
        let Some(Reverse(Waiting { time, message, .. })) = self.waiting.pop() else {
            return Ok(None);
        };
        self.held -= message.size();
        ensure!(
            !self.of.strict || time >= self.latest,
            "{name}: {}: a message of {} s comes behind one of {} s, further than a window of {} bytes \
             reaches; give a larger --sort-window, or leave out --sorted",
            message.head.place,
            time as f64 / 1e9,
            self.latest as f64 / 1e9,
            self.of.window
        );
        self.latest = self.latest.max(time);
        Ok(Some(message))
    }
}

impl Whole {
    /// How much memory it takes.
    fn size(&self) -> u64 {
        (self.data.len() + size_of::<Waiting>()) as u64
    }
}
