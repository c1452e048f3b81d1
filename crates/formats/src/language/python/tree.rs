//! Python libraries that write trees of dicts, lists, texts and numbers. They differ
//! in two calls, which are in a file `library.py` beside each format.

use anyhow::Result;
use wiregauge_normalized::{File, Unit};
use wiregauge_schema::{Field, TypeId};

use crate::codec::Emission;
use crate::flattened_field::FlattenedField;
use crate::language::python::glue::{self, PythonLibrary};
use crate::language::python::message::PythonMessage;

/// A library of trees.
pub struct Tree {
    /// Whether a record is a dict by the fields' names, and not a list.
    pub named: bool,
    /// Whether octets are text, by Base64.
    pub octets_as_text: bool,
    /// Its calls, as the module `library`: the class `Calls` with `encode(tree)` and
    /// `decode(wire)`, an instance of which is scratch, and `NAME`.
    pub calls: &'static str,
    /// Its packages, as pip takes them.
    pub requirements: &'static str,
}

impl Tree {
    /// The whole runner.
    ///
    /// # Errors
    /// When the definition contradicts itself.
    pub fn emit(&self, unit: &Unit) -> Result<Emission> {
        let form = PythonMessage::new(unit)?;
        let head = if self.octets_as_text { "from base64 import b64decode, b64encode" } else { "" };
        let files = vec![
            File::new("codec.py", include_str!("tree/codec.py")),
            File::new("library.py", self.calls),
            File::new("glue.py", glue::glue_file(&form, self, head)),
        ];
        Ok(Emission { files, requirements: self.requirements, ..Emission::default() })
    }
}

impl PythonLibrary for Tree {
    fn is_octets(&self, field: &Field) -> bool {
        field.is_octet_list()
    }

    fn get(&self, at: &str, _: TypeId, field: &Field, place: usize) -> String {
        match self.named {
            true => format!("{at}[\"{}\"]", field.name.legal),
            false => format!("{at}[{place}]"),
        }
    }

    fn make(
        &self,
        _: &PythonMessage,
        _: TypeId,
        values: &[(FlattenedField, String)],
    ) -> Option<String> {
        Some(match self.named {
            true => {
                let pairs = values
                    .iter()
                    .map(|(slot, value)| format!("\"{}\": {value}", slot.field.name.legal));
                format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
            }
            false => {
                let values: Vec<&str> = values.iter().map(|(_, value)| value.as_str()).collect();
                format!("[{}]", values.join(", "))
            }
        })
    }

    fn octets_to_library(&self, value: &str) -> String {
        match self.octets_as_text {
            true => format!("b64encode({value}).decode()"),
            false => value.to_owned(),
        }
    }

    fn octets_from_library(&self, value: &str) -> String {
        match self.octets_as_text {
            true => format!("b64decode({value}, validate=True)"),
            false => value.to_owned(),
        }
    }
}
