//! Writes MCAP, and where there are messages of OSI, a trace file of OSI: chunks with
//! index, the definitions in the summary, and versions as the data have them.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

use anyhow::{bail, Context, Result};
use mcap::records::{AttachmentHeader, MessageHeader, Metadata};
use mcap::write::NoSeek;
use mcap::{WriteOptions, Writer as Library};

use super::writer::{Output, Writer};
use crate::channel::{
    Channel, Definition, CHANNEL_OSI_VERSION, CHANNEL_PROTOBUF_VERSION, OSI_TRACE,
};
use crate::osi::Stamp;
use crate::read::{Attachment, FileHeader, MessageInfo, Nanoseconds};
use crate::version::VersionRange;

/// What writes it.
const LIBRARY: &str = concat!("wiregauge ", env!("CARGO_PKG_VERSION"));

/// What stands between the libraries that a file went through, as the mcap command has it.
const LIBRARY_SEPARATOR: &str = "; ";

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

impl Compression {
    /// All of them.
    pub const ALL: [Compression; 3] = [Compression::None, Compression::Lz4, Compression::Zstd];

    /// As the command line has it.
    pub fn name(self) -> &'static str {
        match self {
            Compression::None => "none",
            Compression::Lz4 => "lz4",
            Compression::Zstd => "zstd",
        }
    }
}

#[cfg(feature = "clap")]
impl clap::ValueEnum for Compression {
    fn value_variants<'a>() -> &'a [Compression] {
        &Compression::ALL
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(self.name().into())
    }
}

/// How messages are put into chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkOptions {
    /// How chunks are compressed.
    pub compression: Compression,
    /// After how many bytes a chunk ends. A message that is larger has one of its own.
    pub chunk: u64,
}

impl Default for ChunkOptions {
    fn default() -> ChunkOptions {
        ChunkOptions { compression: Compression::default(), chunk: 1 << 20 }
    }
}

/// A file, whose header is written once it is known what that says.
enum FileState<W: Output> {
    Empty(W),
    Begun(Box<Library<NoSeek<W>>>),
    /// It could not be begun.
    Failed,
}

/// An MCAP file.
pub struct Mcap<W: Output> {
    file: FileState<W>,
    packing: ChunkOptions,
    channels: BTreeMap<u16, Channel>,
    /// How many bytes the current chunk has, about.
    filled: u64,
    osi: VersionRange,
    protobuf: VersionRange,
    /// What is said of the trace, which comes last as its versions are known then.
    trace: Option<BTreeMap<String, String>>,
    /// What several files say of the trace each in its own way.
    said_twice: BTreeSet<String>,
}

impl<W: Output> Mcap<W> {
    /// A file of which nothing is written yet.
    pub fn new(out: W, packing: ChunkOptions) -> Mcap<W> {
        Mcap {
            file: FileState::Empty(out),
            packing,
            channels: BTreeMap::new(),
            filled: 0,
            osi: VersionRange::default(),
            protobuf: VersionRange::default(),
            trace: None,
            said_twice: BTreeSet::new(),
        }
    }

    /// Writes the header, unless it was written before.
    fn begin(&mut self, about: &FileHeader) -> Result<()> {
        let out = match std::mem::replace(&mut self.file, FileState::Failed) {
            FileState::Empty(out) => out,
            file => {
                self.file = file;
                return Ok(());
            }
        };
        let ChunkOptions { compression, chunk } = self.packing;
        let compression = match compression {
            Compression::None => None,
            Compression::Lz4 => Some(mcap::Compression::Lz4),
            Compression::Zstd => Some(mcap::Compression::Zstd),
        };
        let options = WriteOptions::new()
            .compression(compression)
            // One file is the same whatever machine writes it.
            .compression_threads(0)
            .chunk_size(Some(chunk))
            .profile(&about.profile)
            .library(library(&about.library))
            .disable_seeking(true);
        self.file = FileState::Begun(Box::new(options.create(NoSeek::new(out))?));
        Ok(())
    }

    /// The file, with its header.
    fn out(&mut self) -> Result<&mut Library<NoSeek<W>>> {
        self.begin(&FileHeader::default())?;
        match &mut self.file {
            FileState::Begun(out) => Ok(out),
            _ => bail!("the file has no header yet"),
        }
    }
}

/// What is said to have written a file: this, and what wrote those that it is made of.
fn library(before: &str) -> String {
    let mut all = vec![LIBRARY];
    for library in before.split(LIBRARY_SEPARATOR).filter(|library| !library.is_empty()) {
        if !all.contains(&library) {
            all.push(library);
        }
    }
    all.join(LIBRARY_SEPARATOR)
}

impl<W: Output> Writer for Mcap<W> {
    fn write_header(&mut self, about: &FileHeader) -> Result<()> {
        self.begin(about)
    }

    fn add_channel(&mut self, channel: &Channel) -> Result<u16> {
        let definition = &channel.definition;
        let schema = match definition.name.is_empty() && definition.data.is_empty() {
            true => 0,
            false => {
                let Definition { name, encoding, data } = &**definition;
                self.out()?.add_schema(name, encoding, data)?
            }
        };
        let (topic, encoding) = (&channel.topic, &channel.message_encoding);
        let id = self.out()?.add_channel(schema, topic, encoding, &channel.metadata)?;
        let of_osi = |key| channel.metadata.get(key).filter(|_| channel.is_osi());
        let versions =
            [(CHANNEL_OSI_VERSION, &mut self.osi), (CHANNEL_PROTOBUF_VERSION, &mut self.protobuf)];
        for (key, range) in versions {
            of_osi(key).into_iter().for_each(|version| range.include_text(version));
        }
        self.channels.insert(id, channel.clone());
        Ok(id)
    }

    fn write_message(&mut self, channel: u16, head: &MessageInfo, data: &[u8]) -> Result<()> {
        let known = &self.channels[&channel];
        if known.is_osi() {
            if let Some(version) = Stamp::read(&known.definition.name, data).version {
                self.osi.include(version);
            }
        }
        let time = |time: Option<Nanoseconds>| {
            let time = time.unwrap_or(0);
            u64::try_from(time).with_context(|| {
                format!(
                    "a message of {} has the time {} s, but MCAP has no times before 0; leave it \
                     out by --from",
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
        let chunk = self.packing.chunk;
        if self.filled > 0 && (size > chunk || self.filled > chunk) {
            self.out()?.flush()?;
            self.filled = 0;
        }
        self.out()?.write_to_known_channel(&header, data)?;
        self.filled += size;
        Ok(())
    }

    fn has_room(&self) -> bool {
        true
    }

    fn write_metadata(&mut self, name: &str, entries: &BTreeMap<String, String>) -> Result<bool> {
        if name == OSI_TRACE {
            // Of several files the first one that says something is right.
            let known = self.trace.get_or_insert_default();
            for (key, value) in entries {
                if known.entry(key.clone()).or_insert_with(|| value.clone()) != value {
                    self.said_twice.insert(key.clone());
                }
            }
        } else {
            let (name, metadata) = (name.to_owned(), entries.clone());
            self.out()?.write_metadata(&Metadata { name, metadata })?;
        }
        Ok(true)
    }

    fn write_attachment(&mut self, attachment: &Attachment) -> Result<bool> {
        let header = AttachmentHeader {
            log_time: attachment.times.0,
            create_time: attachment.times.1,
            name: attachment.name.clone(),
            media_type: attachment.media_type.clone(),
        };
        let out = self.out()?;
        out.start_attachment(attachment.size(), header)?;
        let (mut content, mut piece) = (attachment.content(), vec![0; 1 << 16]);
        loop {
            match content.read(&mut piece)? {
                0 => break,
                count => out.put_attachment_bytes(&piece[..count])?,
            }
        }
        out.finish_attachment()?;
        Ok(true)
    }

    fn remarks(&self) -> Vec<String> {
        // Versions are those of what was written.
        let is_kept = |key: &&String| !key.starts_with("min_") && !key.starts_with("max_");
        let keys: Vec<&str> = self.said_twice.iter().filter(is_kept).map(String::as_str).collect();
        let told = || {
            let keys = keys.join(", ");
            format!(
                "a file has one record {OSI_TRACE}, but the inputs differ in {keys}; the values of \
                 the first input are kept"
            )
        };
        (!keys.is_empty()).then(told).into_iter().collect()
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
            let (name, metadata) = (OSI_TRACE.into(), entries);
            self.out()?.write_metadata(&Metadata { name, metadata })?;
        }
        self.out()?.finish()?;
        match self.file {
            FileState::Begun(out) => (*out).into_inner().into_inner().commit(),
            _ => bail!("the file has no header yet"),
        }
    }
}
