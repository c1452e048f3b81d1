//! How many messages a chunk has, without unpacking it.

use std::collections::BTreeSet;
use std::io::Read;

use anyhow::{ensure, Result};
use mcap::records::op;

use super::fields::RecordFields;
use super::summary::{ChunkIndex, Summary};
use crate::file_range::FileRange;
use crate::read::Nanoseconds;

/// What stands before the entries of a message index: what it is, its length, its channel
/// and the length of its entries.
const HEAD: u64 = 1 + 8 + 2 + 4;

/// An entry: the time and the place of a message.
const ENTRY: u64 = 8 + 8;

/// The messages of the wanted channels in a chunk, by the indexes behind it; none where they
/// are not where they should be.
pub(super) fn count_in_chunk(
    file: &FileRange,
    chunk: &ChunkIndex,
    wanted: &BTreeSet<u16>,
) -> Result<Option<u64>> {
    let mut count = 0;
    for (channel, at) in &chunk.message_indexes {
        if wanted.contains(channel) {
            match count_entries(file, *channel, *at) {
                Ok(entries) => count += entries,
                Err(_) => return Ok(None),
            }
        }
    }
    Ok(Some(count))
}

/// How many messages of some channels the first chunks have, as many of them as have no more
/// than so many, and where the one behind them begins.
pub(super) fn count_in_chunks(
    file: &FileRange,
    summary: &Summary,
    wanted: &BTreeSet<u16>,
    most: u64,
) -> Result<(u64, Option<u64>)> {
    // Without them nothing tells a chunk that has no messages from one with many.
    if summary.chunks.iter().all(|chunk| chunk.message_indexes.is_empty()) {
        return Ok((0, None));
    }
    let mut chunks: Vec<&ChunkIndex> = summary.chunks.iter().collect();
    chunks.sort_by_key(|chunk| chunk.at);
    let (mut hopped, mut to) = (0, None);
    for pair in chunks.windows(2) {
        let Some(count) = count_in_chunk(file, pair[0], wanted)? else { break };
        if hopped + count > most {
            break;
        }
        hopped += count;
        to = Some(pair[1].at);
    }
    Ok((hopped, to))
}

/// Where chunks begin that have no message of a wanted channel.
pub(super) fn find_unwanted_chunks(
    summary: &Summary,
    is_wanted: impl Fn(&u16) -> bool,
) -> BTreeSet<u64> {
    // A chunk without indexes may have messages all the same.
    let is_unwanted = |chunk: &&ChunkIndex| {
        !chunk.message_indexes.is_empty() && !chunk.message_indexes.keys().any(&is_wanted)
    };
    summary.chunks.iter().filter(is_unwanted).map(|chunk| chunk.at).collect()
}

/// How many of them are between two times, both included.
pub(super) fn count_in_times(
    file: &FileRange,
    chunk: &ChunkIndex,
    wanted: &BTreeSet<u16>,
    (from, to): (Nanoseconds, Nanoseconds),
) -> Result<u64> {
    let mut count = 0;
    for (channel, at) in chunk.message_indexes.iter().filter(|(id, _)| wanted.contains(*id)) {
        let entries = count_entries(file, *channel, *at)?;
        let mut bytes = Vec::new();
        file.between(*at + HEAD, *at + HEAD + ENTRY * entries).read_to_end(&mut bytes)?;
        ensure!(bytes.len() as u64 == ENTRY * entries, "an index has another length");
        let time = |entry: &[u8]| u64::from_le_bytes(entry[..8].try_into().expect("eight bytes"));
        let times = bytes.chunks_exact(ENTRY as usize).map(time);
        count += times.filter(|time| (from..=to).contains(&Nanoseconds::from(*time))).count();
    }
    Ok(count as u64)
}

/// The entries of the message index at a position.
fn count_entries(file: &FileRange, channel: u16, at: u64) -> Result<u64> {
    let mut head = Vec::new();
    file.between(at, at.saturating_add(HEAD)).read_to_end(&mut head)?;
    let mut fields = RecordFields(&head);
    let is_index = fields.read_bytes(1)? == [op::MESSAGE_INDEX];
    let length = fields.read_u64()?;
    ensure!(is_index && fields.read_u16()? == channel, "the index of this channel is missing");
    let size = u64::from(fields.read_u32()?);
    ensure!(length >= 6 + size && size.is_multiple_of(ENTRY), "an index has another length");
    Ok(size / ENTRY)
}
