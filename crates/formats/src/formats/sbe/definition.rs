//! The definition in SBE's own XML.

use std::collections::BTreeSet;

use anyhow::Result;
use wiregauge_normalized::{File, SourceWriter};
use wiregauge_schema::{Cardinality, Element, Field, Record, Scalar, Schema};

use super::layout::{group, has_flag, placement, FieldPlacement, GroupEntry};
use crate::sequential::flag_name;

/// SBE's name of a number type.
fn primitive(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Bool | Scalar::U8 => "uint8",
        Scalar::U16 => "uint16",
        Scalar::U32 => "uint32",
        Scalar::U64 => "uint64",
        Scalar::I8 => "int8",
        Scalar::I16 => "int16",
        Scalar::I32 => "int32",
        Scalar::I64 => "int64",
        Scalar::F32 => "float",
        Scalar::F64 => "double",
    }
}

/// The type of an array in the block. An array of one is a number to SBE.
fn array_type(scalar: Scalar, len: u32) -> String {
    match len {
        1 => primitive(scalar).into(),
        _ => format!("{}_{len}", primitive(scalar)),
    }
}

/// `message.xml`. Names of fields end in an underscore, which no legal name
/// does: the generated classes have methods like `next` and `count`, and a
/// group's class must not hide a composite's.
pub fn idl(schema: &Schema) -> Result<File> {
    let mut arrays = BTreeSet::new();
    let mut composites = BTreeSet::new();
    for (_, record) in schema.records() {
        for field in &record.fields {
            match (placement(schema, field), field.element, field.cardinality) {
                (FieldPlacement::Block, Element::Record(id), _) => {
                    composites.insert(id);
                }
                (FieldPlacement::Block, other, Cardinality::Array { len }) if len > 1 => {
                    arrays.insert((primitive(schema.scalar(other).expect("a number")), len));
                }
                _ => {}
            }
        }
    }
    let mut code = SourceWriter::new();
    code.line("<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>");
    code.open(SCHEMA);
    code.open("<types>");
    code.line(include_str!("types.xml").trim_end());
    for (primitive, len) in arrays {
        code.line(format!(
            "<type name=\"{primitive}_{len}\" primitiveType=\"{primitive}\" length=\"{len}\"/>"
        ));
    }
    for id in composites {
        let record = schema.record(id);
        code.block(format!("<composite name=\"{}\">", record.name.legal), "</composite>", |code| {
            block_members(schema, record, &mut |name, of, is_primitive| {
                code.line(match is_primitive {
                    true => format!("<type name=\"{name}\" primitiveType=\"{of}\"/>"),
                    false => format!("<ref name=\"{name}\" type=\"{of}\"/>"),
                })
            });
        });
    }
    code.close("</types>");
    let mut ids = 1..;
    let root = schema.root();
    code.block(
        format!("<sbe:message name=\"{}\" id=\"1\">", root.name.legal),
        "</sbe:message>",
        |code| body(schema, root, &mut ids, code),
    );
    code.close("</sbe:messageSchema>");
    Ok(File::new("message.xml", code.finish()))
}

/// Calls `emit` with the name and type of everything in a record's block, and
/// whether the type is primitive.
fn block_members(schema: &Schema, record: &Record, emit: &mut dyn FnMut(String, String, bool)) {
    for field in &record.fields {
        if has_flag(field) {
            emit(format!("{}_", flag_name(record, field)), "uint8".into(), true);
        }
        if placement(schema, field) != FieldPlacement::Block {
            continue;
        }
        let name = format!("{}_", field.name.legal);
        match (field.element, field.cardinality) {
            (Element::Record(id), _) => emit(name, schema.record(id).name.legal.clone(), false),
            (other, Cardinality::Array { len }) => {
                let scalar = schema.scalar(other).expect("a number");
                emit(name, array_type(scalar, len), len == 1);
            }
            (other, _) => {
                emit(name, primitive(schema.scalar(other).expect("a number")).into(), true)
            }
        }
    }
}

/// The fields, groups and data of a record, in a message or a group.
fn body(
    schema: &Schema,
    record: &Record,
    ids: &mut impl Iterator<Item = u32>,
    code: &mut SourceWriter,
) {
    let mut id = || ids.next().expect("numbers do not end");
    block_members(schema, record, &mut |name, of, _| {
        code.line(format!("<field name=\"{name}\" id=\"{}\" type=\"{of}\"/>", id()));
    });
    for field in &record.fields {
        if placement(schema, field) != FieldPlacement::Group {
            continue;
        }
        let id = ids.next().expect("numbers do not end");
        let name = format!("{}_", field.name.legal);
        code.block(
            format!("<group name=\"{name}\" id=\"{id}\" dimensionType=\"group_size\">"),
            "</group>",
            |code| match group(schema, field).0 {
                GroupEntry::Record(inner) => body(schema, schema.record(inner), ids, code),
                GroupEntry::Number(scalar) => {
                    let id = ids.next().expect("numbers do not end");
                    let of = primitive(scalar);
                    code.line(format!("<field name=\"value_\" id=\"{id}\" type=\"{of}\"/>"));
                }
                GroupEntry::Octets => {
                    let id = ids.next().expect("numbers do not end");
                    let of = data_type(field);
                    code.line(format!("<data name=\"value_\" id=\"{id}\" type=\"{of}\"/>"));
                }
            },
        );
    }
    for field in &record.fields {
        if placement(schema, field) == FieldPlacement::Data {
            let id = ids.next().expect("numbers do not end");
            let (name, of) = (&field.name.legal, data_type(field));
            code.line(format!("<data name=\"{name}_\" id=\"{id}\" type=\"{of}\"/>"));
        }
    }
}

fn data_type(field: &Field) -> &'static str {
    match field.element {
        Element::String => "var_text",
        _ => "var_octets",
    }
}

const SCHEMA: &str = r#"<sbe:messageSchema xmlns:sbe="http://fixprotocol.io/2016/sbe" package="wg"
    id="1" version="0" byteOrder="littleEndian" headerType="message_header">"#;
