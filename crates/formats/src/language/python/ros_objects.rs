//! Objects of ROS's libraries in Python: an optional record is a list of none or one there,
//! any other optional value stands behind its flag.

use wiregauge_schema::{Cardinality, Element, Field, Record, Scalar, TypeId};

use crate::flattened_field::FlattenedField;
use crate::language::python::message::PythonMessage;
use crate::sequential::flag_name;

/// The value of a field that is called `member`, in the object `at`.
pub fn get(at: &str, member: &str, field: &Field) -> String {
    match (field.cardinality, field.element) {
        (Cardinality::Optional, Element::Record(_)) => format!("{at}.{member}[0]"),
        _ => format!("{at}.{member}"),
    }
}

/// Whether an optional field that is called `member` is there.
pub fn is_present(at: &str, member: &str, record: &Record, field: &Field) -> String {
    match field.element {
        Element::Record(_) => format!("{at}.{member}"),
        _ => format!("{at}.{}", flag_name(record, field)),
    }
}

/// What stands for a value that is not there; for octets what the library holds them in.
pub fn absent_value(field: &Field, octets: &'static str) -> &'static str {
    match field.element {
        Element::Record(_) => "[]",
        Element::String => "\"\"",
        Element::Bytes => octets,
        Element::Scalar(Scalar::Bool) => "False",
        Element::Scalar(Scalar::F32 | Scalar::F64) => "0.0",
        _ => "0",
    }
}

/// What an object is made of, in order, of the values of a message `m`.
pub fn arguments(form: &PythonMessage, id: TypeId, values: &[(FlattenedField, String)]) -> String {
    let mut arguments = Vec::new();
    for (slot, value) in values {
        let is_flagged = slot.field.cardinality == Cardinality::Optional
            && !matches!(slot.field.element, Element::Record(_));
        if is_flagged {
            arguments.push(format!("m.{} is not None", form.member(id, slot.place)));
        }
        arguments.push(value.clone());
    }
    if arguments.is_empty() {
        arguments.push("0".into());
    }
    arguments.join(", ")
}
