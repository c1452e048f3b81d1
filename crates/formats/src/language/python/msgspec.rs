//! msgspec: structs of its own by a record's fields, in MessagePack and in JSON.

use anyhow::Result;
use wiregauge_normalized::{File, Unit};
use wiregauge_schema::{Cardinality, Element, Field, Record, Scalar, TypeId};

use crate::codec::Emission;
use crate::flattened_field::FlattenedField;
use crate::language::python::glue::{self, PythonLibrary};
use crate::language::python::message::PythonMessage;

/// The whole runner for one of its modules: `msgpack` or `json`.
///
/// # Errors
/// When the definition contradicts itself.
pub fn emit(unit: &Unit, module: &str) -> Result<Emission> {
    let form = PythonMessage::new(unit)?;
    let array_like = if module == "msgpack" { "array_like=True, " } else { "" };
    let mut head = format!("\nimport msgspec\nfrom msgspec import {module} as wire\n");
    // Structs are named before they are there.
    for (id, record) in form.records() {
        head += &structure(&form, id, record, array_like);
    }
    head += &format!("\n\nRoot = {}", library_class(&form, unit.schema.root));
    let files = vec![
        File::new("codec.py", include_str!("msgspec/codec.py")),
        File::new("glue.py", glue::glue_file(&form, &Structs, &head)),
    ];
    let requirements = include_str!("msgspec/requirements.txt");
    Ok(Emission { files, requirements, ..Emission::default() })
}

fn library_class(form: &PythonMessage, id: TypeId) -> String {
    format!("Own{}", form.class(id))
}

fn structure(form: &PythonMessage, id: TypeId, record: &Record, array_like: &str) -> String {
    let head =
        format!("\n\nclass {}(msgspec.Struct, {array_like}gc=False):\n", library_class(form, id));
    let fields: Vec<String> = record
        .fields
        .iter()
        .map(|field| format!("    {}: \"{}\"\n", field.name.legal, hint(form, field)))
        .collect();
    head + if fields.is_empty() { "    pass\n" } else { "" } + &fields.concat()
}

fn hint(form: &PythonMessage, field: &Field) -> String {
    let one = match field.element {
        Element::String => "str".into(),
        Element::Bytes => "bytes".into(),
        Element::Record(id) => library_class(form, id),
        other => match form.schema.scalar(other).expect("a number") {
            Scalar::Bool => "bool".into(),
            scalar if scalar.is_float() => "float".into(),
            _ => "int".to_owned(),
        },
    };
    match field.cardinality {
        Cardinality::Required | Cardinality::Implicit => one,
        Cardinality::Optional => format!("{one} | None"),
        _ if field.is_octet_list() => "bytes".into(),
        Cardinality::List { .. } | Cardinality::Array { .. } => format!("list[{one}]"),
    }
}

/// Its structs.
struct Structs;

impl PythonLibrary for Structs {
    fn is_octets(&self, field: &Field) -> bool {
        field.is_octet_list()
    }

    fn get(&self, at: &str, _: TypeId, field: &Field, _: usize) -> String {
        format!("{at}.{}", field.name.legal)
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
