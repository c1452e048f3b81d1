//! A message in parts, so that all lengths are known before a byte is written.

use crate::error::{Fault, Result};
use crate::format::{FIELD, MAXIMUM_SIZE};
use crate::layout::Layout;
use crate::wire::{put_varint, tag, varint_size};

/// A piece of a message.
pub(crate) enum MessagePart<'a> {
    /// Bytes as they are.
    Bytes(&'a [u8]),
    /// A nested message.
    Nested { number: u32, parts: Vec<MessagePart<'a>>, size: usize },
    /// A packed field.
    Table { layout: Layout, size: usize },
}

impl MessagePart<'_> {
    /// Number and bytes of what stands behind tag and length.
    fn content(&self) -> (u32, usize) {
        match self {
            MessagePart::Bytes(bytes) => (0, bytes.len()),
            MessagePart::Nested { number, size, .. } => (*number, *size),
            MessagePart::Table { size, .. } => (FIELD, *size),
        }
    }

    /// Bytes of tag and length.
    fn head(&self) -> usize {
        match self.content() {
            (0, _) => 0,
            (number, size) => varint_size(tag(number, 2)) + varint_size(size as u64),
        }
    }
}

fn measure(parts: &mut [MessagePart<'_>]) -> usize {
    let mut total = 0;
    for part in parts {
        match part {
            MessagePart::Bytes(_) => {}
            MessagePart::Nested { parts, size, .. } => *size = measure(parts),
            MessagePart::Table { layout, size } => *size = layout.size(),
        }
        total += part.head() + part.content().1;
    }
    total
}

/// Whether a table has moved, so that lengths must be measured again.
fn place_tables(parts: &mut [MessagePart<'_>], mut at: usize) -> bool {
    let mut moved = false;
    for part in parts {
        at += part.head();
        let content = part.content().1;
        match part {
            MessagePart::Bytes(_) => {}
            MessagePart::Nested { parts, .. } => moved |= place_tables(parts, at),
            MessagePart::Table { layout, size } => {
                layout.shift(at);
                moved |= layout.size() != *size;
            }
        }
        at += content;
    }
    moved
}

fn remove_padding(parts: &mut [MessagePart<'_>]) {
    for part in parts {
        match part {
            MessagePart::Bytes(_) => {}
            MessagePart::Nested { parts, .. } => remove_padding(parts),
            MessagePart::Table { layout, .. } => layout.remove_padding(),
        }
    }
}

/// Settles lengths and alignment; the size of it all in bytes.
pub(crate) fn plan_lengths(parts: &mut [MessagePart<'_>]) -> Result<usize> {
    remove_padding(parts);
    let mut total = measure(parts);
    while place_tables(parts, 0) {
        total = measure(parts);
    }
    if total > MAXIMUM_SIZE {
        return Err(Fault::Limit.into());
    }
    Ok(total)
}

/// Writes everything but the tables into a buffer of the settled size; gives
/// back the tables' layouts with their places.
pub(crate) fn write<'p, 'b>(
    parts: &'p [MessagePart<'_>],
    mut buffer: &'b mut [u8],
    out: &mut Vec<(&'p Layout, &'b mut [u8])>,
) {
    for part in parts {
        let (number, size) = part.content();
        let mut head = Vec::new();
        if number != 0 {
            put_varint(&mut head, tag(number, 2));
            put_varint(&mut head, size as u64);
        }
        let (before, rest) = buffer.split_at_mut(head.len());
        before.copy_from_slice(&head);
        let (content, rest) = rest.split_at_mut(size);
        buffer = rest;
        match part {
            MessagePart::Bytes(bytes) => content.copy_from_slice(bytes),
            MessagePart::Nested { parts, .. } => write(parts, content, out),
            MessagePart::Table { layout, .. } => out.push((layout, content)),
        }
    }
}
