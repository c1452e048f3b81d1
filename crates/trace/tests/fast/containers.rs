//! Recordings that are not MCAP, made here or damaged, and what is no recording.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::common::traces::{self, messages};
use crate::common::{error, recording, recordings};
use anyhow::Result;
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use prost_reflect::prost::Message;
use prost_reflect::prost_types::field_descriptor_proto::{Label, Type};
use prost_reflect::prost_types::{
    DescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet,
};
use rusqlite::{params, Connection};
use tempfile::TempDir;
use wiregauge_schema::{Element, Value};
use wiregauge_trace::check::check;
use wiregauge_trace::info::{read_info, ChannelInfo, TraceInfo};
use wiregauge_trace::open::{open, OpenHints};
use wiregauge_trace::{Lookup, Recording};

/// One record of a bag: its header's fields and its data.
fn record(fields: &[(&str, &[u8])], data: &[u8]) -> Vec<u8> {
    let mut header = Vec::new();
    for (name, value) in fields {
        let length = name.len() + 1 + value.len();
        header.extend((length as u32).to_le_bytes());
        header.extend([name.as_bytes(), b"=", value].concat());
    }
    let size = |bytes: &[u8]| (bytes.len() as u32).to_le_bytes();
    [&size(&header)[..], &header, &size(data), data].concat()
}

/// A bag without index or chunks, as a recorder that was killed may leave it.
fn unindexed() -> Vec<u8> {
    let mut bytes = b"#ROSBAG V2.0\n".to_vec();
    let header = [("op", &[3][..]), ("index_pos", &[0; 8]), ("conn_count", &[1, 0, 0, 0])];
    bytes.extend(record(&header, &[b' '; 100]));
    let mut inner = Vec::new();
    for (name, value) in [("topic", "/n"), ("type", "p/N"), ("message_definition", "uint8 n")] {
        inner.extend(((name.len() + 1 + value.len()) as u32).to_le_bytes());
        inner.extend(format!("{name}={value}").into_bytes());
    }
    bytes.extend(record(&[("op", &[7]), ("conn", &[0; 4]), ("topic", b"/n")], &inner));
    for n in 0..3 {
        bytes.extend(record(&[("op", &[2]), ("conn", &[0; 4]), ("time", &[0; 8])], &[n]));
    }
    bytes
}

fn file(folder: &TempDir, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn a_bag_without_index_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let recording = Recording::open(file(&folder, "a.bag", &unindexed())).unwrap();
    let numbers = recording.messages("/n", 10).unwrap();
    let wanted = [0, 1, 2].map(|n| Value::Record(vec![Value::Unsigned(n)]));
    assert_eq!(numbers, wanted);
}

/// A chunk of a bag, packed or not.
fn chunk(compression: &[u8], records: &[u8]) -> Vec<u8> {
    let size = (records.len() as u32).to_le_bytes();
    let packed = match compression {
        b"bz2" => {
            let mut out = Vec::new();
            let mut encoder = bzip2::read::BzEncoder::new(records, bzip2::Compression::fast());
            std::io::copy(&mut encoder, &mut out).unwrap();
            out
        }
        _ => records.to_vec(),
    };
    record(&[("op", &[5]), ("compression", compression), ("size", &size)], &packed)
}

/// Two chunks of two messages each, whose index has only the first one: the second was cut,
/// and `rosbag reindex` left it.
fn reindexed() -> Vec<u8> {
    let all = unindexed();
    let old = [("op", &[3][..]), ("index_pos", &[0; 8]), ("conn_count", &[1, 0, 0, 0])];
    let rest = &all[13 + record(&old, &[b' '; 100]).len()..];
    let message = record(&[("op", &[2]), ("conn", &[0; 4]), ("time", &[1; 8])], &[7]);
    let connection = &rest[..rest.len() - 3 * message.len()];
    let first = chunk(b"none", &[connection, &message, &message].concat());
    let second = chunk(b"none", &[&message[..], &message].concat());
    let cut = &second[..second.len() - 5];
    let start = 13 + record(&header(0), &[b' '; 100]).len();
    let end = (start + first.len() + cut.len()) as u64;
    let place = (start as u64).to_le_bytes();
    let info = record(&[("op", &[6]), ("ver", &[1, 0, 0, 0]), ("chunk_pos", &place)], &[]);
    let head = [b"#ROSBAG V2.0\n".to_vec(), record(&header(end), &[b' '; 100])].concat();
    [&head, &first, cut, connection, &info].concat()
}

/// The fields of the first record, of one connection and one chunk.
fn header(index: u64) -> Vec<(&'static str, &'static [u8])> {
    let index: &'static [u8] = Box::leak(Box::new(index.to_le_bytes()));
    let one: &[u8] = &[1, 0, 0, 0];
    vec![("op", &[3]), ("index_pos", index), ("conn_count", one), ("chunk_count", one)]
}

#[test]
fn bags_that_were_cut_are_read_up_to_there_and_told() {
    let folder = tempfile::tempdir().unwrap();
    let whole = unindexed();
    let mut told = 0;
    for length in 13..whole.len() {
        let recording = Recording::open(file(&folder, "a.bag", &whole[..length])).unwrap();
        let count: u64 = recording.topics().iter().map(|topic| topic.messages).sum();
        assert!(count < 3, "{length}");
        // Cut between two records: nothing tells that there was more.
        for remark in recording.remarks() {
            assert!(remark.contains(&format!("whole messages before that: {count}")), "{remark}");
            told += 1;
        }
    }
    assert!(told > whole.len() - 13 - 10, "{told}");
    let mut wrong = b"#ROSBAG V2.0\n".to_vec();
    let fields = [("op", &[5][..]), ("compression", b"none"), ("size", &[255; 4])];
    wrong.extend(record(&fields, b""));
    let wrong = error(Recording::open(file(&folder, "wrong.bag", &wrong)));
    assert!(wrong.contains("the size of a chunk differs from the declared one"), "{wrong}");
    assert!(wrong.contains("wiregauge trace repair"), "{wrong}");
    let secret = [("op", &[3][..]), ("encryptor", b"rosbag/AesCbcEncryptor")];
    let secret = [b"#ROSBAG V2.0\n".to_vec(), record(&secret, b"")].concat();
    let secret = error(Recording::open(file(&folder, "secret.bag", &secret)));
    assert!(secret.contains("it is encrypted"), "{secret}");
}

#[test]
fn a_bag_in_which_nothing_is_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let bag = |index: u64, connections: u8| {
        let count = [connections, 0, 0, 0];
        let index = index.to_le_bytes();
        let header = [("op", &[3][..]), ("index_pos", &index), ("conn_count", &count)];
        [b"#ROSBAG V2.0\n".to_vec(), record(&header, &[b' '; 100])].concat()
    };
    let end = bag(0, 0).len() as u64;
    for (index, connections, is_whole) in [(end, 0, true), (end, 1, false), (end + 1, 0, false)] {
        let path = file(&folder, "empty.bag", &bag(index, connections));
        let mut reader = open(&path, &OpenHints::default()).unwrap();
        assert_eq!(messages(reader.as_mut()).len(), 0);
        assert_eq!(reader.remarks().is_empty(), is_whole, "{index}: {:?}", reader.remarks());
    }
}

#[test]
fn packed_bags_that_were_cut_are_read_up_to_there() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["ros1/plain.bag", "ros1/bz2.bag", "ros1/lz4.bag"] {
        let whole = fs::read(recording(name)).unwrap();
        let mut most = 0;
        for length in (13..whole.len()).step_by(7) {
            let path = file(&folder, "a.bag.active", &whole[..length]);
            let mut reader = open(&path, &OpenHints::default()).unwrap();
            let found = messages(reader.as_mut()).len();
            assert!(found >= most, "{name}: {found} of {length} bytes");
            assert!(found == 10 || !reader.remarks().is_empty(), "{name}: {length}");
            most = found;
        }
        assert_eq!(most, 10, "{name}");
    }
}

#[test]
fn what_reindexing_left_is_told_and_saved_by_repair() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "a.bag", &reindexed());
    let mut reader = open(&path, &OpenHints::default()).unwrap();
    assert_eq!(messages(reader.as_mut()).len(), 2);
    assert!(reader.remarks()[0].contains("'rosbag reindex' leaves"), "{:?}", reader.remarks());
    let mut reader = open(&path, &OpenHints::default()).unwrap();
    reader.salvage();
    assert_eq!(messages(reader.as_mut()).len(), 3);
    assert_eq!(reader.losses().len(), 1, "{:?}", reader.losses());
    // What is damaged in the middle is refused, and repair finds what is behind it.
    let message = record(&[("op", &[2]), ("conn", &[0; 4]), ("time", &[1; 8])], &[7]);
    let all = unindexed();
    let start = all.len() - 3 * message.len();
    let packed = chunk(b"bz2", &[&message[..], &message].concat());
    let bytes = [&all[..start], &packed, &[255; 50], &packed].concat();
    let path = file(&folder, "b.bag", &bytes);
    let refused = error(Recording::open(&path));
    assert!(refused.contains("damaged after 2 messages"), "{refused}");
    let mut reader = open(&path, &OpenHints::default()).unwrap();
    reader.salvage();
    assert_eq!(messages(reader.as_mut()).len(), 4, "{:?}", reader.losses());
    assert_eq!(reader.losses().len(), 1);
}

#[test]
fn bags_of_any_kind_are_read_as_traces() {
    let all = |name: &str| {
        let mut reader = open(&recording(name), &OpenHints::default()).unwrap();
        let found = messages(reader.as_mut());
        let topics: Vec<String> =
            reader.channels().values().map(|channel| channel.topic.clone()).collect();
        assert!(topics.contains(&"/empty".to_owned()), "{name}: {topics:?}");
        assert!(reader.remarks().is_empty(), "{name}: {:?}", reader.remarks());
        found.into_iter().map(|(topic, _, time, _, data)| (topic, time, data)).collect::<Vec<_>>()
    };
    let first = all("ros1/plain.bag");
    assert_eq!(first.len(), 10);
    for name in ["ros1/bz2.bag", "ros1/lz4.bag"] {
        assert_eq!(all(name), first, "{name}");
    }
    let second = all("ros2/iron");
    assert_eq!(second.len(), 10);
    for name in ["ros2/iron/iron.db3", "ros2/packed", "ros2/packed/packed.db3", "ros2/jazzy"] {
        assert_eq!(all(name), second, "{name}");
    }
}

/// Bytes packed as a whole.
fn packed(end: &str, bytes: &[u8]) -> Vec<u8> {
    if end.starts_with("zst") {
        return zstd::encode_all(bytes, 1).unwrap();
    }
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gzip, bytes).unwrap();
    gzip.finish().unwrap()
}

#[test]
fn bags_that_are_packed_as_a_whole_are_read_and_leave_nothing() {
    for name in ["ros1/bz2.bag", "ros2/iron/iron.db3", "mcap/ros2-chunks.mcap"] {
        let bytes = fs::read(recording(name)).unwrap();
        let wanted = messages(open(&recording(name), &OpenHints::default()).unwrap().as_mut());
        for end in ["zstd", "gz"] {
            let folder = tempfile::tempdir().unwrap();
            let bare = name.rsplit('/').next().unwrap();
            let path = file(&folder, &format!("{bare}.{end}"), &packed(end, &bytes));
            // What a run that was killed while it unpacked has left.
            let left = file(&folder, &format!(".{bare}.{end}.wiregauge-1-left.part"), b"left");
            let old = SystemTime::now() - Duration::from_secs(60);
            fs::File::open(left).unwrap().set_modified(old).unwrap();
            let told = read_info(&path, &OpenHints::default(), false, &mut |_, _| {}).unwrap();
            assert_eq!(told.messages, wanted.len() as u64, "{name}.{end}");
            let checked =
                check(&path, &OpenHints::default(), &definitions, &mut |_, _| {}).unwrap();
            assert_eq!(checked.messages, told.messages);
            let mut reader = open(&path, &OpenHints::default()).unwrap();
            assert!(messages(reader.as_mut()) == wanted, "{name}.{end}");
            let names = |left: fs::ReadDir| left.map(|left| left.unwrap().file_name()).collect();
            let left: Vec<_> = names(fs::read_dir(folder.path()).unwrap());
            assert_eq!(left.len(), if bare.ends_with("db3") { 1 } else { 2 }, "{left:?}");
            // One that is cut is told, and what can be unpacked of it saved.
            let whole = packed(end, &bytes);
            let cut = file(&folder, &format!("cut.{bare}.{end}"), &whole[..whole.len() - 9]);
            let refused = open(&cut, &OpenHints::default()).and_then(|mut reader| {
                while reader.next()?.is_some() {}
                Ok(())
            });
            let refused = error(refused);
            assert!(refused.contains("compressed file that is truncated or damaged"), "{refused}");
        }
    }
    // A recorder that packs each file of its bag when it is done.
    let folder = tempfile::tempdir().unwrap();
    for name in ["iron.db3", "metadata.yaml"] {
        fs::copy(recording(&format!("ros2/iron/{name}")), folder.path().join(name)).unwrap();
    }
    let wanted = messages(open(folder.path(), &OpenHints::default()).unwrap().as_mut());
    let bytes = fs::read(folder.path().join("iron.db3")).unwrap();
    fs::remove_file(folder.path().join("iron.db3")).unwrap();
    file(&folder, "iron_0.db3.zstd", &packed("zstd", &bytes));
    fs::remove_file(folder.path().join("metadata.yaml")).unwrap();
    assert!(messages(open(folder.path(), &OpenHints::default()).unwrap().as_mut()) == wanted);
    fs::copy(recording("ros2/iron/metadata.yaml"), folder.path().join("metadata.yaml")).unwrap();
    let (from, to) = ("iron_0.db3.zstd", "iron.db3.zstd");
    fs::rename(folder.path().join(from), folder.path().join(to)).unwrap();
    assert!(messages(open(folder.path(), &OpenHints::default()).unwrap().as_mut()) == wanted);
}

#[test]
fn what_an_index_of_a_bag_tells_is_what_reading_finds() {
    let told =
        |path: &Path, all| read_info(path, &OpenHints::default(), all, &mut |_, _| {}).unwrap();
    for (name, has_index) in [
        ("ros1/plain.bag", true),
        ("ros1/bz2.bag", true),
        ("ros1/lz4.bag", true),
        ("ros2/iron", true),
        ("ros2/packed/packed.db3", true),
        ("ros2/jazzy", true),
    ] {
        let [some, all] = [false, true].map(|all| told(&recording(name), all));
        assert_eq!([some.read, all.read], [!has_index, true], "{name}");
        assert_eq!((some.messages, some.times), (all.messages, all.times), "{name}");
        let channels = |info: &TraceInfo| -> Vec<(String, u64)> {
            let of = |channel: &ChannelInfo| (channel.topic.clone(), channel.messages);
            info.channels.iter().map(of).collect()
        };
        assert_eq!(channels(&some), channels(&all), "{name}");
        assert_eq!(some.metadata.len(), all.metadata.len(), "{name}");
        assert_eq!((&some.profile, &some.library), (&all.profile, &all.library), "{name}");
    }
    // An index that knows less than there is does not count, and all verbs count alike.
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "a.bag", &reindexed());
    let info = told(&path, false);
    assert_eq!((info.read, info.messages, info.remarks.len()), (true, 2, 1), "{:?}", info.remarks);
    let checked = check(&path, &OpenHints::default(), &definitions, &mut |_, _| {}).unwrap();
    assert_eq!(checked.messages, 2);
    assert!(checked.findings.list().iter().any(|finding| finding.rule == "file.whole"));
    // What the description says is held against what is there.
    let bag = folder.path().join("bag");
    fs::create_dir(&bag).unwrap();
    fs::copy(recording("ros2/iron/iron.db3"), bag.join("iron.db3")).unwrap();
    let description = fs::read_to_string(recording("ros2/iron/metadata.yaml")).unwrap();
    let other = description.replace("\n  message_count: 10\n", "\n  message_count: 12\n");
    assert_ne!(other, description);
    fs::write(bag.join("metadata.yaml"), other).unwrap();
    for all in [false, true] {
        let info = told(&bag, all);
        let words = "declares 12 messages, but there are 10";
        assert!(info.messages == 10 && info.remarks[0].contains(words), "{:?}", info.remarks);
    }
}

#[test]
fn readers_around_others_hand_all_on() {
    // MCAP is read by one around another.
    let folder = tempfile::tempdir().unwrap();
    let path = traces::write_mcap(&folder, "in.mcap", &traces::McapSpec::default());
    let mut reader = open(&path, &OpenHints::default()).unwrap();
    assert!(reader.file_header().library.contains("mcap"), "{:?}", reader.file_header());
    assert_eq!(reader.metadata().len(), 2);
    assert_eq!(reader.indexed_counts().unwrap().map(|counted| counted.messages()), Some(300));
    assert!(reader.skip_messages(&|_| true, 100).unwrap() > 50);
    reader.limit_times(Some(2_900), None);
    let mut left = 0;
    while reader.next().unwrap().is_some() {
        left += 1;
    }
    assert!((1..100).contains(&left), "{left}");
    let mut reader = open(&path, &OpenHints::default()).unwrap();
    reader.salvage();
    assert_eq!(messages(reader.as_mut()).len(), 300);
    assert!(reader.losses().is_empty() && reader.remarks().is_empty());
}

/// A bag of ROS 2 before Iron: without definitions.
fn humble(folder: &TempDir, name: &str, numbers: std::ops::Range<u8>) -> PathBuf {
    let path = folder.path().join(name);
    let database = Connection::open(&path).unwrap();
    database
        .execute_batch(
            "CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL, \
             serialization_format TEXT NOT NULL, offered_qos_profiles TEXT NOT NULL);
             CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL, \
             timestamp INTEGER NOT NULL, data BLOB NOT NULL);
             INSERT INTO topics VALUES(1, '/n', 'p/msg/N', 'cdr', '');",
        )
        .unwrap();
    for n in numbers {
        let data = [0, 1, 0, 0, n];
        let text = "INSERT INTO messages(topic_id, timestamp, data) VALUES(1, ?1, ?2)";
        database.execute(text, params![n, data]).unwrap();
    }
    path
}

fn numbers(recording: &Recording, topic: &str) -> Vec<u64> {
    let values = recording.messages(topic, 100).unwrap();
    let number = |value: &Value| match value {
        Value::Record(fields) => match fields[0] {
            Value::Unsigned(number) => number,
            _ => panic!(),
        },
        _ => panic!(),
    };
    values.iter().map(number).collect()
}

#[test]
fn a_bag_without_definitions_takes_them_from_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let path = humble(&folder, "a.db3", 0..5);
    let refused = error(Recording::open(&path).unwrap().schema("/n"));
    assert!(refused.contains("p/msg/N.msg by -I"), "{refused}");
    fs::create_dir_all(folder.path().join("src/p/msg")).unwrap();
    fs::write(folder.path().join("src/p/msg/N.msg"), "uint8 n\n").unwrap();
    let lookup = Lookup { folders: vec![folder.path().join("src")], osi: None };
    let recording = Recording::open_with(&path, lookup.clone()).unwrap();
    assert_eq!(numbers(&recording, "/n"), [0, 1, 2, 3, 4]);
    let beside = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(beside, 2, "nothing is written beside a bag");

    // Split, and named as old recorders did: with the folder.
    humble(&folder, "b_1.db3", 5..7);
    let text = "rosbag2_bagfile_information:\n  version: 4\n  relative_file_paths:\n    - \
                bag/a.db3\n    - b_1.db3\n  duration:\n    nanoseconds: 1\n";
    fs::write(folder.path().join("metadata.yaml"), text).unwrap();
    let recording = Recording::open_with(folder.path(), lookup).unwrap();
    assert_eq!(recording.topics().len(), 1);
    assert_eq!(recording.topics()[0].messages, 7);
    assert_eq!(numbers(&recording, "/n"), [0, 1, 2, 3, 4, 5, 6]);
}

#[test]
fn other_databases_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.db3");
    let database = Connection::open(&path).unwrap();
    database.execute_batch("CREATE TABLE x(y); CREATE VIEW topics AS SELECT 1;").unwrap();
    let refused = error(Recording::open(&path));
    assert!(refused.contains("not a ROS 2 bag: it has no table 'topics'"), "{refused}");
}

#[test]
fn a_damaged_database_is_told_in_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let mut bytes = fs::read(recording("ros2/iron/iron.db3")).unwrap();
    let table = b"CREATE TABLE topics(";
    let at = bytes.windows(table.len()).position(|window| window == table).unwrap();
    // An open quote takes in all lines of the table's definition.
    bytes[at + b"CREATE TABLE".len()] = b'"';
    let refused = error(Recording::open(file(&folder, "a.db3", &bytes)));
    assert!(refused.contains("sqlite3 recovered.db3' and read that file: malformed"), "{refused}");
}

/// Found by `damaged_recordings_are_read_or_refused`: times in the table that are not those
/// of its index.
#[test]
fn a_database_whose_index_is_wrong_comes_to_an_end() {
    let folder = tempfile::tempdir().unwrap();
    let mut bytes = fs::read(recording("ros2/packed/packed.db3")).unwrap();
    for (at, byte) in [(715, 0x7e), (727, 0x63), (1828, 0x8b), (4703, 0xdb), (5092, 0x65)] {
        bytes[at] = byte;
    }
    let path = file(&folder, "packed.db3", &bytes);
    let read = Recording::open_with(&path, osi()).map(drop);
    let error = format!("{:#}", read.unwrap_err());
    assert!(error.contains("not in the order of the index"), "{error}");
}

/// `message SensorView { optional uint32 n = 1; }` in OSI's package.
fn definitions() -> Result<Vec<u8>> {
    let field = FieldDescriptorProto {
        name: Some("n".into()),
        number: Some(1),
        label: Some(Label::Optional.into()),
        r#type: Some(Type::Uint32.into()),
        ..Default::default()
    };
    let message = |name: &str| DescriptorProto {
        name: Some(name.into()),
        field: vec![field.clone()],
        ..Default::default()
    };
    let file = FileDescriptorProto {
        name: Some("osi.proto".into()),
        package: Some("osi3".into()),
        message_type: vec![message("SensorView"), message("GroundTruth")],
        ..Default::default()
    };
    Ok(FileDescriptorSet { file: vec![file] }.encode_to_vec())
}

fn osi() -> Lookup {
    Lookup { folders: Vec::new(), osi: Some(definitions) }
}

/// Three messages: 0, nothing at all, and 2.
const TRACE: [u8; 16] = [2, 0, 0, 0, 8, 0, 0, 0, 0, 0, 2, 0, 0, 0, 8, 2];

#[test]
fn traces_of_osi_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "20240618T122540Z_sv_370_244_3_x_gt.osi", &TRACE);
    let recording = Recording::open_with(&path, osi()).unwrap();
    let [topic] = recording.topics() else { panic!() };
    assert_eq!((topic.name.as_str(), topic.messages), ("osi3.SensorView", 3));
    let values = recording.messages("osi3.SensorView", 10).unwrap();
    let wanted = [Value::Unsigned(0), Value::Absent, Value::Unsigned(2)];
    assert_eq!(values, wanted.map(|value| Value::Record(vec![value])));
    for called in ["sv", "SensorView"] {
        assert_eq!(recording.messages(called, 10).unwrap(), values);
    }
    let other = recording.schema("gt").unwrap();
    assert_eq!(other.root().name.original, "osi3.GroundTruth", "the user knows better");
    assert!(matches!(other.root().fields[0].element, Element::Scalar(_)));

    let unnamed = Recording::open_with(file(&folder, "trace.osi", &TRACE), osi()).unwrap();
    assert_eq!(unnamed.topics().len(), 10, "any type that a trace may hold");
    assert_eq!(unnamed.messages("sv", 10).unwrap(), values);
    let refused = error(Recording::open(&path).unwrap().schema("sv"));
    assert!(refused.contains("OSI's definitions are not available"), "{refused}");
}

#[test]
fn cut_traces_are_refused_with_advice() {
    let folder = tempfile::tempdir().unwrap();
    for length in 1..TRACE.len() {
        let path = file(&folder, "a_sv_.osi", &TRACE[..length]);
        match length {
            6 | 10 => assert!(Recording::open_with(&path, osi()).is_ok()),
            1..6 => assert!(error(Recording::open(&path)).contains("is not an OSI trace")),
            _ => {
                let error = error(Recording::open(&path));
                let (messages, at) =
                    if length < 10 { ("1 message", 6) } else { ("2 messages", 10) };
                assert!(error.contains(&format!("truncated after {messages}, at")), "{error}");
                assert!(error.contains(&format!("at byte {at}; save these")), "{error}");
            }
        }
    }
}

#[test]
fn what_is_no_recording_is_refused_with_a_way_out() {
    let folder = tempfile::tempdir().unwrap();
    for (name, head, wanted) in [
        ("a.db3.zstd", [0x28, 0xb5, 0x2f, 0xfd].as_slice(), "truncated or damaged"),
        ("a.osi.xz", &[0xfd, b'7', b'z', b'X', b'Z', 0], "unpacked after 0 messages"),
        ("a.mcap.gz", &[0x1f, 0x8b], "truncated or damaged"),
        ("a.pcap", &[0xd4, 0xc3, 0xb2, 0xa1], "a capture of network packets"),
        ("old.bag", b"#ROSBAG V1.2\n", "to version 2.0"),
        ("a.txth", b"version {", "a trace as text"),
        ("b.txt", b"version {", "a trace as text"),
        ("a.txt", b":s\n\x06\x08\x03\x10\x01", "txt2osi.py -d"),
        ("metadata.yaml", b"rosbag2", "give its folder"),
        ("a.bag", b"hello", "not a ROS 1 bag"),
        ("a.db3", b"hello", "not an SQLite database"),
        ("a.bin", b"hello", "is not a recording"),
    ] {
        let refused = error(Recording::open(file(&folder, name, head)));
        assert!(refused.contains(wanted) && refused.contains(name), "{refused}");
    }
    let refused = error(Recording::open(tempfile::tempdir().unwrap().path()));
    assert!(refused.contains("neither metadata.yaml"), "{refused}");
    #[cfg(unix)]
    {
        let pipe = folder.path().join("pipe.mcap");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert!(error(Recording::open(&pipe)).contains("pipe.mcap is a pipe"));
        assert!(error(Recording::open("/dev/zero")).contains("is a device"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct("tests/seeds/containers.txt"))),
        ..ProptestConfig::default()
    })]
    #[test]
    fn damaged_recordings_are_read_or_refused(
        name in prop::sample::select(recordings()),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut in prop::option::weighted(0.3, any::<prop::sample::Index>()),
    ) {
        let mut bytes = fs::read(recording(&name)).unwrap();
        for (at, byte) in flips {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let folder = tempfile::tempdir().unwrap();
        let path = file(&folder, name.rsplit('/').next().unwrap(), &bytes);
        let read = Recording::open_with(&path, osi()).and_then(|recording| {
            let topics: Vec<String> = recording.topics().iter().map(|t| t.name.clone()).collect();
            topics.iter().try_for_each(|topic| recording.messages(topic, 100).map(drop))
        });
        if let Err(error) = read {
            let error = format!("{error:#}");
            prop_assert!(!error.contains('\n'), "{}", error);
        }
    }
}
