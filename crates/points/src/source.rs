//! A channel whose messages hold points.

use anyhow::Result;
use wiregauge_trace::channel::Channel;
use wiregauge_trace::osi::Stamp;

use crate::column::Type;
use crate::foxglove::FoxgloveType;
use crate::osi::{self, Root, SensorConventions};
use crate::points::Points;
use crate::ros::RosReader;

/// What finds the points in the messages of a channel.
pub struct PointSource {
    kind: PointFormat,
    /// What makes Protobuf of its messages, where they are in something else.
    decode: Option<ToProtobuf>,
    /// The columns that are read of clouds; all where there is none.
    columns: Vec<String>,
}

/// What makes Protobuf of a message.
pub type ToProtobuf = Box<dyn Fn(&[u8]) -> Result<Vec<u8>> + Send>;

/// What makes Protobuf of the messages of OSI in a channel that has them in something else;
/// none where it does not.
pub type DecoderLookup = fn(&Channel) -> Result<Option<ToProtobuf>>;

enum PointFormat {
    Osi(Root, String),
    Ros(RosReader),
    Foxglove(FoxgloveType),
}

impl PointSource {
    /// The kinds of messages that hold points, in words.
    pub const SUPPORTED: &str = "osi3.SensorView and osi3.SensorData in Protobuf or FlatBuffers, \
         sensor_msgs/PointCloud2 and LaserScan of ROS, point_cloud_interfaces/CompressedPointCloud2 of \
         wiregauge, and foxglove.PointCloud and LaserScan in \
         Protobuf";

    /// That nothing that was read has points, and which messages would have.
    pub(crate) fn explain_missing(origin: &str) -> String {
        let supported = PointSource::SUPPORTED;
        format!(
            "no message that was read from {origin} has points; messages with points are \
             {supported}"
        )
    }

    /// Of a channel; none where its messages hold no points that are known.
    pub fn from_channel(channel: &Channel) -> Option<PointSource> {
        let name = channel.definition.name.as_str();
        match (channel.message_encoding.as_str(), name) {
            ("protobuf", "osi3.SensorView") => {
                Some(PointFormat::Osi(Root::SensorView, name.into()))
            }
            ("protobuf", "osi3.SensorData") => {
                Some(PointFormat::Osi(Root::SensorData, name.into()))
            }
            ("protobuf", name) => FoxgloveType::from_name(name).map(PointFormat::Foxglove),
            (encoding, name) => RosReader::from_type(name, encoding).map(PointFormat::Ros),
        }
        .map(|kind| PointSource { kind, decode: None, columns: Vec::new() })
    }

    /// Of a channel, whose messages may be of OSI in another encoding.
    ///
    /// # Errors
    /// When they are and cannot be read.
    pub fn from_channel_with(
        channel: &Channel,
        others: DecoderLookup,
    ) -> Result<Option<PointSource>> {
        if let Some(source) = PointSource::from_channel(channel) {
            return Ok(Some(source));
        }
        let plain = Channel { message_encoding: "protobuf".into(), ..channel.clone() };
        let Some(source) = PointSource::from_channel(&plain) else { return Ok(None) };
        Ok(others(channel)?.map(|decode| PointSource { decode: Some(decode), ..source }))
    }

    /// The same, which need not read other columns than these; with all where none is named.
    pub fn with_columns(self, columns: &[String]) -> PointSource {
        PointSource { columns: columns.to_vec(), ..self }
    }

    /// The columns that points of a list can have by their definition, with units; none where
    /// each message says it itself.
    pub fn defined_columns(&self, list: &str) -> Vec<(String, Type, &'static str)> {
        match &self.kind {
            PointFormat::Osi(..) => osi::defined_columns(list),
            PointFormat::Ros(_) | PointFormat::Foxglove(_) => Vec::new(),
        }
    }

    /// The points of a message, list by list.
    ///
    /// # Errors
    /// When it is no such message.
    pub fn points(&self, message: &[u8], reading: SensorConventions) -> Result<Vec<Points>> {
        let decoded = self.decode.as_ref().map(|decode| decode(message)).transpose()?;
        let message = decoded.as_deref().unwrap_or(message);
        let is_wanted =
            |name: &str| self.columns.is_empty() || self.columns.iter().any(|own| own == name);
        match &self.kind {
            PointFormat::Osi(root, name) => {
                let time = Stamp::read(name, message).time;
                let mut lists = osi::read_points(*root, message, reading, &is_wanted)?;
                lists.iter_mut().for_each(|points| points.time = time);
                Ok(lists)
            }
            PointFormat::Ros(ros) => ros.points(message, &is_wanted).map(|points| vec![points]),
            PointFormat::Foxglove(kind) => {
                kind.points(message, &is_wanted).map(|points| vec![points])
            }
        }
    }
}
