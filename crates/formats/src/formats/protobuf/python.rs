//! Protobuf's own Python library, over upb.

use anyhow::Result;
use wiregauge_normalized::{File, SourceWriter, Unit};
use wiregauge_schema::{Cardinality, Element, Field, Record, Schema, TypeId};

use super::as_bytes;
use crate::build::languages::python::{NEEDS, PYTHON};
use crate::codec::{Codec, Emission, GeneratorStep, Linkage};
use crate::flattened_field::{self, FlattenedField};
use crate::language::python::glue::{self, PythonLibrary};
use crate::language::python::message::PythonMessage;

inventory::submit! {
    Codec {
        name: "protobuf-python",
        title: "Protobuf Python upb",
        format: "protobuf",
        language: &PYTHON,
        is_bound: false,
        linkage: Linkage::Wheel("protobuf"),
        options: &[
            "the implementation in C (upb); the runner ends if it gets another one",
            "messages come from the definition's descriptor and the library's factory, as in \
             generated modules",
            "filled by setting fields, by extend() of lists of numbers, and by add() of lists of \
             messages, which copies no message",
            "reused objects are cleared by Clear()",
            "no partial reads: the whole message is parsed for one number",
        ],
        calls: &[
            "encode: message.SerializeToString()",
            "decode: message.ParseFromString(bytes), then its fields",
            "project, fixed, element: as decode, the message's fields alone",
        ],
        needs: NEEDS,
        check_type: super::check_type,
        idl: Some(super::idl),
        emit,
    }
}

fn emit(unit: &Unit) -> Result<Emission> {
    let form = PythonMessage::new(unit)?;
    let mut glue = glue::glue_file(&form, &Upb, &head(unit));
    glue += &glue::fill(&form, |_| true, fill_slot);
    let files =
        vec![super::idl(unit.schema)?, File::new("codec.py", CODEC), File::new("glue.py", glue)];
    Ok(Emission {
        files,
        steps: vec![describe()],
        requirements: include_str!("python/requirements.txt"),
        ..Emission::default()
    })
}

/// The runner's fixed part.
pub(in crate::formats) const CODEC: &str = include_str!("python/codec.py");

/// What the glue needs beside.
pub(in crate::formats) fn head(unit: &Unit) -> String {
    format!("\nNAME = \"wg.{}\"", unit.schema.root().name.legal)
}

/// Makes the descriptors of `message.proto`.
pub(in crate::formats) fn describe() -> GeneratorStep {
    GeneratorStep::Call(Box::new(super::describe))
}

/// Its messages.
pub(in crate::formats) struct Upb;

impl PythonLibrary for Upb {
    fn flattens_arrays(&self, _: TypeId) -> bool {
        true
    }

    fn is_octets(&self, field: &Field) -> bool {
        as_bytes(field)
    }

    fn get(&self, at: &str, _: TypeId, field: &Field, _: usize) -> String {
        format!("{at}.{}", field.name.legal)
    }

    fn is_present(&self, at: &str, _: &Record, field: &Field, _: &str) -> String {
        format!("{at}.HasField(\"{}\")", field.name.legal)
    }

    fn make(&self, _: &PythonMessage, _: TypeId, _: &[(FlattenedField, String)]) -> Option<String> {
        None
    }

    fn numbers_from_library(&self, _: &Field, code: &str, value: &str) -> String {
        format!("array(\"{code}\", {value}[:])")
    }

    fn list_from_library(&self, _: &Field, value: &str) -> String {
        format!("{value}[:]")
    }
}

/// The statements that fill a slot.
pub(in crate::formats) fn fill_slot(
    form: &PythonMessage,
    id: TypeId,
    slot: &FlattenedField,
    code: &mut SourceWriter,
) {
    let m = form.member_access("m", id, slot);
    let o = format!("o.{}", slot.field.name.legal);
    let record = match slot.field.element {
        Element::Record(inner) => Some(inner),
        _ => None,
    };
    match (slot.field.cardinality, record) {
        (Cardinality::Required | Cardinality::Implicit, None) => code.line(format!("{o} = {m}")),
        (Cardinality::Required | Cardinality::Implicit, Some(inner)) => {
            if !sets_something(form.schema, form.schema.record(inner)) {
                code.line(format!("{o}.SetInParent()"));
            }
            code.line(format!("fill_{}({m}, {o})", form.class(inner)));
        }
        (Cardinality::Optional, inner) => {
            code.open(format!("if {m} is not None:"));
            match inner {
                None => code.line(format!("{o} = {m}")),
                Some(inner) => {
                    code.line(format!("{o}.SetInParent()"));
                    code.line(format!("fill_{}({m}, {o})", form.class(inner)));
                }
            }
            code.outdent();
        }
        (_, None) if as_bytes(&slot.field) => code.line(format!("{o} = bytes({m})")),
        (_, None) => code.line(format!("{o}.extend({m})")),
        (_, Some(inner)) => {
            code.line(format!("add = {o}.add"));
            code.open(format!("for e in {m}:"));
            code.line(format!("fill_{}(e, add())", form.class(inner)));
            code.outdent();
        }
    }
}

/// Whether filling a record sets a field whatever it holds, so that it is there.
fn sets_something(schema: &Schema, record: &Record) -> bool {
    flattened_field::flatten_fields(schema, record).iter().any(|slot| {
        matches!(slot.field.cardinality, Cardinality::Required | Cardinality::Implicit)
            && !matches!(slot.field.element, Element::Record(_))
    })
}
