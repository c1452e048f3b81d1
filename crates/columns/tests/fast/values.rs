//! Every value of a message comes back from its columns.

use std::sync::Arc;

use proptest::prelude::*;
use wiregauge_columns::{ColumnPlan, ColumnReader, Wire};
use wiregauge_schema::{
    Cardinality, Element, Field, IntegerEncoding, Name, Record, Scalar, Schema, TypeDef, Value,
};

use crate::support::{assert_same, message, rows, schema, write};

fn read(plan: ColumnPlan, messages: &[Vec<u8>]) -> Vec<Value> {
    let mut reader = ColumnReader::new(Arc::new(plan));
    for message in messages {
        reader.push(message).unwrap();
    }
    rows(&reader.finish().unwrap())
}

fn check(schema: &Schema, wire: Wire, seed: u64, big_endian: bool) {
    let values: Vec<Value> = (seed..seed + 4).map(|seed| message(schema, seed)).collect();
    let messages: Vec<Vec<u8>> =
        values.iter().map(|value| write(schema, value, wire, big_endian)).collect();
    let whole = read(ColumnPlan::messages(schema, wire, &[]).unwrap(), &messages);
    assert_same(&whole, &values);
    check_each_field(schema, wire, &messages, &values);
    check_elements(schema, wire, &messages, &values);
}

/// Each field alone.
fn check_each_field(schema: &Schema, wire: Wire, messages: &[Vec<u8>], values: &[Value]) {
    for (at, field) in schema.root().fields.iter().enumerate() {
        let path = [field.name.original.clone()];
        let alone = read(ColumnPlan::messages(schema, wire, &path).unwrap(), messages);
        assert_same(&alone, &only_field(values, at));
    }
}

/// The elements of each list of records.
fn check_elements(schema: &Schema, wire: Wire, messages: &[Vec<u8>], values: &[Value]) {
    for (at, field) in schema.root().fields.iter().enumerate() {
        let repeats =
            matches!(field.cardinality, Cardinality::List { .. } | Cardinality::Array { .. });
        if !repeats || !matches!(field.element, Element::Record(_)) {
            continue;
        }
        let list = &field.name.original;
        let plan = ColumnPlan::elements(schema, wire, list, &[]).unwrap();
        let wanted = values.iter().flat_map(|value| match value {
            Value::Record(fields) => match &fields[at] {
                Value::List(elements) => elements.clone(),
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        });
        let wanted: Vec<Value> = wanted.collect();
        assert_same(&read(plan, messages), &wanted);
        let Element::Record(element) = field.element else { continue };
        for (at, field) in schema.record(element).fields.iter().enumerate() {
            let path = [field.name.original.clone()];
            let plan = ColumnPlan::elements(schema, wire, list, &path).unwrap();
            assert_same(&read(plan, messages), &only_field(&wanted, at));
        }
    }
}

/// Records with one of their fields.
fn only_field(records: &[Value], at: usize) -> Vec<Value> {
    let field_of = |value: &Value| match value {
        Value::Record(fields) => Value::Record(vec![fields[at].clone()]),
        other => panic!("{other:?}"),
    };
    records.iter().map(field_of).collect()
}

/// A list of records of numbers alone, with numbers in a record within.
fn numbers() -> Schema {
    let name = |name: &str| Name { original: name.into(), legal: name.into() };
    let field = |called: &str, id, element, cardinality, integer| {
        let mut field = Field {
            name: name(called),
            id,
            element,
            cardinality,
            union: None,
            default: None,
            wire: Default::default(),
        };
        field.wire.integer = integer;
        field
    };
    let number = |called, id, scalar, integer| {
        field(called, id, Element::Scalar(scalar), Cardinality::Optional, integer)
    };
    let record = |called, fields| {
        TypeDef::Record(Record { name: name(called), fields, role: Default::default() })
    };
    let (varint, zigzag) = (IntegerEncoding::Varint, IntegerEncoding::Zigzag);
    let place = vec![number("x", 1, Scalar::F64, varint), number("y", 2, Scalar::F32, varint)];
    let row = vec![
        number("id", 1, Scalar::U64, varint),
        number("is_seen", 2, Scalar::Bool, varint),
        field("place", 3, Element::Record(0), Cardinality::Optional, varint),
        number("kind", 4, Scalar::I32, zigzag),
        number("time", 500, Scalar::U32, IntegerEncoding::Fixed),
    ];
    let rows = Cardinality::List { bound: None };
    let root = vec![field("rows", 9, Element::Record(1), rows, varint)];
    let types = vec![record("place", place), record("row", row), record("root", root)];
    Schema { types, root: 2, small_array: 0, wording: Default::default() }
}

/// The values of `kind` in a message of these rows.
fn kinds(messages: &[Vec<u8>]) -> Vec<Value> {
    let plan = ColumnPlan::elements(&numbers(), Wire::Protobuf, "rows", &["kind".into()]).unwrap();
    let kind_of = |row: Value| match row {
        Value::Record(mut fields) => fields.remove(0),
        other => panic!("{other:?}"),
    };
    read(plan, messages).into_iter().map(kind_of).collect()
}

/// Rows as they are written in Protobuf, with their tag and length.
fn write_rows(rows: &[&[u8]]) -> Vec<u8> {
    let rows = rows.iter().flat_map(|row| [&[0x4a, row.len() as u8], *row].concat());
    rows.collect()
}

/// Each pair differs in how long its first field is, which is not read. The bytes behind it are
/// the same, but are other fields.
#[test]
fn rows_of_one_length_are_not_taken_for_alike() {
    let number: [&[u8]; 2] = [
        &[0x08, 0x85, 0x20, 0x20, 0x35, 0x30, 0x01, 0x30, 0x01],
        &[0x08, 0x05, 0x20, 0x20, 0x35, 0x30, 0x01, 0x30, 0x01],
    ];
    let text: [&[u8]; 2] = [
        &[0x52, 0x03, 0x20, 0x04, 0x35, 0x20, 0x02, 0x30, 0x01],
        &[0x52, 0x00, 0x20, 0x04, 0x35, 0x20, 0x02, 0x30, 0x01],
    ];
    let tag: [&[u8]; 2] = [
        &[0x55, 0x01, 0x20, 0x04, 0x35, 0x20, 0x02, 0x30, 0x01],
        &[0x50, 0x01, 0x20, 0x04, 0x35, 0x20, 0x02, 0x30, 0x01],
    ];
    for [first, second] in [number, text, tag] {
        let alone = |row| kinds(&[write_rows(&[row])]);
        assert_ne!(alone(first), alone(second));
        let wanted = [alone(first), alone(second), alone(first)].concat();
        let (one, both) = (write_rows(&[first]), write_rows(&[second, first]));
        assert_eq!(kinds(&[one, both]), wanted, "{first:02x?}, {second:02x?}");
    }
}

/// The first tag in a group could be the length of as many fields.
#[test]
fn a_group_is_not_taken_for_a_record_behind_its_length() {
    let group = [0x4b, 0x08, 0x08, 0x10, 0x10, 0x20, 0x20, 0x30, 0x30, 0x4c];
    assert_eq!(kinds(&[group.repeat(2)]), vec![Value::Signed(16); 2]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Long runs of them, with others between: absent fields, numbers of other lengths.
    #[test]
    fn elements_that_are_written_alike(
        runs in prop::collection::vec((0..6u8, 0..9usize, any::<u64>(), 0..70u32), 1..9),
    ) {
        let schema = numbers();
        let rows = runs.iter().flat_map(|(absent, count, start, bits)| {
            (0..*count as u64).map(move |at| {
                let number = (start.wrapping_add(at)) >> (bits % 64);
                let unless = |field, value| if *absent == field { Value::Absent } else { value };
                let place = vec![
                    unless(5, Value::F64(number as f64 * 0.5)),
                    Value::F32(at as f32),
                ];
                Value::Record(vec![
                    unless(0, Value::Unsigned(number)),
                    unless(1, Value::Bool(number.is_multiple_of(3))),
                    unless(2, Value::Record(place)),
                    unless(3, Value::Signed(number as i32 as i64)),
                    unless(4, Value::Unsigned(number as u32 as u64)),
                ])
            })
        });
        let rows: Vec<Value> = rows.collect();
        // What one message was written like is kept for the next.
        let (first, second) = rows.split_at(rows.len() / 2);
        let values = [first, second].map(|rows| Value::Record(vec![Value::List(rows.to_vec())]));
        let messages = values.each_ref().map(|value| write(&schema, value, Wire::Protobuf, false));
        check_elements(&schema, Wire::Protobuf, &messages, &values);
    }

    #[test]
    fn cdr(schema in schema(Wire::Cdr), seed in 0..1_000_000_u64, big_endian: bool) {
        check(&schema, Wire::Cdr, seed, big_endian);
    }

    #[test]
    fn ros1(schema in schema(Wire::Ros1), seed in 0..1_000_000_u64) {
        check(&schema, Wire::Ros1, seed, false);
    }

    #[test]
    fn protobuf(schema in schema(Wire::Protobuf), seed in 0..1_000_000_u64) {
        check(&schema, Wire::Protobuf, seed, false);
    }
}
