//! Finds the next record behind what is damaged.

use std::io::Read;

use anyhow::Result;
use mcap::records::op;
use wiregauge_system::interrupt;

use super::chunk::HEAD;
use crate::file_range::FileRange;

/// How much of a file is searched at once.
const WINDOW: usize = 1 << 20;

/// The length of what stands before a record.
const RECORD: u64 = 1 + 8;

/// How many bytes a later version of MCAP may have added to a record of a fixed length.
const GROWTH: u64 = 1 << 10;

/// The position of the next record from there on that messages may follow from: a chunk, or
/// the end of the data. It is one if another record, or the file's end, follows it.
pub fn next_record(file: &FileRange, from: u64) -> Result<Option<u64>> {
    let mut at = from;
    let mut window = Vec::new();
    while at < file.end() {
        interrupt::check()?;
        window.clear();
        // The length of a record may end in the next window.
        file.between(at, at + WINDOW as u64 + RECORD).read_to_end(&mut window)?;
        let count = window.len().min(WINDOW);
        let left = file.end() - at;
        let fits = |offset: usize| {
            let length = window[offset + 1..].first_chunk::<8>();
            length.is_some_and(|length| u64::from_le_bytes(*length) <= left - offset as u64)
        };
        let candidates = window[..count].iter().enumerate().filter(|(_, byte)| {
            matches!(**byte, op::CHUNK | op::DATA_END | op::SCHEMA | op::CHANNEL | op::MESSAGE)
        });
        let candidates = candidates.filter(|(offset, _)| fits(*offset));
        for (offset, _) in candidates {
            let position = at + offset as u64;
            if let Some(next) = record_end(file, position)? {
                if next == file.end() || record_end(file, next)?.is_some() {
                    return Ok(Some(position));
                }
            }
        }
        at += count as u64;
    }
    Ok(None)
}

/// Where a record would end if there were one at this position; none where there can be
/// none.
fn record_end(file: &FileRange, at: u64) -> Result<Option<u64>> {
    let mut head = Vec::new();
    file.between(at, at + RECORD + HEAD as u64).read_to_end(&mut head)?;
    if head.len() < RECORD as usize {
        return Ok(None);
    }
    let (opcode, length) = (head[0], u64::from_le_bytes(head[1..9].try_into()?));
    let least = match opcode {
        op::CHUNK => HEAD as u64 + 8,
        op::MESSAGE => 22,
        op::MESSAGE_INDEX => 6,
        op::SCHEMA | op::CHANNEL | op::ATTACHMENT | op::METADATA | op::CHUNK_INDEX => 8,
        op::STATISTICS | op::ATTACHMENT_INDEX | op::METADATA_INDEX | op::SUMMARY_OFFSET => 8,
        op::DATA_END => 4,
        op::FOOTER => 20,
        _ => return Ok(None),
    };
    let end = at.checked_add(RECORD).and_then(|start| start.checked_add(length));
    let is_fixed = matches!(opcode, op::DATA_END | op::FOOTER);
    let is_long = is_fixed && length > least + GROWTH;
    // The name of its compression is short.
    let letters = head.get(RECORD as usize + HEAD - 4..);
    let is_chunk = opcode != op::CHUNK || matches!(letters, Some([0..=16, 0, 0, 0]));
    let fits = end.is_some_and(|end| end <= file.end()) && length >= least && !is_long;
    Ok(end.filter(|_| fits && is_chunk))
}
