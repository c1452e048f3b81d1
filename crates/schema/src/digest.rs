//! What the reading experiments must find, exactly: how many numbers, and a hash
//! of all their bits that knows each by its field but not by its order.
//!
//! A record's hash is the wrapping sum, over its numbers, of
//!
//! ```text
//! mix(bits + (place + 1) * 0x9e3779b97f4a7c15)
//! ```
//!
//! where `place` is the field's place in the record from 0, `bits` are those of
//! the number at its own width with zeros above, of a text or octets its length,
//! of a record inside its hash, and `mix` is the finalizer of SplitMix64. What is
//! absent adds nothing. Runners compute the same (docs/runner-protocol.md).

use crate::model::{Element, Scalar, Schema, TypeId};
use crate::path::{ElementIndex, PathStep};
use crate::value::Value;

/// Numbers that were read: how many, and their hash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Digest {
    /// Numbers and lengths.
    pub count: u64,
    /// The hash.
    pub hash: u64,
}

impl Digest {
    fn add(&mut self, place: usize, bits: u64) {
        let place = (place as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.hash = self.hash.wrapping_add(mix(bits.wrapping_add(place)));
    }

    fn number(&mut self, place: usize, bits: u64) {
        self.count += 1;
        self.add(place, bits);
    }
}

/// All numbers of a message.
pub fn digest_message(schema: &Schema, value: &Value) -> Digest {
    record(schema, schema.root, value)
}

/// The number at a path, as one of the first field; empty where it is not there.
pub fn digest_path(schema: &Schema, value: &Value, path: &[PathStep]) -> Digest {
    let mut digest = Digest::default();
    if let Some((element, value)) = find(schema, value, path) {
        digest.number(0, bits(schema, element, value));
    }
    digest
}

fn find<'v>(schema: &Schema, value: &'v Value, path: &[PathStep]) -> Option<(Element, &'v Value)> {
    let (mut value, mut element) = (value, Element::Record(schema.root));
    for step in path {
        let (Value::Record(fields), Element::Record(id)) = (value, element) else { return None };
        value = &fields[step.field];
        element = schema.record(id).fields[step.field].element;
        if let Value::List(values) = value {
            value = match step.index {
                ElementIndex::At(index) => values.get(index as usize)?,
                ElementIndex::Single | ElementIndex::Middle => values.get(values.len() / 2)?,
            };
        }
    }
    (*value != Value::Absent).then_some((element, value))
}

fn record(schema: &Schema, id: TypeId, value: &Value) -> Digest {
    let mut digest = Digest::default();
    let Value::Record(values) = value else { return digest };
    for (place, (field, value)) in schema.record(id).fields.iter().zip(values).enumerate() {
        let mut add = |value: &Value| match (field.element, value) {
            (_, Value::Absent) => {}
            (Element::Record(inner), value) => {
                let inner = record(schema, inner, value);
                digest.count += inner.count;
                digest.add(place, inner.hash);
            }
            (element, value) => digest.number(place, bits(schema, element, value)),
        };
        match value {
            Value::List(values) => values.iter().for_each(add),
            value => add(value),
        }
    }
    digest
}

fn bits(schema: &Schema, element: Element, value: &Value) -> u64 {
    match value {
        Value::Bool(v) => u64::from(*v),
        Value::Unsigned(v) => *v,
        Value::Signed(v) => match schema.scalar(element) {
            Some(Scalar::I8) => u64::from(*v as u8),
            Some(Scalar::I16) => u64::from(*v as u16),
            Some(Scalar::I32) => u64::from(*v as u32),
            _ => *v as u64,
        },
        Value::F32(v) => u64::from(v.to_bits()),
        Value::F64(v) => v.to_bits(),
        Value::String(text) => text.len() as u64,
        Value::Bytes(bytes) => bytes.len() as u64,
        Value::Record(_) | Value::List(_) | Value::Absent => 0,
    }
}

/// The finalizer of SplitMix64.
fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}
