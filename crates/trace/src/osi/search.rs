//! Finds the next message behind what is damaged. Fields are hopped over: of a message as
//! long as it claims to be only their heads are read, and none is held.

use std::io::Read;

use anyhow::Result;
use wiregauge_system::interrupt;

use crate::file_range::FileRange;
use crate::read::LARGEST;
use crate::slice_reader::SliceReader;
use crate::wire::{first_field, is_message, Content, Fields};

/// How much of a file is searched at once.
const WINDOW: usize = 1 << 20;

/// The length of what stands before a message.
const LENGTH: u64 = 4;

/// How many bytes of a message show whether one may begin there.
const FRONT: u64 = 48;

/// The most bytes that a field has before its content: a tag and a length.
const HEAD: usize = 20;

/// A message that nothing follows is believed up to this length in bytes: a longer one is
/// easily made of bytes that are no length.
const MAX_SINGLE_SIZE: u64 = 1 << 24;

/// Fields that are hopped over in any case before a search gives candidates up.
const STEPS: u64 = 1 << 20;

/// How the messages of a file begin.
#[derive(Clone, Copy, Debug, Default)]
pub struct MessageStart {
    /// The first byte of one that was read.
    pub known: Option<u8>,
}

impl MessageStart {
    /// Whether a message may begin like this: with its version or its time, which are
    /// numbers alone, or as those before.
    fn is_start(self, bytes: &[u8]) -> bool {
        let is_known = self.known.is_some() && bytes.first().copied() == self.known;
        is_known || is_numbers(bytes)
    }

    /// The position of the next message from there on, that of its length. It is one if it
    /// begins like one and is made of fields up to its end.
    pub fn next_message(self, file: &FileRange, from: u64) -> Result<Option<u64>> {
        // As many steps as there can be fields: whatever the bytes are, it takes no longer.
        let mut steps = STEPS + (file.end() - from.min(file.end())) / 2;
        let mut at = from;
        let mut window = Vec::new();
        while at < file.end() {
            interrupt::check()?;
            window.clear();
            // A message may begin in this window and show that in the next one.
            let end = at + WINDOW as u64 + LENGTH + FRONT;
            file.between(at, end).read_to_end(&mut window)?;
            let count = window.len().min(WINDOW);
            for offset in 0..count {
                let Some((length, front)) = window[offset..].split_first_chunk::<4>() else {
                    break;
                };
                let size = u64::from(u32::from_le_bytes(*length));
                let position = at + offset as u64;
                let end = position + LENGTH + size;
                if !(2..=LARGEST).contains(&size) || end > file.end() {
                    continue;
                }
                // Where nothing is known of messages yet, any field may begin one.
                let front = &front[..front.len().min(size.min(FRONT) as usize)];
                let begins = self.is_start(front) || self.known.is_none() && has_field(front);
                if !begins || !walk(file.between(position + LENGTH, end), &mut steps)? {
                    continue;
                }
                let is_alone = size < MAX_SINGLE_SIZE && is_numbers(front);
                if is_alone || self.is_followed(file, end)? {
                    return Ok(Some(position));
                }
            }
            at += count as u64;
            steps += count as u64;
        }
        Ok(None)
    }

    /// Whether the next message begins at a position, or the file ends there.
    fn is_followed(self, file: &FileRange, at: u64) -> Result<bool> {
        let mut next = Vec::new();
        file.between(at, at + LENGTH + FRONT).read_to_end(&mut next)?;
        Ok(self.is_next(&next))
    }

    /// Whether what follows a message is nothing, or a message.
    fn is_next(self, bytes: &[u8]) -> bool {
        bytes.is_empty() || bytes.get(LENGTH as usize..).is_some_and(|front| self.is_start(front))
    }

    /// Whether the message that comes next, of this size, can be believed: another one
    /// follows it, or it is made of fields up to its end. An empty one cannot: zeros that do
    /// not belong there look the same.
    pub fn is_sound(
        self,
        messages: &mut SliceReader,
        file: Option<&FileRange>,
        size: u64,
    ) -> Result<bool> {
        let start = messages.position();
        if size == 0 {
            return Ok(false);
        }
        if let Some(file) = file.filter(|_| size > WINDOW as u64) {
            let end = start + size;
            return Ok(
                self.is_followed(file, end)? || walk(file.between(start, end), &mut { u64::MAX })?
            );
        }
        // Where what follows cannot be unpacked, the message itself may be there.
        let all = (size + LENGTH + FRONT) as usize;
        let count = if messages.peek(all).is_ok() { all } else { size as usize };
        let bytes = messages.peek(count)?;
        let Some((message, next)) = bytes.split_at_checked(size as usize) else {
            return Ok(false);
        };
        Ok(self.is_next(next) || is_message(message))
    }
}

/// Whether the first field is a short message of numbers, as a version and a time stamp are.
fn is_numbers(bytes: &[u8]) -> bool {
    let Some((1..=15, Content::Bytes(inner))) = Fields(bytes).next() else { return false };
    let mut fields = Fields(inner);
    while !fields.0.is_empty() {
        if !matches!(fields.next(), Some((1..=15, Content::Number(_)))) {
            return false;
        }
    }
    !inner.is_empty()
}

/// Whether there is a field at the front.
fn has_field(bytes: &[u8]) -> bool {
    first_field(bytes).is_some()
}

/// Whether bytes are made of fields up to their end. False as well once there are no steps
/// left.
fn walk(message: FileRange, steps: &mut u64) -> Result<bool> {
    let mut pieces = SliceReader::from_range(message);
    loop {
        let front = pieces.peek(HEAD)?;
        if front.is_empty() {
            return Ok(true);
        }
        let Some(length) = first_field(front) else { return Ok(false) };
        if *steps == 0 || !pieces.skip(length)? {
            return Ok(false);
        }
        *steps -= 1;
        if steps.is_multiple_of(1 << 12) {
            interrupt::check()?;
        }
    }
}
