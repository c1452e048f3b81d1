//! Every value of a message comes back from its columns.

use std::sync::Arc;

use proptest::prelude::*;
use wiregauge_columns::{ColumnPlan, ColumnReader, Wire};
use wiregauge_schema::{Cardinality, Element, Schema, Value};

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
        let field_of = |value: &Value| match value {
            Value::Record(fields) => Value::Record(vec![fields[at].clone()]),
            other => panic!("{other:?}"),
        };
        let wanted: Vec<Value> = values.iter().map(field_of).collect();
        assert_same(&alone, &wanted);
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
        let plan = ColumnPlan::elements(schema, wire, &field.name.original, &[]).unwrap();
        let wanted = values.iter().flat_map(|value| match value {
            Value::Record(fields) => match &fields[at] {
                Value::List(elements) => elements.clone(),
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        });
        assert_same(&read(plan, messages), &wanted.collect::<Vec<_>>());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

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
