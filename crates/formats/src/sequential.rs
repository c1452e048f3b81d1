//! Formats that write one field after another, without tags, offsets or
//! presence: how optional fields are said there.
//!
//! An optional record becomes a list of none or one; any other option a flag and
//! the value, which is zero or empty where it is absent.

use wiregauge_schema::{Cardinality, Element, Field, Record, Scalar};

use crate::lowering::Lowering;

/// What formats of this kind make of a record's optional fields.
pub fn lowerings(record: &Record) -> impl Iterator<Item = Lowering> + '_ {
    let is_optional = |field: &&Field| field.cardinality == Cardinality::Optional;
    record.fields.iter().filter(is_optional).map(|field| match field.element {
        Element::Record(_) => Lowering::optional_record("list").and("four bytes each"),
        _ => Lowering::flagged("value").and("an absent value is paid for"),
    })
}

/// A number's type in a definition of ROS.
pub fn ros_number(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Bool => "bool",
        Scalar::U8 => "uint8",
        Scalar::U16 => "uint16",
        Scalar::U32 => "uint32",
        Scalar::U64 => "uint64",
        Scalar::I8 => "int8",
        Scalar::I16 => "int16",
        Scalar::I32 => "int32",
        Scalar::I64 => "int64",
        Scalar::F32 => "float32",
        Scalar::F64 => "float64",
    }
}

/// The name of the flag beside an optional value, unlike that of any field.
pub fn flag_name(record: &Record, field: &Field) -> String {
    let name = format!("has_{}", field.name.legal);
    match record.fields.iter().any(|other| other.name.legal == name) {
        false => name,
        // No legal name ends like this.
        true => name + "_",
    }
}
