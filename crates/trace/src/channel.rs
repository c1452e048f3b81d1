//! A channel: messages of one type on one topic, as a trace file describes them.

use std::collections::BTreeMap;
use std::sync::Arc;

use wiregauge_system::text::escape_short;

/// What defines the messages of a channel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Definition {
    /// The type: `osi3.SensorView`, `sensor_msgs/msg/PointCloud2`. Empty where it is not
    /// told.
    pub name: String,
    /// The language of `data`: `protobuf`, `ros2msg`; empty where there is none.
    pub encoding: String,
    /// The definition itself; of Protobuf an encoded `FileDescriptorSet`.
    pub data: Vec<u8>,
}

impl Definition {
    /// Whether it says what the messages are. A type of ROS without fields has a text without
    /// letters.
    pub fn is_known(&self) -> bool {
        !self.data.is_empty() || is_empty_of_ros(&self.encoding, &self.data)
    }
}

/// Whether a definition is a text of ROS without letters.
pub(crate) fn is_empty_of_ros(encoding: &str, data: &[u8]) -> bool {
    data.is_empty() && matches!(encoding, "ros1msg" | "ros2msg")
}

/// A channel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Channel {
    /// Its name, unique in a trace of OSI.
    pub topic: String,
    /// The format of its messages: `protobuf`, `cdr`.
    pub message_encoding: String,
    /// What its messages are; channels of one type may share it.
    pub definition: Arc<Definition>,
    /// What else is said of it.
    pub metadata: BTreeMap<String, String>,
}

impl Channel {
    /// Whether its messages are top-level messages of OSI. What is defined in FlatBuffers is
    /// a channel of another kind, whatever its type is called.
    pub fn is_osi(&self) -> bool {
        self.definition.name.starts_with("osi3.") && self.definition.encoding != FLATBUFFER
    }
}

/// The metadata record that makes an MCAP file a trace of OSI.
pub const OSI_TRACE: &str = "net.asam.osi.trace";

/// The version of OSI's definitions of a channel, in its metadata.
pub const CHANNEL_OSI_VERSION: &str = "net.asam.osi.trace.channel.osi_version";

/// The version of the Protobuf library that wrote a channel, in its metadata.
pub const CHANNEL_PROTOBUF_VERSION: &str = "net.asam.osi.trace.channel.protobuf_version";

/// The description of a channel, in its metadata.
pub const CHANNEL_DESCRIPTION: &str = "net.asam.osi.trace.channel.description";

/// How MCAP calls messages and schemas of FlatBuffers.
pub const FLATBUFFER: &str = "flatbuffer";

/// The notice that a channel lacks a version that it must say, and what the user can
/// do about it. `key` is that of its metadata: [`CHANNEL_OSI_VERSION`],
/// [`CHANNEL_PROTOBUF_VERSION`].
pub fn explain_missing_version(topic: &str, key: &str) -> String {
    let option = match key {
        CHANNEL_OSI_VERSION => "--osi-version 3.8.0",
        _ => "--protobuf-version 3.21.12",
    };
    let topic = escape_short(topic);
    format!("channel {topic}: {key} is not known and is left out; give it by {option}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_version_is_named_with_its_option() {
        let text = explain_missing_version("a\u{1b}", CHANNEL_PROTOBUF_VERSION);
        assert!(!text.contains('\u{1b}') && text.starts_with("channel a"), "{text}");
        let end = "protobuf_version is not known and is left out; give it by --protobuf-version \
                   3.21.12";
        assert!(text.ends_with(end), "{text}");
        let text = explain_missing_version("a", CHANNEL_OSI_VERSION);
        assert!(text.ends_with("give it by --osi-version 3.8.0"), "{text}");
    }
}
