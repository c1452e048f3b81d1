//! Codecs that write and read a message in memory that another process lends: the message is
//! right, it is written nowhere else, and memory that does not do is refused.

mod light_build;
mod runner;
mod zoo;

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use wiregauge_formats::{Codec, Support};
use wiregauge_schema::{canonical, generate, proto, source, Projection, Schema};
use wiregauge_schema::{SchemaSource, Sizes, Value};

use light_build::{build_folder, build_lightly};
use runner::Runner;

/// Those that can.
const CODECS: [&str; 3] = ["flatbuffers-cpp", "flatbuffers-cpp-structs", "packed-cpp"];
/// What the memory holds before.
const UNWRITTEN: u8 = 0xa5;
/// Memory before and behind what is lent.
const MARGIN: usize = 128;

/// The runners of those that take the schema.
fn runners(schema: &Schema) -> Vec<(&'static str, Runner)> {
    let codecs = CODECS.iter().map(|name| Codec::find(name).expect("it is there"));
    let takes = |codec: &&Codec| !matches!(codec.check_schema(schema), Support::Rejected(_));
    let codecs: Vec<_> = codecs.filter(takes).collect();
    build_lightly(&build_folder("in_place"), schema, &Projection::choose(schema), &codecs)
        .into_iter()
        .map(|built| (built.codec.name, Runner::start(&built.program.expect("it compiles"))))
        .collect()
}

/// A number that a reply tells in a line.
fn number(reply: &[u8], name: &str) -> usize {
    let text = String::from_utf8_lossy(reply).into_owned();
    let mut lines = text.lines();
    let found = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok());
    found.unwrap_or_else(|| panic!("no {name} in {text}"))
}

/// The bytes behind the lines of a reply.
fn bytes(reply: &[u8]) -> &[u8] {
    let end = reply.windows(2).position(|pair| pair == b"\n\n").expect("an empty line");
    &reply[end + 2..]
}

/// Asks for an experiment in a part of a file.
fn lent(
    runner: &mut Runner,
    experiment: &str,
    file: &Path,
    (start, size): (usize, usize),
) -> Result<Vec<u8>, String> {
    let path = file.as_os_str().as_bytes();
    let request = format!("lent {experiment} {start} {size} prove=0 {}", path.len());
    runner.ask(&request, path)
}

/// A codec has the message in a file as it is; returns where in the room it begins.
fn carried(name: &str, runner: &mut Runner, message: &[u8], folder: &Path) -> usize {
    runner.ask("reset", &[]).expect("no message");
    runner.ask("message", message).expect("it is carried");
    let reply = runner.ask("room", &[]).expect("a room");
    let (room, start) = (number(&reply, "room"), number(&reply, "start"));
    let encoded = bytes(&reply);
    assert_eq!(encoded.len(), number(&reply, "encoded"), "{name}");
    assert!(room % 64 == 0 && start + encoded.len() <= room, "{name}");
    assert_eq!(runner.ask("decode", encoded).expect("it is read"), message, "{name}");
    // Each message in a file of its own, as a runner keeps those that it knows.
    let file = folder.join(format!("{name}-{}", fs::read_dir(folder).unwrap().count()));
    fs::write(&file, vec![UNWRITTEN; MARGIN + room + MARGIN]).unwrap();
    lent(runner, "encode", &file, (MARGIN, room)).expect("it is written");
    let written = fs::read(&file).unwrap();
    let behind = MARGIN + room;
    assert!(written[MARGIN + start..][..encoded.len()] == *encoded, "{name} writes other bytes");
    let outside = written[..MARGIN].iter().chain(&written[behind..]);
    assert!(outside.copied().all(|byte| byte == UNWRITTEN), "{name} writes beyond its room");
    let place = (MARGIN + start, encoded.len());
    let read = lent(runner, "decode", &file, place).expect("it is read in place");
    assert!(bytes(&read) == message, "{name} reads another message in place");
    let values = runner.ask("values 0", &[]).expect("values");
    let values = String::from_utf8_lossy(&values).into_owned();
    let all = values.lines().find(|line| line.starts_with("project ")).expect("project");
    let read = lent(runner, "project", &file, place).expect("its numbers are read in place");
    let read = String::from_utf8_lossy(&read).into_owned();
    let word = |name: &str| read.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim();
    assert!(all.ends_with(&format!(" {} {}", word("count"), word("hash"))), "{all}\n{read}");
    start
}

fn messages(schema: &Schema) -> Vec<Vec<u8>> {
    let shapes = [(6, 24, 1.0), (300, 3, 0.5), (1, 1, 0.0), (0, 0, 1.0)];
    let made = shapes.into_iter().zip(61..).map(|((list, text, presence), seed)| {
        let sizes = Sizes { list, text, bytes: text, presence, ..Sizes::default() };
        generate(schema, &sizes, seed).expect("it names no paths")
    });
    let all = made.chain([Value::empty_record(schema, schema.root)]);
    all.map(|value| canonical::encode(schema, &value).expect("it fits")).collect()
}

/// Each codec that takes the schema, on messages of several shapes.
fn all_carry(schema: &Schema, wanted: &[&str]) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut runners = runners(schema);
    let names: Vec<&str> = runners.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, wanted);
    for (name, runner) in &mut runners {
        let hello = runner.ask("hello 2", &[]).expect("hello");
        assert!(String::from_utf8_lossy(&hello).contains("\nin-place yes\n"), "{name}");
        for message in messages(schema) {
            carried(name, runner, &message, folder.path());
        }
    }
}

fn lidar() -> Schema {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/lidar.msg");
    source::load(&SchemaSource::parse(&file.display().to_string())).expect("lidar.msg loads")
}

#[test]
fn every_number_and_record() {
    let (_, numbers) = zoo::all().remove(0);
    all_carry(&numbers, &CODECS);
}

/// Rows in which anything may be missing, before and behind other fields.
#[test]
fn lists_of_plain_records() {
    let text = r#"
        syntax = "proto2";
        message Vector { optional double x = 1; optional float y = 2; }
        message Row { required double a = 1; optional uint32 b = 2; optional Vector c = 3; }
        message Bare { optional double x = 1; }
        message Inner { optional string text = 1; repeated double numbers = 2; }
        message Root {
            repeated Row rows = 1;
            optional string name = 2;
            repeated Bare bare = 3;
            repeated Inner inners = 20000;
        }"#;
    let schema = proto::read_texts(&[("rows.proto", text)], None).expect("it loads");
    all_carry(&schema, &CODECS);
}

/// Where only a part of the lists would be in place, none is said to be.
#[test]
fn a_list_below_the_root_is_not_in_place() {
    let text = r#"
        syntax = "proto2";
        message Row { required double a = 1; }
        message Inner { repeated Row rows = 1; }
        message Root { optional Inner inner = 1; repeated Row rows = 2; }"#;
    let schema = proto::read_texts(&[("rows.proto", text)], None).expect("it loads");
    let mut runners = runners(&schema);
    let (_, runner) = runners.iter_mut().find(|(name, _)| *name == "packed-cpp").expect("it");
    let hello = runner.ask("hello 2", &[]).expect("hello");
    assert!(!String::from_utf8_lossy(&hello).contains("in-place"));
    let why = runner.ask("room", &[]).expect_err("it has none");
    assert!(why.contains("no request 'room'"), "{why}");
}

#[test]
fn memory_that_does_not_do_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let schema = lidar();
    let sizes = Sizes { list: 40, ..Sizes::default() };
    let value = generate(&schema, &sizes, 5).expect("a message");
    let message = canonical::encode(&schema, &value).expect("it fits");
    for (name, runner) in &mut runners(&schema) {
        carried(name, runner, &message, folder.path());
        let file = folder.path().join(format!("{name}.small"));
        fs::write(&file, vec![UNWRITTEN; 4096]).unwrap();
        let none = folder.path().join("none");
        for (file, place, words) in [
            (&file, (0, 512), "does not fit"),
            (&file, (4032, 128), "ends before"),
            (&file, (usize::MAX, 1), "ends before"),
            (&none, (0, 512), "No such file"),
        ] {
            let why = lent(runner, "encode", file, place).expect_err(words);
            assert!(why.contains(words), "{name}: {why}");
        }
        let rest = fs::read(&file).unwrap().split_off(512);
        assert!(rest.iter().all(|byte| *byte == UNWRITTEN), "{name} writes beyond its room");
        let why = lent(runner, "encode/write", &file, (0, 64)).expect_err("no such one");
        assert!(why.contains("encode/write"), "{name}: {why}");
        // It carries on.
        carried(name, runner, &message, folder.path());
    }
}
