//! What the reading experiments must find, from the value itself.

use crate::model::{Element, Schema};
use crate::path::{ElementIndex, PathStep};
use crate::value::Value;

/// Every number of a value as `f64`, summed; text and octets count with their
/// length, a truth value as 0 or 1, what is absent not at all.
pub fn sum_numbers(value: &Value) -> f64 {
    match value {
        Value::Record(values) | Value::List(values) => values.iter().map(sum_numbers).sum(),
        Value::String(text) => text.len() as f64,
        Value::Bytes(bytes) => bytes.len() as f64,
        Value::Absent => 0.0,
        scalar => number(scalar),
    }
}

/// The number at a path; 0 where something on the way is not there.
pub fn number_at(schema: &Schema, value: &Value, path: &[PathStep]) -> f64 {
    let mut value = value;
    let mut id = schema.root;
    for step in path {
        let Value::Record(fields) = value else { return 0.0 };
        value = &fields[step.field];
        if let Value::List(values) = value {
            let index = match step.index {
                ElementIndex::At(index) => index as usize,
                ElementIndex::Single | ElementIndex::Middle => values.len() / 2,
            };
            match values.get(index) {
                Some(element) => value = element,
                None => return 0.0,
            }
        }
        if let Element::Record(inner) = schema.record(id).fields[step.field].element {
            id = inner;
        }
    }
    number(value)
}

/// Length of the list whose middle element a path goes to, the outermost where there are
/// several; none where there is no list on the way.
pub fn list_length(value: &Value, path: &[PathStep]) -> Option<usize> {
    let mut value = value;
    for step in path {
        let Value::Record(fields) = value else { return None };
        match (fields.get(step.field)?, step.index) {
            (Value::List(values), ElementIndex::Middle) => return Some(values.len()),
            (Value::List(values), ElementIndex::At(index)) => value = values.get(index as usize)?,
            (inner, _) => value = inner,
        }
    }
    None
}

fn number(value: &Value) -> f64 {
    match value {
        Value::Bool(v) => f64::from(u8::from(*v)),
        Value::Unsigned(v) => *v as f64,
        Value::Signed(v) => *v as f64,
        Value::F32(v) => f64::from(*v),
        Value::F64(v) => *v,
        _ => 0.0,
    }
}
