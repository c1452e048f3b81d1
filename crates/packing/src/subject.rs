//! What of a channel can be packed.

use wiregauge_packed::Root;
use wiregauge_trace::channel::Channel;

use crate::cloud::Wire;
use crate::definition;

/// What a channel carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Messages of OSI with reflections or detections in them.
    Osi(Root),
    /// Clouds of points, packed or not.
    Cloud(Wire, bool),
}

impl Subject {
    /// Of a channel; none where nothing in it is packed.
    pub fn of(channel: &Channel) -> Option<Subject> {
        let name = channel.definition.name.as_str();
        match (channel.message_encoding.as_str(), name) {
            ("protobuf", "osi3.SensorView") => Some(Subject::Osi(Root::SensorView)),
            ("protobuf", "osi3.SensorData") => Some(Subject::Osi(Root::SensorData)),
            ("cdr", _) => definition::is_packed(name).map(|is| Subject::Cloud(Wire::Cdr, is)),
            ("ros1", _) => definition::is_packed(name).map(|is| Subject::Cloud(Wire::Ros1, is)),
            _ => None,
        }
    }
}
