//! Protobuf: what the format can express and its definition (proto3, one file,
//! package `wg`). The codecs of its libraries are in the folder beside.

mod cpp;
mod prost;
mod quick;

use anyhow::Result;
use wiregauge_schema::{Cardinality, Element, Field, Integer, Scalar, Schema, TypeDef, TypeId};

use crate::code::Code;
use crate::codec::{Answer, File, Lowering};

/// Whether a repeated field is carried as `bytes`: octets have no type of
/// their own, and a varint each would be what no author wants.
fn as_bytes(field: &Field) -> bool {
    field.element == Element::Scalar(Scalar::U8)
        && matches!(field.cardinality, Cardinality::List { .. } | Cardinality::Array { .. })
}

/// The Protobuf type that carries a scalar.
fn scalar_type(scalar: Scalar) -> &'static str {
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
fn element_type<'a>(schema: &'a Schema, field: &Field) -> &'a str {
    match field.element {
        Element::String => "string",
        Element::Bytes => "bytes",
        Element::Record(id) => &schema.record(id).name.legal,
        other => {
            let plain = scalar_type(schema.scalar(other).expect("a number"));
            match (field.wire.integer, plain) {
                (Integer::Zigzag, "int32") => "sint32",
                (Integer::Zigzag, "int64") => "sint64",
                (Integer::Fixed, "int32") => "sfixed32",
                (Integer::Fixed, "int64") => "sfixed64",
                (Integer::Fixed, "uint32") => "fixed32",
                (Integer::Fixed, "uint64") => "fixed64",
                _ => plain,
            }
        }
    }
}

fn answer(schema: &Schema, id: TypeId) -> Answer {
    let TypeDef::Record(record) = &schema.types[id] else {
        return Answer::lowered(vec![Lowering::new(
            "enum as an integer",
            "the names of the values; the bytes are the same",
        )]);
    };
    let mut lowerings = Vec::new();
    for field in &record.fields {
        if as_bytes(field) {
            lowerings.push(Lowering::new("list of u8 as bytes", "nothing"));
        } else if let Element::Scalar(
            scalar @ (Scalar::U8 | Scalar::U16 | Scalar::I8 | Scalar::I16),
        ) = field.element
        {
            let wide = scalar_type(scalar);
            lowerings.push(Lowering::new(
                format!("{} as {wide}", scalar.rust()),
                "the range is not enforced; a varint each",
            ));
        }
        if let Cardinality::Array { .. } = field.cardinality {
            lowerings.push(Lowering::new(
                "fixed array as a repeated field",
                "the length is not enforced",
            ));
        }
        if let Cardinality::List { bound: Some(_) } = field.cardinality {
            lowerings.push(Lowering::new(
                "bounded list as a repeated field",
                "the bound is not enforced",
            ));
        }
        if field.union.is_some() {
            lowerings.push(Lowering::new(
                "oneof as optional fields",
                "that at most one is set; the bytes are the same",
            ));
        }
    }
    Answer::lowered(lowerings)
}

/// A normalized Rust scalar as the Rust libraries hold it.
fn to_rust(schema: &Schema, field: &Field, value: &str) -> String {
    let scalar = schema.scalar(field.element).expect("a number");
    match (scalar, scalar_type(scalar)) {
        (Scalar::U8 | Scalar::U16, wide) | (Scalar::I8 | Scalar::I16, wide) => {
            format!("{}::from({value})", if wide == "uint32" { "u32" } else { "i32" })
        }
        _ => value.to_string(),
    }
}

/// A Rust library's scalar as the normalized form holds it.
fn from_rust(schema: &Schema, field: &Field, value: &str) -> String {
    match schema.scalar(field.element).expect("a number") {
        scalar @ (Scalar::U8 | Scalar::U16 | Scalar::I8 | Scalar::I16) => {
            format!("({value}) as {}", scalar.rust())
        }
        _ => value.to_string(),
    }
}

/// Whether the Rust libraries hold a scalar in the normalized form's type.
fn same_in_rust(schema: &Schema, field: &Field) -> bool {
    to_rust(schema, field, "x") == "x"
}

/// `message.proto`.
fn idl(schema: &Schema) -> Result<File> {
    definition(schema, |_| false)
}

/// `message.proto`, in which some singular fields are each alone in a `oneof`:
/// the bytes are those of an `optional` field.
fn definition(schema: &Schema, alone: impl Fn(&Field) -> bool) -> Result<File> {
    let mut code = Code::new();
    code.line("syntax = \"proto3\";");
    code.line("package wg;");
    for (_, record) in schema.records() {
        code.line("");
        code.block(format!("message {} {{", record.name.legal), "}", |code| {
            for field in &record.fields {
                let element = element_type(schema, field);
                let is_record = matches!(field.element, Element::Record(_));
                let (f, number) = (&field.name.legal, field.id);
                if alone(field) {
                    code.line(format!("oneof _{f} {{ {element} {f} = {number}; }}"));
                    continue;
                }
                let of = match field.cardinality {
                    _ if as_bytes(field) => "bytes".to_string(),
                    Cardinality::Required | Cardinality::Implicit => element.to_string(),
                    // A message field has presence by nature.
                    Cardinality::Optional if is_record => element.to_string(),
                    Cardinality::Optional => format!("optional {element}"),
                    Cardinality::List { .. } | Cardinality::Array { .. } => {
                        format!("repeated {element}")
                    }
                };
                let unpacked = if field.wire.unpacked { " [packed = false]" } else { "" };
                code.line(format!("{of} {f} = {number}{unpacked};"));
            }
        });
    }
    Ok(File::new("message.proto", code.finish()))
}
