//! A channel whose messages hold points.

use anyhow::Result;
use wiregauge_trace::channel::Channel;
use wiregauge_trace::osi::Stamp;

use crate::osi::{self, Reading, Root};
use crate::points::Points;
use crate::ros::Ros;

/// What finds the points in the messages of a channel.
pub struct Source {
    kind: Kind,
    /// What makes Protobuf of its messages, where they are in something else.
    decode: Option<Decode>,
}

/// What makes Protobuf of a message.
pub type Decode = Box<dyn Fn(&[u8]) -> Result<Vec<u8>>>;

/// What makes Protobuf of the messages of OSI in a channel that has them in something else;
/// none where it does not.
pub type Others = fn(&Channel) -> Result<Option<Decode>>;

enum Kind {
    Osi(Root, String),
    Ros(Ros),
}

impl Source {
    /// The kinds of messages that hold points, in words.
    pub const KINDS: &str = "osi3.SensorView and osi3.SensorData in Protobuf or FlatBuffers, and \
         sensor_msgs/PointCloud2 of ROS";

    /// Of a channel; none where its messages hold no points that are known.
    pub fn of(channel: &Channel) -> Option<Source> {
        let name = channel.definition.name.as_str();
        match (channel.message_encoding.as_str(), name) {
            ("protobuf", "osi3.SensorView") => Some(Kind::Osi(Root::SensorView, name.into())),
            ("protobuf", "osi3.SensorData") => Some(Kind::Osi(Root::SensorData, name.into())),
            (encoding, "sensor_msgs/msg/PointCloud2" | "sensor_msgs/PointCloud2") => {
                Ros::of(encoding).map(Kind::Ros)
            }
            _ => None,
        }
        .map(|kind| Source { kind, decode: None })
    }

    /// Of a channel, whose messages may be of OSI in another encoding.
    ///
    /// # Errors
    /// When they are and cannot be read.
    pub fn with(channel: &Channel, others: Others) -> Result<Option<Source>> {
        if let Some(source) = Source::of(channel) {
            return Ok(Some(source));
        }
        let plain = Channel { message_encoding: "protobuf".into(), ..channel.clone() };
        let Some(source) = Source::of(&plain) else { return Ok(None) };
        Ok(others(channel)?.map(|decode| Source { decode: Some(decode), ..source }))
    }

    /// The points of a message, list by list.
    ///
    /// # Errors
    /// When it is no such message.
    pub fn points(&self, message: &[u8], reading: Reading) -> Result<Vec<Points>> {
        let decoded = self.decode.as_ref().map(|decode| decode(message)).transpose()?;
        let message = decoded.as_deref().unwrap_or(message);
        match &self.kind {
            Kind::Osi(root, name) => {
                let time = Stamp::of(name, message).time;
                let mut lists = osi::points(*root, message, reading)?;
                lists.iter_mut().for_each(|points| points.time = time);
                Ok(lists)
            }
            Kind::Ros(ros) => ros.points(message).map(|points| vec![points]),
        }
    }
}
