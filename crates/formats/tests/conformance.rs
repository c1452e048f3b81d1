//! Every codec on messages that hold everything the schema model has: what a
//! codec does not refuse it must carry without a change, and its projections
//! must read what the message holds.
//!
//! `WIREGAUGE_CODECS=prost,bincode` restricts the codecs,
//! `WIREGAUGE_BUILD=folder` keeps the build, `WIREGAUGE_SEED=number` repeats what
//! was made up.
//!
//! Long because: all of it speaks to runners and holds them to messages by the same code.

mod light_build;
mod runner;
mod zoo;

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use wiregauge_formats::build::{self, BuiltRunner};
use wiregauge_formats::{Codec, Support};
use wiregauge_schema::name::MACROS;
use wiregauge_schema::{arbitrary, canonical, digest, generate, path, project};
use wiregauge_schema::{
    Cardinality, Digest, Element, Field, Projection, Schema, Sizes, TypeId, Value,
};
use wiregauge_testkit::seeds::{self, Seeds};

use runner::Runner;

fn build_folder() -> PathBuf {
    light_build::build_folder("conformance")
}

fn codecs() -> Vec<&'static Codec> {
    let wanted = std::env::var("WIREGAUGE_CODECS").ok();
    let all = Codec::all().into_iter().filter(|codec| !codec.is_bound);
    match wanted {
        None => all.collect(),
        Some(names) => {
            let names: Vec<&str> = names.split(',').collect();
            let unknown = names.iter().find(|name| Codec::find(name).is_none());
            assert_eq!(unknown, None, "WIREGAUGE_CODECS names a codec that is not there");
            all.filter(|codec| names.contains(&codec.name)).collect()
        }
    }
}

fn build_lightly(
    schema: &Schema,
    projection: &Projection,
    codecs: &[&'static Codec],
) -> Vec<BuiltRunner> {
    light_build::build_lightly(&build_folder(), schema, projection, codecs)
}

/// The codecs that take the schema.
fn accepting(codecs: &[&'static Codec], schema: &Schema) -> Vec<&'static Codec> {
    let mut accepting = Vec::new();
    for codec in codecs {
        match codec.check_schema(schema) {
            Support::Rejected(why) => println!("{}: rejected: {why}", codec.name),
            _ => accepting.push(*codec),
        }
    }
    accepting
}

/// Builds every codec that takes the schema, and checks each on the messages.
/// Returns what went wrong, a line each.
fn check(
    codecs: &[&'static Codec],
    schema: &Schema,
    projection: &Projection,
    values: &[Value],
) -> Vec<String> {
    let built = build_lightly(schema, projection, &accepting(codecs, schema));
    check_built(built, schema, projection, values)
}

fn check_built(
    built: Vec<BuiltRunner>,
    schema: &Schema,
    projection: &Projection,
    values: &[Value],
) -> Vec<String> {
    let mut faults = Vec::new();
    for built in built {
        let name = built.codec.name;
        let begun = std::time::Instant::now();
        let outcome = built.program.map_err(|error| format!("{error:#}")).and_then(|program| {
            let mut runner = Runner::start_quickly(&program);
            for (index, value) in values.iter().enumerate() {
                check_one(&mut runner, schema, projection, value, index)
                    .map_err(|fault| format!("message {index}: {fault}"))?;
            }
            check_loops(&mut runner, schema, projection, values)
        });
        match outcome {
            Ok(()) => {
                let seconds = begun.elapsed().as_secs_f64();
                println!("{name}: {} messages carried in {seconds:.1} s", values.len());
            }
            Err(fault) => faults.push(format!("{name}: {fault}")),
        }
    }
    faults
}

fn check_one(
    runner: &mut Runner,
    schema: &Schema,
    projection: &Projection,
    value: &Value,
    index: usize,
) -> Result<(), String> {
    let expected = canonical::encode(schema, value).map_err(|e| format!("{e:#}"))?;
    let wire = runner.ask("message", &expected)?;
    let returned = runner.ask("decode", &wire)?;
    if returned != expected {
        let found = canonical::decode(schema, &returned);
        return Err(format!("sent {value:?}, came back {found:?}"));
    }
    let text = runner.ask(&format!("values {index}"), &[])?;
    let text = String::from_utf8_lossy(&text).into_owned();
    for (name, wanted) in readings(schema, projection, value) {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        let words: Vec<&str> = line.unwrap_or_default().split_whitespace().collect();
        let [sum, count, hash] = words[..] else {
            return Err(format!("no {name} in {text:?}"));
        };
        let found: f64 = sum.parse().map_err(|_| format!("{sum} is no sum"))?;
        // The order of a sum is the codec's, and with it the rounding.
        if (found - wanted.sum).abs() > 1e-9 * wanted.sum.abs().max(1.0) {
            return Err(format!("{name} is {found}, should be {}; {value:?}", wanted.sum));
        }
        // The numbers themselves are not a matter of order.
        if [count, hash] != [wanted.digest.count.to_string(), wanted.digest.hash.to_string()] {
            return Err(format!(
                "{name} reads {count} numbers of hash {hash}, not {:?}; {value:?}",
                wanted.digest
            ));
        }
    }
    Ok(())
}

/// What a reading experiment must find.
struct Reading {
    sum: f64,
    digest: Digest,
}

fn readings(
    schema: &Schema,
    projection: &Projection,
    value: &Value,
) -> [(&'static str, Reading); 3] {
    let at = |path: &Option<path::FieldPath>| match path {
        None => Reading { sum: 0.0, digest: Digest::default() },
        Some(path) => Reading {
            sum: project::number_at(schema, value, path),
            digest: digest::digest_path(schema, value, path),
        },
    };
    let all =
        Reading { sum: project::sum_numbers(value), digest: digest::digest_message(schema, value) };
    [("project", all), ("fixed", at(&projection.fixed)), ("element", at(&projection.element))]
}

/// Every experiment runs, whatever lives on and whatever is fresh, and what it
/// makes of each message by the code of its loop is that message.
fn check_loops(
    runner: &mut Runner,
    schema: &Schema,
    projection: &Projection,
    values: &[Value],
) -> Result<(), String> {
    let hello = runner.ask("hello 2", &[])?;
    let hello = String::from_utf8_lossy(&hello).into_owned();
    let experiments = hello
        .lines()
        .find_map(|line| line.strip_prefix("experiments "))
        .ok_or(format!("no experiments in {hello:?}"))?;
    if hello.lines().any(|line| line == "managed yes") {
        check_managed(runner)?;
    }
    let is_counted = !hello.lines().any(|line| line == "compiles yes");
    for lifetimes in [
        "scratch=reused objects=fresh buffers=reused",
        "scratch=reused objects=reused buffers=reused",
        "scratch=reused objects=reused buffers=fresh",
        "scratch=fresh objects=fresh buffers=fresh",
    ] {
        for experiment in experiments.split_whitespace() {
            for (index, value) in values.iter().enumerate() {
                // Once round all and on; then behind the first, which leaves most behind.
                let iterations = if index == 0 { values.len() + 2 } else { 1 };
                let request = format!("run {experiment} {iterations} {lifetimes} prove={index}");
                runner
                    .ask(&request, &[])
                    .and_then(|reply| if is_counted { check_time(reply) } else { Ok(reply) })
                    .and_then(|reply| proof(runner, schema, projection, value, experiment, &reply))
                    .map_err(|error| format!("{request}: {error}"))?;
            }
        }
    }
    Ok(())
}

/// Where instructions are counted, a time has all its digits: a reply that is longer for a longer
/// time takes other memory, and the heap that the next loop finds depends on it.
fn check_time(reply: Vec<u8>) -> Result<Vec<u8>, String> {
    let line = reply.split(|byte| *byte == b'\n').next().unwrap_or_default();
    match line {
        [b'n', b's', b' ', digits @ ..] if digits.len() == 20 => Ok(reply),
        _ => Err(format!("a time of other than 20 digits: {}", String::from_utf8_lossy(line))),
    }
}

/// A managed language tells what was cold and what garbage took. Of allocations it tells
/// the bytes, if anything: it has no count of them.
fn check_managed(runner: &mut Runner) -> Result<(), String> {
    let settings = "scratch=reused objects=fresh buffers=reused";
    for (request, names) in [
        ("cold".to_owned(), &["encode", "decode"][..]),
        (format!("collections decode 9 {settings}"), &["ns", "collecting", "collections"]),
    ] {
        let reply = runner.ask(&request, &[])?;
        let text = String::from_utf8_lossy(&reply).into_owned();
        for name in names {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            line.and_then(|number| number.parse::<u64>().ok())
                .ok_or(format!("{request}: no {name} in {text:?}"))?;
        }
    }
    let Ok(reply) = runner.ask(&format!("allocations decode {settings}"), &[]) else {
        return Ok(());
    };
    let text = String::from_utf8_lossy(&reply).into_owned();
    let bytes = text.trim_end().strip_prefix("bytes ").and_then(|bytes| bytes.parse::<f64>().ok());
    match bytes {
        Some(bytes) if bytes > 0.0 => Ok(()),
        _ => Err(format!("allocates what to decode? {text:?}")),
    }
}

/// Whether what came out of an experiment is the message.
fn proof(
    runner: &mut Runner,
    schema: &Schema,
    projection: &Projection,
    value: &Value,
    experiment: &str,
    reply: &[u8],
) -> Result<(), String> {
    let head = reply.windows(2).position(|pair| pair == b"\n\n").map_or(reply.len(), |at| at + 1);
    let text = String::from_utf8_lossy(&reply[..head]).into_owned();
    let number = |name: &str| -> Option<u64> {
        text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok())
    };
    let mut rest = reply.get(head + 1..).unwrap_or_default();
    let mut product = |name: &str| -> Option<Vec<u8>> {
        let (bytes, left) = rest.split_at_checked(number(name)? as usize)?;
        rest = left;
        Some(bytes.to_vec())
    };
    let (encoded, decoded) = (product("encoded"), product("decoded"));
    let wanted = canonical::encode(schema, value).map_err(|e| format!("{e:#}"))?;
    // A client reads all numbers.
    let whole = match experiment {
        "client" => "project",
        _ => experiment.split('/').next().unwrap_or(experiment),
    };
    let made_by = |names: &[&str]| names.contains(&experiment);
    if made_by(&["encode", "encode/write", "roundtrip", "client"]) {
        let encoded = encoded.ok_or("no encoded bytes")?;
        if runner.ask("decode", &encoded)? != wanted {
            return Err("encodes another message".into());
        }
    }
    if made_by(&["decode", "decode/extract", "decode/checked", "roundtrip"])
        && decoded.ok_or("no decoded message")? != wanted
    {
        return Err("decodes another message".into());
    }
    for (name, reading) in readings(schema, projection, value) {
        if name == whole
            && (number("count"), number("hash"))
                != (Some(reading.digest.count), Some(reading.digest.hash))
        {
            return Err(format!("reads other numbers: {text}"));
        }
    }
    Ok(())
}

/// Messages of several shapes: long and short, full, half-full and empty. The longest
/// is the first: what it leaves in objects that live on would show in the others.
fn messages(schema: &Schema, seed: u64) -> Vec<Value> {
    let shapes = [(6, 24, 1.0), (4, 9, 0.5), (3, 3, 1.0), (3, 3, 0.5), (1, 1, 1.0), (0, 0, 1.0)];
    let mut values = Vec::new();
    for (index, (list, text, presence)) in shapes.into_iter().enumerate() {
        // What grows with the square of the length shows nothing more.
        let overrides =
            nested_lists(schema).map(|(name, bound)| (name, list.min(2).min(bound))).collect();
        let sizes = Sizes { list, text, bytes: text, presence, overrides };
        values.push(
            generate(schema, &sizes, seed.wrapping_add(index as u64)).expect("the paths are there"),
        );
    }
    values.push(Value::empty_record(schema, schema.root));
    values
}

/// Fields of the root that are lists of records with lists of records, and how many each may
/// have.
fn nested_lists(schema: &Schema) -> impl Iterator<Item = (String, usize)> + '_ {
    schema.root().fields.iter().filter_map(|field| {
        let (id, bound) = list_of_records(field)?;
        let fields = &schema.record(id).fields;
        let nests = fields.iter().any(|field| list_of_records(field).is_some());
        nests.then(|| (field.name.original.clone(), bound))
    })
}

/// The records of a list, and how many it may have.
fn list_of_records(field: &Field) -> Option<(TypeId, usize)> {
    match (field.element, field.cardinality) {
        (Element::Record(id), Cardinality::List { bound }) => {
            Some((id, bound.map_or(usize::MAX, |bound| bound as usize)))
        }
        _ => None,
    }
}

fn seeds(test: &str) -> Seeds {
    Seeds::new(env!("CARGO_MANIFEST_DIR"), "conformance", test)
}

/// Codecs that need not carry all: only what is defined in their format's own language, no
/// lists of records that take no bytes, whose length their readers could not hold against those,
/// or no records without fields, for which their library does not compile.
const PARTICULAR: [&str; 11] = [
    "generated-protobuf-cpp",
    "generated-protobuf-java",
    "generated-protobuf-python",
    "generated-protobuf-rust",
    "generated-ros-msg-cpp",
    "generated-ros-msg-java",
    "generated-ros-msg-python",
    "generated-ros-msg-rust",
    "generated-ros-msg-view-cpp",
    "generated-ros-msg-view-rust",
    "wincode",
];

/// Codecs that carry only what has lists of plain records, of which they make columns.
const COLUMNS: [&str; 3] = ["packed-cpp", "packed-python", "packed-rust"];

/// Codecs that carry only what has a bound in each list and text.
const BOUNDED: [&str; 1] = ["generated-cdr-no-alloc-rust"];

/// No codec refuses the schema.
fn assert_all_accept(schema: &Schema) {
    for codec in codecs() {
        if let Support::Rejected(why) = codec.check_schema(schema) {
            let only_some = [&PARTICULAR[..], &COLUMNS, &BOUNDED].concat();
            assert!(
                only_some.contains(&codec.name),
                "{} refuses what it is known to carry: {why}",
                codec.name
            );
        }
    }
}

fn assert_carried(
    codecs: &[&'static Codec],
    schema: &Schema,
    projection: &Projection,
    values: &[Value],
) {
    let faults = check(codecs, schema, projection, values);
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// Whether a codec writes Protobuf's wire.
fn writes_protobuf(codec: &&Codec) -> bool {
    matches!(codec.format, "protobuf" | "packed")
}

#[test]
fn needs_are_here() {
    for codec in codecs() {
        for need in codec.needs {
            let (_, package) = need.names();
            assert!(
                need.is_installed(),
                "{} needs {need:?}: apt-get install {package}",
                codec.name
            );
        }
    }
}

#[test]
fn everything_the_model_has() {
    seeds("everything_the_model_has").try_each(1, |seed| {
        for (name, schema) in zoo::all() {
            println!("== {name}");
            assert_all_accept(&schema);
            let values = messages(&schema, seed);
            assert_carried(&codecs(), &schema, &Projection::choose(&schema), &values);
        }
    });
}

/// What is measured by default, built as it is measured.
#[test]
fn lidar() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/lidar.msg");
    let source = wiregauge_schema::SchemaSource::parse(&root.display().to_string());
    let schema = wiregauge_schema::source::load(&source).expect("lidar.msg loads");
    let projection = Projection {
        fixed: Some(path::parse(&schema, "info.guid").expect("a path")),
        element: Some(path::parse(&schema, "points[].position[1]").expect("a path")),
    };
    assert_all_accept(&schema);
    let accepting = accepting(&codecs(), &schema);
    let built = build::build(&build_folder(), &schema, &projection, &accepting, &|_, _, _| Ok(()))
        .expect("the build folder works");
    let rust = built.iter().find(|built| built.codec.name == "prost");
    let program = rust.and_then(|built| built.program.as_ref().ok());
    let manifest =
        program.and_then(|path| path.ancestors().nth(2)).map(|m| m.join("rust/Cargo.toml"));
    let faults = check_built(built, &schema, &projection, &messages(&schema, 7));
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
    // Cargo would make them other programs in another folder.
    if let Some(manifest) = manifest {
        let manifest = fs::read_to_string(manifest).expect("a package");
        assert!(!manifest.contains(&*build_folder().to_string_lossy()), "{manifest}");
    }
}

/// They know nothing of it, so that what serves one message serves the next.
#[test]
fn bounds_are_built_once_for_all_messages() {
    let bounds: Vec<_> = Codec::all().into_iter().filter(|codec| codec.is_bound).collect();
    let programs = zoo::all().into_iter().take(2).map(|(_, schema)| {
        let projection = Projection::choose(&schema);
        let built = build::build(&build_folder(), &schema, &projection, &bounds, &|_, _, _| Ok(()));
        let programs = built.expect("the build folder works").into_iter();
        programs.map(|built| built.program.expect("it builds")).collect::<Vec<_>>()
    });
    let programs: Vec<_> = programs.collect();
    assert_eq!(programs[0], programs[1]);
}

/// Every way in which a Protobuf definition may have its numbers written, and
/// the same bytes whoever writes them.
#[test]
fn protobuf_wire_choices() {
    let text = r#"
        syntax = "proto2";
        message Numbers {
            optional sint64 zigzag = 1;
            optional sfixed64 fixed = 2;
            repeated fixed32 unpacked_fixed = 3;
            repeated fixed64 packed_fixed = 4 [packed = true];
            repeated sint32 unpacked_zigzag = 5;
            repeated float packed = 6 [packed = true];
            repeated double unpacked = 7;
        }"#;
    let schema = wiregauge_schema::proto::read_texts(&[("wire.proto", text)], None).expect("loads");
    // Of the others none looks at how Protobuf writes a number.
    let writers: Vec<_> = codecs().into_iter().filter(writes_protobuf).collect();
    assert_carried(&writers, &schema, &Projection::choose(&schema), &messages(&schema, 3));
}

/// What some codecs alone carry they do carry.
#[test]
fn what_is_defined_in_protobufs_language() {
    let text = r#"
        syntax = "proto3";
        enum Kind { NONE = 0; ONE = 1; }
        message Inner { optional double x = 1; repeated string names = 2; }
        message All {
            int32 number = 1;
            optional bool flag = 2;
            repeated uint64 list = 3;
            Inner inner = 4;
            repeated Inner inners = 5;
            bytes octets = 6;
            map<string, Inner> map = 7;
            oneof choice { float a = 8; Kind b = 9; }
        }"#;
    let schema = wiregauge_schema::proto::read_texts(&[("a.proto", text)], None).expect("loads");
    for codec in codecs().iter().filter(|codec| PARTICULAR.contains(&codec.name)) {
        let answer = codec.check_schema(&schema);
        assert!(!matches!(answer, Support::Rejected(_)), "{}: {answer:?}", codec.name);
    }
    // The others have all this in their messages already.
    let writers: Vec<_> = codecs().into_iter().filter(writes_protobuf).collect();
    assert_carried(&writers, &schema, &Projection::choose(&schema), &messages(&schema, 5));
}

/// A record that ends at a tag of its own is written so or refused: its length before it
/// would be another message.
#[test]
fn groups_are_carried_as_such_or_refused() {
    let text = r#"
        syntax = "proto2";
        message Scan {
            optional int32 id = 1;
            optional group Point = 2 { optional double x = 1; optional Plain plain = 2; }
            repeated group Hit = 3 { required int32 n = 1; repeated group Deep = 2 {} }
            oneof which { group Left = 4 { optional string word = 1; } Plain right = 5; }
            map<string, Plain> plains = 6;
            required group Must = 1000 { repeated fixed32 list = 2000; }
        }
        message Plain { repeated float values = 1; optional group Inner = 2 {} }"#;
    let schema = wiregauge_schema::proto::read_texts(&[("a.proto", text)], Some("Scan"));
    let schema = schema.expect("loads");
    let (own, others): (Vec<_>, Vec<_>) = codecs()
        .into_iter()
        .filter(writes_protobuf)
        .partition(|codec| PARTICULAR.contains(&codec.name));
    for codec in others {
        let answer = codec.check_schema(&schema);
        let is_told = |why: &str| why.contains("is delimited") || COLUMNS.contains(&codec.name);
        assert!(
            matches!(&answer, Support::Rejected(why) if is_told(why)),
            "{}: {answer:?}",
            codec.name
        );
    }
    let values = messages(&schema, 11);
    assert_carried(&own, &schema, &Projection::choose(&schema), &values);
}

/// Rows in which anything may be missing, and lists that are no rows.
#[test]
fn lists_of_plain_records() {
    let text = r#"
        syntax = "proto2";
        enum Kind { NONE = 0; ONE = 1; NEGATIVE = -7; }
        message Empty {}
        message Vector { optional double x = 1; optional double y = 2; }
        message Sure { required float a = 1; optional sint64 b = 2; }
        message Inner { optional Vector vector = 1; optional Empty empty = 2; required Vector there = 3; }
        message Row {
            optional double strength = 1;
            required fixed64 number = 2;
            optional uint64 identifier = 3;
            optional Kind kind = 4;
            required bool flag = 5;
            optional bool other = 6;
            optional Vector normal = 7;
            optional Sure sure = 8;
            optional Inner inner = 9;
            required Inner always = 10;
        }
        message Bare { optional Vector vector = 1; optional int32 number = 2; }
        message Group { optional string name = 1; repeated Row rows = 2; }
        message Root {
            repeated Bare bare = 1;
            repeated Group groups = 2;
            optional Vector vector = 3;
            repeated Empty empties = 4;
            repeated Row rows = 5;
            map<int32, double> map = 6;
        }"#;
    let schema = wiregauge_schema::proto::read_texts(&[("rows.proto", text)], None).expect("loads");
    let mut values = messages(&schema, 11);
    for (list, presence) in [(1, 0.0), (9, 0.0), (300, 0.1), (300, 0.9)] {
        let overrides = [("groups".to_owned(), 2)].into_iter().collect();
        let sizes = Sizes { list, presence, overrides, ..Sizes::default() };
        values.push(generate(&schema, &sizes, 12).expect("the path is there"));
    }
    let projection = Projection {
        fixed: Some(path::parse(&schema, "vector.y").expect("a path")),
        element: Some(path::parse(&schema, "groups[].rows[].inner.vector.y").expect("a path")),
    };
    let codecs: Vec<_> =
        codecs().into_iter().filter(|codec| COLUMNS.contains(&codec.name)).collect();
    for codec in &codecs {
        let definition = codec.idl.expect("it has definitions")(&schema).expect("it can be said");
        for line in ["bytes bare = 1;", "bytes rows = 2;", "repeated Empty empties = 4;"] {
            assert!(definition.text.contains(line), "{}:\n{}", codec.name, definition.text);
        }
        assert!(!definition.text.contains("message Row"), "{}", definition.text);
    }
    assert_carried(&codecs, &schema, &projection, &values);
}

/// Without a codec, so that many can be tried.
#[test]
fn messages_of_random_schemas_can_be_made() {
    for seed in (0..500).chain([10987155708621888551]) {
        messages(&random_schema(seed), seed);
    }
}

/// Random schemas that have such lists.
#[test]
fn random_lists_of_plain_records() {
    let codecs: Vec<_> =
        codecs().into_iter().filter(|codec| COLUMNS.contains(&codec.name)).collect();
    let Some(first) = codecs.first() else { return };
    let fits = |schema: &Schema| !matches!(first.check_schema(schema), Support::Rejected(_));
    let seeds = seeds("random_lists_of_plain_records");
    seeds.try_each(2, |seed| {
        let schemas = (0..).map(|further| random_schema(seed.wrapping_add(further)));
        let schema = schemas.into_iter().find(fits).expect("there are many");
        println!("== seed {seed}\n{}", definition(&schema));
        let projection = Projection::choose(&schema);
        let faults = check(&codecs, &schema, &projection, &messages(&schema, seed));
        if !seeds.is_repeated(seed) {
            discard(&schema);
        }
        assert!(faults.is_empty(), "\n{}", faults.join("\n"));
    });
}

/// What one library of a format writes others read, whatever its language has for numbers: to
/// the byte it is the same.
#[test]
fn libraries_of_a_format_write_the_same_bytes() {
    let formats = ["avro", "bincode", "thrift", "thrift-compact"];
    for (name, schema) in zoo::all() {
        for format in formats {
            let codecs: Vec<_> =
                codecs().into_iter().filter(|codec| codec.format == format).collect();
            let codecs = accepting(&codecs, &schema);
            let projection = Projection::choose(&schema);
            let all: Vec<_> = build_lightly(&schema, &projection, &codecs)
                .into_iter()
                .map(|built| {
                    let mut runner = Runner::start_quickly(&built.program.expect("it builds"));
                    let wires: Vec<_> = messages(&schema, 11)
                        .iter()
                        .map(|value| {
                            let canonical = canonical::encode(&schema, value).expect("it fits");
                            runner.ask("message", &canonical).expect("it is carried")
                        })
                        .collect();
                    (built.codec.name, wires)
                })
                .collect();
            for pair in all.windows(2) {
                let (one, other) = (&pair[0], &pair[1]);
                assert!(one.1 == other.1, "{name}: {} and {} differ", one.0, other.0);
            }
        }
    }
}

/// Where each list and text has a bound, holders without an allocator carry the message, in the
/// bytes that FastCDR and the holders that allocate write.
#[test]
fn what_has_bounds_needs_no_allocator() {
    let parts = [
        "Part[<=5] parts\nPart first\nstring<=24 name\nstring<=30[<=3] names\nstring<=24[2] two\n\
         uint8[<=300] octets\nfloat64[<=4] few\nbool[<=7] flags\nint16 last\n",
        "MSG: wiregauge/Part\nuint8 tag\nstring<=40 label\nfloat64[3] position\nint64[<=4] steps\n\
         Plain[<=6] plain\nPlain[2] both\n",
        "MSG: wiregauge/Plain\nfloat32 x\nuint32 y\n",
    ];
    let text = parts.join(&format!("{}\n", "=".repeat(80)));
    let dialect = wiregauge_schema::msg::Dialect::Ros2;
    let schema = wiregauge_schema::msg::read_text(&text, "wiregauge/Bounded", dialect, "bounded");
    let schema = schema.expect("it loads");
    let names = ["fastcdr", "generated-cdr-rust", BOUNDED[0]];
    let codecs: Vec<_> = codecs().into_iter().filter(|codec| names.contains(&codec.name)).collect();
    assert_eq!(accepting(&codecs, &schema).len(), codecs.len());
    let (projection, values) = (Projection::choose(&schema), messages(&schema, 13));
    let built = build_lightly(&schema, &projection, &codecs);
    let encode = |built: &BuiltRunner| -> Vec<Vec<u8>> {
        let program = built.program.as_ref().expect("it builds");
        let mut runner = Runner::start_quickly(program);
        let canonical = values.iter().map(|value| canonical::encode(&schema, value).expect("fits"));
        canonical.map(|message| runner.ask("message", &message).expect("carried")).collect()
    };
    let encoded: Vec<_> = built.iter().map(encode).collect();
    for (one, other) in encoded.iter().zip(encoded.iter().skip(1)) {
        assert!(one == other, "two of {names:?} differ");
    }
    let faults = check_built(built, &schema, &projection, &values);
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// What libraries in Java call their own classes, packages and methods a message may call its
/// records and fields.
#[test]
fn names_that_classes_in_java_have_for_themselves() {
    let text = r#"
        syntax = "proto3";
        message Utf8 { optional double x = 1; }
        message Cloneable { repeated int32 org = 1; }
        message Comparable { bytes octets = 1; }
        message ByteVector { float x = 1; }
        message All {
            Utf8 org = 1;
            optional Utf8 org_builder = 2;
            Cloneable java = 3;
            repeated Comparable wg = 4;
            ByteVector com = 5;
            double schema = 6;
            double class_schema = 7;
            string encoder = 8;
            bytes decoder = 9;
            repeated double specific_data = 10;
            optional int32 builder = 11;
            bool value = 12;
            int64 other = 13;
            repeated string fields = 14;
            uint32 in = 15;
            float read = 16;
            float message = 17;
            Utf8 part = 18;
            optional Utf8 part_builder = 19;
        }"#;
    let schema = wiregauge_schema::proto::read_texts(&[("a.proto", text)], Some("All"));
    let schema = schema.expect("loads");
    let java: Vec<_> = codecs().into_iter().filter(|codec| codec.language.key == "java").collect();
    assert_carried(&java, &schema, &Projection::choose(&schema), &messages(&schema, 9));
}

/// What a format cannot say is no fault of its codec, and the next message is
/// carried again.
#[test]
fn messages_that_a_format_cannot_say() {
    let text = "float64 number\nstring text\n";
    let schema = wiregauge_schema::msg::read_text(
        text,
        "one",
        wiregauge_schema::msg::Dialect::Ros2,
        "one.msg",
    )
    .expect("it loads");
    let message = |number: f64, text: &str| {
        let value = Value::Record(vec![Value::F64(number), Value::String(text.into())]);
        canonical::encode(&schema, &value).expect("it is of the schema")
    };
    let sayable = message(1.0, "text");
    let (signed, cut) = (message(-0.0, "text"), message(1.0, "te\0xt"));
    // Not the one that Java makes of any.
    let nan = message(f64::from_bits(0x7ff8_0000_0000_0001), "text");
    let cases = [
        ("prost", &signed, "loses the sign of zero"),
        ("quick-protobuf", &signed, "loses the sign of zero"),
        ("colfer", &signed, "loses the sign of zero"),
        ("kryo", &nan, "another not-a-number"),
        ("zserio-java", &nan, "another not-a-number"),
        ("lcm-java", &nan, "another not-a-number"),
        ("thrift-java", &nan, "another not-a-number"),
        ("thrift-java-compact", &nan, "another not-a-number"),
        ("betterproto2", &signed, "loses the sign of zero"),
        ("flatbuffers-python", &signed, "loses the sign of zero"),
        ("lcm", &cut, "NUL"),
        ("cyclone-cdr", &cut, "NUL"),
        ("generated-cdr-cpp", &cut, "a zero where it does not end"),
        ("generated-cdr-rust", &cut, "a zero where it does not end"),
        ("generated-someip-cpp", &cut, "a zero where it does not end"),
        ("generated-someip-rust", &cut, "a zero where it does not end"),
        ("generated-xcdr2-cpp", &cut, "a zero where it does not end"),
        ("generated-xcdr2-rust", &cut, "a zero where it does not end"),
    ];
    let concerned: Vec<_> = codecs()
        .into_iter()
        .filter(|codec| cases.iter().any(|(name, ..)| *name == codec.name))
        .collect();
    let projection = Projection::choose(&schema);
    for built in build_lightly(&schema, &projection, &concerned) {
        let mut runner = Runner::start_quickly(&built.program.expect("it builds"));
        for (_, message, why) in cases.iter().filter(|case| case.0 == built.codec.name) {
            let answer = runner.ask("message", message).expect_err("it cannot be said");
            assert!(answer.starts_with("rejected: "), "{}: {answer}", built.codec.name);
            assert!(answer.contains(why), "{}: {answer}", built.codec.name);
            runner.ask("message", &sayable).expect("it can be said");
        }
    }
}

/// Names as long as LCM's compiler can hold are carried, longer ones refused
/// before it overruns its memory.
#[test]
fn long_names_in_lcm() {
    let codecs: Vec<_> = codecs().into_iter().filter(|codec| codec.format == "lcm").collect();
    let schema = |member: usize, record: usize| {
        let (list, record) = ("a".repeat(member), format!("R{}", "r".repeat(record - 1)));
        let plain = "b".repeat(member + "_count".len());
        let text = format!(
            "syntax = \"proto3\"; message Inner {{ int32 a = 1; }} \
             message {record} {{ repeated int32 {list} = 1; int32 {plain} = 2; Inner inner = 3; }}"
        );
        wiregauge_schema::proto::read_texts(&[("long.proto", &text)], Some(&record)).expect("loads")
    };
    // Behind the list's name stands `_count`.
    let longest = schema(94, 200);
    let projection = Projection::choose(&longest);
    assert_carried(&codecs, &longest, &projection, &messages(&longest, 1));
    for codec in codecs {
        for longer in [schema(95, 200), schema(94, 201)] {
            let Support::Rejected(why) = codec.check_schema(&longer) else { panic!("not refused") };
            assert!(why.contains("names as long as"), "{why}");
        }
    }
}

/// Random schemas, with names that mean something somewhere: each takes a build of
/// every codec, so there are few, and each is the size of many. `WIREGAUGE_CASES` sets how many.
#[test]
fn random_schemas() {
    // Without the variable, what is not compiled for minutes.
    let cases = seeds::cases();
    let seeds = seeds("random_schemas");
    let recorded = seeds.recorded();
    seeds.try_each(cases.unwrap_or(1), |seed| {
        let schema = random_schema(seed);
        println!("== seed {seed}\n{}", definition(&schema));
        let mut codecs = codecs();
        if cases.is_none() && !recorded.contains(&seed) {
            codecs.retain(|codec| ["java", "python"].contains(&codec.language.key));
        }
        assert_carried(&codecs, &schema, &Projection::choose(&schema), &messages(&schema, seed));
        if !seeds.is_repeated(seed) {
            discard(&schema);
        }
    });
}

/// Removes the runners of a message that no other run will have.
fn discard(schema: &Schema) {
    let text = serde_json::to_vec_pretty(schema).expect("it is data");
    let messages = fs::read_dir(build_folder().join("messages")).expect("they were built");
    for folder in messages.map(|entry| entry.expect("readable").path()) {
        if fs::read(folder.join("schema.json")).is_ok_and(|other| other == text) {
            fs::remove_dir_all(&folder).expect("writable");
        }
    }
}

/// The schema of a seed.
fn random_schema(seed: u64) -> Schema {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), random);
    let schema = arbitrary::schema().new_tree(&mut runner).expect("a schema can be made").current();
    renamed(schema, seed)
}

/// The schema with names that mean something to a compiler or a generator, by a seed.
fn renamed(schema: Schema, seed: u64) -> Schema {
    let words = include_str!("../../data_holders/tests/names/words.txt").lines();
    let words = words.filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace);
    let mut words: Vec<&str> = words.chain(MACROS.lines()).collect();
    words.sort_by_key(|word| {
        let mut hash = DefaultHasher::new();
        (seed, word).hash(&mut hash);
        hash.finish()
    });
    let mut words = words.into_iter();
    arbitrary::renamed(schema, || words.next().expect("there are thousands").to_owned())
}

/// A schema as one reads it.
fn definition(schema: &Schema) -> String {
    let idl = Codec::find("prost").and_then(|codec| codec.idl).expect("prost has definitions");
    idl(schema).map_or_else(|error| format!("{error:#}"), |file| file.text)
}
