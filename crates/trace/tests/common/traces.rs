//! Trace files that are made, and what is in one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::Context;
use mcap::read::{attachment, parse_record};
use mcap::records::{MessageHeader, Record};
use mcap::write::Metadata;
use mcap::{MessageStream, Summary, WriteOptions, MAGIC};
use prost_reflect::prost::Message;
use prost_reflect::prost_types::field_descriptor_proto::{Label, Type};
use prost_reflect::prost_types::{
    DescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet,
};
use tempfile::TempDir;
use wiregauge_system::file::Target;
use wiregauge_trace::channel::Channel;
use wiregauge_trace::copy::{copy, CopySource};
use wiregauge_trace::open::{open, OpenHints};
use wiregauge_trace::parser::extract_definition;
use wiregauge_trace::read::{Nanoseconds, Reader};
use wiregauge_trace::select::Selection;
use wiregauge_trace::write::{ChunkOptions, Compression, OutputFormat};

/// A message with all that it is known by.
pub type Whole = (String, u32, Option<Nanoseconds>, Option<Nanoseconds>, Vec<u8>);

/// All messages that a reader finds.
pub fn messages(reader: &mut dyn Reader) -> Vec<Whole> {
    let mut found = Vec::new();
    while let Some(head) = reader.next().unwrap() {
        let topic = reader.channels()[&head.channel].topic.clone();
        let data = reader.data().unwrap().to_vec();
        assert_eq!(data.len() as u64, head.size);
        found.push((topic, head.sequence, head.time, head.publish_time, data));
    }
    assert!(reader.next().unwrap().is_none(), "the end stays the end");
    found
}

pub fn all_of(path: &Path) -> Vec<Whole> {
    messages(open(path, &OpenHints::default()).unwrap().as_mut())
}

/// What OSI defines, as far as these tests need it: in two files, and in one that is not
/// needed.
pub fn descriptors() -> Vec<u8> {
    let field = |(name, number, kind): &(&str, i32, Result<Type, &str>)| FieldDescriptorProto {
        name: Some((*name).into()),
        number: Some(*number),
        label: Some(Label::Optional as i32),
        r#type: Some(kind.unwrap_or(Type::Message) as i32),
        type_name: kind.err().map(str::to_owned),
        ..Default::default()
    };
    let message = |name: &str, fields: &[(&str, i32, Result<Type, &str>)]| DescriptorProto {
        name: Some(name.into()),
        field: fields.iter().map(field).collect(),
        ..Default::default()
    };
    let file = |name: &str, dependency: &[&str], message_type| FileDescriptorProto {
        name: Some(name.into()),
        package: Some("osi3".into()),
        dependency: dependency.iter().map(|name| (*name).into()).collect(),
        message_type,
        ..Default::default()
    };
    let number = Ok(Type::Uint32);
    let version = [("major", 1, number), ("minor", 2, number), ("patch", 3, number)];
    let time = [("seconds", 1, Ok(Type::Int64)), ("nanos", 2, number)];
    let view =
        [("version", 1, Err(".osi3.InterfaceVersion")), ("timestamp", 2, Err(".osi3.Timestamp"))];
    let files = vec![
        file("other.proto", &[], vec![message("Other", &version)]),
        file("version.proto", &[], vec![message("InterfaceVersion", &version)]),
        file("common.proto", &["version.proto"], vec![message("Timestamp", &time)]),
        file("view.proto", &["common.proto", "version.proto"], vec![message("SensorView", &view)]),
    ];
    FileDescriptorSet { file: files }.encode_to_vec()
}

/// A channel as it goes into MCAP: what comes out of an `.osi` file gets a definition.
pub fn describe(channel: &Channel) -> Channel {
    let mut channel = channel.clone();
    if channel.is_osi() && channel.definition.data.is_empty() {
        channel.definition =
            extract_definition(&descriptors(), &channel.definition.name).unwrap().into();
    }
    channel
}

pub fn copy_to(inputs: &[&Path], of: &Selection, output: &Path, packing: ChunkOptions) -> u64 {
    let mut readers: Vec<_> =
        inputs.iter().map(|path| open(path, &OpenHints::default()).unwrap()).collect();
    let sources =
        readers.iter_mut().map(|reader| CopySource::new("in", reader.as_mut(), of).unwrap());
    let mut sources: Vec<CopySource> = sources.collect();
    let draft = Target::open(output, inputs).unwrap().start_draft().unwrap();
    let form = OutputFormat::from_path(output).unwrap();
    let mut writer = form.begin(draft, packing).unwrap();
    let mut described = |_: usize, channel: &Channel| {
        Ok(if form == OutputFormat::Mcap { describe(channel) } else { channel.clone() })
    };
    let copied = copy(&mut sources, writer.as_mut(), &mut described, &mut |_, _| {}).unwrap();
    writer.finish().unwrap();
    if form == OutputFormat::Mcap {
        assert_eq!(faults(output), Vec::<String>::new(), "of {}", output.display());
    }
    copied.0.messages
}

/// What is wrong with an MCAP file, as the library of MCAP reads it: checksums, places and
/// numbers that are not those of what there is.
pub fn faults(path: &Path) -> Vec<String> {
    let bytes = fs::read(path).unwrap();
    let mut found = Vec::new();
    if let Err(error) = look(&bytes, &mut |what: String| found.push(what)) {
        found.push(format!("{error:#}"));
    }
    found
}

fn look(bytes: &[u8], fault: &mut dyn FnMut(String)) -> anyhow::Result<()> {
    let mut hold = |what: &str, is_right: bool| {
        if !is_right {
            fault(what.to_owned());
        }
    };
    let summary = Summary::read(bytes)?.context("no summary")?;
    let said = summary.stats.clone().context("no statistics")?;
    // What there is, in the order of the file.
    let (mut count, mut times, mut by_channel) = (0, None, BTreeMap::new());
    for message in MessageStream::new(bytes)? {
        let message = message?;
        let (first, last) = times.unwrap_or((message.log_time, message.log_time));
        times = Some((first.min(message.log_time), last.max(message.log_time)));
        *by_channel.entry(message.channel.id).or_default() += 1;
        count += 1;
        let known = summary.channels.get(&message.channel.id);
        hold("a channel of the summary", known.is_some_and(|known| **known == *message.channel));
    }
    let (mut chunks, mut attachments, mut metadata) = (Vec::new(), Vec::new(), Vec::new());
    let mut channels = BTreeSet::new();
    let (mut at, mut is_data) = (MAGIC.len(), true);
    while at + MAGIC.len() < bytes.len() {
        let length = u64::from_le_bytes(bytes[at + 1..at + 9].try_into()?) as usize;
        let (opcode, body) = (bytes[at], &bytes[at + 9..at + 9 + length]);
        let place = (at as u64, 9 + length as u64);
        match parse_record(opcode, body)? {
            Record::Chunk { header, .. } => {
                hold("a chunk without a checksum", header.uncompressed_crc != 0);
                chunks.push((place, (header.message_start_time, header.message_end_time)));
            }
            Record::Attachment { .. } => attachments.push(place),
            Record::Metadata(_) => metadata.push(place),
            Record::Channel(channel) => drop(channels.insert(channel.id)),
            Record::DataEnd(end) => {
                let own = crc32fast::hash(&bytes[..at]);
                hold("the checksum of the data", end.data_section_crc == own);
                is_data = false;
            }
            Record::Footer(footer) => {
                let own = crc32fast::hash(&bytes[footer.summary_start as usize..at + 9 + 16]);
                hold("the checksum of the summary", footer.summary_crc == own);
            }
            Record::Message { .. } => hold("a message outside of a chunk", false),
            _ => {}
        }
        at += 9 + length;
    }
    hold("an end of the data", !is_data);
    hold("the number of messages", said.message_count == count);
    hold(
        "the times",
        (said.message_start_time, said.message_end_time) == times.unwrap_or_default(),
    );
    hold("the messages by channel", said.channel_message_counts == by_channel);
    hold("the number of chunks", u64::from(said.chunk_count) == chunks.len() as u64);
    hold("the number of channels", said.channel_count as usize == summary.channels.len());
    hold("the channels of the summary", channels.len() == summary.channels.len());
    hold("the number of schemas", usize::from(said.schema_count) == summary.schemas.len());
    hold("the number of attachments", said.attachment_count as usize == attachments.len());
    hold("the number of metadata records", said.metadata_count as usize == metadata.len());
    let told = summary.chunk_indexes.iter().map(|chunk| {
        let times = (chunk.message_start_time, chunk.message_end_time);
        ((chunk.chunk_start_offset, chunk.chunk_length), times)
    });
    hold("the index of chunks", told.collect::<Vec<_>>() == chunks);
    let told = summary.attachment_indexes.iter().map(|one| (one.offset, one.length));
    hold("the index of attachments", told.collect::<Vec<_>>() == attachments);
    let told = summary.metadata_indexes.iter().map(|one| (one.offset, one.length));
    hold("the index of metadata", told.collect::<Vec<_>>() == metadata);
    for index in &summary.attachment_indexes {
        // Its checksum is held against it.
        let one = attachment(bytes, index)?;
        hold("the index of an attachment", one.name == index.name);
    }
    for index in &summary.chunk_indexes {
        let mut own: BTreeMap<u16, Vec<u64>> = BTreeMap::new();
        for message in summary.stream_chunk(bytes, index)? {
            let message = message?;
            own.entry(message.channel.id).or_default().push(message.log_time);
        }
        let all = || own.values().flatten().copied();
        let span = (all().min().unwrap_or(0), all().max().unwrap_or(0));
        let said = (index.message_start_time, index.message_end_time);
        hold("the times of a chunk", span == said);
        if own.is_empty() {
            continue;
        }
        let indexed = summary.read_message_indexes(bytes, index)?;
        hold("the channels of a message index", indexed.len() == own.len());
        for (channel, entries) in indexed {
            let times: Vec<u64> = entries.iter().map(|entry| entry.log_time).collect();
            hold("the times of a message index", own.get(&channel.id) == Some(&times));
            for entry in entries {
                let there = summary.seek_message(bytes, index, &entry)?;
                let is_there = (there.channel.id, there.log_time) == (channel.id, entry.log_time);
                hold("a place in a message index", is_there);
            }
        }
    }
    Ok(())
}

pub fn packings() -> impl Iterator<Item = ChunkOptions> {
    [Compression::None, Compression::Lz4, Compression::Zstd]
        .into_iter()
        .flat_map(|compression| [1, 1 << 20].map(|chunk| ChunkOptions { compression, chunk }))
}

pub const OSI: &str = "osi/20240101T000000Z_sv_380_7362_5_made_up.osi";

pub fn while_some(reader: &mut dyn Reader) -> anyhow::Result<()> {
    while reader.next()?.is_some() {}
    Ok(())
}

/// How an MCAP file is made.
pub struct McapSpec {
    pub options: WriteOptions,
    /// What is said of channels and of the file.
    pub channel: BTreeMap<String, String>,
    pub trace: Vec<BTreeMap<String, String>>,
    pub encoding: &'static str,
    pub schema: Vec<u8>,
    pub name: &'static str,
    pub topics: [&'static str; 3],
    /// The bytes of message `n`, its sequence number, and how far its times are off.
    pub message: fn(u64) -> (Vec<u8>, u32, u64),
}

pub fn texts(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

/// A message of version 3.8.0 at a time in nanoseconds.
pub fn view(nanos: u64) -> Vec<u8> {
    let mut time = vec![0x10];
    let mut left = nanos;
    while left > 127 {
        time.push(left as u8 | 0x80);
        left >>= 7;
    }
    time.push(left as u8);
    let mut message = vec![0x0a, 4, 8, 3, 16, 8, 0x12, time.len() as u8];
    message.extend(time);
    message
}

pub const CHANNEL: &str = "net.asam.osi.trace.channel.";

impl Default for McapSpec {
    /// A trace of OSI that keeps every rule.
    fn default() -> McapSpec {
        let date = "2024-06-03T15:23:22Z";
        McapSpec {
            options: WriteOptions::new().chunk_size(Some(200)),
            channel: texts(&[
                (&format!("{CHANNEL}osi_version"), "3.8.0"),
                (&format!("{CHANNEL}protobuf_version"), "3.21.12"),
                (&format!("{CHANNEL}description"), "made up"),
            ]),
            trace: vec![texts(&[
                ("version", "3.8.0"),
                ("min_osi_version", "3.8.0"),
                ("max_osi_version", "3.8.0"),
                ("min_protobuf_version", "3.21.12"),
                ("max_protobuf_version", "3.21.12"),
                ("zero_time", date),
                ("creation_time", date),
                ("description", "a"),
                ("authors", "b"),
                ("data_sources", "c"),
            ])],
            encoding: "protobuf",
            schema: extract_definition(&descriptors(), "osi3.SensorView").unwrap().data,
            name: "osi3.SensorView",
            topics: ["/a", "/b/left", "/b/right"],
            message: |n| (view(n * 10), 0, 0),
        }
    }
}

/// What a file is called that keeps the rules.
pub const CALLED: &str = "20240101T000000Z_sv_380_32112_100_made.mcap";

/// An MCAP file of 300 messages on three channels, 10 ns apart.
pub fn write_mcap(folder: &TempDir, name: &str, made: &McapSpec) -> PathBuf {
    let path = folder.path().join(name);
    let mut out = made.options.clone().create(File::create(&path).unwrap()).unwrap();
    let schema = out.add_schema(made.name, "protobuf", &made.schema).unwrap();
    // Channels that are alike in all would be one.
    let mut metadata = made.channel.clone();
    let channels = made.topics.map(|topic| {
        let id = out.add_channel(schema, topic, made.encoding, &metadata).unwrap();
        metadata.insert("com.example.after".into(), topic.into());
        id
    });
    for entries in &made.trace {
        let (name, metadata) = ("net.asam.osi.trace".to_owned(), entries.clone());
        out.write_metadata(&Metadata { name, metadata }).unwrap();
    }
    let (name, metadata) = ("com.example.drive".to_owned(), texts(&[("road", "A 9")]));
    out.write_metadata(&Metadata { name, metadata }).unwrap();
    for n in 0..300 {
        let (data, sequence, off) = (made.message)(n);
        let header = MessageHeader {
            channel_id: channels[n as usize % 3],
            sequence,
            log_time: n * 10,
            publish_time: n * 10 + off,
        };
        out.write_to_known_channel(&header, &data).unwrap();
    }
    out.finish().unwrap();
    path
}
