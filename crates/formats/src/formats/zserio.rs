//! zserio: its schema language and the code that zserio-rs-build makes of it.
//!
//! One package `wg`. Everything the model has is said as zserio says it, but
//! for enums, whose unnamed values zserio would refuse.

mod java;
mod python;

use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::Path;

use anyhow::{anyhow, Result};
use stringcase::Caser;
use wiregauge_normalized::{File, SourceWriter, Unit};
use wiregauge_schema::path::ElementIndex;
use wiregauge_schema::{Cardinality, Element, Field, Record, Scalar, Schema, TypeDef, TypeId};

use crate::build::languages::rust::RUST;
use crate::codec::{Codec, Emission, GeneratorStep, Linkage, Support};
use crate::language::rust::glue;
use crate::lowering::{self, Lowering};

inventory::submit! {
    Codec {
        name: "zserio",
        title: "zserio Rust",
        format: "zserio",
        language: &RUST,
        is_bound: false,
        linkage: Linkage::Crate("zserio"),
        options: &[
            "arrays are not packed: no delta compression, the format's default",
            "the library writes into a buffer of its own, which is then copied",
            "crates zserio and zserio-rs-build. zserio's makers generate C++ too, but publish its \
             runtime only on GitHub and Conan Center, from where this project takes no libraries",
            "no partial reads: the whole message is parsed for one number",
        ],
        calls: &[
            "encode: zserio::to_writer(out, &object) after copying the message into it",
            "decode: zserio::from_bytes::<Object>(bytes), then moved into the message",
            "project, fixed, element: zserio::from_bytes::<Object>(bytes), fields of it",
        ],
        needs: &[],
        check_type,
        idl: Some(idl),
        emit,
    }
}

/// Names that the generated code imports for itself.
const TAKEN: [&str; 5] =
    ["BitReader", "BitWriter", "DeltaContext", "PackingContextNode", "ZserioPackableObject"];

/// What carries optional bytes; no legal type has an underscore in its name.
const OPTIONAL_BYTES: &str = "Optional_Bytes";

fn check_type(schema: &Schema, id: TypeId) -> Support {
    let TypeDef::Record(record) = &schema.types[id] else {
        return Support::lowered(vec![Lowering::enumeration().and("the bytes are the same")]);
    };
    if TAKEN.contains(&record.name.legal.as_str()) {
        return Support::Rejected(
            "zserio-rs-build's code imports another type of this name".into(),
        );
    }
    let mut lowerings = lowerings(record);
    if record.fields.iter().any(is_optional_bytes) {
        lowerings.push(Lowering::new(
            "optional bytes as an optional structure of bytes",
            "nothing; the bytes are the same, and zserio-rs-build's code for the former does not \
             compile",
        ));
    }
    Support::lowered(lowerings)
}

/// What becomes of a record with either library.
fn lowerings(record: &Record) -> Vec<Lowering> {
    let mut lowerings = lowering::unions_and_bounds(record);
    if record.fields.iter().any(is_octets) {
        lowerings.push(Lowering::octets("bytes").and("the bytes are the same"));
    }
    lowerings
}

/// Whether a list is carried as `bytes`, which is read as a block.
fn is_octets(field: &Field) -> bool {
    field.is_octet_list()
}

fn is_optional_bytes(field: &Field) -> bool {
    field.element == Element::Bytes && field.cardinality == Cardinality::Optional
}

/// `wg.zs`, as zserio-rs-build takes it.
fn idl(schema: &Schema) -> Result<File> {
    let member = |_: &Record, field: &Field| field.name.legal.clone();
    Ok(File::new("wg.zs", definition(schema, member, is_optional_bytes)))
}

/// The definition's text, with what its members are called and which optional bytes are
/// in a structure.
fn definition(
    schema: &Schema,
    member: impl Fn(&Record, &Field) -> String,
    is_wrapped: impl Fn(&Field) -> bool,
) -> String {
    let mut code = SourceWriter::new();
    code.line("package wg;");
    let mut optional_bytes = false;
    for (_, record) in schema.records() {
        code.line("");
        code.line(format!("struct {}", record.name.legal));
        code.block("{", "};", |code| {
            for field in &record.fields {
                optional_bytes |= is_wrapped(field);
                let f = member(record, field);
                let element = match field.element {
                    Element::String => "string",
                    Element::Bytes => "bytes",
                    Element::Record(id) => &schema.record(id).name.legal,
                    other => scalar_type(schema.scalar(other).expect("a number")),
                };
                code.line(match field.cardinality {
                    _ if is_octets(field) => format!("bytes {f};"),
                    _ if is_wrapped(field) => format!("optional {OPTIONAL_BYTES} {f};"),
                    Cardinality::Required | Cardinality::Implicit => format!("{element} {f};"),
                    Cardinality::Optional => format!("optional {element} {f};"),
                    Cardinality::List { .. } => format!("{element} {f}[];"),
                    Cardinality::Array { len } => format!("{element} {f}[{len}];"),
                });
            }
        });
    }
    if optional_bytes {
        code.line("");
        code.line(format!("struct {OPTIONAL_BYTES}"));
        code.block("{", "};", |code| code.line("bytes data;"));
    }
    code.finish()
}

fn scalar_type(scalar: Scalar) -> &'static str {
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

fn emit(unit: &Unit) -> Result<Emission> {
    Ok(Emission {
        files: vec![
            idl(unit.schema)?,
            glue::main_file("Zserio", &["codec", "generated", "glue", "octets"]),
            File::new("codec.rs", include_str!("zserio/codec.rs")),
            File::new("octets.rs", include_str!("zserio/octets.rs")),
            File::new("glue.rs", glue(unit)),
        ],
        steps: vec![GeneratorStep::Call(Box::new(generate))],
        ..Emission::default()
    })
}

/// Runs zserio-rs-build, which makes the module `generated` and reports what it
/// does not like by a panic.
fn generate(folder: &Path) -> Result<()> {
    let run = || {
        let mut model = zserio_rs_build::Model::from_filesystem(folder);
        model.evaluate();
        zserio_rs_build::generate_model(&mut model, &folder.join("generated"), "generated");
    };
    catch_unwind(AssertUnwindSafe(run))
        .map_err(|_| anyhow!("zserio-rs-build does not take {}", folder.join("wg.zs").display()))
}

fn glue(unit: &Unit) -> String {
    let schema = unit.schema;
    let root = schema.root();
    let mut code = glue::begin_glue("zserio");
    code.line("use crate::generated;");
    code.line("use crate::octets::{fill_bytes, take_bytes};");
    code.line("");
    code.line(format!("pub type Object = {};", object(root)));
    for (_, record) in schema.records() {
        fill(schema, record, &mut code);
        take(schema, record, &mut code);
        glue::tally(record, &object(record), &mut code, |place, field| add(schema, place, field));
    }
    glue::alias_root_functions(schema, &["fill", "take", "tally"], &mut code);
    glue::accessors(
        unit,
        &object(root),
        &mut code,
        |_, field, index| descend(field, index),
        |_| "*at".into(),
    );
    code.finish()
}

/// zserio's structure of a record.
fn object(record: &Record) -> String {
    format!("generated::wg::{}", record.name.legal.to_pascal_case())
}

/// A field's name in zserio's structure.
fn member(field: &Field) -> String {
    field.name.legal.to_snake_case_with_nums_as_word()
}

/// `fill_X`: normalized to zserio's, into whatever that held before.
fn fill(schema: &Schema, record: &Record, code: &mut SourceWriter) {
    let (name, object) = (&record.name.legal, object(record));
    code.line("");
    code.block(
        format!("pub fn fill_{name}(from: &crate::message::{name}, to: &mut {object}) {{"),
        "}",
        |code| {
            for field in &record.fields {
                let (f, m) = (&field.name.legal, member(field));
                // How one element that is no number goes into its place.
                let fill = match field.element {
                    Element::Record(id) => format!("fill_{}", schema.record(id).name.legal),
                    Element::Bytes => "fill_bytes".to_string(),
                    _ => "String::clone_into".to_string(),
                };
                let is_number = schema.scalar(field.element).is_some();
                code.line(match field.cardinality {
                    _ if is_octets(field) => format!("fill_bytes(&from.{f}, &mut to.{m});"),
                    Cardinality::Required | Cardinality::Implicit if is_number => {
                        format!("to.{m} = from.{f};")
                    }
                    Cardinality::Required | Cardinality::Implicit => {
                        format!("{fill}(&from.{f}, &mut to.{m});")
                    }
                    Cardinality::Optional if is_number => format!("to.{m} = from.{f};"),
                    Cardinality::Optional => {
                        let place = if is_optional_bytes(field) { "&mut to.data" } else { "to" };
                        format!(
                            "match &from.{f} {{ None => to.{m} = None, Some(from) => {{ \
                         let to = to.{m}.get_or_insert_with(Default::default); \
                         {fill}(from, {place}) }} }}"
                        )
                    }
                    _ if is_number => {
                        format!("to.{m}.clear(); to.{m}.extend_from_slice(&from.{f});")
                    }
                    _ => format!(
                        "to.{m}.resize_with(from.{f}.len(), Default::default);\n\
                     for (from, to) in from.{f}.iter().zip(&mut to.{m}) {{ {fill}(from, to) }}"
                    ),
                });
            }
        },
    );
}

/// `take_X`: zserio's to normalized; what is owned moves. The library has seen
/// to it that arrays of fixed length have it.
fn take(schema: &Schema, record: &Record, code: &mut SourceWriter) {
    let (name, object) = (&record.name.legal, object(record));
    code.line("");
    code.block(
        format!("pub fn take_{name}(from: &mut {object}, to: &mut crate::message::{name}) {{"),
        "}",
        |code| {
            for field in &record.fields {
                let (f, m) = (&field.name.legal, member(field));
                let take = match field.element {
                    Element::Record(id) => format!("take_{}", schema.record(id).name.legal),
                    Element::Bytes => "take_bytes".to_string(),
                    _ => "std::mem::swap".to_string(),
                };
                let is_number = schema.scalar(field.element).is_some();
                code.line(match field.cardinality {
                    _ if is_octets(field) => format!("take_bytes(&mut from.{m}, &mut to.{f});"),
                    Cardinality::Required | Cardinality::Implicit if is_number => {
                        format!("to.{f} = from.{m};")
                    }
                    Cardinality::Required | Cardinality::Implicit => {
                        format!("{take}(&mut from.{m}, &mut to.{f});")
                    }
                    Cardinality::Optional if is_number => format!("to.{f} = from.{m};"),
                    Cardinality::Optional => {
                        let place =
                            if is_optional_bytes(field) { "&mut from.data" } else { "from" };
                        format!(
                            "match &mut from.{m} {{ None => to.{f} = None, Some(from) => {{ \
                         let to = to.{f}.get_or_insert_with(Default::default); \
                         {take}({place}, to) }} }}"
                        )
                    }
                    Cardinality::List { .. } if is_number || field.element == Element::String => {
                        format!("to.{f} = std::mem::take(&mut from.{m});")
                    }
                    Cardinality::Array { .. } if is_number => {
                        format!("to.{f}.copy_from_slice(&from.{m});")
                    }
                    cardinality => {
                        let resize = match cardinality {
                            Cardinality::Array { .. } => String::new(),
                            _ => format!("to.{f}.resize_with(from.{m}.len(), Default::default);\n"),
                        };
                        format!(
                            "{resize}for (from, to) in from.{m}.iter_mut().zip(&mut to.{f}) \
                         {{ {take}(from, to) }}"
                        )
                    }
                });
            }
        },
    );
}

/// What holds the elements of a list, an array or an option.
fn elements(field: &Field) -> String {
    let blob = if is_octets(field) { ".data_blob" } else { "" };
    format!("{}{blob}", member(field))
}

/// The statement that adds the numbers of the field at a place.
fn add(schema: &Schema, place: usize, field: &Field) -> String {
    let m = elements(field);
    let add = |value: &str| match field.element {
        Element::Record(id) => {
            format!("tally.record({place}, tally_{}({value}));", schema.record(id).name.legal)
        }
        Element::String => format!("tally.length({place}, {value}.len());"),
        Element::Bytes if is_optional_bytes(field) => {
            format!("tally.length({place}, {value}.data.data_blob.len());")
        }
        Element::Bytes => format!("tally.length({place}, {value}.data_blob.len());"),
        _ => format!("tally.number({place}, *{value});"),
    };
    match field.cardinality {
        Cardinality::Required | Cardinality::Implicit => add(&format!("(&from.{m})")),
        _ => format!("for value in from.{m}.iter() {{ {} }}", add("value")),
    }
}

/// The statement that goes down to a field's value or element.
fn descend(field: &Field, index: ElementIndex) -> String {
    let value = format!("at.{}", elements(field));
    glue::descend(field, index, &value, &format!("&{value}"))
}
