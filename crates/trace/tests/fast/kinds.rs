//! A recording of each kind, as another program wrote it: those of the folder
//! `recordings`, whose values `make.py` there made up.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{error, field_at, number, recording};
use prost_reflect::prost::Message;
use prost_reflect::prost_types::FileDescriptorSet;
use wiregauge_schema::msg::{read_text, Dialect};
use wiregauge_schema::{canonical, idl, prune, Cardinality, Element, Scalar, Schema, Value};
use wiregauge_trace::{cdr, Lookup, Recording};

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
        let field = |name| field_at(&schema, value, name).clone();
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
            assert_eq!(*field_at(&schema, sweep, "points"), Value::List(wanted), "{name}");
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
            assert_eq!(*field_at(&schema, cloud, "data"), Value::Bytes(wanted), "{name}");
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
        assert_eq!(*field_at(&schema, empty, name), nothing, "{name}");
        assert_eq!(*field_at(&schema, full, name), wanted, "{name}");
    }
}

#[test]
fn definitions_in_other_languages_are_read_or_refused() {
    let path = recording("mcap/others.mcap");
    let others = Recording::open(&path).unwrap();
    assert_eq!(topics(&others), [("/idl", 1), ("/json", 1), ("/flatbuffer", 1), ("/none", 1)]);
    for (topic, words) in [
        ("/json", "messages in 'json' with definitions in 'jsonschema' cannot be read"),
        ("/flatbuffer", "messages in 'flatbuffer' with definitions in 'flatbuffer' cannot be read"),
        ("/none", "neither a definition"),
    ] {
        let refused = error(others.schema(topic));
        assert!(refused.contains(words), "{topic}: {refused}");
    }

    // OMG IDL is read, too.
    let pair = Value::Record(vec![Value::Unsigned(3), Value::F64(4.5)]);
    assert_eq!(others.messages("/idl", 10).unwrap(), [pair]);
}

fn unread(text: &str) -> String {
    error(idl::read_text(text, "p/msg/R", "test"))
}

#[test]
fn what_rosidl_and_others_write_is_read() {
    let text = format!(
        "{line}\nIDL: p/msg/R\n#include \"a.idl\"\nmodule p {{ module msg {{\n\
         module R_Constants {{ const unsigned long MOST = 3; @verbatim(text=\"a }} \\\" b\") \
         const string S = \"x\" \"y\"; }};\n\
         typedef double double__9[9]; typedef sequence<octet> Octets;\n\
         // a comment }}\n@verbatim (language=\"comment\", text=\"more\" \"text\")\n\
         struct R {{ @default(value=5) uint8 a; unsigned long long b, c; p::msg::In in; \
         /* no */ double__9 d; Octets e; sequence<In, 4> f; string<8> g; wstring h; \
         float i[2][R_Constants::MOST]; Kind k; boolean l; }}; }}; }};\n{line}\n\
         IDL: p/msg/In\nmodule p {{ module msg {{ enum Kind {{ ONE, @value(2) TWO }}; \
         struct Base {{ long x; }}; struct In : Base {{ long long y; }}; }}; }};",
        line = "=".repeat(80)
    );
    for name in ["p/msg/R", "p/R", "p::msg::R"] {
        let schema = idl::read_text(&text, name, "test").unwrap();
        let root = schema.root();
        assert_eq!(root.name.original, "p/msg/R");
        let field = |name: &str| {
            let field = root.fields.iter().find(|field| field.name.original == name).unwrap();
            (field.element, field.cardinality)
        };
        let scalar = |kind| (Element::Scalar(kind), Cardinality::Required);
        assert_eq!(field("a"), scalar(Scalar::U8));
        assert_eq!(field("c"), scalar(Scalar::U64));
        assert_eq!(field("d").1, Cardinality::Array { len: 9 });
        assert_eq!(field("e"), (Element::Bytes, Cardinality::Required));
        assert_eq!(field("f").1, Cardinality::List { bound: Some(4) });
        assert_eq!(field("g"), (Element::String, Cardinality::Required));
        assert_eq!(field("i").1, Cardinality::Array { len: 6 });
        let Element::Record(inner) = field("in").0 else { panic!() };
        let names: Vec<&str> =
            schema.record(inner).fields.iter().map(|f| f.name.original.as_str()).collect();
        assert_eq!(names, ["x", "y"]);
        assert!(matches!(field("k").0, Element::Enum(_)));
        assert_eq!(schema.wording.find_member("p/msg/R", "h").unwrap().spelling, "wstring");
    }
}

#[test]
fn what_is_not_read_is_told() {
    let of = |text: &str| unread(&format!("module p {{ module msg {{ {text} }}; }};"));
    for (text, words) in [
        ("struct R { @optional long x; };", "p/msg/R.x: it is optional"),
        ("struct R { sequence<sequence<long>> x; };", "a list of lists"),
        ("struct R { map<string, long> x; };", "a map, which wiregauge cannot read"),
        ("union U switch (long) { case 1: long x; }; struct R { U u; };", "a union"),
        ("struct R { Nix x; };", "no definition of Nix"),
        ("typedef A B; typedef B A; struct R { A x; };", "refer to each other in a circle"),
        ("struct R : R { long x; };", "inherit from each other in a circle"),
        ("struct R { long x[0]; };", "an array has no elements"),
        ("struct R { long x", "expected ';', found '}'"),
        ("struct Q { long x; };", "no definition of p/msg/R"),
    ] {
        assert!(of(text).contains(words), "{text}: {}", of(text));
    }
    for text in ["", "struct", "module p {", "\"", "/*", "@", "typedef long"] {
        unread(text);
    }
}

#[test]
fn wide_text_is_read_however_it_is_written() {
    let schema = read_text("wstring a\nuint8 b\nwstring[] c", "p/msg/R", Dialect::Ros2, "test");
    let schema = schema.unwrap();
    let text = |text: &str| Value::String(text.into());
    let wanted = Value::Record(vec![
        text("hé😀"),
        Value::Unsigned(7),
        Value::List(vec![text("a"), text("")]),
    ]);
    let number = |number: usize| (number as u32).to_le_bytes().to_vec();
    for (is_four, by_octets) in [(true, false), (false, false), (false, true)] {
        let mut bytes = Vec::new();
        let mut put = |text: &str| {
            let letters: Vec<u8> = match is_four {
                true => text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect(),
                false => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            };
            let count = letters.len()
                / if is_four {
                    4
                } else if by_octets {
                    1
                } else {
                    2
                };
            [number(count), letters].concat()
        };
        let [first, second, third] = ["hé😀", "a", ""].map(&mut put);
        let align = |bytes: &mut Vec<u8>| bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes.extend(first);
        bytes.push(7);
        align(&mut bytes);
        bytes.extend(number(2));
        bytes.extend(second);
        align(&mut bytes);
        bytes.extend(third);
        let message = [&[0, 1, 0, 0], &bytes[..]].concat();
        assert_eq!(cdr::decode(&schema, &message).unwrap(), wanted, "{is_four} {by_octets}");
        assert!(cdr::decode(&schema, &message[..message.len() - 5]).is_err());
    }
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
    let Value::List(objects) = field_at(schema, value, "global_ground_truth.moving_object") else {
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
