//! Cap'n Proto in Python by pycapnp, which has the C++ library's dynamic API.

use anyhow::Result;
use wiregauge_normalized::{File, SourceWriter, Unit};
use wiregauge_schema::{Cardinality, Element, Field, Record, Schema, TypeId};

use super::{camel, capital, nesting_limit, FieldForm};
use crate::build::languages::python::{NEEDS, PYTHON};
use crate::codec::{Codec, Emission, Linkage};
use crate::flattened_field::FlattenedField;
use crate::language::python::glue::{self, PythonLibrary};
use crate::language::python::message::PythonMessage;

inventory::submit! {
    Codec {
        name: "pycapnp",
        title: "Cap'n Proto Python pycapnp",
        format: "capnproto",
        language: &PYTHON,
        is_bound: false,
        linkage: Linkage::Wheel("pycapnp"),
        options: &[
            "the wheel's libcapnp parses the definition once, when the runner starts; fields are \
             attributes, found by name at each access (the library has only the dynamic API)",
            "builders grow by the library's default; to_bytes() copies their segments",
            "read in place",
            "lists of numbers are given and taken as Python lists: the library has no blocks for \
             them; lists of structs are filled and read element by element",
            "traversal limit: the default 64 MiB, or twice the message if that is more; nesting \
             limit: the default 64, or what the definition needs",
            "a fixed array of up to 4 numbers is written as that many fields",
            "verify: total_size, which follows every pointer and checks all limits; each access \
             checks again",
        ],
        calls: &[
            "encode: item = Message.new_message(); item.x = value; item.init(\"x\", n); item.to_bytes()",
            "decode: with Message.from_bytes(bytes, limit, nesting) as item: item.x; list(item.x)",
            "project, fixed, element: the same reader, then the fields that are read; item.x[i]",
            "verify: item.total_size",
        ],
        needs: NEEDS,
        check_type: super::check_type,
        idl: Some(super::idl),
        emit,
    }
}

fn emit(unit: &Unit) -> Result<Emission> {
    let form = PythonMessage::new(unit)?;
    let library = Pycapnp { schema: unit.schema };
    let head = format!(
        "\nROOT = \"{}\"\nNESTING = {}",
        unit.schema.root().name.legal,
        nesting_limit(unit.schema)
    );
    let mut glue = glue::glue_file(&form, &library, &head);
    glue += &glue::fill(&form, |_| true, fill_slot);
    let files = vec![
        super::idl(unit.schema)?,
        File::new("codec.py", include_str!("python/codec.py")),
        File::new("glue.py", glue),
    ];
    let requirements = include_str!("python/requirements.txt");
    Ok(Emission { files, requirements, ..Emission::default() })
}

/// What the library's objects have for themselves under a name that a field may have.
const OWN: [&str; 7] = ["adopt", "copy", "disown", "init", "schema", "which", "write"];

/// A field of the library's reader.
fn read(at: &str, name: &str) -> String {
    match OWN.contains(&name) {
        true => format!("{at}._get(\"{name}\")"),
        false => format!("{at}.{name}"),
    }
}

/// A statement that sets a field of the library's builder.
fn set(name: &str, value: &str) -> String {
    match OWN.contains(&name) {
        true => format!("m._set(\"{name}\", {value})"),
        false => format!("m.{name} = {value}"),
    }
}

/// The name of the flag beside an optional number.
fn flag(field: &Field) -> String {
    format!("has{}", capital(&camel(&field.name.legal)))
}

/// Its readers.
struct Pycapnp<'a> {
    schema: &'a Schema,
}

impl PythonLibrary for Pycapnp<'_> {
    fn flattens_arrays(&self, _: TypeId) -> bool {
        true
    }

    fn is_octets(&self, field: &Field) -> bool {
        FieldForm::from_field(self.schema, field) == FieldForm::Octets
    }

    fn get(&self, at: &str, _: TypeId, field: &Field, _: usize) -> String {
        read(at, &camel(&field.name.legal))
    }

    fn is_present(&self, at: &str, _: &Record, field: &Field, _: &str) -> String {
        match FieldForm::from_field(self.schema, field) {
            FieldForm::Flagged => read(at, &flag(field)),
            _ => format!("{at}._has(\"{}\")", camel(&field.name.legal)),
        }
    }

    fn make(&self, _: &PythonMessage, _: TypeId, _: &[(FlattenedField, String)]) -> Option<String> {
        None
    }

    fn numbers_from_library(&self, _: &Field, code: &str, value: &str) -> String {
        format!("array(\"{code}\", list({value}))")
    }

    fn list_from_library(&self, _: &Field, value: &str) -> String {
        format!("list({value})")
    }

    fn sum(&self, _: &Field, value: &str) -> String {
        format!("sum(list({value}))")
    }
}

fn fill_slot(form: &PythonMessage, id: TypeId, slot: &FlattenedField, code: &mut SourceWriter) {
    let field = &slot.field;
    let name = camel(&field.name.legal);
    let value = form.member_access("o", id, slot);
    let is_optional = field.cardinality == Cardinality::Optional;
    if is_optional {
        code.open(format!("if {value} is not None:"));
    }
    match (FieldForm::from_field(form.schema, field), field.element) {
        (FieldForm::List, Element::Record(inner)) => {
            code.line(format!("to = m.init(\"{name}\", len({value}))"));
            code.open(format!("for e, f in zip(to, {value}):"));
            code.line(format!("fill_{}(e, f)", form.class(inner)));
            code.outdent();
        }
        (_, Element::Record(inner)) => {
            code.line(format!("fill_{}(m.init(\"{name}\"), {value})", form.class(inner)));
        }
        (FieldForm::Octets, _) => code.line(set(&name, &format!("bytes({value})"))),
        (FieldForm::List, _) => {
            let is_array = matches!(field.cardinality, Cardinality::List { .. })
                && form.type_code(field).is_some_and(|code| code != "?");
            let list = if is_array { format!("{value}.tolist()") } else { value };
            code.line(set(&name, &list));
        }
        (FieldForm::Flagged, _) => {
            code.line(set(&flag(field), "True"));
            code.line(set(&name, &value));
        }
        (FieldForm::Number | FieldForm::Flat(_) | FieldForm::Pointer, _) => {
            code.line(set(&name, &value))
        }
    }
    if is_optional {
        code.outdent();
    }
}
