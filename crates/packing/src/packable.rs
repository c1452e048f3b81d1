//! What of a channel can be packed.

use wiregauge_packed::Root;
use wiregauge_trace::channel::Channel;

use crate::cloud::RosEncoding;
use crate::definition;

/// What a channel carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packable {
    /// Messages of OSI with reflections or detections in them.
    Osi(Root),
    /// Clouds of points, packed or not.
    Cloud(RosEncoding, bool),
}

impl Packable {
    /// Of a channel; none where nothing in it is packed.
    pub fn from_channel(channel: &Channel) -> Option<Packable> {
        let name = channel.definition.name.as_str();
        match (channel.message_encoding.as_str(), name) {
            ("protobuf", "osi3.SensorView") => Some(Packable::Osi(Root::SensorView)),
            ("protobuf", "osi3.SensorData") => Some(Packable::Osi(Root::SensorData)),
            ("cdr", _) => {
                definition::is_packed(name).map(|is| Packable::Cloud(RosEncoding::Cdr, is))
            }
            ("ros1", _) => {
                definition::is_packed(name).map(|is| Packable::Cloud(RosEncoding::Ros1, is))
            }
            _ => None,
        }
    }
}
