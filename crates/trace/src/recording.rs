//! A recording: what topics it has, and their schemas and messages.

use std::path::{Path, PathBuf};

use anyhow::{bail, ensure, Context, Result};
use wiregauge_schema::{Schema, Value};
use wiregauge_system::memory;

use crate::container::ContainerKind;
use crate::decoding::TopicDecoder;
use crate::open::{open, OpenHints};
use crate::osi;
use crate::protobuf::Decoder;
use crate::remote_file::unless_unfetched;
use crate::topic::{topics, Topic, TopicDefinition};

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
    /// Whether it is a trace of OSI, which carries no definitions.
    is_osi: bool,
    remarks: Vec<String>,
    lookup: Lookup,
    topics: Vec<Topic>,
    /// By the same index as the topics.
    definitions: Vec<TopicDefinition>,
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
        unless_unfetched(&path, Recording::open_file(path.clone(), lookup))
    }

    fn open_file(path: PathBuf, lookup: Lookup) -> Result<Recording> {
        let is_osi = !path.is_dir() && ContainerKind::detect(&path)? == ContainerKind::Osi;
        let mut remarks = Vec::new();
        let found = match is_osi {
            true => osi::topics(&path)?,
            false => {
                let mut reader = open(&path, &OpenHints::default())?;
                let found = topics(reader.as_mut())?;
                remarks = reader.remarks();
                found
            }
        };
        // Stable: the order of their first message otherwise.
        let mut both = found;
        both.sort_by_key(|(topic, _)| topic.messages == 0);
        let (topics, definitions) = both.into_iter().unzip();
        Ok(Recording { path, is_osi, remarks, lookup, topics, definitions })
    }

    /// The topics, in the order of their first message, empty ones last. A topic
    /// whose messages are of several types occurs once for each of these.
    pub fn topics(&self) -> &[Topic] {
        &self.topics
    }

    /// The only topic. `choice` is how the user names one of several: `with --channel`.
    ///
    /// # Errors
    /// When there are several topics or none, or nothing tells the type of OSI's messages.
    pub fn only_topic(&self, choice: &str) -> Result<&str> {
        let origin = self.path.display();
        let problem = match &self.topics[..] {
            [only] => return Ok(&only.name),
            [] => bail!("{origin} has no topics"),
            _ if self.is_osi => ": the file name has no type of messages",
            _ => " has several topics",
        };
        let names: Vec<&str> = self.topics.iter().map(|topic| topic.name.as_str()).collect();
        bail!("{origin}{problem}; give one {choice}: {}", names.join(", "))
    }

    /// What the user should be told of how it was read.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// The schema of a topic's messages. Fails where there is no such topic,
    /// and where its definition is neither `ros1msg`, `ros2msg` nor `protobuf`.
    pub fn schema(&self, topic: &str) -> Result<Schema> {
        Ok(self.decoding(topic)?.1.schema().clone())
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
        ensure!(found.messages > 0, "{origin}: topic {topic} has no messages; choose another");
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
                        "{origin}: {taken} messages of {topic} take more than {}, half of the free \
                         memory; give a smaller --messages",
                        memory::format_bytes(budget.into())
                    );
                }
                sample.values.push(value);
                sample.unknown_fields += unknown;
            }
            at += 1;
            Ok(())
        };
        let mut reader = open(&self.path, &OpenHints::default())?;
        while let Some(head) = reader.next()? {
            // Whatever type the messages of OSI are taken for.
            if self.is_osi || reader.channels()[&head.channel].topic == topic {
                visit(reader.data()?)?;
            }
        }
        Ok(sample)
    }

    /// A topic and how to decode it.
    fn decoding(&self, name: &str) -> Result<(Topic, TopicDecoder)> {
        let origin = self.path.display();
        if let (true, Some(called), Some(topic)) =
            (self.is_osi, osi::find_type(name), self.topics.first())
        {
            // The user knows better than the file's name.
            let topic = osi::topic(called, topic.messages);
            let decoding = self.build_decoder(&topic, &TopicDefinition(Vec::new()));
            return Ok((topic, decoding.with_context(|| format!("{origin}"))?));
        }
        ensure!(!self.topics.is_empty(), "{origin} has no topics");
        let mut matches = self.topics.iter().zip(&self.definitions).filter(|(t, _)| t.name == name);
        let (topic, definition) = matches.next().with_context(|| {
            let known: Vec<&str> = self.topics.iter().map(|t| t.name.as_str()).collect();
            format!("{origin} has no topic {name}; it has {}", known.join(", "))
        })?;
        ensure!(
            matches.next().is_none(),
            "{origin}: the messages of {name} have several types; split the recording"
        );
        let decoding = self.build_decoder(topic, definition);
        Ok((topic.clone(), decoding.with_context(|| format!("{origin}: topic {name}"))?))
    }

    fn build_decoder(&self, topic: &Topic, definition: &TopicDefinition) -> Result<TopicDecoder> {
        if self.is_osi {
            let osi = self.lookup.osi.context("OSI's definitions are not available")?;
            return Ok(TopicDecoder::Protobuf(Box::new(Decoder::new(
                &osi()?,
                &topic.schema_name,
            )?)));
        }
        TopicDecoder::find(topic, definition, Some(&self.lookup.folders))
    }
}
