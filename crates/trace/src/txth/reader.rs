//! Reads a trace as text. A message begins where the field comes again that the file begins
//! with; where another field that a message has once comes again first, nothing tells where a
//! message ends, and the file is refused.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::Arc;

use anyhow::{bail, ensure, Context, Result};
use prost_reflect::prost::Message;
use prost_reflect::{DynamicMessage, MessageDescriptor};
use wiregauge_schema::proto::Definitions;
use wiregauge_system::text::format_count;

use super::field_splitter::{Field, FieldSplitter};
use crate::channel::{Channel, Definition};
use crate::file_range::FileRange;
use crate::osi::{find_type, missing_type_message, OsiFileName, Stamp};
use crate::read::{self, Loss, MessageInfo, MessagePosition, LARGEST};

/// The only channel.
const TEXT_CHANNEL: u16 = 0;

/// A file that is read.
pub struct Reader {
    origin: String,
    input: BufReader<FileRange>,
    total: u64,
    channels: BTreeMap<u16, Channel>,
    kind: MessageDescriptor,
    split: FieldSplitter,
    /// The text from `start` on that is of the next message, and perhaps of the one behind.
    text: Vec<u8>,
    start: u64,
    /// The field that every message begins with.
    first: Option<String>,
    /// The fields of the message so far that it has once.
    seen: BTreeSet<String>,
    count: u64,
    /// The message that came last.
    message: Vec<u8>,
}

impl Reader {
    /// Opens a file whose messages are of the type that is wished for, or that its name tells.
    ///
    /// # Errors
    /// When it cannot be read, or nothing tells the type.
    pub fn open(path: &Path, wished: Option<&str>, definitions: &[u8]) -> Result<Reader> {
        let told = OsiFileName::parse(path).and_then(|name| name.type_name());
        let name = match wished {
            Some(wished) => find_type(wished).with_context(|| {
                format!(
                    "OSI has no top-level message '{wished}'; give one such as --type SensorView, \
                     or sv"
                )
            })?,
            None => told.with_context(|| missing_type_message(path))?,
        };
        let file = FileRange::open(path)?;
        let kind = Definitions::decode(definitions)?.message(name)?;
        // As little as an .osi file it carries its definition.
        let definition =
            Definition { name: name.into(), encoding: "protobuf".into(), data: Vec::new() };
        let channel = Channel {
            topic: name.strip_prefix("osi3.").unwrap_or(name).into(),
            message_encoding: "protobuf".into(),
            definition: Arc::new(definition),
            metadata: BTreeMap::new(),
        };
        Ok(Reader {
            origin: path.display().to_string(),
            total: file.end(),
            input: BufReader::with_capacity(1 << 16, file),
            channels: [(TEXT_CHANNEL, channel)].into(),
            kind,
            split: FieldSplitter::default(),
            text: Vec::new(),
            start: 0,
            first: None,
            seen: BTreeSet::new(),
            count: 0,
            message: Vec::new(),
        })
    }

    /// Reads up to the end of the next message. Where it lies, and how long it is there; none
    /// at the end of the file.
    fn advance(&mut self) -> Result<Option<(u64, usize)>> {
        loop {
            let piece = self.input.fill_buf()?;
            let Some(byte) = piece.first().copied() else { break };
            self.input.consume(1);
            self.text.push(byte);
            let at = self.start + self.text.len() as u64 - 1;
            ensure!(
                self.text.len() as u64 <= LARGEST,
                "byte {}: a message has more than 1 GiB",
                self.start
            );
            let begun =
                self.split.push(byte).map_err(|what| anyhow::anyhow!("byte {at}: {what}"))?;
            let Some(field) = begun else { continue };
            if self.begins_message(&field)? {
                let length = (field.at - self.start) as usize;
                return Ok(Some((self.start, length)));
            }
        }
        ensure!(self.split.is_whole(), "it ends within a message");
        let length = self.text.len();
        Ok((self.first.is_some() && length > 0).then_some((self.start, length)))
    }

    /// Whether a field is the first of another message.
    fn begins_message(&mut self, field: &Field) -> Result<bool> {
        let Field { name, at } = field;
        let known = self.kind.get_field_by_name(name);
        let kind = self.kind.name();
        let known = known.with_context(|| format!("byte {at}: {kind} has no field {name}"))?;
        let is_single = !known.is_list() && !known.is_map();
        let Some(first) = &self.first else {
            ensure!(
                is_single,
                "it begins with {name}, which a message can have several times, so the end of a \
                 message cannot be found"
            );
            self.first = Some(name.clone());
            return Ok(false);
        };
        if name == first {
            self.seen.clear();
            return Ok(true);
        }
        if is_single && !self.seen.insert(name.clone()) {
            bail!(
                "byte {at}: {name} is repeated but {first}, the first field of the file, is not, \
                 so the end of a message cannot be found"
            );
        }
        Ok(false)
    }

    /// Makes a message of its text.
    fn parse(&mut self, length: usize) -> Result<()> {
        let text = std::str::from_utf8(&self.text[..length]).context("the text is not UTF-8")?;
        let message = DynamicMessage::parse_text_format(self.kind.clone(), text)
            .map_err(|error| anyhow::anyhow!("{error}"))?;
        self.message.clear();
        message.encode(&mut self.message)?;
        self.text.drain(..length);
        self.start += length as u64;
        Ok(())
    }
}

impl read::Reader for Reader {
    fn channels(&self) -> &BTreeMap<u16, Channel> {
        &self.channels
    }

    fn next(&mut self) -> Result<Option<MessageInfo>> {
        let (origin, messages) = (self.origin.clone(), format_count(self.count, "message"));
        let next = self.advance();
        let next = next.with_context(|| format!("{origin} cannot be read after {messages}"))?;
        let Some((at, length)) = next else { return Ok(None) };
        self.parse(length).with_context(|| format!("{origin}: the message at byte {at}"))?;
        self.count += 1;
        let time = Stamp::read(&self.channels[&TEXT_CHANNEL].definition.name, &self.message).time;
        let (size, place) = (self.message.len() as u64, MessagePosition { at, within: None });
        Ok(Some(MessageInfo {
            channel: TEXT_CHANNEL,
            sequence: 0,
            time,
            publish_time: time,
            size,
            place,
        }))
    }

    fn first_bytes(&mut self, most: usize) -> Result<&[u8]> {
        Ok(&self.message[..most.min(self.message.len())])
    }

    fn data(&mut self) -> Result<&[u8]> {
        Ok(&self.message)
    }

    /// Of text nothing is left out: what is no text of a message is an error.
    fn salvage(&mut self) {}

    fn losses(&self) -> &[Loss] {
        &[]
    }

    fn progress(&self) -> (u64, u64) {
        (self.start + self.text.len() as u64, self.total)
    }
}
