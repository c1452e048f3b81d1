//! In Python.

use anyhow::Result;
use wiregauge_data_holders::{layout, Wire};
use wiregauge_normalized::{File, SourceWriter, Unit};
use wiregauge_schema::{Cardinality, Element, Field, Scalar, TypeId};

use super::GeneratedCode;
use crate::build::languages::python::{NEEDS, PYTHON};
use crate::codec::Emission;
use crate::flattened_field::FlattenedField;
use crate::language::python::glue::{self, PythonLibrary, RowExpressions};
use crate::language::python::message::PythonMessage;

pub(super) const CODE: GeneratedCode = GeneratedCode {
    language: &PYTHON,
    options: &[
        "the module of wiregauge generate; its holders are the normalized form, so there is \
         nothing to populate",
        "lists of plain records are read as one block (parse), from which objects are made \
         (extract), as in all other rows; a program that reads the block has no extract. On \
         SOME/IP they are read record by record",
        "project: lists of numbers and plain records are read in place and added up by NumPy, \
         other lists element by element",
        "every length is checked before it is used",
    ],
    needs: NEEDS,
};

pub(super) fn emit(wire: Wire, unit: &Unit) -> Result<Emission> {
    let form = PythonMessage::new(unit)?;
    let head = format!(
        "from rows import tallies, total\n\nNAME = \"wiregauge {}\"",
        env!("CARGO_PKG_VERSION")
    );
    let mut glue = glue::glue_file(&form, &Holders { wire, form: &form }, &head);
    glue += &take(&form);
    glue += &build(&form);
    let (root, suffix) = (form.class(unit.schema.root), wire.name().replace('-', "_"));
    let view = if wire == Wire::Protobuf { "" } else { ", view=True" };
    glue += &format!(
        "\n\nserialize = message.{root}.serialize_{suffix}\n\
         deserialize = message.{root}.deserialize_{suffix}\n\n\n\
         def view(wire):\n    return message.{root}.deserialize_{suffix}(wire{view})\n"
    );
    let mut files = form.holders(&[wire])?;
    files.extend([
        File::new("codec.py", include_str!("python/codec.py")),
        File::new("rows.py", include_str!("python/rows.py")),
        File::new("glue.py", glue),
    ]);
    let requirements = include_str!("python/requirements.txt");
    Ok(Emission { files, requirements, ..Emission::default() })
}

/// The holders as they are read.
struct Holders<'a> {
    wire: Wire,
    form: &'a PythonMessage<'a>,
}

impl PythonLibrary for Holders<'_> {
    fn has_own_take(&self) -> bool {
        true
    }

    fn get(&self, at: &str, id: TypeId, _: &Field, place: usize) -> String {
        format!("{at}.{}", self.form.member(id, place))
    }

    fn make(&self, _: &PythonMessage, _: TypeId, _: &[(FlattenedField, String)]) -> Option<String> {
        None
    }

    fn sum(&self, field: &Field, value: &str) -> String {
        match field.cardinality {
            Cardinality::List { .. } if field.element != Element::Scalar(Scalar::Bool) => {
                format!("total({value})")
            }
            _ => format!("sum({value})"),
        }
    }

    fn read_rows(
        &self,
        form: &PythonMessage,
        field: &Field,
        value: &str,
    ) -> Option<RowExpressions> {
        let Element::Record(id) = field.element else { return None };
        let is_list = matches!(field.cardinality, Cardinality::List { .. });
        (is_list && layout::is_block(form.schema, id, self.wire)).then(|| RowExpressions {
            sum: format!("total({value})"),
            tallies: format!("tallies({value})"),
        })
    }
}

/// `build_X(m)`: a holder of the values of another, as a client makes it: what it holds
/// is handed over.
fn build(form: &PythonMessage) -> String {
    let mut code = SourceWriter::indented(4);
    for (id, record) in form.records() {
        let value = |(place, field): (usize, &Field)| {
            let member = format!("m.{}", form.member(id, place));
            let Element::Record(inner) = field.element else { return member };
            let class = form.class(inner);
            match field.cardinality {
                Cardinality::List { .. } | Cardinality::Array { .. } => {
                    format!("[build_{class}(e) for e in {member}]")
                }
                Cardinality::Optional => {
                    format!("None if {member} is None else build_{class}({member})")
                }
                _ => format!("build_{class}({member})"),
            }
        };
        let values: Vec<String> = record.fields.iter().enumerate().map(value).collect();
        code.line("\n");
        code.open(format!("def build_{}(m):", form.class(id)));
        code.line(format!("return message.{}({})", form.class(id), values.join(", ")));
        code.outdent();
    }
    code.line(format!("\n\nbuild = build_{}", form.class(form.schema.root)));
    code.finish()
}

/// `take_X(o)`: what was deserialized as the normalized form, in place.
fn take(form: &PythonMessage) -> String {
    let mut code = SourceWriter::indented(4);
    for (id, record) in form.records() {
        code.line("\n");
        code.open(format!("def take_{}(o):", form.class(id)));
        for (place, field) in record.fields.iter().enumerate() {
            let member = format!("o.{}", form.member(id, place));
            let is_number = form.type_code(field).is_some_and(|code| code != "?");
            match (field.element, field.cardinality) {
                (Element::Record(inner), Cardinality::List { .. } | Cardinality::Array { .. }) => {
                    let class = form.class(inner);
                    code.line(format!("{member} = [take_{class}(e) for e in {member}]"));
                }
                (Element::Record(inner), Cardinality::Optional) => {
                    code.open(format!("if {member} is not None:"));
                    code.line(format!("take_{}({member})", form.class(inner)));
                    code.outdent();
                }
                (Element::Record(inner), _) => {
                    code.line(format!("take_{}({member})", form.class(inner)));
                }
                (_, Cardinality::Array { .. }) if is_number => {
                    code.line(format!("{member} = {member}.tolist()"));
                }
                _ => {}
            }
        }
        code.line("return o");
        code.outdent();
    }
    code.line(format!("\n\ntake = take_{}", form.class(form.schema.root)));
    code.finish()
}
