//! A topic of a recording, and what defines its messages.

use std::collections::HashMap;

use anyhow::Result;

use crate::channel::Channel;
use crate::read::Reader;

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

impl Topic {
    /// That of a channel, with no messages.
    pub(crate) fn from_channel(channel: &Channel) -> Topic {
        let Channel { topic, message_encoding, definition, .. } = channel;
        Topic {
            name: topic.clone(),
            schema_name: definition.name.clone(),
            schema_encoding: definition.encoding.clone(),
            message_encoding: message_encoding.clone(),
            messages: 0,
        }
    }

    /// Whether both are one topic, whatever they count.
    pub(crate) fn is_same_topic(&self, other: &Topic) -> bool {
        Topic { messages: 0, ..self.clone() } == Topic { messages: 0, ..other.clone() }
    }
}

/// Finds the topics of what is read, in the order of their first message; those without any
/// stand at the end. Two recorders may have written one.
pub(crate) fn topics(reader: &mut dyn Reader) -> Result<Vec<(Topic, TopicDefinition)>> {
    let mut found: Vec<(Topic, TopicDefinition)> = Vec::new();
    let mut by_channel: HashMap<u16, usize> = HashMap::new();
    while let Some(head) = reader.next()? {
        let channel = &reader.channels()[&head.channel];
        let index = *by_channel.entry(head.channel).or_insert_with(|| add(&mut found, channel));
        found[index].0.messages += 1;
    }
    for channel in reader.channels().values() {
        add(&mut found, channel);
    }
    Ok(found)
}

/// The index of a channel's topic, which is added if it is new.
fn add(found: &mut Vec<(Topic, TopicDefinition)>, channel: &Channel) -> usize {
    let (topic, definition) = (Topic::from_channel(channel), &channel.definition);
    let known =
        found.iter().position(|(known, of)| known.is_same_topic(&topic) && of.0 == definition.data);
    known.unwrap_or_else(|| {
        found.push((topic, TopicDefinition(definition.data.clone())));
        found.len() - 1
    })
}

/// The text or bytes that define a topic's type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TopicDefinition(pub Vec<u8>);
