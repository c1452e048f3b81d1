//! Quick-Protobuf: structs by pb-rs that borrow text and octets, from the
//! message when writing and from the bytes when reading.

use std::fs::File as OsFile;
use std::io::{stdout, Write};
use std::os::fd::OwnedFd;
use std::path::Path;

use anyhow::{anyhow, Context, Result};
use pb_rs::types::FileDescriptor;
use wiregauge_normalized::{File, Unit};
use wiregauge_schema::{
    Cardinality, Element, Field, IntegerEncoding, Record, Scalar, Schema, TypeDef, TypeId,
};

use super::{
    as_bytes, fill_numbers, fill_records, take_numbers, take_records, Partial, PlainLists, Syntax,
};
use crate::build::languages::rust::RUST;
use crate::codec::{Codec, Emission, GeneratorStep, Linkage, Support};
use crate::flattened_field::{self, FlattenedField};
use crate::language::rust::glue;
use crate::lowering::Lowering;

inventory::submit! {
    Codec {
        name: "quick-protobuf",
        title: "Protobuf Rust quick-protobuf",
        format: "protobuf",
        language: &RUST,
        is_bound: false,
        linkage: Linkage::Crate("quick-protobuf"),
        options: &[
            "texts, bytes and packed floats are borrowed (Cow), pb-rs's default",
            "a definition with optional scalars, texts or bytes is proto2, because pb-rs ignores \
             the word optional in proto3",
            "packed floats are not copied: the library points to them, aligned or not",
            "the output has room for get_size() before it is written, as in serialize_into_vec()",
            "fixed and element decode a message that knows only the fields on the path: pb-rs's \
             code skips the others by read_unknown()",
            "-0.0 in a field that is not optional is refused: the library drops it, as it drops \
             0.0",
        ],
        calls: &[
            "encode: out.reserve(message.get_size()); message.write_message(&mut Writer::new(out))",
            "decode: Message::from_reader(&mut BytesReader::from_bytes(bytes), bytes)",
            "project: as decode, then the struct's members",
            "fixed, element: from_reader(…) of a struct of the fields on the way, then its members",
        ],
        needs: &[],
        check_type,
        idl: Some(idl),
        emit,
    }
}

/// Names that the generated code imports for itself.
const TAKEN: [&str; 11] = [
    "BytesReader",
    "Cow",
    "HashMap",
    "MessageInfo",
    "MessageRead",
    "MessageWrite",
    "TryFrom",
    "TryInto",
    "Write",
    "Writer",
    "WriterBackend",
];

/// Rust's words that are a legal field name but to pb-rs, which adds `_pb`.
const RENAMED: [&str; 9] = ["alignof", "f32", "f64", "offsetof", "pure", "str", "u8", "u32", "u64"];

fn check_type(schema: &Schema, id: TypeId) -> Support {
    let mut lowerings = match super::check_type(schema, id) {
        Support::Lowered(lowerings) => lowerings,
        Support::Supported => Vec::new(),
        rejected => return rejected,
    };
    let TypeDef::Record(record) = &schema.types[id] else {
        return Support::lowered(lowerings);
    };
    if TAKEN.contains(&record.name.legal.as_str()) {
        return Support::Rejected("pb-rs's code imports another type of this name".into());
    }
    if syntax(schema) == Syntax::Proto2 {
        lowerings.push(Lowering::new(
            "definition with optional fields as proto2, its other fields with a default",
            "nothing; the bytes are the same",
        ));
    }
    Support::lowered(lowerings)
}

fn idl(schema: &Schema) -> Result<File> {
    Ok(super::definition(schema, syntax(schema)))
}

/// pb-rs heeds `optional` of anything but records in proto2 only.
fn syntax(schema: &Schema) -> Syntax {
    let is_optional = |field: &Field| {
        field.cardinality == Cardinality::Optional && !matches!(field.element, Element::Record(_))
    };
    if schema.records().any(|(_, record)| record.fields.iter().any(is_optional)) {
        Syntax::Proto2
    } else {
        Syntax::Proto3
    }
}

/// Whether pb-rs borrows a list of numbers: packed, and each of the same size.
fn is_block(schema: &Schema, field: &Field) -> bool {
    let is_float = schema.scalar(field.element).is_some_and(Scalar::is_float);
    !field.wire.unpacked && (is_float || field.wire.integer == IntegerEncoding::Fixed)
}

/// Whether pb-rs's struct of a record has a lifetime.
fn borrows(schema: &Schema, record: &Record) -> bool {
    flattened_field::flatten_fields(schema, record).iter().any(|slot| {
        let field = &slot.field;
        match field.element {
            Element::String | Element::Bytes => true,
            Element::Record(id) => borrows(schema, schema.record(id)),
            _ => as_bytes(field) || (repeats(field) && is_block(schema, field)),
        }
    })
}

fn repeats(field: &Field) -> bool {
    matches!(field.cardinality, Cardinality::List { .. } | Cardinality::Array { .. })
}

fn emit(unit: &Unit) -> Result<Emission> {
    let partials = Partial::for_projection(unit, &PlainLists);
    let mut files = vec![
        idl(unit.schema)?,
        super::rust_main("Quick", &partials, &PlainLists),
        File::new("codec.rs", include_str!("quick/codec.rs")),
        File::new("glue.rs", glue(unit, &partials)),
    ];
    files.extend(super::partial_definition(&partials, syntax(unit.schema)));
    let definitions: Vec<String> = files
        .iter()
        .filter(|file| file.path.ends_with(".proto"))
        .map(|file| file.path.clone())
        .collect();
    Ok(Emission {
        files,
        steps: vec![GeneratorStep::Call(Box::new(move |folder| {
            definitions.iter().try_for_each(|path| generate(folder, path))
        }))],
        ..Emission::default()
    })
}

/// Runs pb-rs, which makes `wg.rs` of a definition in package `wg`.
fn generate(folder: &Path, definition: &str) -> Result<()> {
    let proto = folder.join(definition);
    let config = pb_rs::ConfigBuilder::new(&[proto.as_path()], None, Some(&folder), &[folder])
        .map_err(|error| anyhow!("pb-rs: {error}"))?;
    let _silence = Silence::begin().context("cannot silence pb-rs")?;
    FileDescriptor::run(&config.build()).map_err(|error| anyhow!("pb-rs: {error}"))
}

/// Keeps what pb-rs prints of its progress out of the standard output, where the
/// caller's results go, until it is dropped. It concerns the whole process: what
/// another thread prints meanwhile is lost.
struct Silence(OwnedFd);

impl Silence {
    fn begin() -> Result<Silence> {
        stdout().flush()?;
        let kept = rustix::io::dup(stdout())?;
        rustix::stdio::dup2_stdout(OsFile::options().write(true).open("/dev/null")?)?;
        Ok(Silence(kept))
    }
}

impl Drop for Silence {
    fn drop(&mut self) {
        // Nothing can be done about a failure here but to stay silent.
        let _ = stdout().flush();
        let _ = rustix::stdio::dup2_stdout(&self.0);
    }
}

fn glue(unit: &Unit, partials: &[(&str, Partial)]) -> String {
    let schema = unit.schema;
    let mut code = super::rust_glue("quick-protobuf", partials, &PlainLists);
    code.line("use std::borrow::Cow;");
    code.line("use crate::codec::read;");
    code.line("");
    code.line(format!("pub type Whole<'a> = {};", object("wg", schema, schema.root(), "'a")));
    for (_, record) in schema.records() {
        let object = |lifetime: &str| object("wg", schema, record, lifetime);
        let slots = flattened_field::flatten_fields(schema, record);
        super::fill(record, &object("'a"), &slots, &mut code, |slot| fill(schema, slot));
        super::take(record, &object("'_"), &slots, &mut code, |slot| {
            (member(&slot.field), take(schema, slot))
        });
        super::tally(schema, record, &object("'_"), &PlainLists, &mut code, member);
    }
    glue::alias_root_functions(schema, &["fill", "take", "tally"], &mut code);
    for (name, partial) in partials {
        let object =
            |lifetime: &str| object("partial", &partial.schema, partial.schema.root(), lifetime);
        partial.reading(name, "<'a>", object, "*object = read(wire)?;", &mut code, member);
    }
    code.finish()
}

/// pb-rs's struct of a record.
fn object(module: &str, schema: &Schema, record: &Record, lifetime: &str) -> String {
    let name = &record.name.legal;
    if borrows(schema, record) {
        format!("{module}::{name}<{lifetime}>")
    } else {
        format!("{module}::{name}")
    }
}

/// A field's name in pb-rs's struct.
fn member(field: &Field) -> String {
    let name = &field.name.legal;
    let suffix = if RENAMED.contains(&name.as_str()) { "_pb" } else { "" };
    format!("{name}{suffix}")
}

/// Fills a member, whatever it held before.
fn fill(schema: &Schema, slot: &FlattenedField) -> String {
    let (field, f, m) = (&slot.field, &slot.value, member(&slot.field));
    let is_text = matches!(field.element, Element::String | Element::Bytes);
    match (field.element, field.cardinality) {
        (Element::Record(id), _) => fill_records(schema, id, slot, &m),
        (_, Cardinality::Optional) if is_text => {
            format!("to.{m} = from.{f}.as_ref().map(|value| Cow::Borrowed(value.as_ref()));")
        }
        (_, Cardinality::Required | Cardinality::Implicit) if is_text => {
            format!("to.{m} = Cow::Borrowed(&from.{f});")
        }
        _ if is_text => format!(
            "to.{m}.clear(); to.{m}.extend(from.{f}.iter().map(|v| Cow::Borrowed(v.as_ref())));"
        ),
        _ if as_bytes(field) || (repeats(field) && is_block(schema, field)) => {
            format!("to.{m} = Cow::Borrowed(&from.{f});")
        }
        _ => fill_numbers(schema, slot, &m),
    }
}

/// Takes from a member. What is borrowed is copied into what the message has,
/// what is owned moves.
fn take(schema: &Schema, slot: &FlattenedField) -> String {
    let (field, f, m) = (&slot.field, &slot.value, member(&slot.field));
    let is_array = matches!(field.cardinality, Cardinality::Array { .. });
    let is_text = matches!(field.element, Element::String | Element::Bytes);
    match (field.element, field.cardinality) {
        (Element::Record(id), _) => take_records(schema, id, slot, &m),
        (_, Cardinality::Optional) if is_text => format!(
            "match &from.{m} {{ None => to.{f} = None, Some(value) => \
             value.as_ref().clone_into(to.{f}.get_or_insert_with(Default::default)) }}"
        ),
        (_, Cardinality::Required | Cardinality::Implicit) if is_text => {
            format!("from.{m}.as_ref().clone_into(&mut to.{f});")
        }
        _ if is_text => {
            let resize = if is_array {
                String::new()
            } else {
                format!("to.{f}.resize_with(from.{m}.len(), Default::default);\n")
            };
            format!(
                "{resize}for (from, to) in from.{m}.iter().zip(&mut to.{f}) \
                 {{ from.as_ref().clone_into(to) }}"
            )
        }
        _ if is_array && as_bytes(field) => format!("to.{f}.copy_from_slice(&from.{m});"),
        (_, Cardinality::List { .. }) if as_bytes(field) || is_block(schema, field) => {
            format!("to.{f}.clear(); to.{f}.extend_from_slice(&from.{m});")
        }
        _ => take_numbers(schema, slot, &m),
    }
}
