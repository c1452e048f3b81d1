//! Finds the next chunk behind what is damaged in a bag.

use std::io::Read;

use anyhow::Result;
use wiregauge_system::interrupt;

use super::record::{HeaderFields, CHUNK};
use crate::file_range::FileRange;

/// How much is looked at at once, and how long the header of a chunk may be.
const WINDOW: usize = 1 << 20;
const HEADER: usize = 256;

/// The field that every header of a chunk has.
const CHUNK_OPCODE: &[u8] = b"\x04\x00\x00\x00op=\x05";

/// Where the next chunk begins, from a position on.
pub fn next_chunk(file: &FileRange, from: u64) -> Result<Option<u64>> {
    let mut at = from;
    let mut window = Vec::new();
    while at < file.end() {
        interrupt::check()?;
        window.clear();
        // A header that begins in this window may end in the next one.
        file.between(at, at + (WINDOW + HEADER) as u64).read_to_end(&mut window)?;
        let signs = window.windows(CHUNK_OPCODE.len()).enumerate();
        for (sign, _) in signs.filter(|(_, bytes)| *bytes == CHUNK_OPCODE) {
            let first = sign.saturating_sub(HEADER);
            let is_start = |start: &usize| is_chunk(&window[*start..], sign - start);
            if let Some(start) = (first..sign).rfind(is_start) {
                return Ok(Some(at + start as u64));
            }
        }
        at += WINDOW as u64;
    }
    Ok(None)
}

/// Whether bytes begin with the header of a chunk that has its sign there.
fn is_chunk(bytes: &[u8], sign: usize) -> bool {
    let Some((length, rest)) = bytes.split_first_chunk::<4>() else { return false };
    let length = u32::from_le_bytes(*length) as usize;
    if length > HEADER || length + 4 < sign + CHUNK_OPCODE.len() || rest.len() < length {
        return false;
    }
    let fields = HeaderFields(&rest[..length]);
    fields.octet("op").is_ok_and(|op| op == CHUNK)
        && matches!(fields.get("compression"), Ok(b"none" | b"bz2" | b"lz4"))
        && fields.number("size").is_ok()
}
