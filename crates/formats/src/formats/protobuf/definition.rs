//! `message.proto`: what a message is called and made of in Protobuf's own language.

use wiregauge_normalized::{File, SourceWriter};
use wiregauge_schema::{Cardinality, Element, Field, IntegerEncoding, Scalar, Schema};

use crate::flattened_field;

/// Whether a repeated field is carried as `bytes`: octets have no type of
/// their own, and a varint each would be what no author wants.
pub(in crate::formats) fn as_bytes(field: &Field) -> bool {
    field.repeats_octets()
}

/// The Protobuf type that carries a scalar.
pub(super) fn scalar_type(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Bool => "bool",
        Scalar::U8 | Scalar::U16 | Scalar::U32 => "uint32",
        Scalar::U64 => "uint64",
        Scalar::I8 | Scalar::I16 | Scalar::I32 => "int32",
        Scalar::I64 => "int64",
        Scalar::F32 => "float",
        Scalar::F64 => "double",
    }
}

/// The Protobuf type of one element of a field.
pub(super) fn element_type<'a>(schema: &'a Schema, field: &Field) -> &'a str {
    match field.element {
        Element::String => "string",
        Element::Bytes => "bytes",
        Element::Record(id) => &schema.record(id).name.legal,
        other => {
            let plain = scalar_type(schema.scalar(other).expect("a number"));
            match (field.wire.integer, plain) {
                (IntegerEncoding::Zigzag, "int32") => "sint32",
                (IntegerEncoding::Zigzag, "int64") => "sint64",
                (IntegerEncoding::Fixed, "int32") => "sfixed32",
                (IntegerEncoding::Fixed, "int64") => "sfixed64",
                (IntegerEncoding::Fixed, "uint32") => "fixed32",
                (IntegerEncoding::Fixed, "uint64") => "fixed64",
                _ => plain,
            }
        }
    }
}

/// Whether a field's value is there without being looked for. A message field
/// has presence by nature.
pub(super) fn is_plain(field: &Field) -> bool {
    matches!(field.cardinality, Cardinality::Required | Cardinality::Implicit)
        && !matches!(field.element, Element::Record(_))
}

/// Which Protobuf a definition is written in.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Syntax {
    Proto3,
    /// With `optional` alone: a field that is not optional has its zero as its
    /// default, so that the bytes may be those of proto3.
    Proto2,
}

/// `message.proto`, package `wg`.
pub(super) fn definition(schema: &Schema, syntax: Syntax) -> File {
    let mut code = SourceWriter::new();
    head("wg", syntax, &mut code);
    messages(schema, syntax, &mut code);
    File::new("message.proto", code.finish())
}

pub(super) fn head(package: &str, syntax: Syntax, code: &mut SourceWriter) {
    let number = if syntax == Syntax::Proto3 { 3 } else { 2 };
    code.line(format!("syntax = \"proto{number}\";"));
    code.line(format!("package {package};"));
}

pub(super) fn messages(schema: &Schema, syntax: Syntax, code: &mut SourceWriter) {
    for (_, record) in schema.records() {
        code.line("");
        code.block(format!("message {} {{", record.name.legal), "}", |code| {
            for slot in flattened_field::flatten_fields(schema, record) {
                code.line(member(schema, &slot.field, syntax));
            }
        });
    }
}

/// The line of a field.
fn member(schema: &Schema, field: &Field, syntax: Syntax) -> String {
    let (name, number) = (&field.name.legal, field.id);
    let element = if as_bytes(field) { "bytes" } else { element_type(schema, field) };
    let is_record = matches!(field.element, Element::Record(_));
    let label = match field.cardinality {
        Cardinality::List { .. } | Cardinality::Array { .. } if !as_bytes(field) => "repeated ",
        // A message field has presence by nature.
        Cardinality::Optional if !is_record => "optional ",
        _ if syntax == Syntax::Proto2 => "optional ",
        _ => "",
    };
    let is_list = label == "repeated " && schema.scalar(field.element).is_some();
    let option = match syntax {
        Syntax::Proto3 if field.wire.unpacked => " [packed = false]",
        Syntax::Proto2 if is_list && !field.wire.unpacked => " [packed = true]",
        Syntax::Proto2 if as_bytes(field) || is_plain(field) => match element {
            "bytes" | "string" => " [default = \"\"]",
            "bool" => " [default = false]",
            _ => " [default = 0]",
        },
        _ => "",
    };
    format!("{label}{element} {name} = {number}{option};")
}
