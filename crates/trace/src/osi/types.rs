//! The types of messages that a trace of OSI may hold.

use std::path::Path;

/// The types that a trace may hold, by their code in the file's name: the top-level
/// messages of OSI 3.8.
pub const TYPES: [(&str, &str); 10] = [
    ("sv", "osi3.SensorView"),
    ("svc", "osi3.SensorViewConfiguration"),
    ("gt", "osi3.GroundTruth"),
    ("hvd", "osi3.HostVehicleData"),
    ("sd", "osi3.SensorData"),
    ("tc", "osi3.TrafficCommand"),
    ("tcu", "osi3.TrafficCommandUpdate"),
    ("tu", "osi3.TrafficUpdate"),
    ("mr", "osi3.MotionRequest"),
    ("su", "osi3.StreamingUpdate"),
];

/// That nothing tells the type of the messages in a file.
pub fn missing_type_message(path: &Path) -> String {
    let path = path.display();
    format!(
        "{path}: the file name has no type of messages; give one such as --type SensorView, or sv"
    )
}

/// The type that a user means: `sv`, `SensorView` or `osi3.SensorView`.
pub fn find_type(name: &str) -> Option<&'static str> {
    let known = TYPES.iter().map(|(_, known)| *known);
    let named =
        known.into_iter().find(|known| *known == name || known.strip_prefix("osi3.") == Some(name));
    named.or_else(|| type_from_code(name))
}

/// The type that a code in a file's name stands for.
pub fn type_from_code(code: &str) -> Option<&'static str> {
    TYPES.iter().find(|(known, _)| *known == code).map(|(_, name)| *name)
}

/// The code of a type in a file's name.
pub fn type_code(type_name: &str) -> Option<&'static str> {
    TYPES.iter().find(|(_, known)| *known == type_name).map(|(code, _)| *code)
}
