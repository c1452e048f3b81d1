//! Unpacks the chunks that come next while messages of the current one are taken.

use std::collections::VecDeque;
use std::io::Read;
use std::thread::{self, JoinHandle};

use anyhow::{anyhow, ensure, Context, Result};
use mcap::records::op;

use super::chunk::ChunkHeader;
use super::fields::RecordFields;
use super::summary::{ChunkIndex, Summary};
use crate::file_range::FileRange;

/// Smaller chunks are not worth a thread, in bytes when they are unpacked.
const SMALLEST: u64 = 1 << 16;

/// Larger chunks are not unpacked before they are needed: a few of them are held at once.
const LARGEST: u64 = 8 << 20;

/// Most chunks that are unpacked at once.
const MOST: usize = 8;

/// The chunks to come.
pub(super) struct ChunkPrefetch {
    file: FileRange,
    /// In the order of the file; those before `next` were begun, or are not wanted.
    chunks: Vec<ChunkIndex>,
    next: usize,
    begun: VecDeque<(u64, JoinHandle<Result<Vec<u8>>>)>,
    most: usize,
}

impl ChunkPrefetch {
    /// The chunks that a summary names, as far as that is worth it.
    pub fn new(file: &FileRange, summary: &Summary) -> ChunkPrefetch {
        let is_worth_it = |chunk: &&ChunkIndex| {
            let sizes = SMALLEST..=LARGEST;
            !chunk.compression.is_empty() && sizes.contains(&chunk.size) && chunk.packed <= LARGEST
        };
        let chunks = summary.chunks.iter().filter(is_worth_it);
        let mut chunks: Vec<ChunkIndex> = chunks.cloned().collect();
        chunks.sort_by_key(|chunk| chunk.at);
        let processors = thread::available_parallelism().map_or(1, usize::from);
        let most = if processors > 1 { processors.min(MOST) } else { 0 };
        ChunkPrefetch { file: file.clone(), chunks, next: 0, begun: VecDeque::new(), most }
    }

    /// The records of the chunk at a position, where they are being unpacked already; and
    /// begins with those behind it that are wanted, the first of them into a spare buffer.
    pub fn take_chunk(
        &mut self,
        at: u64,
        mut spare: Vec<u8>,
        wanted: impl Fn(&ChunkIndex) -> bool,
    ) -> Option<Result<Vec<u8>>> {
        let mut found = None;
        while self.begun.front().is_some_and(|(begun, _)| *begun <= at) {
            found = self.begun.pop_front().filter(|(begun, _)| *begun == at);
        }
        while self.begun.len() < self.most && self.next < self.chunks.len() {
            let chunk = &self.chunks[self.next];
            self.next += 1;
            if chunk.at <= at || !wanted(chunk) {
                continue;
            }
            let file = self.file.between(chunk.at, chunk.at.saturating_add(chunk.length));
            let into = std::mem::take(&mut spare);
            self.begun.push_back((chunk.at, thread::spawn(move || unpack(file, into))));
        }
        let outcome = found?.1.join();
        Some(outcome.unwrap_or_else(|_| Err(anyhow!("a chunk cannot be unpacked"))))
    }
}

/// Unpacks the chunk that a part of a file is.
fn unpack(mut file: FileRange, mut records: Vec<u8>) -> Result<Vec<u8>> {
    let length = usize::try_from(file.remaining())?;
    ensure!(length as u64 <= LARGEST + 1024, "the length of a chunk differs from the declared one");
    let mut bytes = Vec::with_capacity(length);
    file.read_to_end(&mut bytes)?;
    let mut fields = RecordFields(&bytes);
    ensure!(fields.read_bytes(1)? == [op::CHUNK], "the index names a chunk that does not exist");
    let own = fields.read_u64()?;
    ensure!(own == fields.0.len() as u64, "the length of a chunk differs from the declared one");
    let header = ChunkHeader::read(&mut fields)?;
    ensure!(header.size <= LARGEST, "the size of a chunk differs from the one in the index");
    let packed =
        fields.read_bytes(usize::try_from(header.packed)?).context("a chunk is truncated")?;
    header.unpack(packed, &mut records)?;
    Ok(records)
}
