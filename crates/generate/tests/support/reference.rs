//! Messages on the wires by the plainest code there is, from their values: what
//! all languages must write.

use wiregauge_generate::Wire;
use wiregauge_schema::{Cardinality, Element, Field, Schema, TypeId, Value};

/// The bytes of a message.
pub fn encode(schema: &Schema, value: &Value, wire: Wire) -> Vec<u8> {
    let mut out = Vec::new();
    record(schema, schema.root, value, wire, &mut out);
    out
}

fn align(out: &mut Vec<u8>, wire: Wire, to: usize) {
    if wire == Wire::Cdr {
        out.resize(out.len().next_multiple_of(to), 0);
    }
}

fn length(out: &mut Vec<u8>, wire: Wire, length: usize) {
    align(out, wire, 4);
    out.extend((length as u32).to_le_bytes());
}

fn record(schema: &Schema, id: TypeId, value: &Value, wire: Wire, out: &mut Vec<u8>) {
    let Value::Record(values) = value else { panic!("a record") };
    let fields = &schema.record(id).fields;
    if fields.is_empty() && wire == Wire::Cdr {
        out.push(0);
    }
    for (field, value) in fields.iter().zip(values) {
        self::field(schema, field, value, wire, out);
    }
}

fn field(schema: &Schema, field: &Field, value: &Value, wire: Wire, out: &mut Vec<u8>) {
    let one = |value: &Value, out: &mut Vec<u8>| element(schema, field.element, value, wire, out);
    let is_record = matches!(field.element, Element::Record(_));
    match (field.cardinality, value) {
        (Cardinality::Optional, Value::Absent) if is_record => length(out, wire, 0),
        (Cardinality::Optional, value) if is_record => {
            length(out, wire, 1);
            one(value, out);
        }
        (Cardinality::Optional, Value::Absent) => {
            out.push(0);
            one(&Value::empty_element(schema, field.element), out);
        }
        (Cardinality::Optional, value) => {
            out.push(1);
            one(value, out);
        }
        (Cardinality::List { .. }, Value::List(values)) => {
            length(out, wire, values.len());
            values.iter().for_each(|value| one(value, out));
        }
        (Cardinality::Array { .. }, Value::List(values)) => {
            values.iter().for_each(|value| one(value, out));
        }
        (_, value) => one(value, out),
    }
}

fn element(schema: &Schema, element: Element, value: &Value, wire: Wire, out: &mut Vec<u8>) {
    match value {
        Value::String(text) => {
            let end: &[u8] = if wire == Wire::Cdr { &[0] } else { &[] };
            length(out, wire, text.len() + end.len());
            out.extend(text.as_bytes());
            out.extend(end);
        }
        Value::Bytes(bytes) => {
            length(out, wire, bytes.len());
            out.extend(bytes);
        }
        Value::Record(_) => {
            let Element::Record(id) = element else { panic!("a record") };
            record(schema, id, value, wire, out);
        }
        number => {
            let size = schema.scalar(element).expect("a number").size();
            align(out, wire, size);
            let bytes = match number {
                Value::Bool(value) => u64::from(*value).to_le_bytes(),
                Value::Unsigned(value) => value.to_le_bytes(),
                Value::Signed(value) => value.to_le_bytes(),
                Value::F32(value) => u64::from(value.to_bits()).to_le_bytes(),
                Value::F64(value) => value.to_bits().to_le_bytes(),
                other => panic!("{other:?} is no number"),
            };
            out.extend(&bytes[..size]);
        }
    }
}
