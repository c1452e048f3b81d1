//! Cap'n Proto: what the format can express and its definition (one file).
//! The codecs of its libraries are in the folder beside.

mod cpp;
mod rust;

use anyhow::Result;
use wiregauge_schema::{Cardinality, Element, Field, Record, Scalar, Schema, TypeDef, TypeId};

use crate::code::Code;
use crate::codec::{Answer, File};
use crate::lowering::{self, Lowering};

/// The longest array of numbers that becomes a field each: a list costs a
/// pointer, which for three floats is more than half of what it points to.
const FLAT_MAX: u32 = 4;

/// Ordinals are 16 bits wide, and the largest is reserved.
const ORDINALS_MAX: u32 = 65_535;

/// What readers allow by default, and both libraries' documentation calls safe.
const NESTING_DEFAULT: usize = 64;

/// How a field is laid out in a struct.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    /// A number or truth value.
    Number,
    /// One that may be absent: itself, and a flag `hasX`.
    Flagged,
    /// A short array of numbers: a field each, `x0`, `x1` …
    Flat(u32),
    /// Octets: `Data`.
    Octets,
    /// A `List`.
    List,
    /// One text, data or struct; null where it is absent.
    Pointer,
}

impl Form {
    fn of(schema: &Schema, record: &Record, field: &Field) -> Form {
        let is_octets = field.element == Element::Scalar(Scalar::U8);
        let is_number = schema.scalar(field.element).is_some();
        match field.cardinality {
            Cardinality::Array { len } if is_number && len <= FLAT_MAX => {
                // The new names must not be another field's.
                let taken = |at| record.fields.iter().any(|f| camel(f) == flat_name(field, at));
                if (0..len).any(taken) {
                    Form::List
                } else {
                    Form::Flat(len)
                }
            }
            Cardinality::List { .. } | Cardinality::Array { .. } if is_octets => Form::Octets,
            Cardinality::List { .. } | Cardinality::Array { .. } => Form::List,
            Cardinality::Optional if is_number => Form::Flagged,
            _ if is_number => Form::Number,
            _ => Form::Pointer,
        }
    }

    /// How many ordinals a field takes.
    fn ordinals(self) -> u32 {
        match self {
            Form::Flagged => 2,
            Form::Flat(len) => len,
            Form::Number | Form::Octets | Form::List | Form::Pointer => 1,
        }
    }
}

/// A field's name in the definition: `guidOfPoint` for `guid_of_point`.
fn camel(field: &Field) -> String {
    let mut words = field.name.legal.split('_');
    let first = words.next().unwrap_or_default().to_string();
    first + &words.map(capital).collect::<String>()
}

/// The name of one number of a flat array.
fn flat_name(field: &Field, at: u32) -> String {
    format!("{}{at}", camel(field))
}

/// A word or name with its first letter capital.
fn capital(word: &str) -> String {
    let (first, rest) = word.split_at(1);
    first.to_ascii_uppercase() + rest
}

fn scalar_type(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Bool => "Bool",
        Scalar::U8 => "UInt8",
        Scalar::U16 => "UInt16",
        Scalar::U32 => "UInt32",
        Scalar::U64 => "UInt64",
        Scalar::I8 => "Int8",
        Scalar::I16 => "Int16",
        Scalar::I32 => "Int32",
        Scalar::I64 => "Int64",
        Scalar::F32 => "Float32",
        Scalar::F64 => "Float64",
    }
}

fn element_type(schema: &Schema, element: Element) -> &str {
    match element {
        Element::String => "Text",
        Element::Bytes => "Data",
        Element::Record(id) => &schema.record(id).name.legal,
        other => scalar_type(schema.scalar(other).expect("a number")),
    }
}

fn answer(schema: &Schema, id: TypeId) -> Answer {
    let TypeDef::Record(record) = &schema.types[id] else {
        let why = "Cap'n Proto's own enums hold 0 to 65,535";
        return Answer::lowered(vec![Lowering::enumeration().and(why)]);
    };
    let forms = record.fields.iter().map(|field| Form::of(schema, record, field));
    if forms.clone().map(Form::ordinals).sum::<u32>() > ORDINALS_MAX {
        return Answer::Rejected("a struct has at most 65,535 fields".into());
    }
    let mut lowerings = lowering::unions_and_bounds(record);
    for (field, form) in record.fields.iter().zip(forms) {
        let is_array = matches!(field.cardinality, Cardinality::Array { .. });
        match form {
            Form::Flagged => lowerings.push(
                Lowering::flagged("number")
                    .and("a union with Void would say so for 16 bits each instead of one"),
            ),
            Form::Flat(_) => lowerings.push(Lowering::new(
                "fixed array of up to 4 numbers as a field each, x0 to x3",
                "that they are one array; a list would cost a pointer each",
            )),
            Form::Octets => lowerings.push(Lowering::octets("Data")),
            _ => {}
        }
        if is_array && matches!(form, Form::Octets | Form::List) {
            lowerings.push(Lowering::fixed_array());
        }
    }
    Answer::lowered(lowerings)
}

/// `message.capnp`.
fn idl(schema: &Schema) -> Result<File> {
    let mut code = Code::new();
    // Any number with the highest bit set: nothing outside refers to the file.
    code.line("@0xd5b6b1d1f1a1c0de;");
    for (_, record) in schema.records() {
        code.line("\n");
        code.block(format!("struct {} {{", record.name.legal), "}", |code| {
            let mut ordinals = 0..;
            let mut field_line = |name: String, of: &str| {
                let ordinal = ordinals.next().expect("without end");
                code.line(format!("{name} @{ordinal} :{of};"));
            };
            for field in &record.fields {
                let element = element_type(schema, field.element);
                let name = camel(field);
                match Form::of(schema, record, field) {
                    Form::Flagged => {
                        field_line(format!("has{}", capital(&name)), "Bool");
                        field_line(name, element);
                    }
                    Form::Flat(len) => {
                        (0..len).for_each(|at| field_line(flat_name(field, at), element))
                    }
                    Form::Octets => field_line(name, "Data"),
                    Form::List => field_line(name, &format!("List({element})")),
                    Form::Number | Form::Pointer => field_line(name, element),
                }
            }
        });
    }
    Ok(File::new("message.capnp", code.finish()))
}

/// The nesting limit that a reader of this schema needs: the default, or more
/// where records are nested more deeply. A list of structs counts twice.
fn nesting_limit(schema: &Schema) -> usize {
    // Types stand after those that they use.
    let mut depths = vec![0; schema.types.len()];
    for (id, record) in schema.records() {
        let below = record.fields.iter().map(|field| match field.element {
            Element::Record(inner) => depths[inner] + 2,
            Element::String | Element::Bytes => 2,
            _ => 1,
        });
        depths[id] = below.max().unwrap_or(0);
    }
    NESTING_DEFAULT.max(depths[schema.root] + 1)
}
