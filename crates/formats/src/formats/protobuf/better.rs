//! betterproto2: Protobuf in Python alone, by dataclasses.

use std::path::Path;

use anyhow::Result;
use wiregauge_build_tools::python::PythonEnvironment;
use wiregauge_normalized::{File, Unit};
use wiregauge_schema::{Cardinality, Field, Schema, TypeDef, TypeId};

use super::as_bytes;
use crate::build::languages::python::{NEEDS, PYTHON};
use crate::codec::{Codec, Emission, GeneratorStep, Linkage};
use crate::flattened_field::FlattenedField;
use crate::language::python::glue::{self, PythonLibrary};
use crate::language::python::message::PythonMessage;
use crate::language::python::negative_zero;

inventory::submit! {
    Codec {
        name: "betterproto2",
        title: "Protobuf Python betterproto2",
        format: "protobuf",
        language: &PYTHON,
        is_bound: false,
        linkage: Linkage::Wheel("betterproto2"),
        options: &[
            "dataclasses by the library's own compiler (betterproto2_compiler), with its defaults",
            "the library is written in Python and works field by field; packed numbers are also \
             written and read one by one",
            "-0.0 in a field that is not optional is refused: the library drops it, as it drops \
             0.0",
            "no partial reads: the whole message is parsed for one number",
        ],
        calls: &[
            "encode: bytes(message)",
            "decode, project, fixed, element: Message.parse(bytes)",
        ],
        needs: NEEDS,
        check_type: super::check_type,
        idl: Some(idl),
        emit,
    }
}

const REQUIREMENTS: &str = include_str!("better/requirements.txt");

/// `message.proto`, with no field of the name of a method of the library's messages.
fn idl(schema: &Schema) -> Result<File> {
    let mut renamed = schema.clone();
    for def in &mut renamed.types {
        let TypeDef::Record(record) = def else { continue };
        for field in &mut record.fields {
            field.name.legal = member(field);
        }
    }
    super::idl(&renamed)
}

fn member(field: &Field) -> String {
    const OWN: [&str; 8] =
        ["dump", "from_dict", "from_json", "is_set", "load", "parse", "to_dict", "to_json"];
    let legal = &field.name.legal;
    match OWN.contains(&legal.as_str()) {
        // Legal names do not end like this.
        true => format!("{legal}_"),
        false => legal.clone(),
    }
}

fn emit(unit: &Unit) -> Result<Emission> {
    let form = PythonMessage::new(unit)?;
    let mut head = "\nfrom generated import wg\n".to_owned();
    for (id, record) in form.records() {
        let class = compiled_class(&record.name.legal);
        head += &format!("{} = wg.{class}\n", library_class(&form, id));
    }
    head += &format!("Root = {}", library_class(&form, unit.schema.root));
    let mut glue = glue::glue_file(&form, &Dataclasses, &head);
    glue += &negative_zero::loses_sign_functions(&form, |_, field| {
        matches!(field.cardinality, Cardinality::Required | Cardinality::Implicit)
            && unit.schema.scalar(field.element).is_some_and(|scalar| scalar.is_float())
    });
    let files = vec![
        idl(unit.schema)?,
        File::new("codec.py", include_str!("better/codec.py")),
        File::new("glue.py", glue),
    ];
    let steps = vec![
        GeneratorStep::Call(Box::new(super::describe)),
        GeneratorStep::Call(Box::new(compile)),
    ];
    Ok(Emission { files, steps, requirements: REQUIREMENTS, ..Emission::default() })
}

/// Has the library's compiler make the package `generated`.
fn compile(folder: &Path) -> Result<()> {
    let python = PythonEnvironment::create_for_step(folder, REQUIREMENTS)?;
    python.run(include_str!("better/compile.py"), &[folder]).map(|_| ())
}

/// What the library's compiler calls the class of a message: `Vector3D` for `Vector3d`, as a
/// digit ends a word to it.
fn compiled_class(message: &str) -> String {
    let mut class = String::new();
    for letter in message.chars() {
        match class.ends_with(|before: char| before.is_ascii_digit()) {
            true => class.push(letter.to_ascii_uppercase()),
            false => class.push(letter),
        }
    }
    class
}

/// What the glue calls the library's class of a record.
fn library_class(form: &PythonMessage, id: TypeId) -> String {
    format!("Own{}", form.class(id))
}

/// Its dataclasses.
struct Dataclasses;

impl PythonLibrary for Dataclasses {
    fn flattens_arrays(&self, _: TypeId) -> bool {
        true
    }

    fn is_octets(&self, field: &Field) -> bool {
        as_bytes(field)
    }

    fn get(&self, at: &str, _: TypeId, field: &Field, _: usize) -> String {
        format!("{at}.{}", member(field))
    }

    fn make(
        &self,
        form: &PythonMessage,
        id: TypeId,
        values: &[(FlattenedField, String)],
    ) -> Option<String> {
        let values: Vec<&str> = values.iter().map(|(_, value)| value.as_str()).collect();
        Some(format!("{}({})", library_class(form, id), values.join(", ")))
    }
}
