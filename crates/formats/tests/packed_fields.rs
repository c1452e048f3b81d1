//! Packed fields in messages of one's own: what is in them, the same bytes by all languages,
//! every bit of the numbers, and damaged bytes.

mod converse;

use std::path::{Path, PathBuf};

use wiregauge_formats::{build, Codec};
use wiregauge_packed::{Element, View};
use wiregauge_schema::{canonical, generate, proto, Projection, Schema, Sizes, Value};

use converse::converse;

const CODECS: [&str; 3] = ["packed-cpp", "packed-python", "packed-rust"];

fn build_folder() -> PathBuf {
    match std::env::var_os("WIREGAUGE_BUILD") {
        Some(folder) => folder.into(),
        None => Path::new(env!("CARGO_TARGET_TMPDIR")).join("packed_fields"),
    }
}

/// A list of rows that hold every type of number, and may lack one and a record; and one of rows
/// that may lack all.
fn schema() -> Schema {
    let text = r#"
        syntax = "proto2";
        message Vector { optional double x = 1; optional float y = 2; }
        message Row {
            required double wide = 1;
            required float narrow = 2;
            required uint64 large = 3;
            required int64 signed_large = 4;
            required uint32 half = 5;
            required int32 signed_half = 6;
            required bool flag = 7;
            optional double maybe = 8;
            optional Vector vector = 9;
        }
        message Bare { optional double x = 1; }
        message Root { repeated Row rows = 1; repeated Bare bare = 2; }"#;
    proto::read_texts(&[("rows.proto", text)], None).expect("it loads")
}

fn row(f64: u64, f32: u32, u64: u64, i64: i64, maybe: Option<u64>, vector: Value) -> Value {
    let double = |bits| Value::F64(f64::from_bits(bits));
    Value::Record(vec![
        double(f64),
        Value::F32(f32::from_bits(f32)),
        Value::Unsigned(u64),
        Value::Signed(i64),
        Value::Unsigned(u64 >> 32),
        Value::Signed(i64 >> 32),
        Value::Bool(i64 < 0),
        maybe.map_or(Value::Absent, double),
        vector,
    ])
}

/// Numbers at the ends of their types, and bits that are no finite number.
fn edges() -> Value {
    let bare = || Value::Record(vec![Value::Absent, Value::Absent]);
    let nan = 0x7ff8_0000_0000_1234;
    let rows = vec![
        row(nan, 0x7fc0_0012, u64::MAX, i64::MIN, Some(1 << 63), Value::Absent),
        row(1 << 63, 1 << 31, 0, i64::MAX, None, bare()),
        row(0x7ff0_0000_0000_0000, 0xff80_0000, (1 << 53) + 1, -(1 << 53) - 1, Some(nan), bare()),
        row(1, 1, 1, -1, Some(0), Value::Record(vec![Value::F64(-0.0), Value::Absent])),
    ];
    Value::Record(vec![Value::List(rows), Value::List(Vec::new())])
}

/// The runners by their names.
fn runners(schema: &Schema) -> Vec<(&'static str, PathBuf)> {
    let codecs: Vec<_> =
        CODECS.iter().map(|name| Codec::find(name).expect("it is there")).collect();
    build::build(&build_folder(), schema, &Projection::choose(schema), &codecs, &|_, _, _| Ok(()))
        .expect("the build folder works")
        .into_iter()
        .map(|built| (built.codec.name, built.program.expect("it compiles")))
        .collect()
}

/// What a runner makes of a message, which must come back.
fn wire(name: &str, program: &Path, message: &[u8]) -> Vec<u8> {
    let (_, replies) = converse(program, &[("message", message)]);
    let (word, wire) = &replies[0];
    assert_eq!(word, "ok", "{name}: {}", String::from_utf8_lossy(wire));
    let (_, replies) = converse(program, &[("decode", wire)]);
    assert_eq!(replies[0], ("ok".into(), message.to_vec()), "{name}");
    wire.clone()
}

/// The packed field of a message without another.
fn field(wire: &[u8]) -> &[u8] {
    let at = wire.windows(8).position(|word| word == b"WGPACKED").expect("a packed field");
    &wire[at..]
}

#[test]
fn all_languages_write_the_same_bytes_and_every_bit_comes_back() {
    let schema = schema();
    let runners = runners(&schema);
    let nothing = || Value::List(Vec::new());
    let mut values = vec![edges(), Value::Record(vec![nothing(), nothing()])];
    for (list, presence) in [(1, 0.0), (9, 0.5), (2000, 0.5), (3, 1.0)] {
        let sizes = Sizes { list, presence, ..Sizes::default() };
        values.push(generate(&schema, &sizes, 3).expect("it names no paths"));
    }
    for value in values {
        let message = canonical::encode(&schema, &value).expect("it fits");
        let wires: Vec<_> =
            runners.iter().map(|(name, program)| wire(name, program, &message)).collect();
        for (other, (name, _)) in wires.iter().zip(&runners) {
            assert!(*other == wires[0], "{name} writes other bytes than {}", runners[0].0);
        }
    }
}

#[test]
fn columns_are_those_of_the_specification() {
    let schema = schema();
    let message = canonical::encode(&schema, &edges()).expect("it fits");
    for (name, program) in runners(&schema) {
        let wire = wire(name, &program, &message);
        let view = View::open(field(&wire)).expect("a packed field");
        assert_eq!((view.rows(), view.minor_version()), (4, 0), "{name}");
        let seen: Vec<_> = view
            .columns()
            .iter()
            .map(|column| {
                assert!(!column.is_reduced() && column.scale.is_none(), "{}", column.name);
                let rows: String =
                    (0..4).map(|row| if column.present(row) { 'x' } else { '-' }).collect();
                (column.name, column.element.expect("a known one"), column.bitmap.map(|_| rows))
            })
            .collect();
        let some = |rows: &str| Some(rows.to_owned());
        assert_eq!(
            seen,
            [
                ("wide", Element::F64, None),
                ("narrow", Element::F32, None),
                ("large", Element::U64, None),
                ("signed_large", Element::I64, None),
                ("half", Element::U32, None),
                ("signed_half", Element::I32, None),
                ("flag", Element::U8, None),
                ("maybe", Element::F64, some("x-xx")),
                ("vector?", Element::None, some("-xxx")),
                // No row has vector.y, so that there is no column of it.
                ("vector.x", Element::F64, some("---x")),
            ],
            "{name}"
        );
        let largest = view.column::<u64>("large").expect("it is there").get(0);
        assert_eq!(largest, u64::MAX, "{name}");
    }
}

/// Damaged bytes are refused or read as something else: no runner ends, and each carries the
/// next message. What it reads it never reads beyond the field.
#[test]
fn damaged_bytes_end_no_runner() {
    let schema = schema();
    let message = canonical::encode(&schema, &edges()).expect("it fits");
    for (name, program) in runners(&schema) {
        let wire = wire(name, &program, &message);
        let cut = (0..wire.len()).map(|end| wire[..end].to_vec());
        let flipped = (0..wire.len()).flat_map(|place| {
            [0x01, 0x80, 0xff].map(|bits| {
                let mut damaged = wire.clone();
                damaged[place] ^= bits;
                damaged
            })
        });
        let all: Vec<Vec<u8>> = cut.chain(flipped).collect();
        let mut requests: Vec<_> = all.iter().map(|damaged| ("decode", &damaged[..])).collect();
        requests.push(("decode", &wire));
        let (code, replies) = converse(&program, &requests);
        assert_eq!(code, Some(0), "{name} ends at {:02x?}", all.get(replies.len()));
        assert_eq!(replies.last(), Some(&("ok".into(), message.clone())), "{name}");
        let errors = replies.iter().filter(|(word, _)| word == "error").count();
        println!("{name}: {} damaged, {errors} refused", all.len());
        assert!(errors > wire.len(), "{name} refuses {errors} only");
    }
}

/// What a field must have is held against it.
#[test]
fn fields_that_lack_something_are_refused() {
    let schema = schema();
    let message = canonical::encode(&schema, &edges()).expect("it fits");
    for (name, program) in runners(&schema) {
        let wire = wire(name, &program, &message);
        let at = wire.len() - field(&wire).len();
        let named = |wire: &mut [u8], old: &[u8], new: &[u8]| {
            let place = wire.windows(old.len()).position(|word| word == old).expect("its name");
            wire[place..][..new.len()].copy_from_slice(new);
        };
        // Descriptors are 48 bytes, the type of the elements is the last but one.
        let element = |column: usize| at + 32 + 48 * column + 46;
        type Damage<'a> = &'a dyn Fn(&mut Vec<u8>);
        let cases: [(&str, Damage); 6] = [
            ("another magic", &|wire| wire[at] = b'X'),
            ("another version", &|wire| wire[at + 8] = 2),
            ("a column that is not there", &|wire| named(wire, b"widenarrow", b"Widenarrow")),
            ("integers of another sign", &|wire| wire[element(2)] = 8),
            ("floats as integers", &|wire| wire[element(7)] = 4),
            ("rows that no column holds", &|wire| {
                let mut field = b"WGPACKED\x01\0\0\0\x20\0\x30\0".to_vec();
                field.extend(0x7fff_ffff_u64.to_le_bytes());
                field.extend([0; 8]);
                *wire = vec![0x12, field.len() as u8];
                wire.extend(field);
            }),
        ];
        for (what, damage) in cases {
            let mut damaged = wire.clone();
            damage(&mut damaged);
            let (code, replies) = converse(&program, &[("decode", &damaged)]);
            assert_eq!(code, Some(0), "{name} ends at {what}");
            assert_eq!(replies[0].0, "error", "{name} takes {what}");
            // Not for want of memory.
            let said = String::from_utf8_lossy(&replies[0].1);
            assert!(!what.starts_with("rows") || said.contains(what), "{name} on {what}: {said}");
        }
    }
}
