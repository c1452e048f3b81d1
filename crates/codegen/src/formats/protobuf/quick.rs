//! Quick-Protobuf: structs by pb-rs that borrow text and octets, from the
//! message when writing and from the bytes when reading.

use std::fs::File as OsFile;
use std::io::{stdout, Write};
use std::os::fd::OwnedFd;
use std::path::Path;

use anyhow::{anyhow, Context, Result};
use pb_rs::types::FileDescriptor;
use wiregauge_schema::path::Index;
use wiregauge_schema::{
    Cardinality, Element, Field, Integer, Record, Scalar, Schema, TypeDef, TypeId,
};

use super::{
    as_bytes, check_length, fill_numbers, fill_records, from_rust, number, take_numbers,
    take_records, to_rust,
};
use crate::code::Code;
use crate::codec::{Answer, Codec, Emission, File, Language, Step, Unit};
use crate::library::library;
use crate::lowering::Lowering;
use crate::rust_glue;

inventory::submit! {
    Codec {
        name: "quick-protobuf",
        title: "Quick-Protobuf",
        format: "protobuf",
        language: Language::Rust,
        bound: false,
        options: &[
            "strings, bytes and packed floats are borrowed (Cow), pb-rs's default",
            "optional scalars, strings and bytes and singular floats are each alone in a oneof: \
             pb-rs ignores the word optional, and drops the sign of -0.0",
            "the library refers to packed floats where they lie, aligned or not",
        ],
        needs: &[],
        answer,
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

fn answer(schema: &Schema, id: TypeId) -> Answer {
    let mut lowerings = match super::answer(schema, id) {
        Answer::Lowered(lowerings) => lowerings,
        Answer::Supported => Vec::new(),
        rejected => return rejected,
    };
    let TypeDef::Record(record) = &schema.types[id] else {
        return Answer::lowered(lowerings);
    };
    if TAKEN.contains(&record.name.legal.as_str()) {
        return Answer::Rejected("pb-rs's code imports another type of this name".into());
    }
    if record.fields.iter().any(|field| alone(schema, field)) {
        lowerings.push(Lowering::new(
            "optional and singular float as a oneof of one",
            "nothing; the bytes are the same",
        ));
    }
    Answer::lowered(lowerings)
}

fn idl(schema: &Schema) -> Result<File> {
    super::definition(schema, |field| alone(schema, field))
}

/// Whether a field is alone in a oneof: one whose presence pb-rs would lose,
/// and a float, which it would take for absent where it is -0.0.
fn alone(schema: &Schema, field: &Field) -> bool {
    let is_record = matches!(field.element, Element::Record(_));
    match field.cardinality {
        Cardinality::Optional => !is_record,
        Cardinality::Required | Cardinality::Implicit => is_float(schema, field),
        Cardinality::List { .. } | Cardinality::Array { .. } => false,
    }
}

fn is_float(schema: &Schema, field: &Field) -> bool {
    schema.scalar(field.element).is_some_and(Scalar::is_float)
}

/// Whether pb-rs borrows a list of numbers: packed, and each of the same size.
fn is_block(schema: &Schema, field: &Field) -> bool {
    !field.wire.unpacked && (is_float(schema, field) || field.wire.integer == Integer::Fixed)
}

/// Whether pb-rs's struct of a record has a lifetime.
fn borrows(schema: &Schema, record: &Record) -> bool {
    record.fields.iter().any(|field| {
        let repeats =
            matches!(field.cardinality, Cardinality::List { .. } | Cardinality::Array { .. });
        match field.element {
            Element::String | Element::Bytes => true,
            Element::Record(id) => borrows(schema, schema.record(id)),
            _ => as_bytes(field) || (repeats && is_block(schema, field)),
        }
    })
}

fn emit(unit: &Unit) -> Result<Emission> {
    Ok(Emission {
        files: vec![idl(unit.schema)?, File::new("main.rs", main(unit))],
        steps: vec![Step::Call(Box::new(generate))],
        ..Emission::default()
    })
}

/// Runs pb-rs, which makes `wg.rs`.
fn generate(folder: &Path) -> Result<()> {
    let proto = folder.join("message.proto");
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

fn main(unit: &Unit) -> String {
    let schema = unit.schema;
    let mut code = Code::new();
    code.line("// Generated by wiregauge: glue between the normalized message and pb-rs's.");
    code.line("#![allow(clippy::all, non_camel_case_types, non_snake_case, unused)]");
    code.line("use std::borrow::Cow;");
    code.line("use wiregauge_runner::{Codec, Error, Hello};");
    code.line("mod wg;");
    for (_, record) in schema.records() {
        fill(schema, record, &mut code);
        take(schema, record, &mut code);
        let of = object(schema, record, "'_");
        rust_glue::sum(record, &of, &mut code, |field| add(schema, record, field));
    }
    let root = schema.root();
    rust_glue::accessors(
        unit,
        &object(schema, root, "'_"),
        &mut code,
        |record, field, index| down(schema, record, field, index),
        |field| number(schema, field.element, "at"),
    );
    code.line(
        CODEC
            .replace("LIBRARY", &library("quick-protobuf"))
            .replace("OBJECT", &object(schema, root, "'a"))
            .replace("ROOT", &root.name.legal),
    );
    code.finish()
}

/// pb-rs's struct of a record.
fn object(schema: &Schema, record: &Record, lifetime: &str) -> String {
    let name = &record.name.legal;
    if borrows(schema, record) {
        format!("wg::{name}<{lifetime}>")
    } else {
        format!("wg::{name}")
    }
}

/// A field's name in pb-rs's struct: that of its oneof where it is in one.
fn member(schema: &Schema, field: &Field) -> String {
    if alone(schema, field) {
        format!("_{}", field.name.legal)
    } else {
        variant(field)
    }
}

/// A field's own name, in its oneof or its struct.
fn variant(field: &Field) -> String {
    let name = &field.name.legal;
    let suffix = if RENAMED.contains(&name.as_str()) { "_pb" } else { "" };
    format!("{name}{suffix}")
}

/// The enum that pb-rs makes of a oneof of one.
fn oneof(record: &Record, field: &Field) -> String {
    format!("wg::mod_{}::OneOf_{}", record.name.legal, field.name.legal)
}

fn is_array(field: &Field) -> bool {
    matches!(field.cardinality, Cardinality::Array { .. })
}

/// `fill_X`: normalized to pb-rs's, into whatever that held before.
fn fill(schema: &Schema, record: &Record, code: &mut Code) {
    let name = &record.name.legal;
    let object = object(schema, record, "'a");
    code.line("");
    code.block(
        format!("fn fill_{name}<'a>(from: &'a message::{name}, to: &mut {object}) {{"),
        "}",
        |code| {
            for field in &record.fields {
                let f = &field.name.legal;
                let m = member(schema, field);
                let text = matches!(field.element, Element::String | Element::Bytes);
                code.line(match (field.element, field.cardinality) {
                    _ if as_bytes(field) => format!("to.{m} = Cow::Borrowed(&from.{f});"),
                    (Element::Record(id), _) => fill_records(schema, id, field, &m),
                    (_, Cardinality::Optional) => {
                        let value = if text {
                            "Cow::Borrowed(value)".into()
                        } else {
                            to_rust(schema, field, "*value")
                        };
                        let (oneof, variant) = (oneof(record, field), variant(field));
                        format!(
                            "to.{m} = match &from.{f} {{ None => {oneof}::None, \
                             Some(value) => {oneof}::{variant}({value}) }};"
                        )
                    }
                    // Absent is what is zero in every bit.
                    _ if alone(schema, field) => {
                        let (oneof, variant) = (oneof(record, field), variant(field));
                        format!(
                            "to.{m} = if from.{f}.to_bits() == 0 {{ {oneof}::None }} \
                             else {{ {oneof}::{variant}(from.{f}) }};"
                        )
                    }
                    (_, Cardinality::Required | Cardinality::Implicit) if text => {
                        format!("to.{m} = Cow::Borrowed(&from.{f});")
                    }
                    _ if text => format!(
                        "to.{m}.clear(); \
                         to.{m}.extend(from.{f}.iter().map(|v| Cow::Borrowed(v.as_ref())));"
                    ),
                    (_, Cardinality::List { .. } | Cardinality::Array { .. })
                        if is_block(schema, field) =>
                    {
                        format!("to.{m} = Cow::Borrowed(&from.{f});")
                    }
                    _ => fill_numbers(schema, field, &m),
                });
            }
        },
    );
}

/// `take_X`: pb-rs's to normalized. What is borrowed is copied into what the
/// message has, what is owned moves.
fn take(schema: &Schema, record: &Record, code: &mut Code) {
    let name = &record.name.legal;
    let object = object(schema, record, "'_");
    code.line("");
    code.block(
        format!(
            "fn take_{name}(from: &mut {object}, to: &mut message::{name}) -> Result<(), Error> {{"
        ),
        "}",
        |code| {
            for field in &record.fields {
                let f = &field.name.legal;
                let m = member(schema, field);
                let array = is_array(field);
                check_length(record, field, &m, code);
                code.line(match (field.element, field.cardinality) {
                    (Element::Record(id), _) => take_records(schema, id, field, &m),
                    (element, cardinality) if alone(schema, field) => {
                        let (oneof, variant) = (oneof(record, field), variant(field));
                        let (none, some) = match (element, cardinality) {
                            (Element::String | Element::Bytes, _) => (
                                "None".to_string(),
                                format!(
                                    "value.as_ref().clone_into(\
                                     to.{f}.get_or_insert_with(Default::default))"
                                ),
                            ),
                            (_, Cardinality::Optional) => (
                                "None".to_string(),
                                format!("to.{f} = Some({})", from_rust(schema, field, "*value")),
                            ),
                            _ => ("0.0".to_string(), format!("to.{f} = *value")),
                        };
                        format!(
                            "match &from.{m} {{ {oneof}::None => to.{f} = {none}, \
                             {oneof}::{variant}(value) => {some} }}"
                        )
                    }
                    _ if array && as_bytes(field) => {
                        format!("to.{f}.copy_from_slice(&from.{m});")
                    }
                    (
                        Element::String | Element::Bytes,
                        Cardinality::Required | Cardinality::Implicit,
                    ) => {
                        format!("from.{m}.as_ref().clone_into(&mut to.{f});")
                    }
                    (Element::String | Element::Bytes, _) => {
                        let resize = if array {
                            String::new()
                        } else {
                            format!("to.{f}.resize_with(from.{m}.len(), Default::default);\n")
                        };
                        format!(
                            "{resize}for (from, to) in from.{m}.iter().zip(&mut to.{f}) \
                             {{ from.as_ref().clone_into(to) }}"
                        )
                    }
                    (_, Cardinality::List { .. }) if as_bytes(field) || is_block(schema, field) => {
                        format!("to.{f}.clear(); to.{f}.extend_from_slice(&from.{m});")
                    }
                    _ => take_numbers(schema, field, &m),
                });
            }
            code.line("Ok(())");
        },
    );
}

/// The statement that adds a field's numbers.
fn add(schema: &Schema, record: &Record, field: &Field) -> String {
    let m = member(schema, field);
    let number = |value: &str| number(schema, field.element, value);
    let single = matches!(field.cardinality, Cardinality::Required | Cardinality::Implicit);
    let is_record = matches!(field.element, Element::Record(_));
    if alone(schema, field) {
        let (oneof, variant, number) = (oneof(record, field), variant(field), number("value"));
        format!("if let {oneof}::{variant}(value) = &from.{m} {{ sum += {number}; }}")
    } else if single && !is_record {
        format!("sum += {};", number(&format!("(&from.{m})")))
    } else {
        format!("for value in from.{m}.iter() {{ sum += {}; }}", number("value"))
    }
}

/// The statement that goes down to a field's value or element.
fn down(schema: &Schema, record: &Record, field: &Field, index: Index) -> String {
    let value = format!("at.{}", member(schema, field));
    let is_record = matches!(field.element, Element::Record(_));
    let (pattern, found) = match index {
        Index::Single if alone(schema, field) => {
            (format!("{}::{}(at)", oneof(record, field), variant(field)), format!("&{value}"))
        }
        Index::Single if is_record => ("Some(at)".into(), format!("&{value}")),
        Index::Single => ("Some(at)".into(), format!("Some(&{value})")),
        Index::At(index) => ("Some(at)".into(), format!("{value}.get({index})")),
        Index::Middle => ("Some(at)".into(), format!("{value}.get({value}.len() / 2)")),
    };
    format!("let {pattern} = {found} else {{ return 0.0 }};")
}

const CODEC: &str = r#"
struct Quick;

fn read<'a>(wire: &'a [u8]) -> Result<OBJECT, Error> {
  use quick_protobuf::MessageRead;
  let mut reader = quick_protobuf::BytesReader::from_bytes(wire);
  Ok(wg::ROOT::from_reader(&mut reader, wire)?)
}

impl Codec for Quick {
  type Message = message::ROOT;
  type Object<'a> = OBJECT;

  fn hello(&self) -> Hello {
    Hello { library: "LIBRARY", phased: true, verifies: false }
  }
  fn populate<'a>(&mut self, message: &'a Self::Message, object: &mut Self::Object<'a>) -> Result<(), Error> {
    fill_ROOT(message, object);
    Ok(())
  }
  fn write(&mut self, _: &Self::Message, object: &mut Self::Object<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
    use quick_protobuf::MessageWrite;
    Ok(object.write_message(&mut quick_protobuf::Writer::new(out))?)
  }
  fn parse<'a>(&mut self, wire: &'a [u8], object: &mut Self::Object<'a>) -> Result<(), Error> {
    *object = read(wire)?;
    Ok(())
  }
  fn extract(&mut self, _: &[u8], object: &mut Self::Object<'_>, message: &mut Self::Message) -> Result<(), Error> {
    take_ROOT(object, message)
  }
  fn project(&mut self, wire: &[u8]) -> Result<f64, Error> {
    Ok(sum_ROOT(&read(wire)?))
  }
  fn fixed(&mut self, wire: &[u8]) -> Result<f64, Error> {
    Ok(fixed(&read(wire)?))
  }
  fn element(&mut self, wire: &[u8]) -> Result<f64, Error> {
    Ok(element(&read(wire)?))
  }
}

fn main() -> std::io::Result<()> {
  wiregauge_runner::serve(Quick)
}
"#;
