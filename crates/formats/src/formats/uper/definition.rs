//! The ASN.1 module of a message.

use anyhow::Result;
use wiregauge_normalized::{File, SourceWriter};
use wiregauge_schema::{Cardinality, Element, Enum, Field, Scalar, Schema};

use super::choice::{parts, Choice, Part};

/// Types that ASN.1 has already, by names that the schema may have, too.
const USEFUL_TYPES: [&str; 10] = [
    "GeneralString",
    "GeneralizedTime",
    "GraphicString",
    "NumericString",
    "ObjectDescriptor",
    "PrintableString",
    "TeletexString",
    "UniversalString",
    "VideotexString",
    "VisibleString",
];

/// The largest number that a scalar's INTEGER takes.
pub fn upper_bound(scalar: Scalar) -> u64 {
    match scalar {
        Scalar::Bool => 1,
        Scalar::U8 => u8::MAX.into(),
        Scalar::U16 => u16::MAX.into(),
        Scalar::U32 | Scalar::F32 => u32::MAX.into(),
        Scalar::U64 | Scalar::F64 => u64::MAX,
        Scalar::I8 => i8::MAX as u64,
        Scalar::I16 => i16::MAX as u64,
        Scalar::I32 => i32::MAX as u64,
        Scalar::I64 => i64::MAX as u64,
    }
}

/// The INTEGER of a scalar, or the name of that of a float.
fn scalar_type(scalar: Scalar) -> String {
    let upper = upper_bound(scalar);
    match scalar {
        Scalar::Bool => "BOOLEAN".into(),
        Scalar::F32 => "Float32".into(),
        Scalar::F64 => "Float64".into(),
        Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64 => {
            format!("INTEGER (-{}..{upper})", u128::from(upper) + 1)
        }
        _ => format!("INTEGER (0..{upper})"),
    }
}

/// What a type is called in the module.
fn type_reference(legal: &str) -> String {
    // No legal name has a hyphen.
    match USEFUL_TYPES.contains(&legal) {
        true => format!("Type-{legal}"),
        false => legal.to_owned(),
    }
}

/// What a field or a value is called in the module, where names have hyphens.
fn identifier(legal: &str) -> String {
    legal.to_ascii_lowercase().replace('_', "-")
}

/// `message.asn`.
pub fn idl(schema: &Schema) -> Result<File> {
    let mut code = SourceWriter::new();
    code.line("Wg DEFINITIONS AUTOMATIC TAGS ::= BEGIN");
    let has = |scalar| {
        let mut fields = schema.records().flat_map(|(_, record)| &record.fields);
        fields.any(|field| field.element == Element::Scalar(scalar))
    };
    for scalar in [Scalar::F32, Scalar::F64].into_iter().filter(|scalar| has(*scalar)) {
        code.line("");
        code.line("-- The bits of an IEEE 754 number.");
        let (name, upper) = (scalar_type(scalar), upper_bound(scalar));
        code.line(format!("{name} ::= INTEGER (0..{upper})"));
    }
    for (_, enumeration) in schema.enums() {
        code.line("");
        named_numbers(enumeration, &mut code);
    }
    for (_, record) in schema.records() {
        code.line("");
        let name = type_reference(&record.name.legal);
        code.block(format!("{name} ::= SEQUENCE {{"), "}", |code| {
            let parts = parts(record);
            for (place, part) in parts.iter().enumerate() {
                let comma = if place + 1 < parts.len() { "," } else { "" };
                let said = match part {
                    Part::Field(field) => {
                        format!("{} {}", identifier(&field.name.legal), component(schema, field))
                    }
                    Part::Choice(choice) => choice_component(schema, choice),
                };
                code.line(format!("{said}{comma}"));
            }
        });
    }
    code.line("");
    code.line("END");
    Ok(File::new("message.asn", code.finish()))
}

/// An enum: its names, each number once, and all the numbers that its representation has.
fn named_numbers(enumeration: &Enum, code: &mut SourceWriter) {
    let name = type_reference(&enumeration.name.legal);
    let mut numbers = Vec::new();
    let mut names = Vec::new();
    for value in &enumeration.values {
        if !numbers.contains(&value.number) {
            numbers.push(value.number);
            names.push(format!("{}({})", identifier(&value.name.legal), value.number));
        }
    }
    let range = scalar_type(enumeration.repr).replace("INTEGER ", "");
    code.line(format!("{name} ::= INTEGER {{ {} }} {range}", names.join(", ")));
}

/// The type of a component.
fn component(schema: &Schema, field: &Field) -> String {
    let element = match field.element {
        Element::String => "UTF8String".into(),
        Element::Bytes => "OCTET STRING".into(),
        Element::Record(id) => type_reference(&schema.record(id).name.legal),
        Element::Enum(id) => type_reference(&schema.enumeration(id).name.legal),
        Element::Scalar(scalar) => scalar_type(scalar),
    };
    let size = match field.cardinality {
        Cardinality::Required | Cardinality::Implicit => return element,
        Cardinality::Optional => return format!("{element} OPTIONAL"),
        Cardinality::List { bound: None } => String::new(),
        Cardinality::List { bound: Some(bound) } => format!(" (SIZE (0..{bound}))"),
        Cardinality::Array { len } => format!(" (SIZE ({len}))"),
    };
    match field.repeats_octets() {
        true => format!("OCTET STRING{size}"),
        false => format!("SEQUENCE{size} OF {element}"),
    }
}

/// A union, each of whose members is there by itself.
fn choice_component(schema: &Schema, choice: &Choice) -> String {
    let member =
        |field: Field| format!("{} {}", identifier(&field.name.legal), component(schema, &field));
    let members: Vec<String> = choice.members().map(member).collect();
    format!("{} CHOICE {{ {} }} OPTIONAL", identifier(choice.name), members.join(", "))
}
