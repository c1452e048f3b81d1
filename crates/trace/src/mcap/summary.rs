//! The summary at the end of an MCAP file: what there is, and where, without reading what
//! stands before it.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use anyhow::{ensure, Context, Result};
use mcap::records::op;

use super::fields::Fields;
use crate::channel::{Channel, Definition};
use crate::part::Part;

/// The length of the footer record with its head, and of the last bytes of a file.
const FOOTER: u64 = 1 + 8 + 8 + 8 + 4;

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
    /// `lz4`, `zstd`, or nothing.
    pub compression: String,
    /// How many bytes its records have as they lie there, and unpacked.
    pub packed: u64,
    /// As above.
    pub size: u64,
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
    pub fn of(path: &Path) -> Result<Option<Summary>> {
        let file = Part::whole(path)?;
        let mut magic = Vec::new();
        file.between(0, mcap::MAGIC.len() as u64).read_to_end(&mut magic)?;
        Ok(Summary::read(&file).ok().flatten().filter(|_| magic == mcap::MAGIC))
    }

    /// Reads it; none where the file has no summary.
    ///
    /// # Errors
    /// When the file has no end, or the summary is damaged.
    pub(crate) fn read(file: &Part) -> Result<Option<Summary>> {
        let magic = mcap::MAGIC.len() as u64;
        let end = file.end().checked_sub(magic + FOOTER).context("no footer")?;
        let mut bytes = Vec::new();
        file.between(end, file.end()).read_to_end(&mut bytes)?;
        ensure!(bytes.ends_with(mcap::MAGIC), "the last bytes are not MCAP's");
        let mut fields = Fields(&bytes);
        ensure!(fields.bytes(1)? == [op::FOOTER] && fields.long()? == FOOTER - 9, "no footer");
        let (start, offsets, checksum) = (fields.long()?, fields.long()?, fields.number()?);
        if start == 0 {
            return Ok(None);
        }
        ensure!(start < end && end - start <= LARGEST, "a summary at byte {start}");
        ensure!(offsets == 0 || (start..=end).contains(&offsets), "an offset at byte {offsets}");
        // The checksum is of all from there up to itself.
        let mut records = Vec::new();
        file.between(start, end + FOOTER - 4).read_to_end(&mut records)?;
        let is_right = checksum == 0 || checksum == crc32fast::hash(&records);
        ensure!(is_right, "a summary with another checksum");
        let mut summary = Summary::default();
        let mut rest = Fields(&records[..(end - start) as usize]);
        while !rest.0.is_empty() {
            let (opcode, length) = (rest.bytes(1)?[0], rest.long()?);
            let data = rest.bytes(usize::try_from(length)?)?;
            summary.record(opcode, Fields(data))?;
        }
        Ok(Some(summary))
    }

    fn record(&mut self, opcode: u8, mut fields: Fields) -> Result<()> {
        match opcode {
            op::SCHEMA => {
                let (id, definition) = definition(&mut fields)?;
                self.definitions.insert(id, Arc::new(definition));
            }
            op::CHANNEL => {
                let (id, channel) = channel(&mut fields, &self.definitions)?;
                self.channels.insert(id, channel);
            }
            op::CHUNK_INDEX => self.chunks.push(ChunkIndex {
                times: (fields.long()?, fields.long()?),
                at: fields.long()?,
                length: fields.long()?,
                message_indexes: fields.by_channel()?,
                compression: {
                    fields.long()?;
                    fields.text()?
                },
                packed: fields.long()?,
                size: fields.long()?,
            }),
            op::STATISTICS => {
                let messages = fields.long()?;
                // How many schemas, channels, attachments, metadata records and chunks.
                fields.bytes(2 + 4 + 4 + 4 + 4)?;
                self.statistics = Some(Statistics {
                    messages,
                    times: (fields.long()?, fields.long()?),
                    by_channel: fields.by_channel()?,
                });
            }
            op::METADATA_INDEX => {
                let at = fields.long()?;
                fields.long()?;
                self.metadata.push((at, fields.text()?));
            }
            op::ATTACHMENT_INDEX => self.attachments += 1,
            _ => {}
        }
        Ok(())
    }
}

/// A schema record.
pub(crate) fn definition(fields: &mut Fields) -> Result<(u16, Definition)> {
    let id = fields.short()?;
    ensure!(id > 0, "a schema with the id 0");
    let (name, encoding) = (fields.text()?, fields.text()?);
    Ok((id, Definition { name, encoding, data: fields.block()?.to_vec() }))
}

/// A channel record. The schema must have come before it.
pub(crate) fn channel(
    fields: &mut Fields,
    definitions: &BTreeMap<u16, Arc<Definition>>,
) -> Result<(u16, Channel)> {
    let (id, schema) = (fields.short()?, fields.short()?);
    let (topic, message_encoding) = (fields.text()?, fields.text()?);
    let definition =
        match schema {
            0 => Arc::default(),
            _ => Arc::clone(definitions.get(&schema).with_context(|| {
                format!("channel {id} has schema {schema}, which is not there")
            })?),
        };
    let metadata = fields.texts()?;
    Ok((id, Channel { topic, message_encoding, definition, metadata }))
}
