//! A topic of a recording, and what defines its messages.

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
    /// Whether both are one topic, whatever they count.
    pub(crate) fn is(&self, other: &Topic) -> bool {
        Topic { messages: 0, ..self.clone() } == Topic { messages: 0, ..other.clone() }
    }
}

/// The index of a topic among those that were found, which it joins if it is new: two
/// recorders may have written one.
pub(crate) fn index(
    found: &mut Vec<(Topic, Definition)>,
    topic: Topic,
    definition: &[u8],
) -> usize {
    let known = found.iter().position(|(known, of)| known.is(&topic) && of.0 == definition);
    known.unwrap_or_else(|| {
        found.push((topic, Definition(definition.to_vec())));
        found.len() - 1
    })
}

/// The text or bytes that define a topic's type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Definition(pub Vec<u8>);
