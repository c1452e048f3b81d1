//! MCAP files, read from start to end: index, summary and metadata are not
//! needed. Memory grows with the largest chunk and the schemas, not the file.

use std::collections::{BTreeMap, HashMap};
use std::io::{BufReader, ErrorKind, Read};
use std::path::Path;

use anyhow::{anyhow, bail, ensure, Context, Result};
use mcap::records::op;
use mcap::sans_io::{LinearReadEvent, LinearReader, LinearReaderOptions};
use mcap::McapError;
use wiregauge_schema::file;

use crate::topic::{Definition, Topic};

/// Largest record in bytes that is read: 256 MiB. In a damaged file a length is
/// any number, and memory is reserved by it.
const MAX_RECORD: usize = 1 << 28;

/// Largest chunk in bytes when it is unpacked: 1 GiB.
const MAX_CHUNK: usize = 1 << 30;

/// Finds the topics, in the order of their first message; those without any
/// stand at the end.
pub fn topics(path: &Path) -> Result<Vec<(Topic, Definition)>> {
    let mut found: Vec<(Topic, Definition)> = Vec::new();
    let mut by_channel: HashMap<u16, usize> = HashMap::new();
    let channels = scan(path, |id, channel, _| {
        let index = *by_channel.entry(id).or_insert_with(|| add(&mut found, channel));
        found[index].0.messages += 1;
        Ok(())
    })?;
    for channel in channels.values() {
        add(&mut found, channel);
    }
    Ok(found)
}

/// The index of a channel's topic, which is added if it is new. Two recorders
/// may have written one topic through two channels.
fn add(found: &mut Vec<(Topic, Definition)>, channel: &Channel) -> usize {
    let Channel { topic, message_encoding, schema } = channel;
    let known = found.iter().position(|(known, definition)| {
        known.name == *topic
            && known.schema_name == schema.name
            && known.schema_encoding == schema.encoding
            && known.message_encoding == *message_encoding
            && definition.0 == schema.data
    });
    known.unwrap_or_else(|| {
        let topic = Topic {
            name: topic.clone(),
            schema_name: schema.name.clone(),
            schema_encoding: schema.encoding.clone(),
            message_encoding: message_encoding.clone(),
            messages: 0,
        };
        found.push((topic, Definition(schema.data.clone())));
        found.len() - 1
    })
}

/// Calls a function with the content of every message of a topic, in the order
/// of the file.
pub fn each_message(
    path: &Path,
    topic: &str,
    mut visit: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    scan(path, |_, channel, data| match channel.topic == topic {
        true => visit(data),
        false => Ok(()),
    })?;
    Ok(())
}

/// Visits every message, and returns the channels that there are.
fn scan(
    path: &Path,
    mut visit: impl FnMut(u16, &Channel, &[u8]) -> Result<()>,
) -> Result<BTreeMap<u16, Channel>> {
    let origin = path.display();
    let mut file = file::open(path)?;
    // The kind of the file is known by its first bytes already.
    file.read_exact(&mut [0; mcap::MAGIC.len()])
        .with_context(|| format!("cannot read {origin}"))?;
    let options = LinearReaderOptions::default()
        .with_skip_start_magic(true)
        .with_emit_chunks(true)
        .with_record_length_limit(MAX_RECORD);
    let mut file = BufReader::new(file);
    let mut reader = LinearReader::new_with_options(options);
    let mut scan = Scan::default();
    while let Some(event) = reader.next_event() {
        let outcome = match event {
            Ok(LinearReadEvent::ReadRequest(wanted)) => {
                let read = read(&mut file, reader.insert(wanted));
                reader.notify_read(read.with_context(|| format!("cannot read {origin}"))?);
                continue;
            }
            Ok(LinearReadEvent::Record { opcode, data }) => {
                scan.record(opcode, data, &mut visit, false)
            }
            Err(error) => Err(error.into()),
        };
        let Err(error) = outcome else { continue };
        // What the visitor refuses is no damage of the file.
        if let Some(refused) = scan.refused {
            return Err(refused);
        }
        let count = scan.count;
        if let Some(McapError::UnexpectedEof | McapError::BadMagic) = error.downcast_ref() {
            bail!(
                "{origin} is truncated after {count} messages; save what is there with \
                 'mcap recover {origin} -o recovered.mcap' and read that"
            );
        }
        let error = match error.downcast() {
            // It shows its own sources too, over several lines.
            Ok(McapError::Parse(parse)) => anyhow!("{}", parse.root_cause()),
            Ok(other) => other.into(),
            Err(other) => other,
        };
        return Err(error).with_context(|| {
            format!(
                "{origin} is damaged after {count} messages; try \
                 'mcap recover {origin} -o recovered.mcap' and read that"
            )
        });
    }
    Ok(scan.channels)
}

fn read(file: &mut impl Read, buffer: &mut [u8]) -> std::io::Result<usize> {
    loop {
        match file.read(buffer) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

/// What was read so far.
#[derive(Default)]
struct Scan {
    schemas: HashMap<u16, Schema>,
    channels: BTreeMap<u16, Channel>,
    /// Messages.
    count: u64,
    /// Whether only the summary follows, which repeats schemas and channels.
    ended: bool,
    /// Why the visitor would not go on.
    refused: Option<anyhow::Error>,
}

#[derive(Clone, Default, PartialEq)]
struct Schema {
    name: String,
    encoding: String,
    data: Vec<u8>,
}

#[derive(PartialEq)]
struct Channel {
    topic: String,
    message_encoding: String,
    schema: Schema,
}

impl Scan {
    /// Takes a record, with those in it where it is a chunk.
    ///
    /// The library believes the lengths in a record: it reserves memory for a text
    /// by them, and reads on behind a chunk. So records are taken apart here.
    fn record(
        &mut self,
        opcode: u8,
        data: &[u8],
        visit: &mut impl FnMut(u16, &Channel, &[u8]) -> Result<()>,
        within: bool,
    ) -> Result<()> {
        let mut fields = Fields(data);
        match opcode {
            op::DATA_END if !within => self.ended = true,
            op::SCHEMA | op::CHANNEL if self.ended => {}
            op::SCHEMA => self.schema(fields)?,
            op::CHANNEL => self.channel(fields)?,
            op::CHUNK => {
                ensure!(!within, "a chunk within a chunk");
                let content = chunk(fields)?;
                let mut rest = Fields(&content);
                while !rest.0.is_empty() {
                    let (opcode, length) = (rest.bytes(1)?[0], rest.long()?);
                    let data = rest.bytes(length)?;
                    self.record(opcode, data, visit, true)?;
                }
            }
            op::MESSAGE => {
                let id = fields.short()?;
                let channel = self.channels.get(&id);
                let channel = channel
                    .with_context(|| format!("a message of channel {id}, which is not there"))?;
                // Its sequence and its two times.
                fields.bytes(4 + 8 + 8)?;
                if let Err(error) = visit(id, channel, fields.0) {
                    self.refused = Some(error);
                    bail!("refused");
                }
                self.count += 1;
            }
            _ => {}
        }
        Ok(())
    }

    fn schema(&mut self, mut fields: Fields) -> Result<()> {
        let id = fields.short()?;
        let (name, encoding) = (fields.text()?, fields.text()?);
        let schema = Schema { name, encoding, data: fields.block()?.to_vec() };
        ensure!(id > 0, "a schema with the id 0");
        let same = self.schemas.get(&id).is_none_or(|known| *known == schema);
        ensure!(same, "two schemas with the id {id}");
        self.schemas.insert(id, schema);
        Ok(())
    }

    fn channel(&mut self, mut fields: Fields) -> Result<()> {
        let (id, schema) = (fields.short()?, fields.short()?);
        let (topic, message_encoding) = (fields.text()?, fields.text()?);
        let schema =
            match schema {
                0 => Schema::default(),
                _ => self.schemas.get(&schema).cloned().with_context(|| {
                    format!("channel {id} has schema {schema}, which is not there")
                })?,
            };
        let channel = Channel { topic, message_encoding, schema };
        let same = self.channels.get(&id).is_none_or(|known| *known == channel);
        ensure!(same, "two channels with the id {id}");
        self.channels.insert(id, channel);
        Ok(())
    }
}

/// The records in a chunk.
fn chunk(mut fields: Fields) -> Result<Vec<u8>> {
    // The times of its first and its last message.
    fields.bytes(8 + 8)?;
    let (size, sum) = (fields.long()?, fields.number()?);
    let compression = fields.text()?;
    let length = fields.long()?;
    let data = fields.bytes(length)?;
    ensure!(size <= MAX_CHUNK, "a chunk of {size} bytes");
    let (mut content, most) = (Vec::new(), size as u64 + 1);
    match compression.as_str() {
        "" => content = data.to_vec(),
        "lz4" => drop(lz4::Decoder::new(data)?.take(most).read_to_end(&mut content)?),
        "zstd" => drop(zstd::Decoder::new(data)?.take(most).read_to_end(&mut content)?),
        other => bail!("a chunk in '{other}'"),
    }
    ensure!(content.len() == size, "a chunk of another size than it says");
    ensure!(sum == 0 || sum == crc32fast::hash(&content), "a chunk with another checksum");
    Ok(content)
}

/// The fields of a record.
struct Fields<'d>(&'d [u8]);

impl<'d> Fields<'d> {
    fn bytes(&mut self, count: usize) -> Result<&'d [u8]> {
        let (bytes, rest) = self.0.split_at_checked(count).context("a record cut short")?;
        self.0 = rest;
        Ok(bytes)
    }

    fn short(&mut self) -> Result<u16> {
        Ok(u16::from_le_bytes(self.bytes(2)?.try_into()?))
    }

    fn number(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.bytes(4)?.try_into()?))
    }

    fn long(&mut self) -> Result<usize> {
        Ok(u64::from_le_bytes(self.bytes(8)?.try_into()?).try_into()?)
    }

    /// Bytes after their length.
    fn block(&mut self) -> Result<&'d [u8]> {
        let length = self.number()?;
        self.bytes(length as usize)
    }

    fn text(&mut self) -> Result<String> {
        Ok(std::str::from_utf8(self.block()?).context("a name that is not UTF-8")?.to_owned())
    }
}
