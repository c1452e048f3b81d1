//! A recording: what topics it has, and their schemas and messages.

use std::path::{Path, PathBuf};

use anyhow::{bail, ensure, Context, Result};
use wiregauge_schema::msg::{self, Dialect};
use wiregauge_schema::{Schema, Value};

use crate::protobuf::Decoder;
use crate::{cdr, mcap, ros1};

/// A topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topic {
    /// Its name: `/ouster/points`.
    pub name: String,
    /// The type of its messages: `sensor_msgs/msg/PointCloud2`, `osi3.SensorView`.
    pub schema_name: String,
    /// The language of the type's definition: `ros2msg`, `protobuf`; empty
    /// where the recording carries no definition.
    pub schema_encoding: String,
    /// The format of the messages: `cdr`, `ros1`, `protobuf`.
    pub message_encoding: String,
    /// How many messages there are.
    pub messages: u64,
}

/// The text or bytes that define a topic's type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Definition(pub Vec<u8>);

/// Messages of a topic.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The messages, in the order of the recording.
    pub values: Vec<Value>,
    /// How many fields of these messages the recording's own definition does
    /// not know; the values lack them.
    pub unknown_fields: u64,
}

/// A recording in a file. MCAP is the one kind so far.
#[derive(Debug)]
pub struct Recording {
    path: PathBuf,
    topics: Vec<Topic>,
    /// By the same index as the topics.
    definitions: Vec<Definition>,
}

impl Recording {
    /// Opens a recording and reads through it once, to find its topics.
    ///
    /// Fails on a file that is no MCAP, and on one that is truncated or
    /// damaged. An index, summary or metadata is not needed.
    pub fn open(path: impl AsRef<Path>) -> Result<Recording> {
        let path = path.as_ref().to_owned();
        let (topics, definitions) = mcap::topics(&path)?.into_iter().unzip();
        Ok(Recording { path, topics, definitions })
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
        let origin = self.path.display();
        ensure!(found.messages > 0, "{origin}: topic {topic} is empty; choose another");
        let count = u128::from(found.messages);
        let limit = count.min(limit as u128);
        let mut sample = Sample { values: Vec::new(), unknown_fields: 0 };
        let mut at = 0u64;
        mcap::each_message(&self.path, topic, |bytes| {
            // The next one wanted is number (i · count / limit), rounded down.
            let taken = sample.values.len() as u128;
            if taken < limit && u128::from(at) == taken * count / limit {
                let (value, unknown) = decoding
                    .decode(bytes)
                    .with_context(|| format!("{origin}: message {at} of {topic}"))?;
                sample.values.push(value);
                sample.unknown_fields += unknown;
            }
            at += 1;
            Ok(())
        })?;
        Ok(sample)
    }

    /// A topic and how to decode it.
    fn decoding(&self, name: &str) -> Result<(&Topic, Decoding)> {
        let origin = self.path.display();
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
        let decoding =
            Decoding::new(topic, definition).with_context(|| format!("{origin}: topic {name}"))?;
        Ok((topic, decoding))
    }
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
