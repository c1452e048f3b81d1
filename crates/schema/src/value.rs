//! A message's content without its compiled type.

use std::cmp::Ordering;

use crate::model::{Cardinality, Element, Field, Scalar, Schema, TypeId};

/// A value of some field, list or record.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A truth value.
    Bool(bool),
    /// An unsigned integer.
    Unsigned(u64),
    /// A signed integer, or an enum's number.
    Signed(i64),
    /// A single-precision float.
    F32(f32),
    /// A double-precision float.
    F64(f64),
    /// Text.
    String(String),
    /// Octets.
    Bytes(Vec<u8>),
    /// A record's fields, in order.
    Record(Vec<Value>),
    /// The elements of a list or of a fixed array.
    List(Vec<Value>),
    /// An optional field that is not there.
    Absent,
}

impl Value {
    /// The zero of a scalar.
    pub fn zero(scalar: Scalar) -> Value {
        match scalar {
            Scalar::Bool => Value::Bool(false),
            Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64 => Value::Unsigned(0),
            Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64 => Value::Signed(0),
            Scalar::F32 => Value::F32(0.0),
            Scalar::F64 => Value::F64(0.0),
        }
    }

    /// An element with nothing set: zero, empty, absent.
    pub fn empty_element(schema: &Schema, element: Element) -> Value {
        match element {
            Element::String => Value::String(String::new()),
            Element::Bytes => Value::Bytes(Vec::new()),
            Element::Record(id) => Value::empty_record(schema, id),
            Element::Scalar(scalar) => Value::zero(scalar),
            Element::Enum(id) => Value::zero(schema.enumeration(id).repr),
        }
    }

    /// A field with nothing set.
    pub fn empty_field(schema: &Schema, field: &Field) -> Value {
        match field.cardinality {
            Cardinality::Required | Cardinality::Implicit => {
                Value::empty_element(schema, field.element)
            }
            Cardinality::Optional => Value::Absent,
            Cardinality::List { .. } => Value::List(Vec::new()),
            Cardinality::Array { len } => {
                Value::List(vec![Value::empty_element(schema, field.element); len as usize])
            }
        }
    }

    /// The bytes that it takes in memory.
    pub fn memory(&self) -> u64 {
        let content = match self {
            Value::String(text) => text.len() as u64,
            Value::Bytes(bytes) => bytes.len() as u64,
            Value::Record(values) | Value::List(values) => values.iter().map(Value::memory).sum(),
            _ => 0,
        };
        size_of::<Value>() as u64 + content
    }

    /// The key of a map's entry: the first field of a record.
    pub fn map_key(&self) -> Option<&Value> {
        match self {
            Value::Record(values) => values.first(),
            _ => None,
        }
    }

    /// The order of a map's entries by their keys. Maps have none of their own,
    /// and with this one equal maps have equal canonical forms.
    pub fn compare_keys(&self, other: &Value) -> Ordering {
        match (self.map_key(), other.map_key()) {
            (Some(Value::Bool(a)), Some(Value::Bool(b))) => a.cmp(b),
            (Some(Value::Unsigned(a)), Some(Value::Unsigned(b))) => a.cmp(b),
            (Some(Value::Signed(a)), Some(Value::Signed(b))) => a.cmp(b),
            (Some(Value::String(a)), Some(Value::String(b))) => a.cmp(b),
            _ => Ordering::Equal,
        }
    }

    /// A record with nothing set.
    pub fn empty_record(schema: &Schema, id: TypeId) -> Value {
        let fields = &schema.record(id).fields;
        Value::Record(fields.iter().map(|f| Value::empty_field(schema, f)).collect())
    }
}
