//! Traces of OSI: the messages of one type, each after its length as a
//! little-endian number of four bytes. Which type it is stands in the file's
//! name alone: `20210818T150542Z_sv_380_32112_1523_highway.osi`.

use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::Path;

use anyhow::{ensure, Context, Result};
use wiregauge_schema::file;

use crate::topic::{Definition, Topic};

/// The types that a trace may hold, by their code in the file's name.
const TYPES: [(&str, &str); 10] = [
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

/// The one topic that the name tells, or one for each type that it may be. Fails
/// where the lengths do not lead to the file's end.
pub fn topics(path: &Path) -> Result<Vec<(Topic, Definition)>> {
    let mut messages = 0;
    walk(path, |file, length| {
        messages += 1;
        Ok(file.seek_relative(length.into())?)
    })?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let told = stem.split('_').find_map(type_of_code);
    let all = TYPES.iter().map(|(_, name)| *name);
    let types = all.filter(|name| told.is_none_or(|told| told == *name));
    Ok(types.map(|name| (topic(name, messages), Definition(Vec::new()))).collect())
}

/// A topic with messages of a type.
pub fn topic(name: &str, messages: u64) -> Topic {
    Topic {
        name: name.into(),
        schema_name: name.into(),
        schema_encoding: "protobuf".into(),
        message_encoding: "protobuf".into(),
        messages,
    }
}

/// The type that a user means: `sv`, `SensorView` or `osi3.SensorView`.
pub fn type_called(name: &str) -> Option<&'static str> {
    let known = TYPES.iter().map(|(_, known)| *known);
    let named =
        known.into_iter().find(|known| *known == name || known.strip_prefix("osi3.") == Some(name));
    named.or_else(|| type_of_code(name))
}

fn type_of_code(code: &str) -> Option<&'static str> {
    TYPES.iter().find(|(known, _)| *known == code).map(|(_, name)| *name)
}

/// Calls a function with every message.
pub fn each_message(path: &Path, mut visit: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let mut message = Vec::new();
    walk(path, |file, length| {
        message.clear();
        file.take(length.into()).read_to_end(&mut message)?;
        visit(&message)
    })
}

/// Calls a function before every message, with its length; it must read or skip
/// that many bytes.
fn walk(path: &Path, mut visit: impl FnMut(&mut BufReader<File>, u32) -> Result<()>) -> Result<()> {
    let origin = path.display();
    let file = file::open(path)?;
    let size = file.metadata().with_context(|| format!("cannot read {origin}"))?.len();
    let mut file = BufReader::new(file);
    let (mut at, mut count) = (0u64, 0u64);
    while at < size {
        let left = size - at;
        let mut length = [0; 4];
        let cut = || match count {
            0 => format!("{origin} is no OSI trace, or its first message is cut short"),
            _ => format!(
                "{origin} is truncated after {count} messages; save those with \
                 'head -c {at} {origin} > whole.osi', keeping the type in its name"
            ),
        };
        ensure!(left >= 4, cut());
        file.read_exact(&mut length).with_context(|| format!("cannot read {origin}"))?;
        let length = u32::from_le_bytes(length);
        ensure!(u64::from(length) <= left - 4, cut());
        visit(&mut file, length)?;
        at += 4 + u64::from(length);
        count += 1;
        debug_assert_eq!(file.stream_position().ok(), Some(at));
    }
    Ok(())
}
