//! Avro in Python by fastavro.

use anyhow::Result;
use wiregauge_normalized::{File, Unit};
use wiregauge_schema::{Element, Field, Scalar, Schema, TypeId};

use super::record_type;
use crate::build::languages::python::{NEEDS, PYTHON};
use crate::codec::{Codec, Emission, Linkage};
use crate::flattened_field::FlattenedField;
use crate::language::python::glue::{self, PythonLibrary};
use crate::language::python::message::PythonMessage;

inventory::submit! {
    Codec {
        name: "fastavro",
        title: "Avro Python fastavro",
        format: "avro",
        language: &PYTHON,
        is_bound: false,
        linkage: Linkage::Wheel("fastavro"),
        options: &[
            "only the bytes of the message: no definition, no container, no fingerprint",
            "a record is a dict from field names to values, which is made from the normalized form \
             and converted back; an optional record is given as the name of its type and the dict, \
             so that the library does not have to try the types of the union",
            "lists of numbers are given as array.array, and the library goes through them; it has \
             no blocks for lists",
            "the definition is parsed once",
            "the elements of a list of records without fields take no bytes, so nothing limits its \
             length: a damaged list is read for as long as its length says",
            "no partial reads: the whole message is read for one number",
        ],
        calls: &[
            "encode: out = io.BytesIO(); fastavro.schemaless_writer(out, schema, tree); out.getvalue()",
            "decode, project, fixed, element: fastavro.schemaless_reader(io.BytesIO(bytes), schema)",
        ],
        needs: NEEDS,
        check_type: super::check_type,
        idl: Some(super::idl),
        emit,
    }
}

fn emit(unit: &Unit) -> Result<Emission> {
    let form = PythonMessage::new(unit)?;
    let files = vec![
        super::idl(unit.schema)?,
        File::new("codec.py", include_str!("python/codec.py")),
        File::new("glue.py", glue::glue_file(&form, &Trees { schema: unit.schema }, "")),
    ];
    let requirements = include_str!("python/requirements.txt");
    Ok(Emission { files, requirements, ..Emission::default() })
}

/// Its trees of dicts.
struct Trees<'a> {
    schema: &'a Schema,
}

impl Trees<'_> {
    /// Whether a number is carried by its bit pattern.
    fn is_signed(&self, field: &Field) -> bool {
        self.schema.scalar(field.element) == Some(Scalar::U64)
    }
}

impl PythonLibrary for Trees<'_> {
    fn flattens_arrays(&self, _: TypeId) -> bool {
        true
    }

    fn is_octets(&self, field: &Field) -> bool {
        super::is_octets(field)
    }

    fn get(&self, at: &str, _: TypeId, field: &Field, _: usize) -> String {
        format!("{at}[\"{}\"]", field.name.legal)
    }

    fn make(
        &self,
        _: &PythonMessage,
        _: TypeId,
        values: &[(FlattenedField, String)],
    ) -> Option<String> {
        let pairs =
            values.iter().map(|(slot, value)| format!("\"{}\": {value}", slot.field.name.legal));
        Some(format!("{{{}}}", pairs.collect::<Vec<_>>().join(", ")))
    }

    fn optional_record_to_library(&self, field: &Field, one: &str) -> String {
        let Element::Record(id) = field.element else { return one.to_owned() };
        format!("(\"{}\", {one})", record_type(self.schema, id))
    }

    fn number_to_library(&self, field: &Field, value: &str) -> String {
        match self.is_signed(field) {
            true => format!("({value} ^ {HALF}) - {HALF}"),
            false => value.to_owned(),
        }
    }

    fn number_from_library(&self, field: &Field, value: &str) -> String {
        match self.is_signed(field) {
            true => format!("({value} & {ALL})"),
            false => value.to_owned(),
        }
    }

    fn numbers_to_library(&self, field: &Field, _: &str, value: &str) -> String {
        match self.is_signed(field) {
            true => format!("array(\"q\", {value}.tobytes())"),
            false => value.to_owned(),
        }
    }

    fn numbers_from_library(&self, field: &Field, code: &str, value: &str) -> String {
        match self.is_signed(field) {
            true => format!("array(\"Q\", array(\"q\", {value}).tobytes())"),
            false => format!("array(\"{code}\", {value})"),
        }
    }

    fn array_to_library(&self, field: &Field, _: &str, value: &str) -> String {
        match self.is_signed(field) {
            true => format!("[{} for v in {value}]", self.number_to_library(field, "v")),
            false => value.to_owned(),
        }
    }

    fn list_from_library(&self, field: &Field, value: &str) -> String {
        match self.is_signed(field) {
            true => format!("[{} for v in {value}]", self.number_from_library(field, "v")),
            false => value.to_owned(),
        }
    }

    fn sum(&self, field: &Field, value: &str) -> String {
        format!("sum({})", self.list_from_library(field, value))
    }
}

/// The bit that a signed number of 64 bits has for its sign, and all of them.
const HALF: &str = "0x8000000000000000";
const ALL: &str = "0xFFFFFFFFFFFFFFFF";
