//! The summary at the end of an MCAP file: what there is, and where, without reading what
//! stands before it.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use anyhow::{bail, ensure, Context, Result};
use mcap::records::op;

use super::fields::RecordFields;
use crate::channel::{Channel, Definition};
use crate::container::ContainerKind;
use crate::file_range::FileRange;
use crate::scratch::{self, OpenedFile};

/// The length of a record's head.
const HEAD: u64 = 1 + 8;

/// The length of the footer record with its head, as far as its fields are known.
const FOOTER: u64 = HEAD + 8 + 8 + 4;

/// How many bytes a later version of MCAP may have added to a record of a fixed length.
const GROWTH: u64 = 1 << 10;

/// Largest summary in bytes that is read: 1 GiB, of ten million chunks.
const LARGEST: u64 = 1 << 30;

/// Where a chunk lies, and what is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkIndex {
    /// The earliest and the latest time of its messages.
    pub times: (u64, u64),
    /// Its position and length, with the record's head.
    pub at: u64,
    /// As above.
    pub length: u64,
    /// Where the index of each of its channels lies.
    pub message_indexes: BTreeMap<u16, u64>,
    /// How many bytes the indexes behind it have.
    pub index_length: u64,
    /// `lz4`, `zstd`, or nothing.
    pub compression: String,
    /// How many bytes its records have as they lie there, and unpacked.
    pub packed: u64,
    /// As above.
    pub size: u64,
}

impl ChunkIndex {
    /// Its compression, and its bytes as they lie there and unpacked.
    pub(crate) fn sizes(&self) -> (&str, u64, u64) {
        (&self.compression, self.packed, self.size)
    }
}

/// How much there is of everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Messages in all.
    pub messages: u64,
    /// The earliest and the latest time of the messages.
    pub times: (u64, u64),
    /// Messages by channel.
    pub by_channel: BTreeMap<u16, u64>,
    /// Schemas, channels, attachments, metadata records and chunks.
    pub schemas: u64,
    /// As above.
    pub channels: u64,
    /// As above.
    pub attachments: u64,
    /// As above.
    pub metadata: u64,
    /// As above.
    pub chunks: u64,
}

/// What the summary says.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// The schemas, by their numbers.
    pub definitions: BTreeMap<u16, Arc<Definition>>,
    /// The channels, by their numbers.
    pub channels: BTreeMap<u16, Channel>,
    /// The chunks, in the order of the summary.
    pub chunks: Vec<ChunkIndex>,
    /// How much there is, where it is said.
    pub statistics: Option<Statistics>,
    /// Where metadata records lie, and how they are called.
    pub metadata: Vec<(u64, String)>,
    /// How many attachments it names.
    pub attachments: u64,
}

impl Summary {
    /// The summary of a file; none where it is no MCAP file, or has none that is whole.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn open(path: &Path) -> Result<Option<Summary>> {
        if !ContainerKind::detect(path).is_ok_and(|kind| kind == ContainerKind::Mcap) {
            return Ok(None);
        }
        let OpenedFile { part, fault } = scratch::open(path)?;
        Ok(Summary::read(&part).ok().flatten().filter(|_| fault.is_none()))
    }

    /// Whether it has as many channels as it says that there are.
    pub(crate) fn tells_channels(&self) -> bool {
        let said = self.statistics.as_ref().map(|known| known.channels);
        !self.channels.is_empty() && said.is_none_or(|said| said == self.channels.len() as u64)
    }

    /// Whether it has the channels of all messages, with their numbers.
    pub fn has_channels(&self) -> bool {
        self.statistics.as_ref().is_some_and(|known| {
            let is_known = known.by_channel.keys().all(|id| self.channels.contains_key(id));
            let counts = known.by_channel.values();
            let count: u64 = counts.fold(0, |sum, count| sum.saturating_add(*count));
            is_known && known.channels == self.channels.len() as u64 && count == known.messages
        })
    }

    /// Reads it; none where the file has no summary.
    ///
    /// # Errors
    /// When the file has no end, or the summary is damaged.
    pub(crate) fn read(file: &FileRange) -> Result<Option<Summary>> {
        let magic = mcap::MAGIC.len() as u64;
        let behind = file.end().checked_sub(magic + FOOTER).context("no footer")? + FOOTER;
        let mut last = Vec::new();
        file.between(behind, file.end()).read_to_end(&mut last)?;
        ensure!(last == mcap::MAGIC, "the last bytes are not the end of an MCAP file");
        let end =
            find_record_before(file, behind, op::FOOTER, FOOTER - HEAD)?.context("no footer")?;
        let mut bytes = Vec::new();
        file.between(end + HEAD, end + FOOTER).read_to_end(&mut bytes)?;
        let mut fields = RecordFields(&bytes);
        let (start, offsets, checksum) =
            (fields.read_u64()?, fields.read_u64()?, fields.read_u32()?);
        if start == 0 {
            return Ok(None);
        }
        ensure!(
            start < end && end - start <= LARGEST,
            "the footer names a wrong place of the summary, byte {start}"
        );
        ensure!(
            offsets == 0 || (start..=end).contains(&offsets),
            "the footer names a wrong place of the offsets, byte {offsets}"
        );
        // Where two files were joined, the place is one in the second file.
        let data_end = find_record_before(file, start, op::DATA_END, 4)?;
        ensure!(
            data_end.is_some(),
            "the footer names byte {start} as the place of the summary, but the data do not end \
             there"
        );
        // The checksum is of all from there up to itself.
        let mut records = Vec::new();
        file.between(start, end + FOOTER - 4).read_to_end(&mut records)?;
        let is_right = checksum == 0 || checksum == crc32fast::hash(&records);
        ensure!(is_right, "the checksum of the summary is wrong");
        let mut summary = Summary::default();
        let mut rest = RecordFields(&records[..(end - start) as usize]);
        while !rest.0.is_empty() {
            let (opcode, length) = (rest.read_bytes(1)?[0], rest.read_u64()?);
            let data = rest.read_bytes(usize::try_from(length)?)?;
            summary.record(opcode, RecordFields(data))?;
        }
        Ok(Some(summary))
    }

    fn record(&mut self, opcode: u8, mut fields: RecordFields) -> Result<()> {
        match opcode {
            op::SCHEMA => {
                let (id, definition) = definition(&mut fields)?;
                self.definitions.insert(id, Arc::new(definition));
            }
            op::CHANNEL => {
                // A summary may have channels without their schemas: the data have both.
                if let Some((id, channel)) = channel(&mut fields, &self.definitions)? {
                    self.channels.insert(id, channel);
                }
            }
            op::CHUNK_INDEX => self.chunks.push(ChunkIndex {
                times: (fields.read_u64()?, fields.read_u64()?),
                at: fields.read_u64()?,
                length: fields.read_u64()?,
                message_indexes: fields.read_channel_map()?,
                index_length: fields.read_u64()?,
                compression: fields.read_text()?,
                packed: fields.read_u64()?,
                size: fields.read_u64()?,
            }),
            op::STATISTICS => {
                self.statistics = Some(Statistics {
                    messages: fields.read_u64()?,
                    schemas: fields.read_u16()?.into(),
                    channels: fields.read_u32()?.into(),
                    attachments: fields.read_u32()?.into(),
                    metadata: fields.read_u32()?.into(),
                    chunks: fields.read_u32()?.into(),
                    times: (fields.read_u64()?, fields.read_u64()?),
                    by_channel: fields.read_channel_map()?,
                });
            }
            op::METADATA_INDEX => {
                let at = fields.read_u64()?;
                fields.read_u64()?;
                self.metadata.push((at, fields.read_text()?));
            }
            op::ATTACHMENT_INDEX => self.attachments += 1,
            op::HEADER | op::FOOTER | op::MESSAGE | op::CHUNK | op::DATA_END => {
                bail!("the summary has a record of kind {opcode}");
            }
            // What is not known is passed over.
            _ => {}
        }
        Ok(())
    }
}

/// The position of a record of a fixed length that ends at a position. It may have grown.
fn find_record_before(file: &FileRange, end: u64, opcode: u8, least: u64) -> Result<Option<u64>> {
    let from = end.saturating_sub(HEAD + least + GROWTH);
    let mut bytes = Vec::new();
    file.between(from, end).read_to_end(&mut bytes)?;
    let ends = |at: &usize| {
        let length = (bytes.len() - at - HEAD as usize) as u64;
        bytes[*at] == opcode && bytes[at + 1..].starts_with(&length.to_le_bytes())
    };
    let last = bytes.len().checked_sub((HEAD + least) as usize);
    Ok(last.and_then(|last| (0..=last).rev().find(ends)).map(|at| from + at as u64))
}

/// A schema record.
pub(crate) fn definition(fields: &mut RecordFields) -> Result<(u16, Definition)> {
    let id = fields.read_u16()?;
    ensure!(id > 0, "a schema has the id 0");
    let (name, encoding) = (fields.read_text()?, fields.read_text()?);
    Ok((id, Definition { name, encoding, data: fields.read_block()?.to_vec() }))
}

/// A channel record; none where its schema did not come before it.
pub(crate) fn channel(
    fields: &mut RecordFields,
    definitions: &BTreeMap<u16, Arc<Definition>>,
) -> Result<Option<(u16, Channel)>> {
    let (id, schema) = (fields.read_u16()?, fields.read_u16()?);
    let (topic, message_encoding) = (fields.read_text()?, fields.read_text()?);
    let definition = match schema {
        0 => Some(Arc::default()),
        _ => definitions.get(&schema).cloned(),
    };
    let metadata = fields.read_text_map()?;
    Ok(definition.map(|definition| (id, Channel { topic, message_encoding, definition, metadata })))
}
