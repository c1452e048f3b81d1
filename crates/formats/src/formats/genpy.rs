//! genpy: ROS 1's own serialization in Python, by the classes that a build of ROS has.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use wiregauge_build_tools::python::interpreter;
use wiregauge_build_tools::{run, Need};
use wiregauge_normalized::{File, Unit};
use wiregauge_schema::{Cardinality, Element, Field, Record, Scalar, TypeId};

use crate::build::languages::python::{NEEDS, PYTHON};
use crate::codec::{Codec, Emission, GeneratorStep, Linkage};
use crate::flattened_field::FlattenedField;
use crate::language::python::glue::{self, PythonLibrary};
use crate::language::python::message::PythonMessage;
use crate::language::python::ros_objects;
use crate::packaged_library;
use crate::ros_definition::{self, OCTETS};

/// The package that brings it.
const PACKAGE: &str = "python3-genpy";

inventory::submit! {
    packaged_library::PackagedLibrary {
        name: "genpy",
        packages: &[PACKAGE],
        tried: &[("0.6.16", "2021-05")],
        newest: ("0.6.18", "2025-04"),
    }
}

inventory::submit! {
    Codec {
        name: "genpy",
        title: "ROS 1 MSG Python genpy",
        format: "ros-msg",
        language: &PYTHON,
        is_bound: false,
        linkage: Linkage::Module(PACKAGE),
        options: &[
            "classes by the library's own generator, genmsg_py, as in a build of ROS; from the \
             distribution, because no Python registry has it",
            "the format has no optional values: an optional value takes its bytes and those of a \
             flag, present or not",
            "lists of numbers are given as lists by tolist() and returned as tuples, lists of \
             bytes as bytes: struct packs and unpacks them number by number",
            "its other way, serialize_numpy(), calls tostring() of arrays, which today's NumPy \
             does not have",
            "a text or bytes field that ends too early is taken as it is, and a text that is not \
             UTF-8 is logged: the library does not refuse them",
            "no partial reads: the whole message is deserialized for one number",
        ],
        calls: &[
            "encode: message.serialize(BytesIO()), then getvalue()",
            "decode, project, fixed, element: Message().deserialize(bytes)",
        ],
        needs: &[NEEDS[0], Need::Module("genpy", PACKAGE)],
        check_type: ros_definition::check_type,
        idl: None,
        emit,
    }
}

fn emit(unit: &Unit) -> Result<Emission> {
    let form = PythonMessage::new(unit)?;
    let octets = ros_definition::octets_name(unit.schema);
    let mut files = vec![
        File::new("codec.py", include_str!("genpy/codec.py")),
        File::new("distribution.py", include_str!("genpy/distribution.py")),
        File::new("generate.py", include_str!("genpy/generate.py")),
        File::new(format!("msg/{octets}.msg"), OCTETS),
    ];
    let mut head = "\nimport distribution  # noqa: F401\nfrom wg import msg\n\n".to_owned();
    for (id, record) in form.records() {
        let name = &record.name.legal;
        head += &format!("{} = msg.{name}\n", library_class(&form, id));
        let text = ros_definition::definition(unit.schema, record, member);
        files.push(File::new(format!("msg/{name}.msg"), text));
    }
    head += &format!("Octets = msg.{octets}\nRoot = {}", library_class(&form, unit.schema.root));
    files.push(File::new("glue.py", glue::glue_file(&form, &Classes, &head)));
    let steps = vec![GeneratorStep::Call(Box::new(generate))];
    Ok(Emission { files, steps, ..Emission::default() })
}

/// Makes the package `wg.msg` of the definitions.
fn generate(folder: &Path) -> Result<()> {
    let mut command = Command::new(interpreter()?);
    command.args(["-I", "generate.py"]).current_dir(folder);
    run(&mut command, "genpy's generator").map(|_| ()).context("cannot make genpy's classes")
}

/// What the glue calls the library's class of a record.
fn library_class(form: &PythonMessage, id: TypeId) -> String {
    format!("Own{}", form.class(id))
}

/// What a field is called: its legal name, unless a class has that for itself.
fn member(field: &Field) -> String {
    const OWN: [&str; 5] =
        ["deserialize", "deserialize_numpy", "self", "serialize", "serialize_numpy"];
    let legal = &field.name.legal;
    match OWN.contains(&legal.as_str()) {
        // Legal names do not end like this.
        true => format!("{legal}_"),
        false => legal.clone(),
    }
}

/// Whether it holds a list or array of numbers as `bytes`.
fn is_bytes(field: &Field) -> bool {
    field.element == Element::Scalar(Scalar::U8)
        && matches!(field.cardinality, Cardinality::List { .. } | Cardinality::Array { .. })
}

/// Its classes.
struct Classes;

impl PythonLibrary for Classes {
    fn is_octets(&self, field: &Field) -> bool {
        is_bytes(field)
    }

    fn get(&self, at: &str, _: TypeId, field: &Field, _: usize) -> String {
        ros_objects::get(at, &member(field), field)
    }

    fn is_present(&self, at: &str, record: &Record, field: &Field, _: &str) -> String {
        ros_objects::is_present(at, &member(field), record, field)
    }

    fn make(
        &self,
        form: &PythonMessage,
        id: TypeId,
        values: &[(FlattenedField, String)],
    ) -> Option<String> {
        Some(format!("{}({})", library_class(form, id), ros_objects::arguments(form, id, values)))
    }

    fn absent_value(&self, field: &Field) -> &'static str {
        ros_objects::absent_value(field, "b\"\"")
    }

    fn optional_record_to_library(&self, _: &Field, one: &str) -> String {
        format!("[{one}]")
    }

    fn octets_to_library(&self, value: &str) -> String {
        match value {
            "e" => "Octets(e)".into(),
            value => value.to_owned(),
        }
    }

    fn octets_from_library(&self, value: &str) -> String {
        match value {
            "e" => "e.data".into(),
            value => value.to_owned(),
        }
    }

    fn list_from_library(&self, _: &Field, value: &str) -> String {
        format!("list({value})")
    }
}
