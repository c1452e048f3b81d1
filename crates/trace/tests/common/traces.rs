//! Trace files that are made, and what is in one.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use mcap::records::MessageHeader;
use mcap::write::Metadata;
use mcap::WriteOptions;
use prost_reflect::prost::Message;
use prost_reflect::prost_types::field_descriptor_proto::{Label, Type};
use prost_reflect::prost_types::{
    DescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet,
};
use tempfile::TempDir;
use wiregauge_system::file::Target;
use wiregauge_trace::channel::Channel;
use wiregauge_trace::copy::{copy, Source};
use wiregauge_trace::open::{open, Wish};
use wiregauge_trace::parsed::definition_of;
use wiregauge_trace::read::{Nanoseconds, Reader};
use wiregauge_trace::select::Selection;
use wiregauge_trace::write::{Compression, Form, Packing};

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
    messages(open(path, &Wish::default()).unwrap().as_mut())
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
            definition_of(&descriptors(), &channel.definition.name).unwrap().into();
    }
    channel
}

pub fn put(inputs: &[&Path], of: &Selection, output: &Path, packing: Packing) -> u64 {
    let mut readers: Vec<_> =
        inputs.iter().map(|path| open(path, &Wish::default()).unwrap()).collect();
    let sources = readers.iter_mut().map(|reader| Source::new("in", reader.as_mut(), of).unwrap());
    let mut sources: Vec<Source> = sources.collect();
    let draft = Target::open(output, inputs).unwrap().begin().unwrap();
    let form = Form::of(output).unwrap();
    let mut writer = form.begin(draft, packing).unwrap();
    let mut described = |_: usize, channel: &Channel| {
        Ok(if form == Form::Mcap { describe(channel) } else { channel.clone() })
    };
    let copied = copy(&mut sources, writer.as_mut(), &mut described, &mut |_, _| {}).unwrap();
    writer.finish().unwrap();
    copied.0.messages
}

pub fn packings() -> impl Iterator<Item = Packing> {
    [Compression::None, Compression::Lz4, Compression::Zstd]
        .into_iter()
        .flat_map(|compression| [1, 1 << 20].map(|chunk| Packing { compression, chunk }))
}

pub const OSI: &str = "osi/20240101T000000Z_sv_380_7362_5_made_up.osi";

pub fn while_some(reader: &mut dyn Reader) -> anyhow::Result<()> {
    while reader.next()?.is_some() {}
    Ok(())
}

/// How an MCAP file is made.
pub struct Made {
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

impl Default for Made {
    /// A trace of OSI that keeps every rule.
    fn default() -> Made {
        let date = "2024-06-03T15:23:22Z";
        Made {
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
            schema: definition_of(&descriptors(), "osi3.SensorView").unwrap().data,
            name: "osi3.SensorView",
            topics: ["/a", "/b/left", "/b/right"],
            message: |n| (view(n * 10), 0, 0),
        }
    }
}

/// What a file is called that keeps the rules.
pub const CALLED: &str = "20240101T000000Z_sv_380_32112_100_made.mcap";

/// An MCAP file of 300 messages on three channels, 10 ns apart.
pub fn made(folder: &TempDir, name: &str, made: &Made) -> PathBuf {
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
