//! A recording of each kind, as another program wrote it: those of the folder
//! `recordings`, whose values `make.py` there made up.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{at, error, number, recording};
use prost_reflect::prost::Message;
use prost_reflect::prost_types::FileDescriptorSet;
use wiregauge_schema::{canonical, prune, Schema, Value};
use wiregauge_trace::{Lookup, Recording};

/// Names and numbers of messages of the topics.
fn topics(recording: &Recording) -> Vec<(&str, u64)> {
    recording.topics().iter().map(|topic| (topic.name.as_str(), topic.messages)).collect()
}

/// A schema and all messages of a topic, each of which survives canonical bytes.
fn all(recording: &Recording, topic: &str) -> (Schema, Vec<Value>) {
    let schema = recording.schema(topic).unwrap();
    let sample = recording.sample(topic, usize::MAX).unwrap();
    assert_eq!(sample.unknown_fields, 0, "{topic}");
    for value in &sample.values {
        let bytes = canonical::encode(&schema, value).unwrap();
        assert_eq!(canonical::decode(&schema, &bytes).unwrap(), *value, "{topic}");
    }
    (schema, sample.values)
}

/// What every one of the scans must hold; those of ROS 1 have a time, which ROS 2
/// has not built in.
fn check_scans(recording: &Recording, topic: &str, stamped: bool) {
    let (schema, values) = all(recording, topic);
    let pair = |x, y| Value::Record(vec![Value::Unsigned(x), Value::F64(y)]);
    for (n, value) in values.iter().enumerate() {
        let field = |name| at(&schema, value, name).clone();
        assert_eq!(field("b"), Value::Signed(-1));
        assert_eq!(field("name"), Value::String(format!("s{n}")));
        assert_eq!(field("xs"), Value::List(vec![Value::F32(0.5); n]));
        assert_eq!(field("pairs"), Value::List(vec![pair(1, 1.5), pair(2, 2.5)]));
        if stamped {
            let stamp = Value::Record(vec![Value::Unsigned(n as u64), Value::Unsigned(5)]);
            assert_eq!(field("stamp"), stamp);
        }
    }
    assert_eq!(values.len(), 10);
    let some = recording.messages(topic, 3).unwrap();
    assert_eq!(some, [&values[0], &values[3], &values[6]].map(Value::clone));
}

/// That a recording holds the scans, and a topic without messages.
fn holds_scans(name: &str, stamped: bool) {
    let recording = Recording::open(recording(name)).unwrap();
    assert_eq!(topics(&recording), [("/scan", 10), ("/empty", 0)], "{name}");
    check_scans(&recording, "/scan", stamped);
}

#[test]
fn recordings_of_ros_1_are_read() {
    for name in ["ros1/plain.bag", "ros1/bz2.bag", "ros1/lz4.bag", "mcap/ros1.mcap"] {
        holds_scans(name, true);
    }
}

#[test]
fn bags_of_ros_2_are_read() {
    for bag in ["iron/iron.db3", "packed/packed.db3", "jazzy/jazzy.mcap"] {
        let file = Path::new("ros2").join(bag);
        for path in [&file, file.parent().unwrap()] {
            holds_scans(path.to_str().unwrap(), false);
        }
    }
}

/// The position and intensity of the points of a lidar's turn.
fn points(n: usize) -> Vec<([f32; 3], u8)> {
    (0..5 + n)
        .map(|i| ([i as f32 + 0.5, -(i as f32) - 0.5, n as f32], u8::try_from(10 * i + n).unwrap()))
        .collect()
}

#[test]
fn turns_of_a_lidar_are_read_from_mcap() {
    for name in ["zstd", "lz4", "chunks", "bare"] {
        let recording = Recording::open(recording(&format!("mcap/ros2-{name}.mcap"))).unwrap();
        let wanted =
            [("/scan", 10), ("/big_endian", 10), ("/sweep", 3), ("/cloud", 3), ("/empty", 0)];
        assert_eq!(topics(&recording), wanted, "{name}");
        check_scans(&recording, "/scan", false);
        check_scans(&recording, "/big_endian", false);
        let (schema, sweeps) = all(&recording, "/sweep");
        for (n, sweep) in sweeps.iter().enumerate() {
            let point = |(position, intensity): ([f32; 3], u8)| {
                let position = Value::List(position.map(Value::F32).to_vec());
                Value::Record(vec![position, Value::Unsigned(intensity.into())])
            };
            let wanted = points(n).into_iter().map(point).collect();
            assert_eq!(*at(&schema, sweep, "points"), Value::List(wanted), "{name}");
            let stamp = ["stamp.sec", "stamp.nanosec"].map(|path| number(&schema, sweep, path));
            assert_eq!(stamp, [n as u64, 5]);
        }
        let (schema, clouds) = all(&recording, "/cloud");
        for (n, cloud) in clouds.iter().enumerate() {
            assert_eq!(number(&schema, cloud, "point_step"), 16);
            let point = |(position, intensity): ([f32; 3], u8)| {
                [&position.map(f32::to_le_bytes).concat()[..], &[intensity, 0, 0, 0]].concat()
            };
            let wanted = points(n).into_iter().flat_map(point).collect();
            assert_eq!(*at(&schema, cloud, "data"), Value::Bytes(wanted), "{name}");
        }
    }
}

#[test]
fn what_protobuf_has_is_read_from_mcap() {
    let recording = Recording::open(recording("mcap/protobuf.mcap")).unwrap();
    let (schema, values) = all(&recording, "/all");
    let [empty, full] = values.as_slice() else { panic!("{values:?}") };
    let inner = |x| Value::Record(vec![Value::Signed(x)]);
    let named = |key: &str, x| Value::Record(vec![Value::String(key.into()), inner(x)]);
    for (name, nothing, wanted) in [
        ("n", Value::Unsigned(0), Value::Unsigned(1 << 63)),
        ("text", Value::String(String::new()), Value::String("grüß".into())),
        ("blob", Value::Bytes(Vec::new()), Value::Bytes(vec![0, 255])),
        ("ys", Value::List(vec![]), Value::List(vec![Value::F64(0.5), Value::F64(-1.5)])),
        ("inner", Value::List(vec![]), Value::List(vec![inner(-7)])),
        ("named", Value::List(vec![]), Value::List(vec![named("one", 1), named("two", 2)])),
        ("kind", Value::Signed(0), Value::Signed(5)),
        ("a", Value::Absent, Value::Absent),
        ("b", Value::Absent, Value::String("chosen".into())),
        ("maybe", Value::Absent, Value::Bool(false)),
    ] {
        assert_eq!(*at(&schema, empty, name), nothing, "{name}");
        assert_eq!(*at(&schema, full, name), wanted, "{name}");
    }
}

#[test]
fn definitions_in_other_languages_are_refused_or_taken_from_a_folder() {
    let path = recording("mcap/others.mcap");
    let others = Recording::open(&path).unwrap();
    assert_eq!(topics(&others), [("/idl", 1), ("/json", 1), ("/flatbuffer", 1), ("/none", 1)]);
    for (topic, words) in [
        (
            "/idl",
            "no definition of p/msg/Pair that can be read; give the folder with p/msg/Pair.msg",
        ),
        ("/json", "definitions in 'jsonschema' with messages in 'json' cannot be read"),
        ("/flatbuffer", "definitions in 'flatbuffer' with messages in 'flatbuffer' cannot be read"),
        ("/none", "no definition"),
    ] {
        let refused = error(others.schema(topic));
        assert!(refused.contains(words), "{topic}: {refused}");
    }

    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("p/msg")).unwrap();
    fs::write(folder.path().join("p/msg/Pair.msg"), "uint16 x\nfloat64 y\n").unwrap();
    let lookup = Lookup { folders: vec![folder.path().to_owned()], osi: None };
    let found = Recording::open_with(&path, lookup).unwrap();
    let pair = Value::Record(vec![Value::Unsigned(3), Value::F64(4.5)]);
    assert_eq!(found.messages("/idl", 10).unwrap(), [pair]);
}

/// What a message of OSI must say that was written as the `n`th, a tenth of a
/// second after the one before.
fn check_osi(schema: &Schema, value: &Value, n: u64) {
    let number = |path| number(schema, value, path);
    assert_eq!([number("version.version_major"), number("version.version_minor")], [3, 8]);
    assert_eq!([number("timestamp.seconds"), number("timestamp.nanos")], [0, n * 100_000_000]);
    assert_eq!(number("sensor_id.value"), 7);
}

/// That the host stands still and a car drives away from it.
fn check_view(schema: &Schema, value: &Value, n: u64) {
    check_osi(schema, value, n);
    let Value::List(objects) = at(schema, value, "global_ground_truth.moving_object") else {
        panic!("{value:?}")
    };
    let text = format!("{objects:?}");
    let ahead = format!("F64({:?})", 10.0 + n as f64);
    assert!(objects.len() == 2 && text.contains(&ahead), "{text}");
}

#[test]
fn traces_of_osi_are_read_from_mcap() {
    for name in ["osi/zstd.mcap", "osi/lz4-no-metadata.mcap"] {
        let recording = Recording::open(recording(name)).unwrap();
        assert_eq!(topics(&recording), [("/SensorView", 5), ("/SensorData", 5)]);
        let (schema, views) = all(&recording, "/SensorView");
        for (value, n) in views.iter().zip(0..) {
            check_view(&schema, value, n);
        }
        let (small, pruned, removed) = prune(&schema, &views);
        assert!(!removed.is_empty() && small.types.len() < schema.types.len());
        for value in &pruned {
            let bytes = canonical::encode(&small, value).unwrap();
            assert_eq!(canonical::decode(&small, &bytes).unwrap(), *value);
        }
        let (schema, datas) = all(&recording, "/SensorData");
        for (value, n) in datas.iter().zip(0..) {
            check_osi(&schema, value, n);
        }
    }
}

fn trace() -> PathBuf {
    recording("osi/20240101T000000Z_sv_380_7362_5_made_up.osi")
}

/// The part of OSI's definitions that the recording in MCAP carries.
fn part_of_osi() -> anyhow::Result<Vec<u8>> {
    let bytes = fs::read(recording("osi/zstd.mcap"))?;
    let mut messages = mcap::MessageStream::new(&bytes)?;
    let message = messages.next().expect("a message")?;
    Ok(message.channel.schema.as_ref().expect("a definition").data.to_vec())
}

/// The same without what a view says of the world.
fn less_of_osi() -> anyhow::Result<Vec<u8>> {
    let mut set = FileDescriptorSet::decode(part_of_osi()?.as_slice())?;
    for message in &mut set.file[0].message_type {
        message.field.retain(|field| field.name() != "global_ground_truth");
    }
    Ok(set.encode_to_vec())
}

#[test]
fn a_trace_of_osi_is_read() {
    let lookup = Lookup { folders: Vec::new(), osi: Some(part_of_osi) };
    let recording = Recording::open_with(trace(), lookup).unwrap();
    assert_eq!(topics(&recording), [("osi3.SensorView", 5)]);
    let (schema, views) = all(&recording, "osi3.SensorView");
    for (value, n) in views.iter().zip(0..) {
        check_view(&schema, value, n);
    }
}

#[test]
fn fields_that_a_definition_lacks_are_counted() {
    let lookup = Lookup { folders: Vec::new(), osi: Some(less_of_osi) };
    let recording = Recording::open_with(trace(), lookup).unwrap();
    let sample = recording.sample("sv", usize::MAX).unwrap();
    assert_eq!(sample.unknown_fields, 5, "one in each message");
    let schema = recording.schema("sv").unwrap();
    for (value, n) in sample.values.iter().zip(0..) {
        check_osi(&schema, value, n);
    }
}
