//! Small traces that tests make, and what the program says of them.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// A recorded trace of five SensorViews.
pub const OSI: &str = "osi/20240101T000000Z_sv_380_7362_5_made_up.osi";

/// What the program said as JSON.
pub fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// A field of bytes with a small number.
pub fn field(number: u8, content: &[u8]) -> Vec<u8> {
    [&[number << 3 | 2, content.len() as u8][..], content].concat()
}

/// A SensorData of version 3 at a time in seconds, with two detections of a lidar ahead.
pub fn detections(seconds: u8) -> Vec<u8> {
    let detection = |distance: f64| {
        let position = [&[9][..], &distance.to_le_bytes()].concat();
        field(2, &field(3, &position))
    };
    let sensor = field(3, &[detection(3.0), detection(4.5)].concat());
    let features = [&[0xd2, 1, sensor.len() as u8][..], &sensor].concat();
    [field(1, &[8, 3]), field(2, &[8, seconds]), features].concat()
}

/// A trace of them.
pub fn detected(path: &Path, count: u8) {
    let messages = (0..count).map(detections);
    let bytes =
        messages.flat_map(|message| [&(message.len() as u32).to_le_bytes()[..], &message].concat());
    fs::write(path, bytes.collect::<Vec<u8>>()).unwrap();
}
