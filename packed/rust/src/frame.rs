//! A message in parts, so that all lengths are known before a byte is written.

use crate::error::{Fault, Result};
use crate::format::{FIELD, MAXIMUM_SIZE};
use crate::layout::Layout;
use crate::wire::{put_varint, tag, varint_size};

/// A piece of a message.
pub(crate) enum Part<'a> {
    /// Bytes as they are.
    Bytes(&'a [u8]),
    /// A nested message.
    Nested { number: u32, parts: Vec<Part<'a>>, size: usize },
    /// A packed field.
    Table { layout: Layout, size: usize },
}

impl Part<'_> {
    /// Number and bytes of what stands behind tag and length.
    fn content(&self) -> (u32, usize) {
        match self {
            Part::Bytes(bytes) => (0, bytes.len()),
            Part::Nested { number, size, .. } => (*number, *size),
            Part::Table { size, .. } => (FIELD, *size),
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

fn measure(parts: &mut [Part<'_>]) -> usize {
    let mut total = 0;
    for part in parts {
        match part {
            Part::Bytes(_) => {}
            Part::Nested { parts, size, .. } => *size = measure(parts),
            Part::Table { layout, size } => *size = layout.size(),
        }
        total += part.head() + part.content().1;
    }
    total
}

/// Whether a table has moved, so that lengths must be measured again.
fn place(parts: &mut [Part<'_>], mut at: usize) -> bool {
    let mut moved = false;
    for part in parts {
        at += part.head();
        let content = part.content().1;
        match part {
            Part::Bytes(_) => {}
            Part::Nested { parts, .. } => moved |= place(parts, at),
            Part::Table { layout, size } => {
                layout.shift(at);
                moved |= layout.size() != *size;
            }
        }
        at += content;
    }
    moved
}

fn loosen(parts: &mut [Part<'_>]) {
    for part in parts {
        match part {
            Part::Bytes(_) => {}
            Part::Nested { parts, .. } => loosen(parts),
            Part::Table { layout, .. } => layout.loosen(),
        }
    }
}

/// Settles lengths and alignment; the size of it all in bytes.
pub(crate) fn settle(parts: &mut [Part<'_>]) -> Result<usize> {
    loosen(parts);
    let mut total = measure(parts);
    while place(parts, 0) {
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
    parts: &'p [Part<'_>],
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
            Part::Bytes(bytes) => content.copy_from_slice(bytes),
            Part::Nested { parts, .. } => write(parts, content, out),
            Part::Table { layout, .. } => out.push((layout, content)),
        }
    }
}
