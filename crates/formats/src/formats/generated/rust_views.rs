//! Views in Rust, beside the holders that they are written from.

use anyhow::Result;
use wiregauge_data_holders::{rust_names, rust_view_names, HolderLanguage, Wire};
use wiregauge_normalized::{File, Unit};
use wiregauge_schema::path::ElementIndex;
use wiregauge_schema::{Cardinality, Element, Field, Record, Schema, TypeDef};

use super::{rust, GeneratedCode, GeneratedHolders};
use crate::build::languages::rust::RUST;
use crate::codec::Emission;
use crate::language::rust::glue;

pub(super) const CODE: GeneratedCode = GeneratedCode {
    language: &RUST,
    options: view_options!(
        "a text is checked for UTF-8 again when it is read, because there is no unsafe code"
    ),
    needs: &[],
};

pub(super) fn emit(wire: Wire, unit: &Unit) -> Result<Emission> {
    let form =
        GeneratedHolders::new(unit, wire, HolderLanguage::Rust, rust_names, "crate::holders")?;
    let mut code = rust::begin_glue(wire, &form);
    // The same types, by what views of them are called and have.
    let mut views =
        GeneratedHolders::new(unit, wire, HolderLanguage::Rust, rust_view_names, "")?.schema;
    for def in &mut views.types {
        if let TypeDef::Record(record) = def {
            record.name.legal = record.name.legal.trim_start_matches("::").to_owned();
        }
    }
    let of = |record: &Record| format!("crate::holders_view::{}<'_, OnWire>", record.name.legal);
    code.line(format!("pub type View<'a> = {};", of(views.root()).replace("'_", "'a")));
    for (_, record) in views.records() {
        glue::tally(record, &of(record), &mut code, |place, field| add(&views, place, field));
    }
    glue::alias_root_functions(&views, &["tally"], &mut code);
    let unit = Unit { schema: &views, projection: unit.projection };
    glue::accessors(
        &unit,
        "View<'_>",
        &mut code,
        |_, field, index| descend(field, index),
        |field| number(field, "at"),
    );
    let codec = File::new("codec.rs", include_str!("rust/view.rs"));
    Ok(rust::finish_runner(wire, form, code, "Viewed", &["holders_view"], codec))
}

/// The number of a value.
fn number(field: &Field, value: &str) -> String {
    match field.element {
        Element::Enum(_) => format!("{value}.0"),
        _ => value.to_owned(),
    }
}

/// The statement that adds the numbers of the field at a place.
fn add(schema: &Schema, place: usize, field: &Field) -> String {
    let f = &field.name.legal;
    let add = |value: &str| match field.element {
        Element::Record(id) => {
            format!("tally.record({place}, tally_{}(&{value}));", schema.record(id).name.legal)
        }
        Element::String | Element::Bytes => format!("tally.length({place}, {value}.len());"),
        _ => format!("tally.number({place}, {});", number(field, value)),
    };
    match field.cardinality {
        Cardinality::Required | Cardinality::Implicit => add(&format!("from.{f}()")),
        _ if field.repeats_octets() => format!("for &value in from.{f}() {{ {} }}", add("value")),
        _ => format!("for value in from.{f}() {{ {} }}", add("value")),
    }
}

/// The statement that goes down to a field's value or element.
fn descend(field: &Field, index: ElementIndex) -> String {
    let f = &field.name.legal;
    let index = match (index, field.cardinality) {
        (ElementIndex::Single, Cardinality::Optional) => {
            return format!("let Some(at) = at.{f}() else {{ return }};");
        }
        (ElementIndex::Single, _) => return format!("let at = at.{f}();"),
        (ElementIndex::At(index), _) => index.to_string(),
        (ElementIndex::Middle, _) => "list.len() / 2".to_owned(),
    };
    let copied = if field.repeats_octets() { ".copied()" } else { "" };
    format!(
        "let list = at.{f}();\n\
         let Some(at) = list.iter().nth({index}){copied} else {{ return }};"
    )
}
