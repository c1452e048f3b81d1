//! ASN.1 by the unaligned packed encoding rules (UPER, ITU-T X.691), as V2X messages have
//! them: an ASN.1 module, and Rust types that the crate rasn derives its code for.
//!
//! A union is a CHOICE. Each integer has the range of its type, so it takes as many bits as that
//! and no length.

mod choice;
mod definition;
mod types;

use anyhow::Result;
use wiregauge_normalized::{File, SourceWriter, Unit};
use wiregauge_schema::path::ElementIndex;
use wiregauge_schema::{Cardinality, Element, Field, Record, Scalar, Schema, TypeDef, TypeId};

use crate::build::languages::rust::RUST;
use crate::codec::{Codec, Emission, Linkage, Support};
use crate::language::rust::glue;
use crate::lowering::Lowering;
use choice::{Choice, Part};
use definition::{idl, upper_bound};
use types::{rust_choices, rust_types};

inventory::submit! {
    Codec {
        name: "rasn-uper",
        title: "ASN.1 UPER Rust rasn",
        format: "uper",
        language: &RUST,
        is_bound: false,
        linkage: Linkage::Crate("rasn"),
        options: &[
            "integers have the range of their type as constraint, so that they take all its bits \
             and no length; a V2X definition has the range of each quantity, and takes fewer",
            "a float is the INTEGER of its IEEE 754 bits, 4 or 8 bytes: rasn refuses REAL in its \
             packed encodings (0.30.0). REAL would have a length, an exponent and the bits that \
             the value needs: up to 11 bytes for a double. V2X's messages scale quantities to \
             integers instead",
            "no extension markers: with them each SEQUENCE would take one bit more",
            "a list has its bound as SIZE, where it has one; texts are UTF8String, octets OCTET \
             STRING; lists of 16,384 elements or more are written in fragments",
            "a union is a CHOICE that is OPTIONAL, at the place of its first member; a message in which \
             two members are there is refused",
            "types by rasn's derives with automatic tags; decode makes new ones, also with --objects \
             reused",
            "no partial reads: nothing is aligned to bytes, so the whole message is decoded for \
             one number",
        ],
        calls: &[
            "encode: rasn::uper::encode_buf(&object, out) after copying the message into it",
            "decode: rasn::uper::decode::<Object>(bytes), then moved into the message",
            "project, fixed, element: rasn::uper::decode::<Object>(bytes), fields of it",
        ],
        needs: &[],
        check_type,
        idl: Some(idl),
        emit,
    }
}

fn check_type(schema: &Schema, id: TypeId) -> Support {
    let TypeDef::Record(record) = &schema.types[id] else {
        return Support::lowered(vec![Lowering::new(
            "enum as an INTEGER with named numbers",
            "that no other value is valid",
        )]);
    };
    let mut lowerings = Vec::new();
    for field in &record.fields {
        match field.element {
            Element::Scalar(scalar) if scalar.is_float() => {
                let what = format!(
                    "{} as INTEGER (0..{}) by bit pattern",
                    scalar.rust_name(),
                    upper_bound(scalar)
                );
                lowerings.push(Lowering::new(what, "that it is a number with a fraction"));
            }
            _ if field.repeats_octets() => lowerings.push(Lowering::octets("OCTET STRING")),
            _ => {}
        }
    }
    Support::lowered(lowerings)
}

fn emit(unit: &Unit) -> Result<Emission> {
    Ok(Emission {
        files: vec![
            idl(unit.schema)?,
            glue::main_file("Uper", &["asn1", "choices", "codec", "glue", "octets"]),
            File::new("asn1.rs", rust_types(unit.schema)),
            File::new("choices.rs", rust_choices(unit.schema)),
            File::new("codec.rs", include_str!("uper/codec.rs")),
            File::new("octets.rs", include_str!("uper/octets.rs")),
            File::new("glue.rs", glue(unit)),
        ],
        features: vec!["uper".into()],
        ..Emission::default()
    })
}

fn glue(unit: &Unit) -> String {
    let schema = unit.schema;
    let root = object(schema.root());
    let mut code = glue::begin_glue("rasn");
    code.line("use crate::octets::{fill_bytes, take_bytes};");
    code.line("");
    code.line(format!("pub type Object = {root};"));
    let has_choices =
        schema.records().any(|(_, record)| record.fields.iter().any(|field| field.union.is_some()));
    code.line(format!("pub const HAS_CHOICES: bool = {has_choices};"));
    for (_, record) in schema.records() {
        fill(schema, record, &mut code);
        take(schema, record, &mut code);
        let add = |place, field: &Field| add(schema, record, place, field);
        glue::tally(record, &object(record), &mut code, add);
    }
    glue::alias_root_functions(schema, &["fill", "take", "tally"], &mut code);
    glue::accessors(unit, &root, &mut code, descend, |field| from_object(schema, field, "*at"));
    code.finish()
}

/// rasn's structure of a record.
fn object(record: &Record) -> String {
    format!("crate::asn1::{}", record.name.legal)
}

fn is_float(schema: &Schema, field: &Field) -> bool {
    schema.scalar(field.element).is_some_and(Scalar::is_float)
}

/// A number of the normalized form as the structure has it.
fn to_object(schema: &Schema, field: &Field, value: &str) -> String {
    match is_float(schema, field) {
        true => format!("({value}).to_bits()"),
        false => value.to_owned(),
    }
}

/// A number of the structure as the normalized form has it.
fn from_object(schema: &Schema, field: &Field, value: &str) -> String {
    match schema.scalar(field.element) {
        Some(scalar) if scalar.is_float() => format!("{}::from_bits({value})", scalar.rust_name()),
        _ => value.to_owned(),
    }
}

/// `fill_X`: normalized to rasn's, into whatever that held before.
fn fill(schema: &Schema, record: &Record, code: &mut SourceWriter) {
    let (name, object) = (&record.name.legal, object(record));
    code.line("");
    let head = format!("pub fn fill_{name}(from: &crate::message::{name}, to: &mut {object}) {{");
    code.block(head, "}", |code| {
        for part in choice::parts(record) {
            code.line(match part {
                Part::Field(field) => fill_field(schema, field),
                Part::Choice(choice) => fill_choice(schema, &choice),
            });
        }
    });
}

fn fill_field(schema: &Schema, field: &Field) -> String {
    let f = &field.name.legal;
    let is_number = schema.scalar(field.element).is_some();
    let fill = match field.element {
        Element::Record(id) => format!("fill_{}", schema.record(id).name.legal),
        Element::Bytes => "fill_bytes".to_owned(),
        _ => "String::clone_into".to_owned(),
    };
    match field.cardinality {
        Cardinality::List { .. } if field.repeats_octets() => {
            format!("fill_bytes(&from.{f}, &mut to.{f});")
        }
        Cardinality::Array { .. } if field.repeats_octets() => {
            format!("*to.{f} = from.{f};")
        }
        Cardinality::List { .. } if is_number && !is_float(schema, field) => {
            format!("to.{f}.clear(); to.{f}.extend_from_slice(&from.{f});")
        }
        _ if is_number => convert_numbers(field, |value| to_object(schema, field, value)),
        Cardinality::Required | Cardinality::Implicit => {
            format!("{fill}(&from.{f}, &mut to.{f});")
        }
        Cardinality::Optional => format!(
            "match &from.{f} {{ None => to.{f} = None, Some(from) => \
             {fill}(from, to.{f}.get_or_insert_with(Default::default)) }}"
        ),
        _ => convert_elements(field, "iter", &fill),
    }
}

/// `take_X`: rasn's to normalized; what is owned moves. The library has seen to it that
/// arrays of fixed length have it.
fn take(schema: &Schema, record: &Record, code: &mut SourceWriter) {
    let (name, object) = (&record.name.legal, object(record));
    code.line("");
    let head =
        format!("pub fn take_{name}(from: &mut {object}, to: &mut crate::message::{name}) {{");
    code.block(head, "}", |code| {
        for part in choice::parts(record) {
            code.line(match part {
                Part::Field(field) => take_field(schema, field),
                Part::Choice(choice) => take_choice(schema, &choice),
            });
        }
    });
}

fn take_field(schema: &Schema, field: &Field) -> String {
    let f = &field.name.legal;
    let is_number = schema.scalar(field.element).is_some();
    let take = match field.element {
        Element::Record(id) => format!("take_{}", schema.record(id).name.legal),
        Element::Bytes => "take_bytes".to_owned(),
        _ => "std::mem::swap".to_owned(),
    };
    match field.cardinality {
        Cardinality::List { .. } if field.repeats_octets() => {
            format!("take_bytes(&mut from.{f}, &mut to.{f});")
        }
        Cardinality::Array { .. } if field.repeats_octets() => {
            format!("to.{f} = *from.{f};")
        }
        Cardinality::List { .. } if is_number && !is_float(schema, field) => {
            format!("to.{f} = std::mem::take(&mut from.{f});")
        }
        _ if is_number => convert_numbers(field, |value| from_object(schema, field, value)),
        Cardinality::Required | Cardinality::Implicit => {
            format!("{take}(&mut from.{f}, &mut to.{f});")
        }
        Cardinality::Optional => format!(
            "match &mut from.{f} {{ None => to.{f} = None, Some(from) => \
             {take}(from, to.{f}.get_or_insert_with(Default::default)) }}"
        ),
        Cardinality::List { .. } if field.element == Element::String => {
            format!("to.{f} = std::mem::take(&mut from.{f});")
        }
        _ => convert_elements(field, "iter_mut", &take),
    }
}

/// Fills a CHOICE with the member that is there.
fn fill_choice(schema: &Schema, choice: &Choice) -> String {
    let (to, of) = (choice.name, choice.path());
    let members = choice.members().enumerate().map(|(number, field)| {
        let f = &field.name.legal;
        let made = match field.element {
            Element::Record(id) => in_new(&format!("fill_{}", schema.record(id).name.legal)),
            Element::Bytes => in_new("fill_bytes"),
            Element::String => "value.clone()".into(),
            _ => to_object(schema, &field, "*value"),
        };
        format!("if let Some(value) = &from.{f} {{ to.{to} = Some({of}::V{number}({made})); }}")
    });
    let members: Vec<String> = members.collect();
    format!("to.{to} = None;\n{}", members.join("\n"))
}

/// Takes the member that a CHOICE has; what is owned moves.
fn take_choice(schema: &Schema, choice: &Choice) -> String {
    let members = choice.members().map(|field| {
        let (f, pattern) = (&field.name.legal, choice.pattern(&field));
        let taken = match field.element {
            Element::Record(id) => {
                into_member(&format!("take_{}", schema.record(id).name.legal), f)
            }
            Element::Bytes => into_member("take_bytes", f),
            Element::String => into_member("std::mem::swap", f),
            _ => format!("to.{f} = Some({});", from_object(schema, &field, "*value")),
        };
        let from = choice.name;
        format!("if let {pattern} = &mut from.{from} {{ {taken} }} else {{ to.{f} = None; }}")
    });
    members.collect::<Vec<_>>().join("\n")
}

/// A new value that a function fills.
fn in_new(fill: &str) -> String {
    format!("{{ let mut new = Default::default(); {fill}(value, &mut new); new }}")
}

/// What is taken into a member that may hold one already.
fn into_member(take: &str, member: &str) -> String {
    format!("{take}(value, to.{member}.get_or_insert_with(Default::default));")
}

/// The statement that converts a field's numbers one by one.
fn convert_numbers(field: &Field, convert: impl Fn(&str) -> String) -> String {
    let f = &field.name.legal;
    match field.cardinality {
        Cardinality::Required | Cardinality::Implicit => {
            format!("to.{f} = {};", convert(&format!("from.{f}")))
        }
        Cardinality::Optional | Cardinality::Array { .. } => {
            format!("to.{f} = from.{f}.map(|value| {});", convert("value"))
        }
        Cardinality::List { .. } => format!(
            "to.{f}.clear(); to.{f}.extend(from.{f}.iter().map(|value| {}));",
            convert("*value")
        ),
    }
}

/// The statements that convert the elements of a list or an array, each by a function.
fn convert_elements(field: &Field, iter: &str, convert: &str) -> String {
    let f = &field.name.legal;
    let resize = match field.cardinality {
        Cardinality::Array { .. } => String::new(),
        _ => format!("to.{f}.resize_with(from.{f}.len(), Default::default);\n"),
    };
    format!(
        "{resize}for (from, to) in from.{f}.{iter}().zip(&mut to.{f}) {{ {convert}(from, to) }}"
    )
}

/// The statement that adds the numbers of the field at a place.
fn add(schema: &Schema, record: &Record, place: usize, field: &Field) -> String {
    let f = &field.name.legal;
    let add = |value: &str| match field.element {
        Element::Record(id) => {
            format!("tally.record({place}, tally_{}({value}));", schema.record(id).name.legal)
        }
        Element::String | Element::Bytes => format!("tally.length({place}, {value}.len());"),
        _ => {
            let number = from_object(schema, field, &format!("*{value}"));
            format!("tally.number({place}, {number});")
        }
    };
    if let (Some(pattern), Some(union)) = (choice::pattern(record, field), &field.union) {
        return format!("if let {pattern} = &from.{union} {{ {} }}", add("value"));
    }
    match field.cardinality {
        Cardinality::Required | Cardinality::Implicit => add(&format!("(&from.{f})")),
        _ => format!("for value in from.{f}.iter() {{ {} }}", add("value")),
    }
}

/// The statement that goes down to a field's value or element.
fn descend(record: &Record, field: &Field, index: ElementIndex) -> String {
    let value = format!("at.{}", field.name.legal);
    let optional = match (choice::pattern(record, field), &field.union) {
        (Some(pattern), Some(union)) => {
            format!("(match &at.{union} {{ {pattern} => Some(value), _ => None }})")
        }
        _ => format!("&{value}"),
    };
    glue::descend(field, index, &value, &optional)
}
