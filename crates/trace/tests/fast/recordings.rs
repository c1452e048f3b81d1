//! Recordings in MCAP made here, whole and damaged, and large ones of real
//! sensors, which are not in the repository.

use std::collections::BTreeMap;
use std::fs;
use std::io::Cursor;
use std::path::Path;

use crate::common::{error, field_at, number};
use mcap::records::MessageHeader;
use mcap::{Compression, WriteOptions};
use tempfile::NamedTempFile;
use wiregauge_schema::{canonical, prune, Value};
use wiregauge_testkit::prerequisites::recording as large;
use wiregauge_trace::Recording;

/// A recording with ten messages `{uint32 n}` on /count, one on /text that no
/// decoder knows, and none on /empty.
fn recording(options: WriteOptions) -> Vec<u8> {
    let mut writer = options.create(Cursor::new(Vec::new())).unwrap();
    let count = writer.add_schema("p/msg/Count", "ros2msg", b"uint32 n").unwrap();
    let text = writer.add_schema("Text", "jsonschema", b"{}").unwrap();
    let metadata = BTreeMap::new();
    let counts = writer.add_channel(count, "/count", "cdr", &metadata).unwrap();
    let texts = writer.add_channel(text, "/text", "json", &metadata).unwrap();
    writer.add_channel(count, "/empty", "cdr", &metadata).unwrap();
    let mut write = |channel_id, sequence: u32, data: &[u8]| {
        let time = u64::from(sequence);
        let header = MessageHeader { channel_id, sequence, log_time: time, publish_time: time };
        writer.write_to_known_channel(&header, data).unwrap();
    };
    for n in 0..10u8 {
        write(counts, n.into(), &[0, 1, 0, 0, n, 0, 0, 0]);
    }
    write(texts, 10, b"{}");
    writer.finish().unwrap();
    writer.into_inner().into_inner()
}

/// The bytes as a file; it exists as long as the value does.
fn file(bytes: &[u8]) -> NamedTempFile {
    let file = NamedTempFile::new().unwrap();
    fs::write(file.path(), bytes).unwrap();
    file
}

#[test]
fn messages_are_taken_evenly() {
    let plain = WriteOptions::new().use_chunks(false).compression(None);
    let bare = WriteOptions::new()
        .use_chunks(false)
        .compression(None)
        .emit_statistics(false)
        .emit_summary_offsets(false)
        .repeat_channels(false)
        .repeat_schemas(false);
    let zstd = WriteOptions::new().compression(Some(Compression::Zstd));
    let lz4 = WriteOptions::new().compression(Some(Compression::Lz4));
    for options in [plain, bare, zstd, lz4] {
        let file = file(&recording(options));
        let recording = Recording::open(file.path()).unwrap();
        let topics: Vec<(&str, u64)> =
            recording.topics().iter().map(|t| (t.name.as_str(), t.messages)).collect();
        assert_eq!(topics, [("/count", 10), ("/text", 1), ("/empty", 0)]);
        let schema = recording.schema("/count").unwrap();
        let taken = |limit| -> Vec<u64> {
            let values = recording.messages("/count", limit).unwrap();
            values.iter().map(|value| number(&schema, value, "n")).collect()
        };
        assert_eq!(taken(100), (0..10).collect::<Vec<_>>());
        assert_eq!(taken(3), [0, 3, 6]);
        assert_eq!(taken(1), [0]);
        assert_eq!(taken(0), [0; 0]);
    }
}

/// Of a call ROS 2 records an event, and as its definition the text of the service.
#[test]
fn calls_of_services_are_read() {
    let mut writer = WriteOptions::new().create(Cursor::new(Vec::new())).unwrap();
    let name = "example_interfaces/srv/AddTwoInts_Event";
    let text = b"int64 a\nint64 b\n---\nint64 sum\n";
    let schema = writer.add_schema(name, "ros2msg", text).unwrap();
    let channel = writer.add_channel(schema, "/add", "cdr", &BTreeMap::new()).unwrap();
    // As rosbag2 wrote it of Fast DDS, which pads the end.
    let event = [
        &[0, 1, 0, 0, 1, 0, 0, 0][..],
        &[0x21, 0x21, 0x2e, 0x65, 0xbe, 0xda, 0x46, 0x2b],
        &[1, 15, 235, 125, 108, 42, 169, 210, 0, 0, 0, 0, 0, 0, 19, 4],
        &[0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0],
        &[1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    ];
    let header = MessageHeader { channel_id: channel, sequence: 1, log_time: 1, publish_time: 1 };
    writer.write_to_known_channel(&header, &event.concat()).unwrap();
    writer.finish().unwrap();
    let file = file(&writer.into_inner().into_inner());
    let recording = Recording::open(file.path()).unwrap();
    let schema = recording.schema("/add").unwrap();
    assert_eq!(schema.root().name.original, name);
    let messages = recording.messages("/add", 1).unwrap();
    assert_eq!(number(&schema, &messages[0], "info.event_type"), 1);
    assert_eq!(number(&schema, &messages[0], "info.stamp.sec"), 0x652e_2121);
    let request = Value::Record(vec![Value::Signed(1), Value::Signed(3)]);
    assert_eq!(field_at(&schema, &messages[0], "request"), &Value::List(vec![request]));
    assert_eq!(field_at(&schema, &messages[0], "response"), &Value::List(Vec::new()));
}

#[test]
fn what_cannot_be_read_is_said() {
    let file = file(&recording(WriteOptions::new()));
    let recording = Recording::open(file.path()).unwrap();
    let absent = error(recording.schema("/absent"));
    assert!(absent.ends_with("has no topic /absent; it has /count, /text, /empty"), "{absent}");
    let empty = error(recording.messages("/empty", 1));
    assert!(empty.contains("/empty has no messages"), "{empty}");
    let text = error(recording.schema("/text"));
    assert!(text.contains("'json' with definitions in 'jsonschema'"), "{text}");
}

#[test]
fn files_that_are_no_recordings_are_refused() {
    for (bytes, why) in [(b"".as_slice(), "is empty"), (b"something else", "is not a recording")] {
        assert!(error(Recording::open(file(bytes).path())).contains(why));
    }
    assert!(error(Recording::open("absent.mcap")).contains("cannot read absent.mcap"));
}

#[test]
fn truncated_recordings_are_refused_with_advice() {
    let plain = WriteOptions::new().use_chunks(false).compression(None);
    for options in [plain, WriteOptions::new()] {
        let bytes = recording(options);
        for len in 8..bytes.len() {
            let error = error(Recording::open(file(&bytes[..len]).path()));
            assert!(error.contains("is truncated after"), "{len}: {error}");
            assert!(error.contains("wiregauge trace repair"), "{len}: {error}");
        }
    }
}

#[test]
fn damaged_recordings_never_panic() {
    let bytes = recording(WriteOptions::new());
    for at in 8..bytes.len() {
        let mut bytes = bytes.clone();
        bytes[at] ^= 0x55;
        let file = file(&bytes);
        let opened = Recording::open(file.path());
        let Ok(recording) = &opened else {
            error(opened);
            continue;
        };
        for topic in recording.topics() {
            let _ = recording.messages(&topic.name, 100);
        }
    }
}

#[test]
#[ignore = "reads recordings that are not in the repository: WIREGAUGE_RECORDINGS=FOLDER"]
fn the_lidar_recording_decodes() {
    let recording = Recording::open(large("ouster-os1-128.mcap")).unwrap();
    for topic in ["/ouster/points", "/ouster/scan"] {
        let schema = recording.schema(topic).unwrap();
        let values = recording.messages(topic, usize::MAX).unwrap();
        assert_eq!(values.len(), 3);
        for value in &values {
            let points = match topic {
                "/ouster/points" => {
                    let Value::Bytes(data) = field_at(&schema, value, "data") else { panic!() };
                    data.len() as u64 / number(&schema, value, "point_step")
                }
                _ => {
                    let Value::List(points) = field_at(&schema, value, "points") else { panic!() };
                    points.len() as u64
                }
            };
            assert!((106_000..109_000).contains(&points), "{topic}: {points} points");
            let bytes = canonical::encode(&schema, value).unwrap();
            assert_eq!(canonical::decode(&schema, &bytes).unwrap(), *value);
        }
    }
}

#[test]
fn damage_is_told_in_a_line() {
    let mut bytes = recording(WriteOptions::new());
    // The footer's length stands before its 20 bytes and the magic at the end.
    let length = bytes.len() - mcap::MAGIC.len() - 20 - 8;
    assert_eq!(bytes[length], 20);
    bytes[length] = 10;
    let refused = error(Recording::open(file(&bytes).path()));
    assert!(refused.contains("is damaged after 11 messages, near byte"), "{refused}");
}

/// The logged times in nanoseconds of a topic's messages, read by other means.
fn log_times(path: &Path, topic: &str) -> Vec<u64> {
    let bytes = fs::read(path).unwrap();
    let messages = mcap::MessageStream::new(&bytes).unwrap().map(Result::unwrap);
    messages.filter(|m| m.channel.topic == topic).map(|m| m.log_time).collect()
}

#[test]
#[ignore = "reads recordings that are not in the repository: WIREGAUGE_RECORDINGS=FOLDER"]
fn the_osi_recordings_decode() {
    for (file, topics) in [
        (
            "osi-sensordata-lane-boundaries.mcap",
            ["/PMSF.SensorView", "/PMSF.SensorData"].as_slice(),
        ),
        ("osi-brake-lights-no-metadata.mcap", &["/osi3/sensor_view"]),
    ] {
        let path = large(file);
        let recording = Recording::open(&path).unwrap();
        let names: Vec<&str> = recording.topics().iter().map(|t| t.name.as_str()).collect();
        assert_eq!(names, topics);
        for topic in recording.topics() {
            let schema = recording.schema(&topic.name).unwrap();
            let sample = recording.sample(&topic.name, usize::MAX).unwrap();
            assert_eq!(sample.values.len() as u64, topic.messages);
            assert_eq!(sample.unknown_fields, 0);
            for (value, time) in sample.values.iter().zip(log_times(&path, &topic.name)) {
                let number = |path| number(&schema, value, path);
                // They differ by a nanosecond here and there, as if one had been rounded.
                let stamp = number("timestamp.seconds") * 1_000_000_000 + number("timestamp.nanos");
                assert!(stamp.abs_diff(time) <= 1, "{file}: {stamp} was logged at {time}");
                assert_eq!(
                    [number("version.version_major"), number("version.version_minor")],
                    [3, 7]
                );
            }
            let (small, values, removed) = prune(&schema, &sample.values);
            assert!(!removed.is_empty() && small.types.len() < schema.types.len());
            for value in &values {
                let bytes = canonical::encode(&small, value).unwrap();
                assert_eq!(canonical::decode(&small, &bytes).unwrap(), *value);
            }
        }
    }
}

#[test]
#[ignore = "reads recordings that are not in the repository: WIREGAUGE_RECORDINGS=FOLDER"]
fn the_osi_trace_is_read() {
    let path = large("20240618T122540Z_sv_370_244_20_minimal_valid_example.osi");
    let recording = Recording::open(path).unwrap();
    assert_eq!(recording.topics()[0].messages, 20, "as its name says");
}
