//! Writes MCAP, and where there are messages of OSI, a trace file of OSI: chunks with
//! index, the definitions in the summary, and versions as the data have them.

use std::collections::BTreeMap;
use std::io::Read;

use anyhow::{Context, Result};
use mcap::records::{AttachmentHeader, MessageHeader, Metadata};
use mcap::write::NoSeek;
use mcap::{WriteOptions, Writer as Library};

use super::writer::{Output, Writer};
use crate::channel::{Channel, CHANNEL_OSI_VERSION, CHANNEL_PROTOBUF_VERSION, OSI_TRACE};
use crate::osi::Stamp;
use crate::read::{Attachment, Head, Nanoseconds};
use crate::version::Range;

/// The release of OSI whose rules for trace files hold here.
const RULES: &str = "3.8.0";

/// How chunks are compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    None,
    /// By LZ4: fast.
    Lz4,
    /// By Zstandard: small.
    #[default]
    Zstd,
}

/// How messages are put into chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packing {
    /// How chunks are compressed.
    pub compression: Compression,
    /// After how many bytes a chunk ends. A message that is larger has one of its own.
    pub chunk: u64,
}

impl Default for Packing {
    fn default() -> Packing {
        Packing { compression: Compression::default(), chunk: 1 << 20 }
    }
}

/// An MCAP file.
pub struct Mcap<W: Output> {
    out: Library<NoSeek<W>>,
    chunk: u64,
    channels: BTreeMap<u16, Channel>,
    /// How many bytes the current chunk has, about.
    filled: u64,
    osi: Range,
    protobuf: Range,
    /// What is said of the trace, which comes last as its versions are known then.
    trace: Option<BTreeMap<String, String>>,
}

impl<W: Output> Mcap<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn new(out: W, packing: Packing) -> Result<Mcap<W>> {
        let compression = match packing.compression {
            Compression::None => None,
            Compression::Lz4 => Some(mcap::Compression::Lz4),
            Compression::Zstd => Some(mcap::Compression::Zstd),
        };
        let options = WriteOptions::new()
            .compression(compression)
            // One file is the same whatever machine writes it.
            .compression_threads(0)
            .chunk_size(Some(packing.chunk))
            .library(concat!("wiregauge ", env!("CARGO_PKG_VERSION")))
            .disable_seeking(true);
        Ok(Mcap {
            out: options.create(NoSeek::new(out))?,
            chunk: packing.chunk,
            channels: BTreeMap::new(),
            filled: 0,
            osi: Range::default(),
            protobuf: Range::default(),
            trace: None,
        })
    }
}

impl<W: Output> Writer for Mcap<W> {
    fn channel(&mut self, channel: &Channel) -> Result<u16> {
        let definition = &channel.definition;
        let schema = match definition.name.is_empty() && definition.data.is_empty() {
            true => 0,
            false => {
                self.out.add_schema(&definition.name, &definition.encoding, &definition.data)?
            }
        };
        let (topic, encoding) = (&channel.topic, &channel.message_encoding);
        let id = self.out.add_channel(schema, topic, encoding, &channel.metadata)?;
        let of_osi = |key| channel.metadata.get(key).filter(|_| channel.is_osi());
        let versions =
            [(CHANNEL_OSI_VERSION, &mut self.osi), (CHANNEL_PROTOBUF_VERSION, &mut self.protobuf)];
        for (key, range) in versions {
            of_osi(key).into_iter().for_each(|version| range.include_text(version));
        }
        self.channels.insert(id, channel.clone());
        Ok(id)
    }

    fn message(&mut self, channel: u16, head: &Head, data: &[u8]) -> Result<()> {
        let known = &self.channels[&channel];
        if known.is_osi() {
            if let Some(version) = Stamp::of(&known.definition.name, data).version {
                self.osi.include(version);
            }
        }
        let time = |time: Option<Nanoseconds>| {
            let time = time.unwrap_or(0);
            u64::try_from(time).with_context(|| {
                format!(
                    "a message of {} has the time {} s, and MCAP has none before 0; leave it out \
                     by --from",
                    known.topic,
                    time as f64 / 1e9
                )
            })
        };
        let header = MessageHeader {
            channel_id: channel,
            sequence: head.sequence,
            log_time: time(head.time)?,
            publish_time: time(head.publish_time.or(head.time))?,
        };
        // Readers that want a small message need not unpack a large one.
        let size = data.len() as u64;
        if self.filled > 0 && (size > self.chunk || self.filled > self.chunk) {
            self.out.flush()?;
            self.filled = 0;
        }
        self.out.write_to_known_channel(&header, data)?;
        self.filled += size;
        Ok(())
    }

    fn has_room(&self) -> bool {
        true
    }

    fn metadata(&mut self, name: &str, entries: &BTreeMap<String, String>) -> Result<bool> {
        if name == OSI_TRACE {
            // Of several files the first one that says something is right.
            let known = self.trace.get_or_insert_default();
            for (key, value) in entries {
                known.entry(key.clone()).or_insert_with(|| value.clone());
            }
        } else {
            let (name, metadata) = (name.to_owned(), entries.clone());
            self.out.write_metadata(&Metadata { name, metadata })?;
        }
        Ok(true)
    }

    fn attachment(&mut self, attachment: &Attachment) -> Result<bool> {
        let header = AttachmentHeader {
            log_time: attachment.times.0,
            create_time: attachment.times.1,
            name: attachment.name.clone(),
            media_type: attachment.media_type.clone(),
        };
        self.out.start_attachment(attachment.size(), header)?;
        let (mut content, mut piece) = (attachment.content(), vec![0; 1 << 16]);
        loop {
            match content.read(&mut piece)? {
                0 => break,
                count => self.out.put_attachment_bytes(&piece[..count])?,
            }
        }
        self.out.finish_attachment()?;
        Ok(true)
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        let is_osi = self.channels.values().any(Channel::is_osi);
        if is_osi || self.trace.is_some() {
            let mut entries = self.trace.take().unwrap_or_default();
            entries.entry("version".into()).or_insert_with(|| RULES.into());
            for (range, what) in [(&self.osi, "osi"), (&self.protobuf, "protobuf")] {
                if let Some((least, most)) = range.texts() {
                    entries.insert(format!("min_{what}_version"), least);
                    entries.insert(format!("max_{what}_version"), most);
                }
            }
            self.out.write_metadata(&Metadata { name: OSI_TRACE.into(), metadata: entries })?;
        }
        self.out.finish()?;
        self.out.into_inner().into_inner().settle()
    }
}
