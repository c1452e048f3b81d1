//! Python's own serialization, as a bound that many use.

use anyhow::Result;
use wiregauge_normalized::{File, Unit};
use wiregauge_schema::{Field, Schema, TypeId};

use crate::build::languages::python::{NEEDS, PYTHON};
use crate::codec::{Codec, Emission, Linkage, Support};
use crate::flattened_field::FlattenedField;
use crate::language::python::glue::{self, PythonLibrary};
use crate::language::python::message::PythonMessage;

inventory::submit! {
    Codec {
        name: "pickle",
        title: "pickle Python",
        format: "pickle",
        language: &PYTHON,
        is_bound: false,
        linkage: Linkage::Standard,
        options: &[
            "the normalized form itself, protocol 5; only Python reads it. Never read untrusted \
             bytes with it: they can run code",
            "no partial reads: the whole message is loaded for one number",
        ],
        calls: &[
            "encode: pickle.dumps(message, protocol=5)",
            "decode, project, fixed, element: pickle.loads(bytes)",
        ],
        needs: NEEDS,
        check_type,
        idl: None,
        emit,
    }
}

fn check_type(_: &Schema, _: TypeId) -> Support {
    Support::Supported
}

fn emit(unit: &Unit) -> Result<Emission> {
    let form = PythonMessage::new(unit)?;
    let glue = glue::glue_file(&form, &Plain { form: &form }, "");
    let codec = File::new("codec.py", include_str!("pickle/codec.py"));
    Ok(Emission { files: vec![codec, File::new("glue.py", glue)], ..Emission::default() })
}

/// The normalized form itself.
struct Plain<'a> {
    form: &'a PythonMessage<'a>,
}

impl PythonLibrary for Plain<'_> {
    fn has_own_take(&self) -> bool {
        true
    }

    fn get(&self, at: &str, id: TypeId, _: &Field, place: usize) -> String {
        format!("{at}.{}", self.form.member(id, place))
    }

    fn make(&self, _: &PythonMessage, _: TypeId, _: &[(FlattenedField, String)]) -> Option<String> {
        None
    }
}
