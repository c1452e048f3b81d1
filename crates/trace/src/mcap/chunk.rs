//! A chunk: records that are packed together.

use std::io::{self, BufRead, BufReader, Error, ErrorKind, Read};

use anyhow::{bail, ensure, Result};

use super::fields::RecordFields;
use crate::file_range::FileRange;
use crate::read::Unsupported;

/// Up to this size in bytes, packed and unpacked, a chunk is held whole: 64 MiB. Larger
/// ones, as of a file that is one chunk, are read like a stream.
pub const MAX_WHOLE_SIZE: u64 = 64 << 20;

/// The fixed length of what stands before a chunk's compression: its times, size and
/// checksum, and the compression's length.
pub const HEAD: usize = 8 + 8 + 8 + 4 + 4;

/// What stands before the records of a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkHeader {
    /// The earliest and the latest time of its messages; both are 0 where there are none.
    pub times: (u64, u64),
    /// How many bytes it has when it is unpacked.
    pub size: u64,
    /// Their checksum; 0 where there is none.
    pub checksum: u32,
    /// `lz4`, `zstd`, or nothing.
    pub compression: String,
    /// How many bytes it has as it lies there.
    pub packed: u64,
}

impl ChunkHeader {
    /// Reads what stands before a chunk's records.
    pub fn read(fields: &mut RecordFields) -> Result<ChunkHeader> {
        Ok(ChunkHeader {
            times: (fields.read_u64()?, fields.read_u64()?),
            size: fields.read_u64()?,
            checksum: fields.read_u32()?,
            compression: fields.read_text()?,
            packed: fields.read_u64()?,
        })
    }

    /// Whether it is held whole.
    pub fn is_whole(&self) -> bool {
        self.size <= MAX_WHOLE_SIZE && self.packed <= MAX_WHOLE_SIZE
    }

    /// What unpacks the records.
    fn records<'p>(&self, packed: impl Read + Send + 'p) -> Result<Box<dyn Read + Send + 'p>> {
        Ok(match self.compression.as_str() {
            "" => Box::new(packed),
            "lz4" => Box::new(Frames { frame: Some(lz4::Decoder::new(BufReader::new(packed))?) }),
            "zstd" => Box::new(zstd::Decoder::new(packed)?),
            other => {
                bail!(Unsupported(format!(
                    "a chunk has the unknown compression '{other}'; lz4, zstd and none can be read"
                )))
            }
        })
    }

    /// Unpacks a chunk that is held whole.
    pub fn unpack(&self, packed: &[u8], into: &mut Vec<u8>) -> Result<()> {
        let size = self.size as usize;
        into.clear();
        let mut records = self.records(packed)?;
        into.reserve_exact(size);
        records.by_ref().take(self.size).read_to_end(into)?;
        // What cannot be unpacked behind them is none of them, as zeros up to a round size.
        let is_right = into.len() == size && !matches!(records.read(&mut [0]), Ok(1));
        ensure!(is_right, "the size of a chunk differs from the declared one");
        self.check(into)
    }

    /// What can be unpacked of a chunk that is damaged, whatever size it says.
    pub fn salvage(&self, packed: &[u8], into: &mut Vec<u8>) {
        into.clear();
        if let Ok(records) = self.records(packed) {
            // What was unpacked before an error is there.
            let _ = records.take(MAX_WHOLE_SIZE).read_to_end(into);
        }
    }

    /// Holds unpacked records against their checksum.
    pub fn check(&self, records: &[u8]) -> Result<()> {
        let is_right = self.checksum == 0 || self.checksum == crc32fast::hash(records);
        ensure!(is_right, "the checksum of a chunk is wrong");
        Ok(())
    }

    /// The records of a chunk that is not held whole. What does not hold comes as an error
    /// at their end; where more of them are there than it says, these are kept if that is
    /// wished.
    pub fn stream(&self, packed: FileRange, keeps_more: bool) -> Result<Box<dyn Read + Send>> {
        let (records, hasher) = (self.records(packed)?, crc32fast::Hasher::new());
        let (left, checksum) = (self.size, self.checksum);
        Ok(Box::new(CheckedRecords { records, left, is_more: false, keeps_more, checksum, hasher }))
    }
}

/// Records that are held against size and checksum while they are read.
struct CheckedRecords {
    records: Box<dyn Read + Send>,
    left: u64,
    /// Whether there were more than were left, and whether these are kept.
    is_more: bool,
    keeps_more: bool,
    checksum: u32,
    hasher: crc32fast::Hasher,
}

impl Read for CheckedRecords {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        // As many as were said can be had; what cannot be unpacked behind them is none of them.
        let count = match self.records.read(buffer) {
            Err(_) if self.left == 0 && !self.is_more => 0,
            outcome => outcome?,
        };
        let damaged = |what: &str| Err(Error::new(ErrorKind::InvalidData, what));
        self.hasher.update(&buffer[..count]);
        self.is_more |= count as u64 > self.left;
        self.left = self.left.saturating_sub(count as u64);
        let is_other = self.is_more && (count == 0 || !self.keeps_more);
        if is_other || count == 0 && self.left > 0 {
            return damaged("the size of a chunk differs from the declared one");
        }
        if count == 0 && self.checksum != 0 && self.checksum != self.hasher.clone().finalize() {
            return damaged("the checksum of a chunk is wrong");
        }
        Ok(count)
    }
}

/// Records that are packed by LZ4 in one or several frames.
struct Frames<R: Read> {
    /// None behind the last one.
    frame: Option<lz4::Decoder<BufReader<R>>>,
}

impl<R: Read> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let Some(frame) = &mut self.frame else { return Ok(0) };
            let count = frame.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            let Some((mut rest, whole)) = self.frame.take().map(lz4::Decoder::finish) else {
                return Ok(0);
            };
            if whole.is_ok() && !rest.fill_buf()?.is_empty() {
                self.frame = Some(lz4::Decoder::new(rest)?);
            }
        }
    }
}
