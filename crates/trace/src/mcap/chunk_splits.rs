//! Parts of an MCAP file that are read apart: they begin with chunks, by the summary and the
//! message indexes.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;

use anyhow::{ensure, Context, Result};
use mcap::records::op;
use mcap::MAGIC;

use super::chunk_times;
use super::fields::RecordFields;
use super::message_count;
use super::summary::{ChunkIndex, Statistics, Summary};
use crate::compressed_file;
use crate::file_range::FileRange;
use crate::input_splits::{FileSplits, InputSplit, SplitBuilder};
use crate::read::Nanoseconds;
use crate::select::Selection;

/// What stands before a chunk's fields: what it is and its length.
const HEAD: u64 = 1 + 8;

/// The parts of a file with about so many bytes each.
pub fn find_splits(path: &Path, selection: &Selection, most: u64) -> Result<FileSplits> {
    let file = FileRange::open(path)?;
    let mut head = Vec::new();
    file.between(0, 16).read_to_end(&mut head)?;
    let whole = |remark| Ok(FileSplits::unsplit(file.end(), remark));
    if compressed_file::is_compressed(&head) {
        return whole("it is compressed as a whole and is one split");
    }
    let summary = Summary::read(&file).ok().flatten().filter(Summary::has_channels);
    let Some((summary, known)) = summary.as_ref().and_then(with_statistics) else {
        return whole("it has no summary with all channels and is one split");
    };
    let channels = summary.channels.iter().filter(|(id, channel)| {
        let count = known.by_channel.get(*id).copied().unwrap_or(0);
        count > 0 && selection.includes_topic(&channel.topic)
    });
    let wanted: BTreeSet<u16> = channels.clone().map(|(id, _)| *id).collect();
    let channels = Some(channels.map(|(_, channel)| channel.clone()).collect());
    if wanted.is_empty() || is_outside(summary, known, selection) {
        return Ok(FileSplits { splits: Vec::new(), channels, remark: "" });
    }
    match find_in_chunks(&file, summary, &wanted, selection, most) {
        Ok(found) => Ok(FileSplits { splits: found, channels, remark: "" }),
        Err(_) => {
            let remark = "its indexes do not have all messages and it is one split";
            Ok(FileSplits { channels, ..FileSplits::unsplit(file.end(), remark) })
        }
    }
}

fn with_statistics(summary: &Summary) -> Option<(&Summary, &Statistics)> {
    summary.statistics.as_ref().map(|statistics| (summary, statistics))
}

/// Whether no message is in the time that is wanted, as all that tells of times says.
fn is_outside(summary: &Summary, known: &Statistics, selection: &Selection) -> bool {
    let (from, to) = window(selection);
    let is_out = |(first, last): (u64, u64)| {
        (first, last) != (0, 0) && (Nanoseconds::from(last) < from || Nanoseconds::from(first) > to)
    };
    let chunks = summary.chunks.iter();
    from > to
        || chunk_times::are_plausible(summary)
            && is_out(known.times)
            && chunks.map(|chunk| chunk.times).all(is_out)
}

fn window(selection: &Selection) -> (Nanoseconds, Nanoseconds) {
    let Selection { from, to, .. } = selection;
    (from.unwrap_or(Nanoseconds::MIN), to.unwrap_or(Nanoseconds::MAX))
}

/// The parts, by the indexes of messages.
///
/// # Errors
/// When these do not have all messages of the channels, or a chunk is not where it should be.
fn find_in_chunks(
    file: &FileRange,
    summary: &Summary,
    wanted: &BTreeSet<u16>,
    selection: &Selection,
    most: u64,
) -> Result<Vec<InputSplit>> {
    let mut chunks: Vec<&ChunkIndex> = summary.chunks.iter().collect();
    chunks.sort_by_key(|chunk| chunk.at);
    let (mut parts, mut total, mut end) = (SplitBuilder::new(most), 0, MAGIC.len() as u64);
    let times = window(selection);
    let is_narrow = selection.from.is_some() || selection.to.is_some();
    for chunk in chunks {
        ensure!(chunk.at >= end, "two chunks lie at one place");
        end = chunk.at.checked_add(chunk.length).context("a chunk is too long")?;
        let all = message_count::count_in_chunk(file, chunk, wanted)?;
        let all = all.context("an index of messages is missing")?;
        total += all;
        let own = match is_narrow && all > 0 {
            true => message_count::count_in_times(file, chunk, wanted, times)?,
            false => all,
        };
        // Nobody hops over a chunk within a part, so that messages can be numbered.
        if own == 0 && all > 0 {
            parts.end_part(chunk.at);
        }
        parts.add(chunk.at, all, own, chunk.size);
    }
    let said = summary.statistics.iter().flat_map(|known| &known.by_channel);
    let said: u64 = said.filter(|(id, _)| wanted.contains(*id)).map(|(_, count)| count).sum();
    ensure!(total == said && end <= file.end(), "the indexes do not have all messages");
    let parts = parts.finish();
    for part in parts.iter().filter(|part| part.from > 0) {
        let chunk = summary.chunks.iter().find(|chunk| chunk.at == part.from);
        check_chunk(file, chunk.context("no chunk begins here")?)?;
    }
    Ok(parts)
}

/// Fails where no chunk lies where the summary says that one does.
fn check_chunk(file: &FileRange, chunk: &ChunkIndex) -> Result<()> {
    let mut head = Vec::new();
    file.between(chunk.at, chunk.at + HEAD).read_to_end(&mut head)?;
    let mut fields = RecordFields(&head);
    let is_chunk = fields.read_bytes(1)? == [op::CHUNK];
    ensure!(
        is_chunk && fields.read_u64()?.checked_add(HEAD) == Some(chunk.length),
        "the index names a chunk that does not exist"
    );
    Ok(())
}
