//! What the tests share: messages of OSI, and what reads files again.
#![allow(dead_code)] // Each test file uses its part.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use wiregauge_trace::channel::{Channel, Definition};
use wiregauge_trace::read::{MessageInfo, MessagePosition, Nanoseconds};

/// A field of a message.
pub enum Field {
    Number(u64, u64),
    Double(u64, f64),
    Message(u64, Vec<Field>),
    Bytes(u64, Vec<u8>),
}

pub use Field::{Bytes, Double, Message, Number};

/// A message in Protobuf's wire form.
pub fn message(fields: &[Field]) -> Vec<u8> {
    fn varint(out: &mut Vec<u8>, mut value: u64) {
        while value >= 0x80 {
            out.push(value as u8 | 0x80);
            value >>= 7;
        }
        out.push(value as u8);
    }
    let mut out = Vec::new();
    for field in fields {
        let bytes = match field {
            Number(number, value) => {
                varint(&mut out, number << 3);
                varint(&mut out, *value);
                continue;
            }
            Double(number, value) => {
                varint(&mut out, number << 3 | 1);
                out.extend(value.to_le_bytes());
                continue;
            }
            Message(number, fields) => (number, message(fields)),
            Bytes(number, bytes) => (number, bytes.clone()),
        };
        varint(&mut out, bytes.0 << 3 | 2);
        varint(&mut out, bytes.1.len() as u64);
        out.extend(bytes.1);
    }
    out
}

/// The version and time stamp that messages begin with: two seconds and five nanoseconds.
pub fn stamped(fields: Vec<Field>) -> Vec<u8> {
    let front = vec![Message(1, vec![Number(1, 3)]), Message(2, vec![Number(1, 2), Number(2, 5)])];
    [message(&front), message(&fields)].concat()
}

/// The time of flight of a distance.
pub fn flight(distance: f64) -> f64 {
    distance * 2.0 / 299_792_458.0
}

/// A vector in the fields 1 to 3.
pub fn vector(number: u64, [x, y, z]: [f64; 3]) -> Field {
    Message(number, vec![Double(1, x), Double(2, y), Double(3, z)])
}

/// A position by distance, azimuth and elevation.
pub fn spherical(distance: f64, azimuth: f64, elevation: f64) -> Field {
    vector(3, [distance, azimuth, elevation])
}

pub fn channel(topic: &str, name: &str, encoding: &str) -> Channel {
    let definition = Definition { name: name.into(), encoding: encoding.into(), data: Vec::new() };
    Channel {
        topic: topic.into(),
        message_encoding: encoding.into(),
        definition: Arc::new(definition),
        metadata: Default::default(),
    }
}

pub fn sensor_view() -> Channel {
    channel("view", "osi3.SensorView", "protobuf")
}

pub fn sensor_data() -> Channel {
    channel("data", "osi3.SensorData", "protobuf")
}

pub fn head(time: Nanoseconds, size: usize) -> MessageInfo {
    MessageInfo {
        channel: 0,
        sequence: 0,
        time: Some(time),
        publish_time: Some(time),
        size: size as u64,
        place: MessagePosition { at: 0, within: None },
    }
}

/// Where a file is written.
pub struct Out(pub File);

impl std::io::Write for Out {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

impl wiregauge_trace::write::Output for Out {
    fn commit(self) -> anyhow::Result<()> {
        Ok(())
    }
}

pub fn out(path: &Path) -> Out {
    Out(File::create(path).unwrap())
}
