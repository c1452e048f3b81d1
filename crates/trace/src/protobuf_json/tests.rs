//! JSON by the plan is the JSON of the library.

use std::sync::LazyLock;

use proptest::prelude::*;
use prost_reflect::prost_types::field_descriptor_proto::{Label, Type};
use prost_reflect::prost_types::{
    DescriptorProto, EnumDescriptorProto, EnumValueDescriptorProto, FieldDescriptorProto,
    FileDescriptorProto, MessageOptions, OneofDescriptorProto,
};
use prost_reflect::DescriptorPool;

use super::*;

const TYPES: [Type; 16] = [
    Type::Double,
    Type::Float,
    Type::Int64,
    Type::Uint64,
    Type::Int32,
    Type::Fixed64,
    Type::Fixed32,
    Type::Bool,
    Type::String,
    Type::Bytes,
    Type::Uint32,
    Type::Sfixed32,
    Type::Sfixed64,
    Type::Sint32,
    Type::Sint64,
    Type::Enum,
];

fn field(name: &str, number: usize, label: Label, kind: Type) -> FieldDescriptorProto {
    FieldDescriptorProto {
        name: Some(name.into()),
        number: Some(number as i32),
        label: Some(label.into()),
        r#type: Some(kind.into()),
        type_name: (kind == Type::Enum).then(|| ".p.E".into()),
        ..Default::default()
    }
}

fn record_field(name: &str, number: usize, label: Label, other: &str) -> FieldDescriptorProto {
    let type_name = Some(other.into());
    FieldDescriptorProto { type_name, ..field(name, number, label, Type::Message) }
}

/// A message with each type alone (1 to 16) and as a list (21 to 36), itself (41, 42), a
/// time (43), a map (44), and two fields of which one counts (45, 46).
fn descriptor(syntax: &str) -> MessageDescriptor {
    let name = |at: usize| format!("some_field_{at}");
    let alone = TYPES.iter().enumerate();
    let alone = alone.map(|(at, kind)| field(&name(at + 1), at + 1, Label::Optional, *kind));
    let lists = TYPES.iter().enumerate();
    let lists = lists.map(|(at, kind)| field(&name(at + 21), at + 21, Label::Repeated, *kind));
    let union = |at| FieldDescriptorProto {
        oneof_index: Some(0),
        ..field(&name(at), at, Label::Optional, Type::Uint32)
    };
    let others = [
        record_field("own", 41, Label::Optional, ".p.R"),
        record_field("owns", 42, Label::Repeated, ".p.R"),
        record_field("time", 43, Label::Optional, ".google.protobuf.Timestamp"),
        record_field("map", 44, Label::Repeated, ".p.R.MapEntry"),
        union(45),
        union(46),
    ];
    let entry = DescriptorProto {
        name: Some("MapEntry".into()),
        field: vec![
            field("key", 1, Label::Optional, Type::Uint32),
            field("value", 2, Label::Optional, Type::Uint32),
        ],
        options: Some(MessageOptions { map_entry: Some(true), ..Default::default() }),
        ..Default::default()
    };
    let value = |name: &str, number| EnumValueDescriptorProto {
        name: Some(name.into()),
        number: Some(number),
        ..Default::default()
    };
    let file = FileDescriptorProto {
        name: Some("r.proto".into()),
        package: Some("p".into()),
        syntax: Some(syntax.into()),
        dependency: vec!["google/protobuf/timestamp.proto".into()],
        message_type: vec![DescriptorProto {
            name: Some("R".into()),
            field: alone.chain(lists).chain(others).collect(),
            nested_type: vec![entry],
            oneof_decl: vec![OneofDescriptorProto {
                name: Some("one".into()),
                ..Default::default()
            }],
            ..Default::default()
        }],
        enum_type: vec![EnumDescriptorProto {
            name: Some("E".into()),
            value: vec![value("NONE", 0), value("ONE", 1), value("LESS", -2)],
            ..Default::default()
        }],
        ..Default::default()
    };
    let mut pool = DescriptorPool::global();
    pool.add_file_descriptor_proto(file).expect("a definition");
    pool.get_message_by_name("p.R").expect("its message")
}

fn varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// A field as it should be written: its number, and what it has.
fn put_field(number: u64, bits: u64, inner: &[u8], out: &mut Vec<u8>) {
    let kind = match number {
        1..=16 => TYPES[number as usize - 1],
        21..=36 => TYPES[number as usize - 21],
        45 | 46 => Type::Uint32,
        _ => Type::Message,
    };
    let tag = |wire_type| number << 3 | wire_type;
    match kind {
        Type::Double | Type::Fixed64 | Type::Sfixed64 => {
            varint(tag(1), out);
            out.extend(bits.to_le_bytes());
        }
        Type::Float | Type::Fixed32 | Type::Sfixed32 => {
            varint(tag(5), out);
            out.extend((bits as u32).to_le_bytes());
        }
        Type::String | Type::Bytes | Type::Message => {
            varint(tag(2), out);
            varint(inner.len() as u64, out);
            out.extend(inner);
        }
        _ => {
            varint(tag(0), out);
            varint(bits, out);
        }
    }
}

fn numbers() -> impl Strategy<Value = u64> {
    prop_oneof![1..=16u64, 21..=36u64, Just(41), Just(42), Just(43), 45..=46u64, Just(99)]
}

/// Bits of all sizes, and those of odd floats.
fn bits() -> impl Strategy<Value = u64> {
    let odd = [f64::NAN, f64::INFINITY, -0.0, 1.0, 1e300].map(f64::to_bits);
    let floats = [f32::NAN, f32::NEG_INFINITY, -0.0, 0.1].map(|it| u64::from(it.to_bits()));
    prop_oneof![
        Just(0),
        0..3u64,
        (any::<u64>(), 0..64u32).prop_map(|(bits, by)| bits >> by),
        prop::sample::select(odd.to_vec()),
        prop::sample::select(floats.to_vec()),
    ]
}

fn message(is_sorted: bool, depth: usize) -> BoxedStrategy<Vec<u8>> {
    let inner = match depth {
        0 => prop_oneof![Just(Vec::new()), Just(b"text \"\xc3\xa4\x01".to_vec())].boxed(),
        _ => prop_oneof![
            message(is_sorted, depth - 1),
            Just(b"text \"\xc3\xa4\x01".to_vec()),
            Just(vec![8, 7, 16, 9]),
        ]
        .boxed(),
    };
    let fields = prop::collection::vec((numbers(), bits(), inner), 0..9);
    fields
        .prop_map(move |mut fields| {
            if is_sorted {
                fields.sort_by_key(|(number, ..)| *number);
            }
            let mut out = Vec::new();
            for (number, bits, inner) in &fields {
                put_field(*number, *bits, inner, &mut out);
            }
            out
        })
        .boxed()
}

/// Whether it was written without a parser, as one writes it.
fn check(syntax: &str, bytes: &[u8]) -> bool {
    static PLANS: LazyLock<[(MessageDescriptor, JsonPlan); 2]> = LazyLock::new(|| {
        ["proto2", "proto3"].map(|syntax| {
            let descriptor = descriptor(syntax);
            let plan = JsonPlan::new(&descriptor);
            (descriptor, plan)
        })
    });
    let (descriptor, plan) = &PLANS[usize::from(syntax == "proto3")];
    let parsed = DynamicMessage::decode(descriptor.clone(), bytes).ok();
    let wanted = parsed.and_then(|parsed| serde_json::to_vec(&parsed).ok());
    let mut out = b"before".to_vec();
    let is_written = plan.write(bytes, &mut out);
    match is_written {
        true => assert_eq!(
            String::from_utf8_lossy(&out[6..]),
            String::from_utf8_lossy(&wanted.expect("a message")),
        ),
        false => assert_eq!(out, b"before"),
    }
    is_written
}

proptest! {
    #[test]
    fn messages_in_order_are_told_as_the_library_tells_them(bytes in message(true, 3)) {
        check("proto2", &bytes);
        check("proto3", &bytes);
    }

    #[test]
    fn messages_in_any_order(
        mut bytes in message(false, 2),
        damage in prop::option::of((any::<prop::sample::Index>(), any::<u8>())),
    ) {
        if let Some((at, byte)) = damage.filter(|_| !bytes.is_empty()) {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        check("proto2", &bytes);
        check("proto3", &bytes);
    }
}

/// What libraries write is not parsed.
#[test]
fn each_field_once_needs_no_parser() {
    let mut bytes = Vec::new();
    for number in (1..=16).chain(21..=36).chain([41, 42, 42, 43, 45, 99]) {
        // The number of an enum has to have a name.
        let bits = if [16, 36].contains(&number) { 1 } else { 1 | 1 << 20 | 3 << 40 };
        put_field(number, bits, &[], &mut bytes);
    }
    assert!(check("proto2", &bytes));
    assert!(check("proto3", &bytes));
    // Packed lists, too.
    assert!(check("proto3", &[0xca, 1, 3, 1, 2, 3, 0xf2, 1, 0]));
}

#[test]
fn what_counts_last_is_parsed() {
    let mut twice = Vec::new();
    put_field(5, 1, &[], &mut twice);
    put_field(5, 2, &[], &mut twice);
    assert!(!check("proto3", &twice));
    let mut union = Vec::new();
    put_field(45, 1, &[], &mut union);
    put_field(46, 2, &[], &mut union);
    assert!(!check("proto3", &union));
}
