//! Leaving out of a schema what a set of messages never uses.
//!
//! A standard like OSI defines thousands of fields of which a recording uses a
//! few. Codecs are compared on those: not every format has a way to skip the
//! others for free, and generated code for all of them says nothing.

use crate::assemble::reachable;
use crate::model::{Cardinality, Element, Schema, TypeDef, TypeId};
use crate::value::Value;

/// Leaves out optional fields that are absent, lists that are empty and
/// implicit fields that are zero or empty in every one of the values, which
/// must fit the schema.
///
/// Every record that had fields keeps one at least. A union with one member
/// left is no union any more. Returns the smaller schema, the values in it, and
/// the fields left out of the records that remain, as `osi3.SensorView.version`.
pub fn prune(schema: &Schema, values: &[Value]) -> (Schema, Vec<Value>, Vec<String>) {
    let mut keep: Vec<Vec<bool>> = schema
        .types
        .iter()
        .map(|def| match def {
            TypeDef::Record(record) => record
                .fields
                .iter()
                .map(|f| matches!(f.cardinality, Cardinality::Required | Cardinality::Array { .. }))
                .collect(),
            TypeDef::Enum(_) => Vec::new(),
        })
        .collect();
    for value in values {
        mark(schema, schema.root, value, &mut keep);
    }
    for (id, record) in schema.records() {
        if !keep[id].contains(&true) && !record.fields.is_empty() {
            // A field that is no record brings no further types along.
            let plain = |element| !matches!(element, Element::Record(_));
            let first = record.fields.iter().position(|f| plain(f.element)).unwrap_or(0);
            keep[id][first] = true;
        }
    }

    let values = values.iter().map(|v| map_record(schema, schema.root, v, &keep)).collect();
    let mut types = schema.types.clone();
    let mut removed = vec![Vec::new(); types.len()];
    for (id, def) in types.iter_mut().enumerate() {
        let TypeDef::Record(record) = def else { continue };
        let name = &record.name.original;
        let mut kept = keep[id].iter();
        record.fields.retain(|field| {
            let stays = kept.next() == Some(&true);
            if !stays {
                removed[id].push(format!("{name}.{}", field.name.original));
            }
            stays
        });
        let unions: Vec<Option<String>> = record.fields.iter().map(|f| f.union.clone()).collect();
        for field in &mut record.fields {
            if unions.iter().filter(|union| **union == field.union).count() == 1 {
                field.union = None;
            }
        }
    }
    let pruned = reachable(types, schema.root);
    let remains =
        |id: usize| pruned.records().any(|(_, record)| record.name == schema.record(id).name);
    let removed = schema
        .records()
        .filter(|(id, _)| remains(*id))
        .flat_map(|(id, _)| removed[id].clone())
        .collect();
    (pruned, values, removed)
}

/// Marks the fields that occur in a record and below it.
fn mark(schema: &Schema, id: TypeId, value: &Value, keep: &mut [Vec<bool>]) {
    let Value::Record(values) = value else { return };
    for (index, (field, value)) in schema.record(id).fields.iter().zip(values).enumerate() {
        let occurs = match (field.cardinality, value) {
            (Cardinality::List { .. }, Value::List(values)) => !values.is_empty(),
            (_, Value::Absent) => false,
            (Cardinality::Implicit, value) => *value != Value::empty_field(schema, field),
            _ => true,
        };
        if !occurs {
            continue;
        }
        keep[id][index] = true;
        if let Element::Record(inner) = field.element {
            match value {
                Value::List(values) => values.iter().for_each(|v| mark(schema, inner, v, keep)),
                value => mark(schema, inner, value, keep),
            }
        }
    }
}

/// The record without the fields that are not kept.
fn map_record(schema: &Schema, id: TypeId, value: &Value, keep: &[Vec<bool>]) -> Value {
    let Value::Record(values) = value else { return value.clone() };
    let fields = schema.record(id).fields.iter().zip(values).zip(&keep[id]);
    let kept =
        fields.filter(|(_, keep)| **keep).map(|((field, value), _)| match (field.element, value) {
            (Element::Record(inner), Value::List(values)) => {
                Value::List(values.iter().map(|v| map_record(schema, inner, v, keep)).collect())
            }
            (Element::Record(inner), value) => map_record(schema, inner, value, keep),
            (_, value) => value.clone(),
        });
    Value::Record(kept.collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{arbitrary, canonical, proto};

    #[test]
    fn unused_fields_and_types_disappear() {
        let text = "syntax = \"proto2\"; package p;
            message Root { optional int32 a = 1; optional Unused b = 2; repeated Used c = 3;
                oneof o { int32 d = 4; int32 e = 5; } }
            message Unused { optional int32 x = 1; }
            message Used { optional int32 y = 1; optional int32 z = 2; }";
        let schema = proto::read_texts(&[("a.proto", text)], None).unwrap();
        let used = Value::Record(vec![Value::Absent, Value::Absent]);
        let value = Value::Record(vec![
            Value::Absent,
            Value::Absent,
            Value::List(vec![used]),
            Value::Absent,
            Value::Signed(3),
        ]);
        let (pruned, values, removed) = prune(&schema, &[value]);
        assert_eq!(removed, ["p.Used.z", "p.Root.a", "p.Root.b", "p.Root.d"]);
        assert_eq!(pruned.types.len(), 2);
        assert_eq!(pruned.root().fields.len(), 2);
        assert_eq!(pruned.root().fields[1].union, None, "one member is no union");
        canonical::encode(&pruned, &values[0]).unwrap();
    }

    #[test]
    fn zero_is_what_an_implicit_field_is_left_out_for() {
        let text = "syntax = \"proto3\"; message A { int32 a = 1; string b = 2; bool c = 3; }";
        let schema = proto::read_texts(&[("a.proto", text)], None).unwrap();
        let value =
            |a| Value::Record(vec![Value::Signed(a), Value::String("".into()), Value::Bool(false)]);
        let (pruned, values, removed) = prune(&schema, &[value(0), value(1)]);
        assert_eq!(removed, ["A.b", "A.c"]);
        assert_eq!(pruned.root().fields[0].id, 1);
        assert_eq!(values[1], Value::Record(vec![Value::Signed(1)]));
        let (pruned, _, _) = prune(&schema, &[value(0)]);
        assert_eq!(pruned.root().fields.len(), 1, "one field stays");
    }

    proptest! {
        #[test]
        fn pruned_values_fit_the_pruned_schema((schema, value) in arbitrary::message()) {
            let (pruned, values, _) = prune(&schema, &[value]);
            let bytes = canonical::encode(&pruned, &values[0]).unwrap();
            prop_assert_eq!(&canonical::decode(&pruned, &bytes).unwrap(), &values[0]);
            let (again, _, removed) = prune(&pruned, &values);
            prop_assert_eq!(removed, Vec::<String>::new());
            prop_assert_eq!(again, pruned);
        }
    }
}
