//! Protobuf: what the format can express and its definition (proto3, one file,
//! package `wg`). The codecs of its libraries are in the folder beside.

mod cpp;
mod prost;
mod quick;

use anyhow::Result;
use wiregauge_schema::{
    Cardinality, Element, Field, Integer, Record, Scalar, Schema, TypeDef, TypeId,
};

use crate::code::Code;
use crate::codec::{Answer, File};
use crate::lowering::{self, Lowering};
use crate::rust::scalar_number;

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
        return Answer::lowered(vec![Lowering::enumeration().and("the bytes are the same")]);
    };
    let mut lowerings: Vec<_> = lowering::bounds(record).into_iter().collect();
    lowerings.extend(lowering::unions(record).map(|union| union.and("the bytes are the same")));
    for field in &record.fields {
        if as_bytes(field) {
            lowerings.push(Lowering::octets("bytes"));
        } else if let Element::Scalar(
            scalar @ (Scalar::U8 | Scalar::U16 | Scalar::I8 | Scalar::I16),
        ) = field.element
        {
            let wide = scalar_type(scalar);
            lowerings.push(Lowering::widened(scalar, wide).and("a varint each"));
        }
        if let Cardinality::Array { .. } = field.cardinality {
            lowerings.push(Lowering::fixed_array());
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

/// Fills `to.MEMBER` of a Rust library with a field's record or records.
fn fill_records(schema: &Schema, id: TypeId, field: &Field, member: &str) -> String {
    let (f, m) = (&field.name.legal, member);
    let fill = format!("fill_{}", schema.record(id).name.legal);
    match field.cardinality {
        Cardinality::Required | Cardinality::Implicit => {
            format!("{fill}(&from.{f}, to.{m}.get_or_insert_with(Default::default));")
        }
        Cardinality::Optional => format!(
            "match &from.{f} {{ None => to.{m} = None, Some(from) => \
             {fill}(from, to.{m}.get_or_insert_with(Default::default)) }}"
        ),
        Cardinality::List { .. } | Cardinality::Array { .. } => format!(
            "to.{m}.resize_with(from.{f}.len(), Default::default);\n\
             for (from, to) in from.{f}.iter().zip(&mut to.{m}) {{ {fill}(from, to) }}"
        ),
    }
}

/// Fills `to.MEMBER` of a Rust library with a field's number or numbers.
fn fill_numbers(schema: &Schema, field: &Field, member: &str) -> String {
    let (f, m) = (&field.name.legal, member);
    match field.cardinality {
        Cardinality::Required | Cardinality::Implicit => {
            format!("to.{m} = {};", to_rust(schema, field, &format!("from.{f}")))
        }
        _ if same_in_rust(schema, field) => {
            format!("to.{m}.clear(); to.{m}.extend_from_slice(&from.{f});")
        }
        _ => format!(
            "to.{m}.clear(); to.{m}.extend(from.{f}.iter().map(|v| {}));",
            to_rust(schema, field, "*v")
        ),
    }
}

/// Refuses a fixed array that has another length in a Rust library's member.
fn check_length(record: &Record, field: &Field, member: &str, code: &mut Code) {
    if let Cardinality::Array { .. } = field.cardinality {
        let f = &field.name.legal;
        code.line(format!(
            "if from.{member}.len() != to.{f}.len() \
             {{ return Err(Error::new(\"{}.{f}: wrong length\")) }}",
            record.name.legal
        ));
    }
}

/// Takes a field's record or records from a Rust library's member.
fn take_records(schema: &Schema, id: TypeId, field: &Field, member: &str) -> String {
    let (f, m) = (&field.name.legal, member);
    let take = format!("take_{}", schema.record(id).name.legal);
    let each =
        format!("for (from, to) in from.{m}.iter_mut().zip(&mut to.{f}) {{ {take}(from, to)? }}");
    match field.cardinality {
        Cardinality::Required | Cardinality::Implicit => format!(
            "match &mut from.{m} {{ None => to.{f} = Default::default(), \
             Some(from) => {take}(from, &mut to.{f})? }}"
        ),
        Cardinality::Optional => format!(
            "match &mut from.{m} {{ None => to.{f} = None, Some(from) => \
             {take}(from, to.{f}.get_or_insert_with(Default::default))? }}"
        ),
        Cardinality::List { .. } => {
            format!("to.{f}.resize_with(from.{m}.len(), Default::default);\n{each}")
        }
        Cardinality::Array { .. } => each,
    }
}

/// Takes a field's number or numbers from a Rust library's member; what is
/// owned moves.
fn take_numbers(schema: &Schema, field: &Field, member: &str) -> String {
    let (f, m) = (&field.name.legal, member);
    let same = same_in_rust(schema, field);
    match field.cardinality {
        Cardinality::Required | Cardinality::Implicit => {
            format!("to.{f} = {};", from_rust(schema, field, &format!("from.{m}")))
        }
        Cardinality::Array { .. } if same => format!("to.{f}.copy_from_slice(&from.{m});"),
        Cardinality::Array { .. } => format!(
            "for (from, to) in from.{m}.iter().zip(&mut to.{f}) {{ *to = {} }}",
            from_rust(schema, field, "*from")
        ),
        _ if same => format!("to.{f} = std::mem::take(&mut from.{m});"),
        _ => format!(
            "to.{f}.clear(); to.{f}.extend(from.{m}.iter().map(|v| {}));",
            from_rust(schema, field, "*v")
        ),
    }
}

/// A reference to a Rust library's value as `f64`.
fn number(schema: &Schema, element: Element, value: &str) -> String {
    match element {
        Element::Record(id) => format!("sum_{}({value})", schema.record(id).name.legal),
        Element::String | Element::Bytes => format!("{value}.len() as f64"),
        other => scalar_number(schema, other, &format!("*{value}")),
    }
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
