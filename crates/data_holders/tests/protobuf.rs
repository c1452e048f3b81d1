//! Holders on Protobuf's wire, held against Protobuf's own library: what it writes,
//! what it merges and skips, and what it refuses.

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;

use support::compiled::compile;
use support::lint::lint;
use support::{java, reference, run_python, succeeds, write};
use wiregauge_data_holders::{losses, HolderLanguage, Package, Wire};
use wiregauge_schema::msg::{self, Dialect};
use wiregauge_schema::{generate, proto, Schema, Sizes};
use wiregauge_testkit::seeds::Seeds;

/// Every kind of field there is without maps, whose order is not the wire's.
const ALL: &str = r#"syntax = "proto3"; package p;
message All {
  int32 int32 = 1; int64 int64 = 2; uint32 uint32 = 3; uint64 uint64 = 4;
  sint32 sint32 = 5; sint64 sint64 = 6; fixed32 fixed32 = 7; fixed64 fixed64 = 8;
  sfixed32 sfixed32 = 9; sfixed64 sfixed64 = 10; bool bool = 11; float float = 12;
  double double = 13; string string = 14; bytes bytes = 15; Kind kind = 16;
  Part part = 17;
  optional int32 o_int32 = 18; optional sint64 o_sint64 = 19; optional uint32 o_uint32 = 20;
  optional float o_float = 21; optional bool o_bool = 22; optional string o_string = 23;
  optional bytes o_bytes = 24; optional Kind o_kind = 25; optional fixed32 o_fixed32 = 26;
  repeated int32 r_int32 = 31; repeated int64 r_int64 = 32; repeated uint32 r_uint32 = 33;
  repeated uint64 r_uint64 = 34; repeated sint32 r_sint32 = 35; repeated sint64 r_sint64 = 36;
  repeated fixed32 r_fixed32 = 37; repeated fixed64 r_fixed64 = 38;
  repeated sfixed32 r_sfixed32 = 39; repeated sfixed64 r_sfixed64 = 40; repeated bool r_bool = 41;
  repeated float r_float = 42; repeated double r_double = 43; repeated string r_string = 44;
  repeated bytes r_bytes = 45; repeated Kind r_kind = 46; repeated Part r_part = 47;
  repeated uint32 u_uint32 = 48 [packed = false]; repeated sfixed64 u_sfixed64 = 49 [packed = false];
  repeated bool u_bool = 50 [packed = false]; repeated Kind u_kind = 51 [packed = false];
  oneof which { string name = 60; Part other = 61; double number = 62; uint32 count = 63; }
  Empty empty = 536870911; int32 late = 100; int32 later = 2000;
  enum Kind { NONE = 0; ONE = 1; LESS = -1; }
}
message Part { int32 first = 2; repeated double list = 1; Deep deep = 3; }
message Deep { repeated string words = 1; optional sint32 number = 16; }
message Empty {}
"#;

/// Maps, times, and what only the older language has.
const OLD: &str = r#"syntax = "proto2"; package p;
message Old {
  required int32 must = 3; required string also = 1; required Inner inner = 2;
  optional int32 some = 4 [default = 7]; repeated sint32 loose = 5;
  repeated fixed32 tight = 6 [packed = true]; optional double inf = 7 [default = inf];
  map<string, int32> counts = 8; map<uint32, Inner> inners = 9; map<bool, bytes> blocks = 10;
  map<sint64, double> values = 11;
  message Inner { required sfixed32 value = 1 [default = -3]; optional string word = 2; }
  optional group Lone = 12 { optional int32 x = 1; repeated group Deep = 2 { required fixed64 y = 3; } }
  repeated group Pair = 13 { optional Inner inner = 1; repeated float list = 2; }
  required group Far = 5000 { optional string word = 1; }
  oneof which { group Left = 14 { optional bytes block = 1; } sint32 right = 15; }
}
"#;

/// What contains itself: in each way that this can be said, and through others.
const TREE: &str = r#"syntax = "proto3"; package p;
message Tree {
  Tree one = 1; repeated Tree all = 2; sint32 number = 3; Leaf leaf = 4;
  oneof which { Tree left = 5; Leaf right = 6; string word = 7; }
  Plain plain = 12; repeated Plain plains = 13;
}
message Leaf { repeated double values = 1; Tree back = 2; Plain plain = 3; }
message Plain { string text = 1; }
"#;

/// The same in maps, with a required record that leads back.
const FOREST: &str = r#"syntax = "proto2"; package p;
message Forest {
  optional int32 number = 1; repeated Ring rings = 2; map<string, Forest> forests = 8;
  message Ring { required Inner inner = 1; }
  message Inner { optional Ring ring = 1; repeated Forest forests = 2; }
}
"#;

/// What is delimited, and contains itself: the words in capitals are what editions and
/// proto2, which has groups alone, have for it.
const RING: &str = r#"SYNTAX package p;
message Ring {
  MAYBE int32 number = 1; MAYBE Ring one_group = 2 DELIMITED; repeated Ring all_group = 3 DELIMITED;
  MAYBE Ring plain = 4; repeated Leaf leaves_group = 5 DELIMITED;
  oneof which { Ring left_group = 16 DELIMITED; Leaf right = 17; bytes word = 18; }
  MAYBE Leaf far_group = 536870911 DELIMITED;
}
message Leaf { repeated sint32 values = 1 PACKED; MAYBE Ring back_group = 2 DELIMITED; MAYBE bytes block = 3; }
"#;

/// Cases of a definition by the library, dealt with by each language.
fn assert_carried(text: &str, root: &str, seed: u64) {
    let words = ["SYNTAX", "MAYBE", " DELIMITED", " PACKED"];
    let said = |by: [&str; 4]| {
        words.iter().zip(by).fold(text.to_owned(), |text, (word, by)| text.replace(word, by))
    };
    let older = said(["syntax = \"proto2\";", "optional", "", " [packed = true]"]);
    let text = &said(["edition = \"2023\";", "", " [features.message_encoding = DELIMITED]", ""]);
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    fs::write(folder.join("message.proto"), older).expect("written");
    let mut protoc = Command::new("protoc");
    succeeds(protoc.args(["-o", "set", "message.proto"]).current_dir(folder));
    let schema = proto::read_texts(&[("message.proto", text)], Some(&format!("p.{root}")));
    let schema = schema.expect("a schema");
    let python = support::python();
    let recurses = schema.recursive_type().is_some();
    let (set, name, files) = (folder.join("set"), format!("p.{root}"), folder.join("messages"));
    match recurses {
        true => {
            let seed = seed.to_string();
            let arguments = [&set, Path::new(&name), &files, Path::new(&seed)];
            run_python(&python, "trees.py", &arguments);
        }
        false => messages(&schema, seed, &files),
    }
    let cases = folder.join("cases");
    let seed = seed.to_string();
    let arguments = [&set, Path::new(&name), &files, &cases, Path::new(&seed)];
    let count = run_python(&python, "witness.py", &arguments);
    assert!(count.trim().parse::<usize>().expect("a count") > 30, "{count}");

    let package = Package::new(Some("message"), vec![("message.proto".into(), schema)]);
    let package = package.expect("a package");
    assert_eq!(losses(Wire::Protobuf, &package).expect("it can be carried"), []);
    // Other wires have nothing that contains itself.
    let wires = [&[Wire::Protobuf][..], &[Wire::Cdr, Wire::Protobuf]];
    let wires = if recurses { &wires[..1] } else { &wires[..] };
    for wires in wires {
        for language in HolderLanguage::ALL {
            write(&package, language, wires, &folder.join(format!("{}", wires.len())));
        }
    }
    for wires in wires {
        let bare = wires.len() == 1;
        let holders = folder.join(if bare { "1" } else { "2" });
        let module = holders.join("message.py");
        lint(&python, &module);
        run_cpp(&holders, root, &cases, bare, &count);
        run_rust(&holders, root, &cases, bare, &count);
        let arguments = [&module, Path::new(root), &cases];
        assert_eq!(run_python(&python, "cases.py", &arguments), count);
        assert_eq!(java::run_cases(&holders, "message", root, bare, &cases), count);
    }
}

/// Messages as files, on this wire and in CDR.
fn messages(schema: &Schema, seed: u64, folder: &Path) {
    fs::create_dir_all(folder).expect("a folder");
    let sizes = [(0, 0, 0.0), (1, 3, 0.5), (3, 9, 0.5), (2, 20, 1.0), (40, 200, 0.7)];
    for (at, (list, text, presence)) in sizes.into_iter().enumerate() {
        let sizes = Sizes { list, text, bytes: text, presence, ..Sizes::default() };
        let value = generate(schema, &sizes, seed.wrapping_add(at as u64)).expect("a message");
        let put = |end: &str, bytes: Vec<u8>| {
            fs::write(folder.join(format!("{at}.{end}")), bytes).expect("written");
        };
        put("cdr", reference::encode(schema, &value, Wire::Cdr));
        put("protobuf", reference::encode_protobuf(schema, &value));
    }
}

fn run_cpp(holders: &Path, root: &str, cases: &Path, bare: bool, count: &str) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cpp/cases.cpp");
    let flags = "-std=c++17 -O0 -fno-exceptions -fno-rtti -Wall -Wextra -Wpedantic -Wconversion \
                 -Wshadow -Werror -fsanitize=address,undefined -fno-sanitize-recover=all -I.";
    let mut compiler = Command::new("g++");
    compiler.args(flags.split_whitespace()).arg(format!("-DMESSAGE=message::{root}"));
    if bare {
        compiler.arg("-DBARE");
    }
    compile(compiler.arg(&source).args(["-o", "cases"]), holders, &[&source]);
    assert_eq!(succeeds(Command::new(holders.join("cases")).arg(cases)), count);
}

fn run_rust(holders: &Path, root: &str, cases: &Path, bare: bool, count: &str) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rust/cases.rs");
    fs::copy(source, holders.join("cases.rs")).expect("copied");
    let wires = if bare { "" } else { "mod wiregauge;\n" };
    let main = format!(
        "#[forbid(unsafe_code)]\nmod cases;\nmod message;\n{wires}mod wiregauge_protobuf;\n\
         use message::{root} as Message;\nfn main() {{ cases::run() }}\n"
    );
    fs::write(holders.join("main.rs"), main).expect("written");
    let mut compiler = Command::new("rustc");
    compiler.args(["--edition", "2021", "-D", "warnings", "-C", "debug-assertions"]);
    if bare {
        compiler.args(["--cfg", "bare"]);
    }
    compiler.args(["--check-cfg", "cfg(bare)", "-o", "cases_rust", "main.rs"]);
    compile(&mut compiler, holders, &[]);
    assert_eq!(succeeds(Command::new(holders.join("cases_rust")).arg(cases)), count);
}

#[test]
fn all_fields_are_carried_as_by_the_library() {
    let seeds = Seeds::new(env!("CARGO_MANIFEST_DIR"), "protobuf", "all_fields");
    seeds.try_each(1, |seed| assert_carried(ALL, "All", seed));
}

#[test]
fn maps_and_required_fields_are_carried_as_by_the_library() {
    let seeds = Seeds::new(env!("CARGO_MANIFEST_DIR"), "protobuf", "maps");
    // So many fields that Java has them in several methods, and Python parts them by halves.
    let more = |number: usize| match number % 3 {
        0 => format!("optional sint32 more{number} = {number};\n"),
        1 => format!("repeated double more{number} = {number};\n"),
        _ => format!("required bool more{number} = {number};\n"),
    };
    let more: String = (100..180).map(more).collect();
    let old = OLD.replacen("required int32 must", &format!("{more}required int32 must"), 1);
    seeds.try_each(1, |seed| assert_carried(&old, "Old", seed));
}

#[test]
fn what_contains_itself_is_carried_as_by_the_library() {
    let seeds = Seeds::new(env!("CARGO_MANIFEST_DIR"), "protobuf", "trees");
    seeds.try_each(1, |seed| {
        assert_carried(TREE, "Tree", seed);
        assert_carried(FOREST, "Forest", seed);
        assert_carried(RING, "Ring", seed);
    });
}

#[test]
fn what_is_not_defined_in_its_language_is_refused() {
    let refused = |schema: Schema, word: &str| {
        let package = Package::new(None, vec![("test".into(), schema)]).expect("a package");
        let error = losses(Wire::Protobuf, &package).expect_err("it is refused").to_string();
        assert!(error.contains(word), "{error}");
    };
    let ros = msg::read_text("int32 x\n", "p/Plain", Dialect::Ros2, "test").expect("a schema");
    refused(ros, "p/msg/Plain is not defined in a .proto");
    let own = "syntax = \"proto2\"; message Node { required Part part = 1; }\n\
               message Part { required Node node = 1; }";
    let own = proto::read_texts(&[("own.proto", own)], Some("Node")).expect("a schema");
    refused(own, "must contain itself");
}
