//! The bytes of UPER, held against asn1tools, which reads the emitted ASN.1 module and
//! knows nothing of rasn's types.

mod light_build;
mod runner;
mod zoo;

use std::fs;
use std::path::Path;
use std::process::Command;

use wiregauge_build_tools::python::PythonEnvironment;
use wiregauge_formats::Codec;
use wiregauge_schema::{canonical, generate, proto, Projection, Schema, Sizes, Value};
use wiregauge_schema::{Cardinality, TypeDef};

use light_build::{build_folder, build_lightly};
use runner::Runner;

fn codec() -> &'static Codec {
    Codec::find("rasn-uper").expect("it is there")
}

fn start(schema: &Schema) -> Runner {
    let projection = Projection::choose(schema);
    let built = build_lightly(&build_folder("uper"), schema, &projection, &[codec()]);
    Runner::start(&built.into_iter().next().expect("one").program.expect("it compiles"))
}

/// Full, half-full and empty, and one with a list of so many elements at a path.
fn messages(schema: &Schema, (path, length): (&str, usize)) -> Vec<Value> {
    let sizes = |list, presence| Sizes { list, presence, ..Sizes::default() };
    let mut long = sizes(1, 0.5);
    long.overrides.insert(path.into(), length);
    let all = [sizes(3, 1.0), sizes(2, 0.5), long];
    let all = all.iter().zip(41..);
    let generated = all.map(|(sizes, seed)| generate(schema, sizes, seed).expect("a message"));
    generated.chain([Value::empty_record(schema, schema.root)]).collect()
}

/// asn1tools decodes each message to what it was, and encodes that to the same bytes.
fn held_against_asn1tools(schema: &Schema, values: &[Value]) {
    let mut runner = start(schema);
    let encode = |value| canonical::encode(schema, value).expect("it fits");
    let canonicals: Vec<Vec<u8>> = values.iter().map(encode).collect();
    let wires = canonicals.iter().map(|message| runner.ask("message", message).expect("encoded"));
    let decoded = decode(schema, &wires.collect::<Vec<_>>());
    for (at, (found, canonical)) in decoded.iter().zip(&canonicals).enumerate() {
        assert!(found == canonical, "message {at} is another one by asn1tools");
    }
}

/// The canonical form of messages as asn1tools decodes them by the emitted module.
fn decode(schema: &Schema, wires: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let folder = tempfile::tempdir().expect("a folder");
    let place = |name: String| folder.path().join(name);
    let write = |name: String, bytes: &[u8]| fs::write(place(name), bytes).expect("written");
    let module = codec().idl.expect("a definition")(schema).expect("the schema can be said");
    write(module.path, module.text.as_bytes());
    write("schema.json".into(), &serde_json::to_vec(schema).expect("JSON"));
    for (at, wire) in wires.iter().enumerate() {
        write(format!("{at}.uper"), wire);
    }
    let requirements = include_str!("uper/requirements.txt");
    let python = PythonEnvironment::create(&build_folder("uper"), requirements).expect("Python");
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/uper/decode.py");
    let mut command = Command::new(&python.program);
    let output = command.arg("-I").arg(program).arg(folder.path()).output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let found = |at| fs::read(place(format!("{at}.canonical"))).expect("it was decoded");
    (0..wires.len()).map(found).collect()
}

#[test]
fn asn1tools_reads_the_same_numbers() {
    let (_, numbers) = zoo::all().remove(0);
    // More elements than one fragment has.
    let mut values = messages(&numbers, ("u16_list", 70_000));
    // Bits that no number has: they survive, as a float is its bits.
    let fields = &numbers.root().fields;
    let place = |name: &str| fields.iter().position(|field| field.name.legal == name);
    for (narrow, wide) in [(0x7fa0_0001, 0x7ff4_0000_0000_0001), (1 << 31, 1 << 63)] {
        let mut value = values[0].clone();
        let Value::Record(members) = &mut value else { panic!("a record") };
        members[place("f32_required").expect("a field")] = Value::F32(f32::from_bits(narrow));
        members[place("f64_required").expect("a field")] = Value::F64(f64::from_bits(wide));
        values.push(value);
    }
    held_against_asn1tools(&numbers, &values);
}

#[test]
fn asn1tools_reads_the_same_records() {
    let (_, records) = zoo::all().remove(1);
    held_against_asn1tools(&records, &messages(&records, ("blob_required", 70_000)));
}

/// Unions of every kind of member, two in a record, some whose members do not stand together
/// and one with a single member; each member in a message of its own.
#[test]
fn asn1tools_reads_the_same_choices() {
    let text = r#"
        syntax = "proto3";
        enum Kind { NONE = 0; ONE = 1; }
        message Empty {}
        message Inner { oneof Way { double Left_1 = 1; string right = 2; } }
        message Root {
            uint32 before = 1;
            oneof value {
                bool flag = 2;
                sint64 number = 3;
                float narrow = 4;
                double wide = 5;
                string text = 6;
                bytes octets = 7;
                Kind kind = 8;
                Inner inner = 9;
                Empty empty = 10;
            }
            oneof single { Inner alone = 11; }
            repeated Inner inners = 12;
            uint32 behind = 13;
        }"#;
    let mut schema = proto::read_texts(&[("choices.proto", text)], None).expect("it loads");
    let root = schema.root;
    let TypeDef::Record(record) = &mut schema.types[root] else { panic!("a record") };
    // The last one is of the first union, too.
    let last = record.fields.len() - 1;
    record.fields[last].union = Some("value".into());
    record.fields[last].cardinality = Cardinality::Optional;
    let sizes = Sizes { list: 3, ..Sizes::default() };
    let full = generate(&schema, &sizes, 3).expect("a message");
    let Value::Record(full) = full else { panic!("a record") };
    let fields = &schema.root().fields;
    let members: Vec<usize> =
        (0..fields.len()).filter(|at| fields[*at].union.as_deref() == Some("value")).collect();
    let mut values = vec![Value::empty_record(&schema, root)];
    for chosen in &members {
        // A message that has the member, with the others of another one.
        let made = (0..).find_map(|seed| match generate(&schema, &sizes, seed) {
            Ok(Value::Record(made)) if made[*chosen] != Value::Absent => Some(made),
            _ => None,
        });
        let mut value = full.clone();
        for member in &members {
            value[*member] = Value::Absent;
        }
        value[*chosen] = made.expect("one of many")[*chosen].clone();
        values.push(Value::Record(value));
    }
    held_against_asn1tools(&schema, &values);
    let module = codec().idl.expect("a definition")(&schema).expect("it can be said").text;
    let said = "single CHOICE { alone Inner } OPTIONAL,";
    assert!(module.contains(said), "{module}");
    // No CHOICE says that two members are there.
    let both = (values[1].clone(), values[2].clone());
    let (Value::Record(mut first), Value::Record(second)) = both else { panic!("records") };
    first[members[1]] = second[members[1]].clone();
    let message = canonical::encode(&schema, &Value::Record(first)).expect("it fits");
    let why = start(&schema).ask("message", &message).expect_err("it cannot be said");
    assert!(why.contains("rejected: two members of a union"), "{why}");
}

/// Names that ASN.1 has already, and an enum that has a number twice.
#[test]
fn asn1tools_takes_modules_with_names_of_asn1() {
    let text = r#"
        syntax = "proto3";
        enum NumericString { option allow_alias = true; A_1 = 0; B = 1; B_AGAIN = 1; }
        message GeneralizedTime { NumericString kind = 1; repeated NumericString kinds = 2; }
        message Root { GeneralizedTime sequence = 1; bool boolean = 2; uint32 size = 3; }"#;
    let schema = proto::read_texts(&[("names.proto", text)], None).expect("it loads");
    decode(&schema, &[]);
}
