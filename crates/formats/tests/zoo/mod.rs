//! Schemas that together hold everything the model has.

use wiregauge_schema::{
    Cardinality, Element, Enum, EnumValue, Field, Name, ProtobufEncoding, Record, Role, Scalar,
    Schema, TypeDef,
};

/// Every schema by a name for messages. There are two, as each takes a build of all
/// codecs, and Colfer numbers no more than 127 fields of a record.
pub fn all() -> Vec<(&'static str, Schema)> {
    vec![("numbers and plain old data", numbers()), ("texts and records", records())]
}

const CARDINALITIES: [(&str, Cardinality); 6] = [
    ("required", Cardinality::Required),
    ("implicit", Cardinality::Implicit),
    ("optional", Cardinality::Optional),
    ("list", Cardinality::List { bound: None }),
    ("bounded", Cardinality::List { bound: Some(1000) }),
    ("array", Cardinality::Array { len: 3 }),
];

fn name(text: &str, legal: &str) -> Name {
    Name { original: text.into(), legal: legal.into() }
}

fn field(fields: &mut Vec<Field>, text: &str, element: Element, cardinality: Cardinality) {
    let id = fields.len() as u32 + 1;
    let name = name(text, text);
    let wire = ProtobufEncoding::default();
    fields.push(Field { name, id, element, cardinality, union: None, default: None, wire });
}

fn record(text: &str, fields: Vec<Field>) -> TypeDef {
    let name = name(&format!("zoo/{text}"), text);
    TypeDef::Record(Record { name, fields, role: Role::Plain })
}

fn enumeration(text: &str, repr: Scalar, numbers: &[i64]) -> TypeDef {
    let values = numbers
        .iter()
        .enumerate()
        .map(|(at, number)| EnumValue {
            name: name(&format!("VALUE_{at}"), &format!("VALUE_{at}")),
            number: *number,
        })
        .collect();
    TypeDef::Enum(Enum { name: name(&format!("zoo/{text}"), text), repr, values })
}

/// Every scalar and two enums, each with every cardinality, and plain old data whose
/// memory layout has gaps, in lists that may move as blocks.
fn numbers() -> Schema {
    let mut inner = Vec::new();
    field(&mut inner, "tag", Element::Scalar(Scalar::U8), Cardinality::Required);
    field(&mut inner, "value", Element::Scalar(Scalar::F64), Cardinality::Required);
    field(&mut inner, "kind", Element::Enum(2), Cardinality::Required);

    let mut outer = Vec::new();
    field(&mut outer, "flag", Element::Scalar(Scalar::Bool), Cardinality::Required);
    field(&mut outer, "inners", Element::Record(3), Cardinality::Array { len: 2 });
    field(&mut outer, "codes2nd", Element::Scalar(Scalar::U16), Cardinality::Array { len: 5 });

    let mut dense = Vec::new();
    field(&mut dense, "x", Element::Scalar(Scalar::F64), Cardinality::Required);
    field(&mut dense, "y", Element::Scalar(Scalar::F64), Cardinality::Required);

    let mut root = Vec::new();
    for scalar in Scalar::ALL {
        for (suffix, cardinality) in CARDINALITIES {
            let text = format!("{}_{suffix}", scalar.rust_name().replace("bool", "flag"));
            field(&mut root, &text, Element::Scalar(scalar), cardinality);
        }
    }
    for (suffix, cardinality) in CARDINALITIES {
        field(&mut root, &format!("color_{suffix}"), Element::Enum(0), cardinality);
        field(&mut root, &format!("level_{suffix}"), Element::Enum(1), cardinality);
    }
    field(&mut root, "long_array", Element::Scalar(Scalar::F64), Cardinality::Array { len: 36 });
    let list = Cardinality::List { bound: None };
    field(&mut root, "one", Element::Record(4), Cardinality::Required);
    field(&mut root, "outers", Element::Record(4), list);
    field(&mut root, "dense", Element::Record(5), list);
    field(&mut root, "inners", Element::Record(3), list);
    Schema::new(
        vec![
            enumeration("Color", Scalar::I32, &[0, 1, 7, -3]),
            enumeration("Level8bit", Scalar::U8, &[2, 200]),
            enumeration("Kind", Scalar::I32, &[0, 1, 2]),
            record("Inner", inner),
            record("Outer", outer),
            record("Vector2d", dense),
            record("Numbers", root),
        ],
        6,
    )
}

/// Strings, bytes and records in records with every cardinality, some of fixed and
/// some of variable size, a map, a union, a time and a record without fields. Arrays that
/// formats without them write as fields in the other schema are lists here.
fn records() -> Schema {
    let mut point = Vec::new();
    let xyz = Cardinality::Array { len: 3 };
    field(&mut point, "position", Element::Scalar(Scalar::F32), xyz);
    field(&mut point, "intensity", Element::Scalar(Scalar::U8), Cardinality::Required);

    let mut leaf = Vec::new();
    field(&mut leaf, "label", Element::String, Cardinality::Required);
    field(&mut leaf, "weight", Element::Scalar(Scalar::F64), Cardinality::Optional);
    let list = Cardinality::List { bound: None };
    field(&mut leaf, "marks", Element::Scalar(Scalar::U16), list);

    let mut entry = Vec::new();
    field(&mut entry, "key", Element::String, Cardinality::Required);
    field(&mut entry, "value", Element::Record(1), Cardinality::Required);

    let mut stamp = Vec::new();
    field(&mut stamp, "sec", Element::Scalar(Scalar::I32), Cardinality::Required);
    field(&mut stamp, "nanosec", Element::Scalar(Scalar::U32), Cardinality::Required);

    let mut branch = Vec::new();
    for (suffix, cardinality) in CARDINALITIES {
        field(&mut branch, &format!("point_{suffix}"), Element::Record(0), cardinality);
        field(&mut branch, &format!("leaf_{suffix}"), Element::Record(1), cardinality);
    }

    let mut arrays = Vec::new();
    for scalar in Scalar::ALL {
        let text = format!("{}_values", scalar.rust_name().replace("bool", "flag"));
        field(&mut arrays, &text, Element::Scalar(scalar), xyz);
    }
    field(&mut arrays, "shade", Element::Enum(6), xyz);

    let mut root = Vec::new();
    for (suffix, cardinality) in CARDINALITIES {
        field(&mut root, &format!("text_{suffix}"), Element::String, cardinality);
        field(&mut root, &format!("blob_{suffix}"), Element::Bytes, cardinality);
    }
    field(&mut root, "stamp", Element::Record(3), Cardinality::Required);
    for (suffix, cardinality) in CARDINALITIES {
        field(&mut root, &format!("branch_{suffix}"), Element::Record(4), cardinality);
    }
    field(&mut root, "entries", Element::Record(2), list);
    for (text, element) in [
        ("either_number", Element::Scalar(Scalar::I64)),
        ("either_text", Element::String),
        ("either_leaf", Element::Record(1)),
    ] {
        field(&mut root, text, element, Cardinality::Optional);
        root.last_mut().expect("just pushed").union = Some("either".into());
    }
    field(&mut root, "arrays", Element::Record(7), Cardinality::Required);
    field(&mut root, "nothing", Element::Record(5), Cardinality::Required);
    field(&mut root, "nothings", Element::Record(5), list);

    let mut types = vec![
        record("Point", point),
        record("Leaf2x", leaf),
        record("Entry", entry),
        record("Stamp", stamp),
        record("Branch", branch),
        record("Nothing", Vec::new()),
        enumeration("Shade", Scalar::I32, &[0, 1, 7]),
        record("Arrays", arrays),
        record("Records", root),
    ];
    for (id, role) in [(2, Role::MapEntry), (3, Role::Timestamp)] {
        if let TypeDef::Record(record) = &mut types[id] {
            record.role = role;
        }
    }
    Schema { small_array: 0, ..Schema::new(types, 8) }
}
