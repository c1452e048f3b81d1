//! Cap'n Proto: what the format can express and its definition (one file).
//! The codecs of its libraries are in the folder beside.

mod cpp;
mod java;
mod python;
mod rust;

use anyhow::Result;
use wiregauge_normalized::{File, SourceWriter};
use wiregauge_schema::{Cardinality, Element, Field, Record, Scalar, Schema, TypeDef, TypeId};

use crate::codec::Support;
use crate::flattened_field;
use crate::lowering::{self, Lowering};
use crate::packaged_library::PackagedLibrary;

inventory::submit! {
    PackagedLibrary {
        name: "Cap'n Proto",
        packages: &["libcapnp-dev"],
        tried: &[
            ("0.8.0", "2020-04"),
            ("0.9.2", "2022-11"),
            ("1.0.1", "2023-08"),
            ("1.1.0", "2024-12"),
            ("1.5.0", "2026-09"),
        ],
        newest: ("1.5.0", "2026-09"),
    }
}

/// Ordinals are 16 bits wide, and the largest is reserved.
const ORDINALS_MAX: u32 = 65_535;

/// What readers allow by default, and both libraries' documentation calls safe.
const NESTING_DEFAULT: usize = 64;

/// How a field is laid out in a struct.
#[derive(Clone, Copy, Debug, PartialEq)]
enum FieldForm {
    /// A number or truth value.
    Number,
    /// One that may be absent: itself, and a flag `hasX`.
    Flagged,
    /// A short array of numbers: a field each, `x0`, `x1` … A list would cost a
    /// pointer, which for three floats is more than half of what it points to.
    Flat(u32),
    /// Octets: `Data`.
    Octets,
    /// A `List`.
    List,
    /// One text, data or struct; null where it is absent.
    Pointer,
}

impl FieldForm {
    fn from_field(schema: &Schema, field: &Field) -> FieldForm {
        if let Some(len) = schema.flattened_length(field) {
            return FieldForm::Flat(len);
        }
        let is_octets = field.element == Element::Scalar(Scalar::U8);
        let is_number = schema.scalar(field.element).is_some();
        match field.cardinality {
            Cardinality::List { .. } | Cardinality::Array { .. } if is_octets => FieldForm::Octets,
            Cardinality::List { .. } | Cardinality::Array { .. } => FieldForm::List,
            Cardinality::Optional if is_number => FieldForm::Flagged,
            _ if is_number => FieldForm::Number,
            _ => FieldForm::Pointer,
        }
    }

    /// How many ordinals a field takes.
    fn ordinals(self) -> u32 {
        match self {
            FieldForm::Flagged => 2,
            FieldForm::Flat(len) => len,
            FieldForm::Number | FieldForm::Octets | FieldForm::List | FieldForm::Pointer => 1,
        }
    }
}

/// A field's name in the definition: `guidOfPoint` for `guid_of_point`.
fn camel(legal: &str) -> String {
    let mut words = legal.split('_');
    let first = words.next().unwrap_or_default().to_string();
    first + &words.map(capital).collect::<String>()
}

/// The names of the numbers of a flat array, as legal names are: `position0` …
fn flat_names(record: &Record, field: &Field, len: u32) -> Vec<String> {
    let stem = flattened_field::element_prefix(record, field, len);
    (0..len).map(|at| format!("{stem}{at}")).collect()
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

fn check_type(schema: &Schema, id: TypeId) -> Support {
    let TypeDef::Record(record) = &schema.types[id] else {
        let why = "Cap'n Proto's own enums hold 0 to 65,535";
        return Support::lowered(vec![Lowering::enumeration().and(why)]);
    };
    let forms = record.fields.iter().map(|field| FieldForm::from_field(schema, field));
    if forms.clone().map(FieldForm::ordinals).sum::<u32>() > ORDINALS_MAX {
        return Support::Rejected("a struct has at most 65,535 fields".into());
    }
    let mut lowerings = lowering::unions_and_bounds(record);
    for (field, form) in record.fields.iter().zip(forms) {
        let is_array = matches!(field.cardinality, Cardinality::Array { .. });
        match form {
            FieldForm::Flagged => lowerings.push(
                Lowering::flagged("number")
                    .and("a union with Void would say so for 16 bits each instead of one"),
            ),
            FieldForm::Flat(_) => {
                lowerings.push(Lowering::spread().and("a list would cost a pointer each"))
            }
            FieldForm::Octets => lowerings.push(Lowering::octets("Data")),
            _ => {}
        }
        if is_array && matches!(form, FieldForm::Octets | FieldForm::List) {
            lowerings.push(Lowering::fixed_array());
        }
    }
    Support::lowered(lowerings)
}

/// `message.capnp`.
fn idl(schema: &Schema) -> Result<File> {
    let mut code = SourceWriter::new();
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
                let name = camel(&field.name.legal);
                match FieldForm::from_field(schema, field) {
                    FieldForm::Flagged => {
                        field_line(format!("has{}", capital(&name)), "Bool");
                        field_line(name, element);
                    }
                    FieldForm::Flat(len) => {
                        for name in flat_names(record, field, len) {
                            field_line(camel(&name), element);
                        }
                    }
                    FieldForm::Octets => field_line(name, "Data"),
                    FieldForm::List => field_line(name, &format!("List({element})")),
                    FieldForm::Number | FieldForm::Pointer => field_line(name, element),
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
