//! Messages on the wires by the plainest code there is, from their values: what
//! all languages must write.

use wiregauge_data_holders::Wire;
use wiregauge_schema::{Cardinality, Element, Field, IntegerEncoding, Role, Schema, TypeId, Value};

/// The bytes of a message.
pub fn encode(schema: &Schema, value: &Value, wire: Wire) -> Vec<u8> {
    let mut out = Vec::new();
    record(schema, schema.root, value, wire, &mut out);
    out
}

fn align(out: &mut Vec<u8>, wire: Wire, to: usize) {
    out.resize(out.len().next_multiple_of(to.min(wire.alignment())), 0);
}

fn length(out: &mut Vec<u8>, wire: Wire, length: usize) {
    align(out, wire, 4);
    match wire {
        Wire::SomeIp => out.extend((length as u32).to_be_bytes()),
        _ => out.extend((length as u32).to_le_bytes()),
    }
}

/// What stands behind its length in bytes.
fn counted(bytes: &[u8], wire: Wire, out: &mut Vec<u8>) {
    length(out, wire, bytes.len());
    out.extend(bytes);
}

fn record(schema: &Schema, id: TypeId, value: &Value, wire: Wire, out: &mut Vec<u8>) {
    let Value::Record(values) = value else { panic!("a record") };
    let fields = &schema.record(id).fields;
    if fields.is_empty() && wire != Wire::RosMsg {
        out.push(0);
    }
    for (field, value) in fields.iter().zip(values) {
        self::field(schema, field, value, wire, out);
    }
}

fn field(schema: &Schema, field: &Field, value: &Value, wire: Wire, out: &mut Vec<u8>) {
    let one = |value: &Value, out: &mut Vec<u8>| element(schema, field.element, value, wire, out);
    let is_record = matches!(field.element, Element::Record(_));
    // Before lists and arrays of what is no number.
    let is_long = wire == Wire::Xcdr2 && !matches!(field.element, Element::Scalar(_));
    let sized = |inner: &dyn Fn(&mut Vec<u8>), out: &mut Vec<u8>| {
        if !is_long {
            return inner(out);
        }
        length(out, wire, 0);
        let start = out.len();
        inner(out);
        let size = (out.len() - start) as u32;
        out[start - 4..start].copy_from_slice(&size.to_le_bytes());
    };
    match (field.cardinality, value) {
        (Cardinality::Optional | Cardinality::List { .. }, value) if wire == Wire::SomeIp => {
            let mut all = Vec::new();
            match value {
                Value::Absent => {}
                Value::List(values) if field.cardinality != Cardinality::Optional => {
                    values.iter().for_each(|value| one(value, &mut all));
                }
                value => one(value, &mut all),
            }
            counted(&all, wire, out);
        }
        (Cardinality::Optional, Value::Absent) if wire == Wire::Xcdr2 => out.push(0),
        (Cardinality::Optional, value) if wire == Wire::Xcdr2 => {
            out.push(1);
            one(value, out);
        }
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
            let all = |out: &mut Vec<u8>| {
                length(out, wire, values.len());
                values.iter().for_each(|value| one(value, out));
            };
            sized(&all, out);
        }
        (Cardinality::Array { .. }, Value::List(values)) => {
            sized(&|out| values.iter().for_each(|value| one(value, out)), out);
        }
        (_, value) => one(value, out),
    }
}

fn element(schema: &Schema, element: Element, value: &Value, wire: Wire, out: &mut Vec<u8>) {
    match value {
        Value::String(text) if wire == Wire::SomeIp => {
            counted(&[b"\xef\xbb\xbf", text.as_bytes(), b"\0"].concat(), wire, out);
        }
        Value::String(text) => {
            let end: &[u8] = if wire != Wire::RosMsg { &[0] } else { &[] };
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
            let mut bytes = match number {
                Value::Bool(value) => u64::from(*value).to_le_bytes(),
                Value::Unsigned(value) => value.to_le_bytes(),
                Value::Signed(value) => value.to_le_bytes(),
                Value::F32(value) => u64::from(value.to_bits()).to_le_bytes(),
                Value::F64(value) => value.to_bits().to_le_bytes(),
                other => panic!("{other:?} is no number"),
            };
            if wire == Wire::SomeIp {
                bytes[..size].reverse();
            }
            out.extend(&bytes[..size]);
        }
    }
}

/// The bytes of a message on Protobuf's wire.
pub fn encode_protobuf(schema: &Schema, value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    tagged_record(schema, schema.root, value, &mut out);
    out
}

fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value > 0x7f {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn tagged_record(schema: &Schema, id: TypeId, value: &Value, out: &mut Vec<u8>) {
    let Value::Record(values) = value else { panic!("a record") };
    let record = schema.record(id);
    let mut fields: Vec<(&Field, &Value)> = record.fields.iter().zip(values).collect();
    fields.sort_by_key(|(field, _)| field.id);
    for (field, value) in fields {
        let is_empty = value == &Value::empty_element(schema, field.element);
        match (field.cardinality, value) {
            (Cardinality::Optional, Value::Absent) => {}
            (Cardinality::Implicit, _) if is_empty && record.role != Role::MapEntry => {}
            (_, Value::List(values)) => {
                let is_number = schema.scalar(field.element).is_some();
                if is_number && !field.wire.unpacked {
                    let mut block = Vec::new();
                    values.iter().for_each(|value| _ = number(field, value, &mut block));
                    if !block.is_empty() {
                        varint(u64::from(field.id) << 3 | 2, out);
                        varint(block.len() as u64, out);
                        out.extend(block);
                    }
                } else {
                    values.iter().for_each(|value| tagged_element(schema, field, value, out));
                }
            }
            (_, value) => tagged_element(schema, field, value, out),
        }
    }
}

fn tagged_element(schema: &Schema, field: &Field, value: &Value, out: &mut Vec<u8>) {
    let mut block = Vec::new();
    let kind = match (value, field.element) {
        (Value::String(text), _) => {
            varint(text.len() as u64, &mut block);
            block.extend(text.as_bytes());
            2
        }
        (Value::Bytes(bytes), _) => {
            varint(bytes.len() as u64, &mut block);
            block.extend(bytes);
            2
        }
        (Value::Record(_), Element::Record(id)) if field.wire.delimited => {
            tagged_record(schema, id, value, &mut block);
            varint(u64::from(field.id) << 3 | 4, &mut block);
            3
        }
        (Value::Record(_), Element::Record(id)) => {
            let mut inner = Vec::new();
            tagged_record(schema, id, value, &mut inner);
            varint(inner.len() as u64, &mut block);
            block.extend(inner);
            2
        }
        (value, _) => number(field, value, &mut block),
    };
    varint(u64::from(field.id) << 3 | kind, out);
    out.extend(block);
}

/// A number, and the kind of its end.
fn number(field: &Field, value: &Value, out: &mut Vec<u8>) -> u64 {
    let fixed = |bytes: &[u8], out: &mut Vec<u8>| {
        out.extend(bytes);
        if bytes.len() == 4 {
            5
        } else {
            1
        }
    };
    let size = match field.element {
        Element::Scalar(scalar) => scalar.size(),
        _ => 4,
    };
    match (value, field.wire.integer) {
        (Value::F32(value), _) => fixed(&value.to_le_bytes(), out),
        (Value::F64(value), _) => fixed(&value.to_le_bytes(), out),
        (Value::Bool(value), _) => {
            out.push(u8::from(*value));
            0
        }
        (Value::Unsigned(value), IntegerEncoding::Fixed) => {
            fixed(&value.to_le_bytes()[..size], out)
        }
        (Value::Signed(value), IntegerEncoding::Fixed) => fixed(&value.to_le_bytes()[..size], out),
        (Value::Signed(value), IntegerEncoding::Zigzag) => {
            let value = i128::from(*value);
            varint(if value < 0 { -2 * value - 1 } else { 2 * value } as u64, out);
            0
        }
        (Value::Unsigned(value), _) => {
            varint(*value, out);
            0
        }
        (Value::Signed(value), _) => {
            varint(*value as u64, out);
            0
        }
        (other, _) => panic!("{other:?} is no number"),
    }
}
