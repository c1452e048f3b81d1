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

/// The text or bytes that define a topic's type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Definition(pub Vec<u8>);
