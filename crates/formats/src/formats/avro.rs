//! Avro: what the format can express and its definition (JSON, one file, namespace
//! `wg`). The codecs of its libraries are in the folder beside.
//!
//! The definition is a list of records, each after those that it uses; the message is
//! the last.

mod java;
mod python;

use anyhow::Result;
use wiregauge_normalized::File;
use wiregauge_schema::{Cardinality, Element, Field, Record, Scalar, Schema, TypeDef, TypeId};

use crate::codec::Support;
use crate::flattened_field;
use crate::lowering::{self, Lowering};

/// Whether a list or an array of numbers is carried as `bytes`: Avro has no octets, and
/// an `int` each would take two bytes for half of them.
fn is_octets(field: &Field) -> bool {
    field.repeats_octets()
}

/// The Avro type that carries a scalar.
fn scalar_type(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Bool => "boolean",
        Scalar::U8 | Scalar::U16 | Scalar::I8 | Scalar::I16 | Scalar::I32 => "int",
        Scalar::U32 | Scalar::U64 | Scalar::I64 => "long",
        Scalar::F32 => "float",
        Scalar::F64 => "double",
    }
}

fn check_type(schema: &Schema, id: TypeId) -> Support {
    let TypeDef::Record(record) = &schema.types[id] else {
        let why = "Avro's own enums are counted from zero and hold no other number";
        return Support::lowered(vec![Lowering::enumeration().and(why)]);
    };
    let mut lowerings = lowering::unions_and_bounds(record);
    for slot in flattened_field::flatten_fields(schema, record) {
        let field = &slot.field;
        if slot.number.is_some() {
            lowerings.push(Lowering::spread());
        }
        if is_octets(field) {
            lowerings.push(Lowering::octets("bytes"));
        } else if let Some(scalar) = schema.scalar(field.element) {
            lowerings.extend(widened(scalar));
        }
        if let Cardinality::Array { .. } = field.cardinality {
            lowerings.push(Lowering::fixed_array());
        }
    }
    Support::lowered(lowerings)
}

fn widened(scalar: Scalar) -> Option<Lowering> {
    match scalar {
        Scalar::U64 => Some(Lowering::as_signed(scalar, "long")),
        Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::I8 | Scalar::I16 => {
            Some(Lowering::widened(scalar, scalar_type(scalar)).and("a varint each"))
        }
        _ => None,
    }
}

/// `message.avsc`.
fn idl(schema: &Schema) -> Result<File> {
    let records: Vec<String> =
        schema.records().map(|(_, record)| definition(schema, record)).collect();
    Ok(File::new("message.avsc", format!("[\n{}\n]\n", records.join(",\n"))))
}

fn definition(schema: &Schema, record: &Record) -> String {
    let slots = flattened_field::flatten_fields(schema, record);
    let fields: Vec<String> = slots
        .iter()
        .map(|slot| {
            let (name, of) = (&slot.field.name.legal, field_type(schema, &slot.field));
            format!("    {{\"name\": \"{name}\", \"type\": {of}}}")
        })
        .collect();
    format!("  {{{}, \"fields\": [\n{}\n  ]}}", record_head(record), fields.join(",\n"))
}

/// What stands before the fields of a record.
fn record_head(record: &Record) -> String {
    format!("\"type\": \"record\", \"name\": \"{}\", \"namespace\": \"wg\"", record.name.legal)
}

fn field_type(schema: &Schema, field: &Field) -> String {
    let one = match field.element {
        Element::String => "string",
        Element::Bytes => "bytes",
        Element::Record(id) => &record_type(schema, id),
        number => scalar_type(schema.scalar(number).expect("a number")),
    };
    repeated_type(field, &format!("\"{one}\""))
}

/// The type of a field that has one value of this type, none, or many.
fn repeated_type(field: &Field, one: &str) -> String {
    match field.cardinality {
        _ if is_octets(field) => "\"bytes\"".into(),
        Cardinality::Required | Cardinality::Implicit => one.to_owned(),
        Cardinality::Optional => format!("[\"null\", {one}]"),
        Cardinality::List { .. } | Cardinality::Array { .. } => {
            format!("{{\"type\": \"array\", \"items\": {one}}}")
        }
    }
}

/// A record's full name.
fn record_type(schema: &Schema, id: TypeId) -> String {
    format!("wg.{}", schema.record(id).name.legal)
}
