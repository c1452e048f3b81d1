//! Writes messages.

use wiregauge_columns::Wire;
use wiregauge_schema::{
    Cardinality, Element, Field, IntegerEncoding, Role, Scalar, Schema, TypeId, Value,
};

/// A message as a wire has it. In CDR, `big_endian` says which byte comes first.
pub fn write(schema: &Schema, value: &Value, wire: Wire, big_endian: bool) -> Vec<u8> {
    match wire {
        Wire::Protobuf => {
            let mut out = Vec::new();
            protobuf_record(schema, schema.root, value, &mut out);
            out
        }
        Wire::Cdr => {
            let mut out = Sequential { out: Vec::new(), is_cdr: true, big_endian };
            out.record(schema, schema.root, value);
            [&[0, u8::from(!big_endian), 0, 0][..], &out.out].concat()
        }
        Wire::Ros1 => {
            let mut out = Sequential { out: Vec::new(), is_cdr: false, big_endian: false };
            out.record(schema, schema.root, value);
            out.out
        }
    }
}

struct Sequential {
    out: Vec<u8>,
    is_cdr: bool,
    big_endian: bool,
}

impl Sequential {
    fn record(&mut self, schema: &Schema, id: TypeId, value: &Value) {
        let Value::Record(values) = value else { panic!("{value:?}") };
        for (field, value) in schema.record(id).fields.iter().zip(values) {
            match (field.cardinality, value) {
                (Cardinality::List { .. }, Value::List(values)) => {
                    self.number(4, values.len() as u64);
                    values.iter().for_each(|value| self.element(schema, field.element, value));
                }
                (Cardinality::List { .. }, Value::Bytes(octets)) => {
                    self.number(4, octets.len() as u64);
                    self.out.extend(octets);
                }
                (Cardinality::Array { .. }, Value::List(values)) => {
                    values.iter().for_each(|value| self.element(schema, field.element, value));
                }
                (Cardinality::Array { .. }, Value::Bytes(octets)) => self.out.extend(octets),
                _ => self.element(schema, field.element, value),
            }
        }
    }

    fn element(&mut self, schema: &Schema, element: Element, value: &Value) {
        match (element, value) {
            (Element::Record(id), _) => self.record(schema, id, value),
            (_, Value::String(text)) => {
                self.number(4, text.len() as u64 + u64::from(self.is_cdr));
                self.out.extend(text.as_bytes());
                self.out.extend(self.is_cdr.then_some(0));
            }
            (_, Value::Bytes(bytes)) => {
                self.number(4, bytes.len() as u64);
                self.out.extend(bytes);
            }
            _ => {
                let size = schema.scalar(element).expect("a number").size();
                self.number(size, bits(value));
            }
        }
    }

    fn number(&mut self, size: usize, bits: u64) {
        if self.is_cdr {
            self.out.resize(self.out.len().next_multiple_of(size), 0);
        }
        let mut bytes = bits.to_le_bytes()[..size].to_vec();
        if self.big_endian {
            bytes.reverse();
        }
        self.out.extend(bytes);
    }
}

/// The bits of a number, extended by its sign.
fn bits(value: &Value) -> u64 {
    match value {
        Value::Bool(truth) => u64::from(*truth),
        Value::Unsigned(number) => *number,
        Value::Signed(number) => *number as u64,
        Value::F32(number) => u64::from(number.to_bits()),
        Value::F64(number) => number.to_bits(),
        other => panic!("{other:?}"),
    }
}

fn varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn tag(field: &Field, kind: u64, out: &mut Vec<u8>) {
    varint(u64::from(field.id) << 3 | kind, out);
}

/// The wire type of a field's numbers.
fn number_kind(schema: &Schema, field: &Field) -> u64 {
    let scalar = schema.scalar(field.element).expect("a number");
    match (scalar, field.wire.integer) {
        (Scalar::F32, _) => 5,
        (Scalar::F64, _) => 1,
        (Scalar::Bool, _) => 0,
        (scalar, IntegerEncoding::Fixed) => {
            if scalar.size() == 8 {
                1
            } else {
                5
            }
        }
        _ => 0,
    }
}

fn protobuf_number(schema: &Schema, field: &Field, value: &Value, out: &mut Vec<u8>) {
    let bits = bits(value);
    match number_kind(schema, field) {
        0 if field.wire.integer == IntegerEncoding::Zigzag
            && !matches!(field.element, Element::Scalar(Scalar::Bool)) =>
        {
            varint((bits << 1) ^ ((bits as i64 >> 63) as u64), out);
        }
        0 => varint(bits, out),
        1 => out.extend(bits.to_le_bytes()),
        _ => out.extend(&bits.to_le_bytes()[..4]),
    }
}

fn protobuf_record(schema: &Schema, id: TypeId, value: &Value, out: &mut Vec<u8>) {
    let Value::Record(values) = value else { panic!("{value:?}") };
    let record = schema.record(id);
    // Backwards every other time: fields may come in any order.
    let mut pairs: Vec<_> = record.fields.iter().zip(values).collect();
    if record.fields.len().is_multiple_of(2) && record.role != Role::MapEntry {
        pairs.reverse();
    }
    for (field, value) in pairs {
        match (field.cardinality, value) {
            (_, Value::Absent) => {}
            (Cardinality::List { .. }, Value::List(values)) => {
                let is_number = schema.scalar(field.element).is_some();
                if is_number && !field.wire.unpacked {
                    let mut inner = Vec::new();
                    for value in values {
                        protobuf_number(schema, field, value, &mut inner);
                    }
                    tag(field, 2, out);
                    varint(inner.len() as u64, out);
                    out.extend(inner);
                } else {
                    for value in values {
                        protobuf_element(schema, field, value, out);
                    }
                }
            }
            _ => protobuf_element(schema, field, value, out),
        }
    }
}

fn protobuf_element(schema: &Schema, field: &Field, value: &Value, out: &mut Vec<u8>) {
    match (field.element, value) {
        (Element::Record(id), _) if field.wire.delimited => {
            tag(field, 3, out);
            protobuf_record(schema, id, value, out);
            tag(field, 4, out);
        }
        (Element::Record(id), _) => {
            let mut inner = Vec::new();
            protobuf_record(schema, id, value, &mut inner);
            tag(field, 2, out);
            varint(inner.len() as u64, out);
            out.extend(inner);
        }
        (_, Value::String(text)) => {
            tag(field, 2, out);
            varint(text.len() as u64, out);
            out.extend(text.as_bytes());
        }
        (_, Value::Bytes(bytes)) => {
            tag(field, 2, out);
            varint(bytes.len() as u64, out);
            out.extend(bytes);
        }
        _ => {
            tag(field, number_kind(schema, field), out);
            protobuf_number(schema, field, value, out);
        }
    }
}
