//! Finds the next message behind what is damaged.

use std::io::Read;

use anyhow::Result;

use crate::part::Part;
use crate::read::LARGEST;
use crate::wire::is_message;

/// How much of a file is searched at once.
const WINDOW: usize = 1 << 20;

/// The position of the next message from there on, that of its length. It is one if it is
/// made of fields up to its end, and another one or the file's end follows it.
pub fn next_message(file: &Part, from: u64) -> Result<Option<u64>> {
    let mut at = from;
    let mut window = Vec::new();
    while at < file.end() {
        window.clear();
        // A length may begin in this window and end in the next one.
        file.between(at, at + WINDOW as u64 + 3).read_to_end(&mut window)?;
        let count = window.len().saturating_sub(3).min(WINDOW);
        if count == 0 {
            break;
        }
        for offset in 0..count {
            let position = at + offset as u64;
            let length = u32::from_le_bytes(window[offset..offset + 4].try_into()?);
            let Some(next) = end_of(file, position, length)? else { continue };
            if next == file.end() || follows(file, next)? {
                return Ok(Some(position));
            }
        }
        at += count as u64;
    }
    Ok(None)
}

/// Whether a message stands at a position.
fn follows(file: &Part, at: u64) -> Result<bool> {
    let mut length = Vec::new();
    file.between(at, at + 4).read_to_end(&mut length)?;
    let Ok(length) = length.try_into() else { return Ok(false) };
    Ok(end_of(file, at, u32::from_le_bytes(length))?.is_some())
}

/// Where a message of this length ends; none where it would be no message.
fn end_of(file: &Part, at: u64, length: u32) -> Result<Option<u64>> {
    let (start, length) = (at + 4, u64::from(length));
    let end = start + length;
    if !(2..=LARGEST).contains(&length) || end > file.end() {
        return Ok(None);
    }
    // Most of what is none shows at its first field.
    let mut front = Vec::new();
    file.between(start, start + 1).read_to_end(&mut front)?;
    if !matches!(front[..], [tag] if matches!(tag & 7, 0 | 1 | 2 | 5) && tag >= 8) {
        return Ok(None);
    }
    let mut message = Vec::new();
    file.between(start, end).read_to_end(&mut message)?;
    Ok(Some(end).filter(|_| is_message(&message)))
}
