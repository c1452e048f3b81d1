//! A channel whose messages hold points.

use anyhow::Result;
use wiregauge_trace::channel::Channel;
use wiregauge_trace::osi::Stamp;

use crate::osi::{self, Reading, Root};
use crate::points::Points;
use crate::ros::Ros;

/// What finds the points in the messages of a channel.
#[derive(Debug)]
pub struct Source(Kind);

#[derive(Debug)]
enum Kind {
    Osi(Root, String),
    Ros(Ros),
}

impl Source {
    /// The kinds of messages that hold points, in words.
    pub const KINDS: &str =
        "osi3.SensorView and osi3.SensorData in Protobuf, and sensor_msgs/PointCloud2 of ROS";

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
        .map(Source)
    }

    /// The points of a message, list by list.
    ///
    /// # Errors
    /// When it is no such message.
    pub fn points(&self, message: &[u8], reading: Reading) -> Result<Vec<Points>> {
        match &self.0 {
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
