//! A recording: what topics it has, and their schemas and messages.

use std::path::{Path, PathBuf};

use anyhow::{bail, ensure, Context, Result};
use wiregauge_schema::msg::{self, Dialect};
use wiregauge_schema::{file, Schema, Value};
use wiregauge_system::memory;

use crate::container::Kind;
use crate::protobuf::Decoder;
use crate::topic::{Definition, Topic};
use crate::{cdr, osi, ros1};

/// Messages of a topic.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The messages, in the order of the recording.
    pub values: Vec<Value>,
    /// How many fields of these messages the recording's own definition does
    /// not know; the values lack them.
    pub unknown_fields: u64,
}

/// Where to find the definitions that a recording does not carry.
#[derive(Clone, Debug, Default)]
pub struct Lookup {
    /// Folders with packages of ROS, before those that the environment names.
    pub folders: Vec<PathBuf>,
    /// Fetches OSI's definitions, an encoded `FileDescriptorSet`.
    pub osi: Option<fn() -> Result<Vec<u8>>>,
}

/// A recording in a file, or in several that were split from one: MCAP, a bag of
/// ROS 1 or ROS 2, or a trace of OSI.
#[derive(Debug)]
pub struct Recording {
    path: PathBuf,
    files: Vec<(PathBuf, Kind)>,
    lookup: Lookup,
    topics: Vec<Topic>,
    /// By the same index as the topics.
    definitions: Vec<Definition>,
}

impl Recording {
    /// Opens a recording that carries its definitions, and reads through it
    /// once, to find its topics.
    ///
    /// Fails on a file of another kind, and on one that is truncated or damaged.
    /// An index, summary or metadata is not needed.
    pub fn open(path: impl AsRef<Path>) -> Result<Recording> {
        Recording::open_with(path, Lookup::default())
    }

    /// Like [`Recording::open`], and says where definitions are that the
    /// recording does not carry.
    pub fn open_with(path: impl AsRef<Path>, lookup: Lookup) -> Result<Recording> {
        let path = path.as_ref().to_owned();
        let mut files = Vec::new();
        for part in parts(&path)? {
            let kind = Kind::of(&part)?;
            files.push((part, kind));
        }
        let mut topics: Vec<Topic> = Vec::new();
        let mut definitions = Vec::new();
        for (part, kind) in &files {
            for (topic, definition) in kind.topics(part)? {
                let mut known = topics.iter().zip(&definitions);
                match known.position(|(known, of)| known.is(&topic) && *of == definition) {
                    Some(at) => topics[at].messages += topic.messages,
                    None => {
                        topics.push(topic);
                        definitions.push(definition);
                    }
                }
            }
        }
        // Stable: the order of their first message otherwise.
        let mut both: Vec<(Topic, Definition)> = topics.into_iter().zip(definitions).collect();
        both.sort_by_key(|(topic, _)| topic.messages == 0);
        let (topics, definitions) = both.into_iter().unzip();
        Ok(Recording { path, files, lookup, topics, definitions })
    }

    /// The topics, in the order of their first message, empty ones last. A topic
    /// whose messages are of several types occurs once for each of these.
    pub fn topics(&self) -> &[Topic] {
        &self.topics
    }

    /// The schema of a topic's messages. Fails where there is no such topic,
    /// and where its definition is neither `ros1msg`, `ros2msg` nor `protobuf`.
    pub fn schema(&self, topic: &str) -> Result<Schema> {
        Ok(self.decoding(topic)?.1.into_schema())
    }

    /// At most `limit` messages of a topic, evenly spread over the recording
    /// from its first message on. Fails like [`Recording::schema`], on a topic
    /// without messages, and on a message that does not fit the schema.
    pub fn messages(&self, topic: &str, limit: usize) -> Result<Vec<Value>> {
        Ok(self.sample(topic, limit)?.values)
    }

    /// Like [`Recording::messages`], and tells what the values lack.
    pub fn sample(&self, topic: &str, limit: usize) -> Result<Sample> {
        let (found, decoding) = self.decoding(topic)?;
        let topic = found.name.as_str();
        let origin = self.path.display();
        let budget = memory::budget();
        let mut taken_memory = 0u64;
        ensure!(found.messages > 0, "{origin}: topic {topic} is empty; choose another");
        let count = u128::from(found.messages);
        let limit = count.min(limit as u128);
        let mut sample = Sample { values: Vec::new(), unknown_fields: 0 };
        let mut at = 0u64;
        let mut visit = |bytes: &[u8]| {
            // The next one wanted is number (i · count / limit), rounded down.
            let taken = sample.values.len() as u128;
            if taken < limit && u128::from(at) == taken * count / limit {
                let (value, unknown) = decoding
                    .decode(bytes)
                    .with_context(|| format!("{origin}: message {at} of {topic}"))?;
                taken_memory = taken_memory.saturating_add(value.memory());
                if let Some(budget) = budget.filter(|budget| taken_memory > *budget) {
                    bail!(
                        "{origin}: {taken} messages of {topic} take more than {}, half of the \
                         memory that is free; take fewer (--messages)",
                        memory::words(budget.into())
                    );
                }
                sample.values.push(value);
                sample.unknown_fields += unknown;
            }
            at += 1;
            Ok(())
        };
        for (part, kind) in &self.files {
            kind.each_message(part, topic, &mut visit)?;
        }
        Ok(sample)
    }

    /// A topic and how to decode it.
    fn decoding(&self, name: &str) -> Result<(Topic, Decoding)> {
        let origin = self.path.display();
        if let ([(_, Kind::Osi)], Some(called), Some(topic)) =
            (self.files.as_slice(), osi::type_called(name), self.topics.first())
        {
            // The user knows better than the file's name.
            let topic = osi::topic(called, topic.messages);
            let decoding = self.decoding_of(&topic, &Definition(Vec::new()));
            return Ok((topic, decoding.with_context(|| format!("{origin}"))?));
        }
        ensure!(!self.topics.is_empty(), "{origin} has no topics at all");
        let mut matches = self.topics.iter().zip(&self.definitions).filter(|(t, _)| t.name == name);
        let (topic, definition) = matches.next().with_context(|| {
            let known: Vec<&str> = self.topics.iter().map(|t| t.name.as_str()).collect();
            format!("{origin} has no topic {name}; it has {}", known.join(", "))
        })?;
        ensure!(
            matches.next().is_none(),
            "{origin}: the messages of {name} are of several types; split the recording"
        );
        let decoding = self.decoding_of(topic, definition);
        Ok((topic.clone(), decoding.with_context(|| format!("{origin}: topic {name}"))?))
    }

    fn decoding_of(&self, topic: &Topic, definition: &Definition) -> Result<Decoding> {
        let Topic { schema_name: name, schema_encoding, message_encoding, .. } = topic;
        let is_osi = self.files.iter().all(|(_, kind)| *kind == Kind::Osi);
        if is_osi {
            let osi = self.lookup.osi.context("OSI's definitions are not at hand")?;
            return Ok(Decoding::Protobuf(Box::new(Decoder::new(&osi()?, name)?)));
        }
        // The other language of ROS 2's definitions is not read.
        if !definition.0.is_empty() && schema_encoding != "ros2idl" {
            return Decoding::new(topic, definition);
        }
        let dialect = match message_encoding.as_str() {
            "cdr" => Dialect::Ros2,
            "ros1" => Dialect::Ros1,
            _ => return Decoding::new(topic, definition),
        };
        let schema = msg::read_type(name, dialect, &msg::folders(&self.lookup.folders))?;
        let schema = schema.with_context(|| {
            let (package, last) = name.rsplit_once('/').unwrap_or(("its package", name));
            let package = package.trim_end_matches("/msg");
            format!(
                "the recording has no definition of {name} that can be read; give the folder \
                 with {package}/msg/{last}.msg by -I, or source the ROS that has it"
            )
        })?;
        Ok(match dialect {
            Dialect::Ros1 => Decoding::Ros1(schema),
            Dialect::Ros2 => Decoding::Cdr(schema),
        })
    }
}

/// The files of a recording: itself, or those that the description in its folder
/// names, as ROS 2 writes it.
fn parts(path: &Path) -> Result<Vec<PathBuf>> {
    let origin = path.display();
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let description = path.join("metadata.yaml");
    ensure!(
        description.exists(),
        "{origin} is a folder without metadata.yaml, so no ROS 2 bag; give a file in it"
    );
    let text = file::text(&description)?;
    let mut lines = text.lines().map(str::trim);
    lines.find(|line| line.starts_with("relative_file_paths:"));
    let names = lines.map_while(|line| line.strip_prefix("- "));
    let names = names.map(|name| name.trim().trim_matches(['"', '\'']));
    // Old bags name the folder too.
    let part = |name: &str| match Path::new(name).file_name() {
        Some(name) => path.join(name),
        None => path.join(name),
    };
    let parts: Vec<PathBuf> = names.map(part).collect();
    ensure!(!parts.is_empty(), "{}: names no files; give a file of the bag", description.display());
    Ok(parts)
}

/// How the messages of a topic are decoded.
enum Decoding {
    Cdr(Schema),
    Ros1(Schema),
    Protobuf(Box<Decoder>),
}

impl Decoding {
    fn new(topic: &Topic, definition: &Definition) -> Result<Decoding> {
        let Topic { schema_name, schema_encoding, message_encoding, .. } = topic;
        let ros = |dialect| -> Result<Schema> {
            let text = std::str::from_utf8(&definition.0).context("the definition is no text")?;
            // Wide text is a string in the model, but not on the wire.
            let is_wide = |line: &str| line.trim_start().starts_with("wstring");
            ensure!(
                !text.lines().any(is_wide),
                "{schema_name} has a wstring, which is not decoded"
            );
            msg::read_text(text, schema_name, dialect, schema_name)
        };
        match (schema_encoding.as_str(), message_encoding.as_str()) {
            ("ros2msg", "cdr") => Ok(Decoding::Cdr(ros(Dialect::Ros2)?)),
            ("ros1msg", "ros1") => Ok(Decoding::Ros1(ros(Dialect::Ros1)?)),
            ("protobuf", "protobuf") => {
                Ok(Decoding::Protobuf(Box::new(Decoder::new(&definition.0, schema_name)?)))
            }
            ("", encoding) => {
                bail!("no definition of its messages in '{encoding}'; record it with its schemas")
            }
            (schema, message) => bail!(
                "definitions in '{schema}' with messages in '{message}' cannot be read; ros2msg \
                 with cdr, ros1msg with ros1 and protobuf with protobuf can"
            ),
        }
    }

    fn into_schema(self) -> Schema {
        match self {
            Decoding::Cdr(schema) | Decoding::Ros1(schema) => schema,
            Decoding::Protobuf(decoder) => decoder.schema().clone(),
        }
    }

    /// The message, and the number of its fields that are unknown.
    fn decode(&self, bytes: &[u8]) -> Result<(Value, u64)> {
        match self {
            Decoding::Cdr(schema) => Ok((cdr::decode(schema, bytes)?, 0)),
            Decoding::Ros1(schema) => Ok((ros1::decode(schema, bytes)?, 0)),
            Decoding::Protobuf(decoder) => decoder.decode(bytes),
        }
    }
}
