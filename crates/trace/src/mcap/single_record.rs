//! Records that are read alone, where they lie in the file.

use anyhow::{ensure, Context, Result};
use mcap::records::op;
use mcap::MAGIC;

use super::fields::RecordFields;
use crate::file_range::FileRange;
use crate::read::{FileHeader, Metadata};
use crate::slice_reader::SliceReader;

/// The length of what stands before a record: what it is and its length.
pub const RECORD: usize = 1 + 8;

/// Largest record in bytes that is neither a chunk, a message nor an attachment: 256 MiB.
pub const LARGEST_RECORD: u64 = 1 << 28;

/// The header, which comes first.
pub fn read_header(file: &FileRange) -> Result<FileHeader> {
    let mut pieces = SliceReader::from_range(file.between(MAGIC.len() as u64, file.end()));
    let head: [u8; RECORD] = pieces.take(RECORD)?.try_into().context("no header")?;
    let length = u64::from_le_bytes(head[1..].try_into()?);
    ensure!(head[0] == op::HEADER && length <= LARGEST_RECORD, "no header");
    let mut fields = RecordFields(pieces.take(length as usize)?);
    Ok(FileHeader { profile: fields.read_text()?, library: fields.read_text()? })
}

/// The metadata record at a position that the summary names.
pub fn metadata_at(file: &FileRange, at: u64) -> Result<Metadata> {
    let mut pieces = SliceReader::from_range(file.between(at, file.end()));
    let head: [u8; RECORD] = pieces.take(RECORD)?.try_into().context("there is no record")?;
    let length = u64::from_le_bytes(head[1..].try_into()?);
    ensure!(head[0] == op::METADATA && length <= LARGEST_RECORD, "there are no metadata");
    let mut fields = RecordFields(pieces.take(length as usize)?);
    Ok(Metadata { name: fields.read_text()?, entries: fields.read_text_map()?, at })
}
