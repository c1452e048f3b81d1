//! Protobuf's own Python library with the packed field's, which fills and reads columns by
//! NumPy.

use std::collections::BTreeSet;

use anyhow::Result;
use wiregauge_normalized::{File, SourceWriter, Unit};
use wiregauge_schema::path::{ElementIndex, PathStep};
use wiregauge_schema::{Field, Record, TypeId};

use super::{RowField, RowItem, RowLayout};
use crate::build::languages::python::{NEEDS, PYTHON};
use crate::codec::{Codec, Emission, Linkage};
use crate::flattened_field::FlattenedField;
use crate::formats::protobuf::python::{self as protobuf, Upb};
use crate::language::python::glue::{self, PythonLibrary};
use crate::language::python::message::PythonMessage;

inventory::submit! {
    Codec {
        name: "packed-python",
        title: "Packed Python",
        format: "packed",
        language: &PYTHON,
        is_bound: false,
        linkage: Linkage::Wheel("protobuf"),
        options: &[
            "lists of plain records as packed fields of version 1.0, by this project's package \
             over NumPy: columns of the numbers' own types, nothing reduced or rounded; everything \
             else as in protobuf-python",
            "filled from the objects of the normalized form, one list of numbers for each column; \
             a program that has arrays needs no such lists. The field is made in a bytearray and \
             copied into the message, because its bytes fields take only bytes",
            "read as arrays over the bytes of the message's field, and added up by NumPy",
            "columns are at multiples of 64 bytes, the default, counted from the start of the \
             field",
            "no partial reads: the whole message is parsed for one number, which is then read in \
             its column",
        ],
        calls: &[
            "encode: Layout(columns, rows).write(buffer); table.column(name)[:] = values; message.rows = bytes(buffer); message.SerializeToString()",
            "decode: message.ParseFromString(bytes); View(message.rows).column(name).tolist()",
            "project: as decode, then View(message.rows).column(name).sum()",
            "fixed, element: as decode, then a field or View(message.rows).column(name)[row]",
        ],
        needs: NEEDS,
        check_type: super::check_type,
        idl: Some(super::idl),
        emit,
    }
}

fn emit(unit: &Unit) -> Result<Emission> {
    let form = PythonMessage::new(unit)?;
    let library = PythonColumns { form: &form, messages: super::messages(unit.schema) };
    let mut glue = glue::glue_file(&form, &library, &library.head());
    glue += &glue::fill(&form, |id| library.has_class(id), fill_slot);
    let files = vec![
        super::idl(unit.schema)?,
        File::new("codec.py", protobuf::CODEC),
        File::new("rows.py", include_str!("python/rows.py")),
        File::new("glue.py", glue),
    ];
    Ok(Emission {
        files,
        steps: vec![protobuf::describe()],
        requirements: include_str!("python/requirements.txt"),
        ..Emission::default()
    })
}

/// What the glue calls the plan of a record's columns.
fn plan(form: &PythonMessage, id: TypeId) -> String {
    format!("ROWS_{}", form.class(id))
}

fn fill_slot(form: &PythonMessage, id: TypeId, slot: &FlattenedField, code: &mut SourceWriter) {
    match RowLayout::from_field(form.schema, &slot.field) {
        Some(rows) => code.line(format!(
            "o.{} = rows.pack({}, {})",
            slot.field.name.legal,
            plan(form, rows.id),
            form.member_access("m", id, slot)
        )),
        None => protobuf::fill_slot(form, id, slot, code),
    }
}

/// Protobuf's messages with packed fields.
struct PythonColumns<'a> {
    form: &'a PythonMessage<'a>,
    messages: BTreeSet<TypeId>,
}

impl PythonColumns<'_> {
    /// What the glue needs beside: the plans of all lists.
    fn head(&self) -> String {
        let mut code = SourceWriter::indented(4);
        code.line("import rows\nfrom rows import Field, Number, Record");
        code.line(protobuf::head(self.form.unit));
        for rows in super::packed_lists(self.form.schema) {
            code.open(format!("{} = Record(", plan(self.form, rows.id)));
            self.record(rows.id, &rows.parts, false, &mut code);
            code.outdent();
            code.line(")");
        }
        code.finish()
    }

    /// What `Record` is made of.
    fn record(&self, id: TypeId, parts: &[RowField], may_miss: bool, code: &mut SourceWriter) {
        code.line(format!("message.{},", self.form.class(id)));
        for part in parts {
            code.open("Field(");
            code.line(format!("\"{}\",", self.form.member(id, part.place)));
            for item in &part.items {
                self.item(item, may_miss, code);
            }
            code.outdent();
            let mut end = String::new();
            for (is_so, word) in [(part.is_array, "is_array=True"), (may_miss, "may_miss=True")] {
                end += &if is_so { format!("{word}, ") } else { String::new() };
            }
            code.line(format!("    {end}"));
            code.line("),");
        }
    }

    fn item(&self, item: &RowItem, may_miss: bool, code: &mut SourceWriter) {
        match item {
            RowItem::Number(column) => {
                let optional = if column.is_optional { ", is_optional=True" } else { "" };
                let scalar = column.scalar.rust_name();
                code.line(format!("Number(\"{}\", \"{scalar}\"{optional}),", column.name));
            }
            RowItem::Record(inner) => {
                code.open("Record(");
                self.record(inner.id, &inner.parts, may_miss || inner.is_optional, code);
                if inner.is_optional {
                    code.line("is_optional=True,");
                }
                if let Some(marker) = &inner.marker {
                    code.line(format!("marker=\"{marker}\","));
                }
                code.outdent();
                code.line("),");
            }
        }
    }
}

impl PythonLibrary for PythonColumns<'_> {
    fn has_class(&self, id: TypeId) -> bool {
        self.messages.contains(&id)
    }

    fn flattens_arrays(&self, id: TypeId) -> bool {
        Upb.flattens_arrays(id)
    }

    fn is_octets(&self, field: &Field) -> bool {
        Upb.is_octets(field)
    }

    fn get(&self, at: &str, id: TypeId, field: &Field, place: usize) -> String {
        let value = Upb.get(at, id, field, place);
        match RowLayout::from_field(self.form.schema, field) {
            Some(_) => format!("rows.opened({value})"),
            None => value,
        }
    }

    fn is_present(&self, at: &str, record: &Record, field: &Field, value: &str) -> String {
        Upb.is_present(at, record, field, value)
    }

    fn make(
        &self,
        form: &PythonMessage,
        id: TypeId,
        values: &[(FlattenedField, String)],
    ) -> Option<String> {
        Upb.make(form, id, values)
    }

    fn numbers_from_library(&self, field: &Field, code: &str, value: &str) -> String {
        Upb.numbers_from_library(field, code, value)
    }

    fn list_from_library(&self, field: &Field, value: &str) -> String {
        Upb.list_from_library(field, value)
    }

    fn rows_from_library(
        &self,
        form: &PythonMessage,
        field: &Field,
        value: &str,
    ) -> Option<String> {
        let rows = RowLayout::from_field(form.schema, field)?;
        Some(format!("rows.take({}, {value})", plan(form, rows.id)))
    }

    fn read_rows(
        &self,
        form: &PythonMessage,
        field: &Field,
        value: &str,
    ) -> Option<glue::RowExpressions> {
        let plan = plan(form, RowLayout::from_field(form.schema, field)?.id);
        Some(glue::RowExpressions {
            sum: format!("rows.total({plan}, {value})"),
            tallies: format!("rows.tallies({plan}, {value})"),
        })
    }

    fn number_in_row(
        &self,
        form: &PythonMessage,
        field: &Field,
        value: &str,
        index: ElementIndex,
        rest: &[PathStep],
    ) -> Option<String> {
        let rows = RowLayout::from_field(form.schema, field)?;
        let row = match index {
            ElementIndex::At(row) => row.to_string(),
            _ => "None".into(),
        };
        Some(match rows.item_path(rest) {
            None => "None".into(),
            Some(way) => {
                format!("rows.number({}, {value}, {row}, {way:?})", plan(form, rows.id))
            }
        })
    }
}
