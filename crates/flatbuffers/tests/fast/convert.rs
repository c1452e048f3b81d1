//! Messages to FlatBuffers and back, with flatc as the witness of what lies between.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use prost_reflect::prost::Message;
use prost_reflect::{
    DescriptorPool, DynamicMessage, FieldDescriptor, Kind, MapKey, MessageDescriptor,
    ReflectMessage, Value,
};
use serde_json::{json, Value as Json};
use wiregauge_flatbuffers::convert::{decode, encode};
use wiregauge_flatbuffers::json::FlatBufferFormatter;
use wiregauge_flatbuffers::{Definition, Losses, Pairing};
use wiregauge_testkit::seeds::Seeds;
use wiregauge_trace::parser::JsonFormatter;

const PROTO: &str = r#"syntax = "proto2";
package drive;
enum Mode { OFF = 0; ON = 1; BLINKING = -2; }
message Point { optional double x = 1; optional double y = 2; optional float heading = 3; }
message Name { optional string text = 1; optional uint64 id = 2; }
message Echo { optional double range = 1; optional Point normal = 2; optional Name name = 3; }
message All {
  optional bool flag = 1;
  optional int32 small = 2;
  optional sint64 large = 3;
  optional uint32 count = 4;
  optional fixed64 stamp = 5;
  optional float share = 6;
  optional double time = 7 [default = 2.5];
  optional string text = 8;
  optional bytes blob = 9;
  optional Mode mode = 10;
  optional Point place = 11;
  repeated double numbers = 12 [packed = true];
  repeated string words = 13;
  repeated Point path = 14;
  repeated Echo echo = 15;
  optional All inner = 16;
  repeated Mode modes = 17;
  map<string, int32> totals = 18;
  oneof choice { int32 left = 19; string right = 20; }
  optional int32 type = 21;
  repeated bool bits = 22;
}"#;

const TABLES: &str = "namespace drive;
table Point { x:double; y:double; heading:float; }
table Name { text:string; id:ulong; }
table Echo { range:double; normal:Point; name:Name; }
table Total { key:string; value:int; }
table All {
  right:string; left:int; totals:[Total]; modes:[int]; inner:All; echo:[Echo]; path:[Point];
  words:[string]; numbers:[double]; place:Point; mode:int; blob:[ubyte]; text:string;
  time:double = 2.5; share:float; stamp:ulong; count:uint; large:long; small:int; flag:bool;
  type_value:int; bits:[bool];
}
root_type All;
";

const STRUCTS: &str = "namespace drive;
struct Point { heading:float; x:double; y:double; }
struct Echo { range:double; }
table Name { text:string; id:ulong; }
table All {
  flag:bool; place:Point; path:[Point]; echo:[Echo]; echo_normal:[Point]; echo_name:[Name];
}
root_type All;
";

fn message() -> MessageDescriptor {
    static MESSAGE: OnceLock<MessageDescriptor> = OnceLock::new();
    let make = || {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("drive.proto");
        fs::write(&path, PROTO).expect("writable");
        let files = protox::compile([&path], [folder.path()]).expect("it compiles");
        let pool = DescriptorPool::from_file_descriptor_set(files).expect("it is complete");
        pool.get_message_by_name("drive.All").expect("it is there")
    };
    MESSAGE.get_or_init(make).clone()
}

/// A definition, and where its text lies for flatc.
struct Flat {
    folder: tempfile::TempDir,
    pairing: Pairing,
    messages: FlatBufferFormatter,
}

impl Flat {
    fn compile(text: &str) -> Flat {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("d.fbs"), text).expect("writable");
        flatc(folder.path(), &["--schema", "--binary", "d.fbs"]);
        let bytes = fs::read(folder.path().join("d.bfbs")).expect("flatc wrote it");
        let definition = Definition::read(&bytes).expect("a definition");
        let pairing = Pairing::new(&definition, "", &message()).expect("a root");
        let messages = FlatBufferFormatter::from_root(definition).expect("a root");
        Flat { folder, pairing, messages }
    }

    /// A message as it is shown.
    fn to_json(&self, bytes: &[u8]) -> anyhow::Result<String> {
        let mut shown = Vec::new();
        self.messages.write_json(bytes, &mut shown)?;
        Ok(String::from_utf8(shown).expect("it is a text"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// What flatc reads in a message.
    fn json(&self, bytes: &[u8]) -> Json {
        fs::write(self.path("m.bin"), bytes).expect("writable");
        let json = ["--json", "--strict-json", "--raw-binary", "--natural-utf8", "d.fbs", "--"];
        flatc(self.folder.path(), &[&json[..], &["m.bin"]].concat());
        let text = fs::read_to_string(self.path("m.json")).expect("flatc wrote it");
        serde_json::from_str(&text).expect("it is JSON")
    }

    /// What flatc writes of a message.
    fn bytes(&self, json: &Json) -> Vec<u8> {
        self.bytes_of(&json.to_string())
    }

    fn bytes_of(&self, json: &str) -> Vec<u8> {
        fs::write(self.path("m.json"), json).expect("writable");
        flatc(self.folder.path(), &["--binary", "d.fbs", "m.json"]);
        fs::read(self.path("m.bin")).expect("flatc wrote it")
    }

    fn write(&self, message: &DynamicMessage) -> Vec<u8> {
        encode(&self.pairing, message, &mut Losses::new(false)).expect("it has a place for all")
    }

    fn read(&self, bytes: &[u8]) -> DynamicMessage {
        decode(&self.pairing, bytes, &mut Losses::new(false)).expect("it is whole")
    }
}

fn flatc(folder: &Path, arguments: &[&str]) {
    let output = Command::new("flatc").current_dir(folder).args(arguments).output();
    let output = output.expect("flatc starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A small random number, and all others from it.
fn next(state: &mut u64, below: u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % below
}

/// A random value, of numbers that flatc's JSON tells wholly.
fn value(kind: &Kind, state: &mut u64, depth: u64) -> Value {
    let edge = next(state, 4);
    let float = (next(state, 2001) as f64 - 1000.) / 8.;
    match kind {
        Kind::Bool => Value::Bool(edge < 2),
        Kind::Int32 => Value::I32([0, i32::MIN, i32::MAX, -7][edge as usize]),
        Kind::Sint64 => Value::I64([0, i64::MIN, i64::MAX, -7][edge as usize]),
        Kind::Uint32 => Value::U32([0, u32::MAX, 1, 7][edge as usize]),
        Kind::Fixed64 | Kind::Uint64 => Value::U64([0, i64::MAX as u64, 1, 7][edge as usize]),
        Kind::Float => Value::F32(float as f32),
        Kind::Double => Value::F64(float),
        Kind::String => Value::String(["", "a", "Größe \u{1f697}", "\"\\"][edge as usize].into()),
        Kind::Bytes => Value::Bytes(vec![edge as u8; next(state, 5) as usize].into()),
        Kind::Enum(_) => Value::EnumNumber([0, 1, -2, 0][edge as usize]),
        Kind::Message(of) => Value::Message(random(of, state, depth + 1)),
        _ => unreachable!("there is no such field"),
    }
}

fn random(of: &MessageDescriptor, state: &mut u64, depth: u64) -> DynamicMessage {
    let mut message = DynamicMessage::new(of.clone());
    for field in of.fields().filter(|_| depth < 4) {
        if next(state, 2 + depth) != 0 {
            continue;
        }
        message.set_field(&field, field_value(&field, state, depth));
    }
    message
}

fn field_value(field: &FieldDescriptor, state: &mut u64, depth: u64) -> Value {
    let len = next(state, 4);
    match field.kind() {
        Kind::Message(entry) if field.is_map() => {
            let of = entry.map_entry_value_field().kind();
            let entry = |n| (MapKey::String(format!("k{n}")), value(&of, state, depth));
            Value::Map((0..len).map(entry).collect())
        }
        kind if field.is_list() => {
            Value::List((0..len).map(|_| value(&kind, state, depth)).collect())
        }
        kind => value(&kind, state, depth),
    }
}

/// The same as flatc tells it.
fn as_json(message: &DynamicMessage) -> Json {
    fn tell(value: &Value) -> Json {
        match value {
            Value::Bytes(bytes) => json!(bytes.to_vec()),
            Value::EnumNumber(number) => json!(number),
            Value::F32(number) => json!(f64::from(*number)),
            Value::Message(message) => as_json(message),
            Value::List(values) => values.iter().map(tell).collect(),
            Value::Map(entries) => {
                let mut entries: Vec<_> = entries.iter().collect();
                entries.sort_by_key(|(key, _)| key.as_str().map(str::to_owned));
                let entry = |(key, value): (&MapKey, &Value)| json!({"key": key.as_str(), "value": tell(value)});
                entries.into_iter().map(entry).collect()
            }
            Value::String(text) => json!(text),
            Value::Bool(of) => json!(of),
            Value::I32(of) => json!(of),
            Value::I64(of) => json!(of),
            Value::U32(of) => json!(of),
            Value::U64(of) => json!(of),
            Value::F64(of) => json!(of),
        }
    }
    let name = |field: &FieldDescriptor| match field.name() {
        "type" => "type_value".to_owned(),
        name => name.to_owned(),
    };
    message.fields().map(|(field, value)| (name(&field), tell(value))).collect()
}

/// Numbers as floats: flatc ends whole ones with `.0` where they are.
fn leveled(json: Json) -> Json {
    match json {
        Json::Number(number) => json!(number.as_f64()),
        Json::Array(of) => of.into_iter().map(leveled).collect(),
        Json::Object(of) => of.into_iter().map(|(name, value)| (name, leveled(value))).collect(),
        other => other,
    }
}

#[test]
fn flatc_reads_what_is_written_and_it_comes_back() {
    let flat = Flat::compile(TABLES);
    let seeds = Seeds::new(env!("CARGO_MANIFEST_DIR"), "convert", "flatc_reads_what_is_written");
    seeds.try_each(25, |seed| {
        let message = random(&message(), &mut seed.clone(), 0);
        let bytes = flat.write(&message);
        assert_eq!(leveled(flat.json(&bytes)), leveled(as_json(&message)));
        let shown = serde_json::from_str(&flat.to_json(&bytes).expect("it is whole"));
        assert_eq!(leveled(shown.expect("it is JSON")), leveled(as_json(&message)));
        assert_eq!(as_json(&flat.read(&bytes)), as_json(&message));
        // The order of a map's entries is nobody's.
        if !as_json(&message).to_string().contains("totals") {
            assert_eq!(flat.read(&bytes).encode_to_vec(), message.encode_to_vec());
        }
        // flatc leaves out what is the default, and sorts keys: the values are the same.
        let theirs = flat.read(&flat.bytes(&as_json(&message)));
        assert_eq!(as_json(&defaults(&theirs)), as_json(&defaults(&message)));
    });
}

#[test]
fn what_protobuf_has_nothing_for_is_shown_as_flatc_tells_it() {
    let definition = "namespace drive;
        enum Mode:byte { Late = -2, Off = 0, On = 3 }
        struct Point { x:float; y:double; }
        struct Cell { at:[short:3]; mode:Mode; inner:[Point:2]; }
        table Lamp { text:string (required); mode:Mode = On; }
        union Any { Lamp, Point, Other:string, Cell }
        table All {
          flag:bool; large:ulong; mode:Mode; modes:[Mode]; cells:[Cell]; one:Any; many:[Any];
          blob:[ubyte]; absent:int = null; time:double;
        }
        root_type All;";
    let flat = Flat::compile(definition);
    let cell =
        json!({"at": [1, -2, 3], "mode": "Late", "inner": [{"x": 0.5, "y": 1}, {"x": 2, "y": 3}]});
    let text = json!({
        "flag": true, "large": u64::MAX, "mode": "On", "modes": ["Off", "On", 5], "blob": [0, 255],
        "cells": [cell, cell], "one_type": "Lamp", "one": {"text": "a\n\"", "mode": "Late"},
        "many_type": ["Point", "Lamp", "Other", "Cell"],
        "many": [{"x": 1, "y": 2}, {"text": ""}, "word", cell],
        "absent": 0, "time": 0.1
    });
    // flatc wants the types of a vector of unions before it, and JSON sorts names here.
    let mut untyped = text.clone();
    let types = untyped["many_type"].take();
    untyped.as_object_mut().expect("an object").remove("many_type");
    let bytes = flat.bytes_of(&format!("{{\"many_type\":{types},{}", &untyped.to_string()[1..]));
    let shown = flat.to_json(&bytes).expect("it is whole");
    let told = |text: &str| leveled(serde_json::from_str(text).expect("it is JSON"));
    assert_eq!(told(&shown), leveled(text.clone()));
    // flatc reads them all, and tells unions of tables, one at a time.
    let fewer =
        definition.replace(" many:[Any];", "").replace(", Point, Other:string, Cell }", " }");
    let flat = Flat::compile(&fewer);
    let mut fewer = text;
    for name in ["many", "many_type"] {
        fewer.as_object_mut().expect("an object").remove(name);
    }
    let bytes = flat.bytes(&fewer);
    let shown = flat.to_json(&bytes).expect("it is whole");
    assert_eq!(told(&shown), leveled(flat.json(&bytes)));
    // Every digit of a number, and its fields in the order of the definition.
    assert!(
        shown.contains("\"large\":18446744073709551615") && shown.ends_with("\"time\":0.1}"),
        "{shown}"
    );
    // JSON has none of these numbers.
    let at = bytes.windows(8).position(|at| at == 0.1f64.to_le_bytes()).expect("it is there");
    for (number, wanted) in
        [(f64::NAN, "NaN"), (f64::INFINITY, "Infinity"), (f64::NEG_INFINITY, "-Infinity")]
    {
        let odd = [&bytes[..at], &number.to_le_bytes(), &bytes[at + 8..]].concat();
        let shown = flat.to_json(&odd).expect("it is whole");
        assert!(shown.ends_with(&format!("\"time\":\"{wanted}\"}}")), "{shown}");
    }
    assert_eq!(flat.to_json(&flat.bytes(&json!({}))).expect("it is whole"), "{}");
    for cut in 0..bytes.len() {
        let _ = flat.to_json(&bytes[..cut]);
    }
    for (at, bits) in (0..bytes.len()).flat_map(|at| [(at, 0xff), (at, 1), (at, 0x80)]) {
        let mut damaged = bytes.clone();
        damaged[at] ^= bits;
        if let Ok(shown) = flat.to_json(&damaged) {
            told(&shown);
        }
    }
}

/// Without numbers that are their default.
fn defaults(message: &DynamicMessage) -> DynamicMessage {
    let mut leveled = DynamicMessage::new(message.descriptor());
    let value = |value: &Value| match value {
        Value::Message(message) => Value::Message(defaults(message)),
        other => other.clone(),
    };
    for (field, of) in message.fields() {
        let is_number = matches!(field.kind(), Kind::Message(_) | Kind::String | Kind::Bytes);
        match of {
            Value::List(of) => {
                leveled.set_field(&field, Value::List(of.iter().map(value).collect()));
            }
            of if is_number || *of != field.default_value() => {
                leveled.set_field(&field, value(of));
            }
            _ => {}
        }
    }
    leveled
}

#[test]
fn structs_have_what_they_cannot_hold_beside_them() {
    let flat = Flat::compile(STRUCTS);
    let text = json!({
        "flag": true,
        "place": {"x": 1.5, "y": -2, "heading": 0.25},
        "path": [{"x": 1, "y": 2, "heading": 3}, {"x": 4, "y": 5, "heading": 6}],
        "echo": [
            {"range": 7, "normal": {"x": 1, "y": 0, "heading": 0}, "name": {"text": "a"}},
            {"range": 8, "normal": {"x": 0, "y": 1, "heading": 0}, "name": {"id": "9"}}
        ]
    });
    let message = DynamicMessage::deserialize(message(), text).expect("it is a message");
    let bytes = flat.write(&message);
    let expected = json!({
        "flag": true,
        "place": {"heading": 0.25, "x": 1.5, "y": -2},
        "path": [{"heading": 3, "x": 1, "y": 2}, {"heading": 6, "x": 4, "y": 5}],
        "echo": [{"range": 7}, {"range": 8}],
        "echo_normal": [{"heading": 0, "x": 1, "y": 0}, {"heading": 0, "x": 0, "y": 1}],
        "echo_name": [{"text": "a"}, {"id": 9}]
    });
    assert_eq!(leveled(flat.json(&bytes)), leveled(expected.clone()));
    assert_eq!(as_json(&flat.read(&bytes)), as_json(&message));
    assert_eq!(flat.read(&flat.bytes(&expected)), message);
    // One name for two echoes does not say whose it is.
    let mut fewer = expected;
    fewer["echo_name"] = json!([{"text": "a"}]);
    let error = decode(&flat.pairing, &flat.bytes(&fewer), &mut Losses::new(true)).unwrap_err();
    assert_eq!(error.to_string(), "echo_name has 1 elements, but must have 2");
}

#[test]
fn what_has_no_place_is_refused_or_told() {
    let flat = Flat::compile(STRUCTS);
    let text = json!({"flag": true, "text": "lost", "place": {"x": 1}});
    let message = DynamicMessage::deserialize(message(), text).expect("it is a message");
    let error = encode(&flat.pairing, &message, &mut Losses::new(false)).unwrap_err().to_string();
    assert!(error.starts_with("the other definition has no field drive.All.text"), "{error}");
    let mut losses = Losses::new(true);
    let bytes = encode(&flat.pairing, &message, &mut losses).expect("it may be lost");
    assert_eq!(
        losses.remarks(),
        [
            "left out, as the other definition has no such field: drive.All.text (1)",
            "absent, and 0 in a struct, which has no absent numbers: drive.Point.heading (1), \
             drive.Point.y (1)",
        ]
    );
    let expected = json!({"flag": true, "place": {"heading": 0, "x": 1, "y": 0}});
    assert_eq!(leveled(flat.json(&bytes)), leveled(expected));

    let fewer = Flat::compile("namespace drive; table All { flag:bool; more:int; } root_type All;");
    let bytes = fewer.bytes(&json!({"flag": true, "more": 3}));
    let error = decode(&fewer.pairing, &bytes, &mut Losses::new(false)).unwrap_err().to_string();
    assert!(error.starts_with("the other definition has no field drive.All.more"), "{error}");
    let narrow = Flat::compile("namespace drive; table All { small:byte; } root_type All;");
    let text = json!({"small": 128});
    let message = DynamicMessage::deserialize(self::message(), text).expect("it is a message");
    let error = encode(&narrow.pairing, &message, &mut Losses::new(true)).unwrap_err();
    assert_eq!(format!("{error:#}"), "drive.All.small: 128 does not fit into Signed(1)");
}

#[test]
fn what_is_absent_is_its_default() {
    let flat = Flat::compile(
        "namespace drive;
        table All { small:int = 7; time:double; count:uint = null; left:int = 3; }
        root_type All;",
    );
    let message = flat.read(&flat.bytes(&json!({})));
    assert_eq!(as_json(&message), json!({"small": 7, "time": 0.0}));
    let empty = DynamicMessage::new(self::message());
    assert_eq!(leveled(flat.json(&flat.write(&empty))), json!({"small": 0.0, "time": 2.5}));
}

#[test]
fn damaged_messages_are_refused() {
    for text in [TABLES, STRUCTS] {
        let flat = Flat::compile(text);
        for seed in 1..8u64 {
            let message = random(&message(), &mut seed.clone(), 0);
            let Ok(bytes) = encode(&flat.pairing, &message, &mut Losses::new(true)) else {
                continue;
            };
            for cut in 0..bytes.len() {
                let _ = decode(&flat.pairing, &bytes[..cut], &mut Losses::new(true));
            }
            for at in 0..bytes.len() {
                for bits in [0xff, 0x01, 0x80] {
                    let mut damaged = bytes.clone();
                    damaged[at] ^= bits;
                    let _ = decode(&flat.pairing, &damaged, &mut Losses::new(true));
                    let _ = flat.to_json(&damaged);
                }
            }
            assert!(decode(&flat.pairing, &bytes[..3], &mut Losses::new(true)).is_err());
        }
        let bfbs = fs::read(flat.path("d.bfbs")).expect("flatc wrote it");
        let whole = random(&message(), &mut 3, 0);
        let whole = encode(&flat.pairing, &whole, &mut Losses::new(true)).expect("it may be lost");
        for at in (0..bfbs.len()).step_by(2) {
            for bits in [0xff, 0x04] {
                let mut damaged = bfbs.clone();
                damaged[at] ^= bits;
                let Ok(definition) = Definition::read(&damaged) else { continue };
                let Ok(pairing) = Pairing::new(&definition, "", &message()) else { continue };
                let all = random(&message(), &mut 3, 0);
                let _ = encode(&pairing, &all, &mut Losses::new(true));
                let Ok(messages) = FlatBufferFormatter::from_root(definition) else { continue };
                let _ = messages.write_json(&whole, &mut Vec::new());
            }
        }
    }
}

#[test]
fn tables_that_share_have_an_end() {
    let flat = Flat::compile(TABLES);
    let read = |bytes: &[u8]| decode(&flat.pairing, bytes, &mut Losses::new(true));
    // Tables that each are the `inner` of the one before.
    let nested = |depth: usize| {
        let mut message = DynamicMessage::new(message());
        for _ in 0..depth {
            let mut outer = DynamicMessage::new(self::message());
            outer.set_field_by_name("inner", Value::Message(message));
            message = outer;
        }
        flat.write(&message)
    };
    assert!(read(&nested(99)).is_ok());
    assert!(flat.to_json(&nested(99)).is_ok());
    for error in [read(&nested(100)).map(drop), flat.to_json(&nested(100)).map(drop)] {
        let error = format!("{:#}", error.unwrap_err());
        assert!(error.ends_with("nested more than 100 times"), "{error}");
    }

    // A thousand words that all are the same long one.
    let word = |at: usize, bytes: &[u8]| {
        at + u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes")) as usize
    };
    let long = Value::String("a".repeat(10_000));
    let mut words = DynamicMessage::new(message());
    words.set_field_by_name("words", Value::List(vec![long]));
    let bytes = flat.write(&words);
    assert!(read(&bytes).is_ok());
    let vector = word(word(0, &bytes) + 4, &bytes);
    let text = word(vector + 4, &bytes);
    let count = 1_000;
    let mut shared = bytes[..vector].to_vec();
    shared.extend(u32::to_le_bytes(count));
    shared.extend((0..count).flat_map(|n| u32::to_le_bytes(4 * (count - n))));
    shared.extend(&bytes[text..]);
    for error in [read(&shared).map(drop), flat.to_json(&shared).map(drop)] {
        let error = format!("{:#}", error.unwrap_err());
        assert!(error.ends_with("refer to each other in too many ways"), "{error}");
    }
}

#[test]
fn numbers_lie_where_they_are_read_at_once() {
    for (flat, name) in [(Flat::compile(TABLES), "words"), (Flat::compile(STRUCTS), "echo")] {
        for len in 0..9 {
            let point = json!({"x": 1234.5, "y": 1234.5, "heading": 1});
            let mut text = json!({"flag": true, "place": point, "path": [point, point]});
            text[name] = match name {
                "words" => json!(["a".repeat(len)]),
                _ => json!([{"range": 1234.5, "name": {"text": "a".repeat(len)}}]),
            };
            if name == "words" {
                text["time"] = json!(1234.5);
                text["numbers"] = json!([1234.5, 1234.5]);
                if len % 2 == 1 {
                    text["small"] = json!(1);
                }
            }
            let message = DynamicMessage::deserialize(message(), text).expect("it is a message");
            let bytes = flat.write(&message);
            let found =
                bytes.windows(8).enumerate().filter(|(_, at)| *at == 1234.5f64.to_le_bytes());
            let places: Vec<usize> = found.map(|(at, _)| at).collect();
            assert!(places.len() >= 7, "{places:?}");
            assert!(places.iter().all(|at| at % 8 == 0), "{name}, {len}: {places:?}");
        }
    }
}
