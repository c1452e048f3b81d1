//! Python's own serialization, as a bound that many use.

use anyhow::Result;
use wiregauge_holders::{File, Unit};
use wiregauge_schema::{Field, Schema, TypeId};

use crate::build::languages::python::{NEEDS, PYTHON};
use crate::codec::{Answer, Codec, Emission, Linkage};
use crate::python_form::PythonForm;
use crate::python_glue::{self, Library};
use crate::slot::Slot;

inventory::submit! {
    Codec {
        name: "pickle",
        title: "pickle Python",
        format: "pickle",
        language: &PYTHON,
        bound: false,
        built: Linkage::Standard,
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
        answer,
        idl: None,
        emit,
    }
}

fn answer(_: &Schema, _: TypeId) -> Answer {
    Answer::Supported
}

fn emit(unit: &Unit) -> Result<Emission> {
    let form = PythonForm::new(unit)?;
    let glue = python_glue::glue(&form, &Plain { form: &form }, "");
    let codec = File::new("codec.py", include_str!("pickle/codec.py"));
    Ok(Emission { files: vec![codec, File::new("glue.py", glue)], ..Emission::default() })
}

/// The normalized form itself.
struct Plain<'a> {
    form: &'a PythonForm<'a>,
}

impl Library for Plain<'_> {
    fn takes_itself(&self) -> bool {
        true
    }

    fn get(&self, at: &str, id: TypeId, _: &Field, place: usize) -> String {
        format!("{at}.{}", self.form.member(id, place))
    }

    fn make(&self, _: &PythonForm, _: TypeId, _: &[(Slot, String)]) -> Option<String> {
        None
    }
}
