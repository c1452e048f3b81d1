//! FlatBuffers C++ by its Object API: flatc's plain classes, packed into and
//! unpacked from messages. Their records are tables; of structs the API would
//! make no other form.

use anyhow::Result;
use wiregauge_normalized::{cpp, File, SourceWriter, Unit};
use wiregauge_schema::{Cardinality, Element, Field, Record, TypeId};

use super::{
    field_name, reader, Dialect, ElementKind, Style, ARRAYS, BUILDER, FLATC, HEADERS, SIGN, VERIFY,
};
use crate::build::languages::cpp::CPP;
use crate::codec::{Codec, Emission, GeneratorStep, Linkage};
use crate::flattened_field::FlattenedField;

inventory::submit! {
    Codec {
        name: "flatbuffers-cpp-object",
        title: "FlatBuffers C++ Object API",
        format: "flatbuffers-object",
        language: &CPP,
        is_bound: false,
        linkage: Linkage::Headers,
        options: &[
            "every record is a table and an object of its own",
            ARRAYS,
            SIGN,
            BUILDER,
            VERIFY,
        ],
        calls: &[
            "encode: fill X_T; builder.Clear(); builder.Finish(X::Pack(builder, &object)); builder.GetBufferPointer()",
            "decode: GetRoot<X>(data)->UnPackTo(&object); take the fields of X_T",
            "project, fixed, element: in place, as with tables: GetRoot<X>(data), then the accessors on the way",
            "verify and the checked ones: Verifier(data, size, options).VerifyBuffer<X>()",
        ],
        needs: &[FLATC, HEADERS],
        check_type: |schema, id| super::check_type(schema, id, Style::Objects),
        idl: Some(|schema| super::idl(schema, Style::Objects)),
        emit,
    }
}

/// What flatc ends the name of a class with; no legal name does.
const SUFFIX: &str = "_T";

fn emit(unit: &Unit) -> Result<Emission> {
    let flatc = ["flatc", "--cpp", "--cpp-std", "c++17", "--gen-object-api", "--object-suffix"];
    Ok(Emission {
        files: vec![
            super::idl(unit.schema, Style::Objects)?,
            File::new("main.cpp", include_str!("object/main.cpp")),
            reader::names(),
            reader::reading(),
            File::new("glue.hpp", glue(unit)),
        ],
        steps: vec![GeneratorStep::command(flatc.into_iter().chain([SUFFIX, "message.fbs"]))],
        sources: vec!["main.cpp".into()],
        ..Emission::default()
    })
}

fn glue(unit: &Unit) -> String {
    let dialect = Dialect::new(unit.schema, Style::Objects);
    let mut code = cpp::begin_glue(&["message.hpp", "message_generated.h", "names.hpp"]);
    code.line("namespace {");
    code.line("");
    code.line(format!("using RootObject = {};", class(dialect, dialect.schema.root)));
    for (id, record) in dialect.schema.records() {
        fill(dialect, id, record, &mut code);
        take(dialect, id, record, &mut code);
    }
    clear(dialect, &mut code);
    reader::write_reader(unit, dialect, &mut code);
    code.line("");
    code.line("}  // namespace");
    code.finish()
}

/// flatc's class for a record.
fn class(dialect: Dialect, id: TypeId) -> String {
    format!("wg::{}{SUFFIX}", dialect.type_name(id))
}

/// The class of a field's elements where they are behind pointers.
fn element_class(dialect: Dialect, field: &Field) -> Option<String> {
    let is_list = matches!(field.cardinality, Cardinality::List { .. } | Cardinality::Array { .. });
    match field.element {
        Element::Record(id) => Some(class(dialect, id)),
        Element::Bytes if is_list => Some(format!("wg::{}{SUFFIX}", dialect.bytes_name())),
        _ => None,
    }
}

/// `fill`: normalized to object, whatever that held before.
fn fill(dialect: Dialect, id: TypeId, record: &Record, code: &mut SourceWriter) {
    let (name, class) = (&record.name.legal, class(dialect, id));
    code.line("");
    code.block(
        format!(
            "void fill([[maybe_unused]] const message::{name} &from, [[maybe_unused]] {class} &to) {{"
        ),
        "}",
        |code| {
            for slot in &dialect.slots(id) {
                fill_field(dialect, slot, code);
            }
        },
    );
}

fn fill_field(dialect: Dialect, slot: &FlattenedField, code: &mut SourceWriter) {
    let FlattenedField { field, value, .. } = slot;
    let (f, n) = (&field.name.legal, field_name(field));
    let class = element_class(dialect, field);
    code.line(match (dialect.kind(field.element), field.cardinality, class) {
        (_, Cardinality::List { .. } | Cardinality::Array { .. }, Some(class)) => {
            let one = match field.element {
                Element::Bytes => format!("to.{n}[i]->value = from.{f}[i];"),
                _ => format!("fill(from.{f}[i], *to.{n}[i]);"),
            };
            format!(
                "to.{n}.resize(from.{f}.size());\n\
                 for (std::size_t i = 0; i < from.{f}.size(); ++i) {{ \
                 if (!to.{n}[i]) to.{n}[i] = std::make_unique<{class}>(); {one} }}"
            )
        }
        (_, Cardinality::Optional, Some(class)) => format!(
            "if (from.{f}) {{ if (!to.{n}) to.{n} = std::make_unique<{class}>(); \
             fill(*from.{f}, *to.{n}); }} else {{ to.{n}.reset(); }}"
        ),
        (_, _, Some(class)) => {
            format!("if (!to.{n}) to.{n} = std::make_unique<{class}>();\nfill(from.{f}, *to.{n});")
        }
        (ElementKind::Text | ElementKind::Bytes, Cardinality::Optional, _) => format!(
            "to.has_{f} = from.{f}.has_value();\n\
             if (from.{f}) to.{n} = *from.{f}; else to.{n}.clear();"
        ),
        (_, Cardinality::List { .. } | Cardinality::Array { .. }, _) => {
            format!("to.{n}.assign(from.{f}.begin(), from.{f}.end());")
        }
        _ => format!("to.{n} = from.{value};"),
    });
}

/// `take`: object to normalized; what both hold in the same type changes
/// places, so that neither allocates when it is used again.
fn take(dialect: Dialect, id: TypeId, record: &Record, code: &mut SourceWriter) {
    let (name, class) = (&record.name.legal, class(dialect, id));
    code.line("");
    code.block(
        format!(
            "void take([[maybe_unused]] {class} &from, [[maybe_unused]] message::{name} &to) {{"
        ),
        "}",
        |code| {
            for slot in &dialect.slots(id) {
                take_field(dialect, name, slot, code);
            }
        },
    );
}

fn take_field(dialect: Dialect, record: &str, slot: &FlattenedField, code: &mut SourceWriter) {
    let FlattenedField { field, value, .. } = slot;
    let (f, n) = (&field.name.legal, field_name(field));
    let kind = dialect.kind(field.element);
    if let Cardinality::Array { .. } = field.cardinality {
        code.line(format!(
            "if (from.{n}.size() != to.{f}.size()) \
             throw std::runtime_error(\"{record}.{f}: wrong length\");"
        ));
    }
    code.line(match (kind, field.cardinality) {
        (
            ElementKind::Table(_) | ElementKind::Bytes,
            cardinality @ (Cardinality::List { .. } | Cardinality::Array { .. }),
        ) => {
            let one = match kind {
                ElementKind::Bytes => format!("to.{f}[i].swap(from.{n}[i]->value);"),
                _ => format!("take(*from.{n}[i], to.{f}[i]);"),
            };
            let resize = match cardinality {
                Cardinality::List { .. } => format!("to.{f}.resize(from.{n}.size());\n"),
                _ => String::new(),
            };
            format!("{resize}for (std::size_t i = 0; i < to.{f}.size(); ++i) {one}")
        }
        (ElementKind::Table(_), Cardinality::Optional) => format!(
            "if (from.{n}) {{ if (!to.{f}) to.{f}.emplace(); take(*from.{n}, *to.{f}); }} \
             else {{ to.{f}.reset(); }}"
        ),
        (ElementKind::Table(_), _) => {
            format!("if (from.{n}) take(*from.{n}, to.{f}); else to.{f} = {{}};")
        }
        (ElementKind::Text | ElementKind::Bytes, Cardinality::Optional) => format!(
            "if (from.has_{f}) {{ if (!to.{f}) to.{f}.emplace(); to.{f}->swap(from.{n}); }} \
             else {{ to.{f}.reset(); }}"
        ),
        (_, Cardinality::Array { .. }) => {
            format!("std::move(from.{n}.begin(), from.{n}.end(), to.{f}.begin());")
        }
        // The object holds single bits.
        (ElementKind::Scalar(wiregauge_schema::Scalar::Bool), Cardinality::List { .. }) => {
            format!("to.{f}.assign(from.{n}.begin(), from.{n}.end());")
        }
        (ElementKind::Text | ElementKind::Bytes, _) | (_, Cardinality::List { .. }) => {
            format!("to.{f}.swap(from.{n});")
        }
        _ => format!("to.{value} = from.{n};"),
    });
}

/// `clear`: `UnPackTo` leaves alone what is not in the message. Objects below
/// the root are always new.
fn clear(dialect: Dialect, code: &mut SourceWriter) {
    let root = class(dialect, dialect.schema.root);
    code.line("");
    code.block(format!("void clear([[maybe_unused]] {root} &object) {{"), "}", |code| {
        for FlattenedField { field, .. } in &dialect.slots(dialect.schema.root) {
            let n = field_name(field);
            let is_single =
                !matches!(field.cardinality, Cardinality::List { .. } | Cardinality::Array { .. });
            match dialect.kind(field.element) {
                ElementKind::Scalar(_) if is_single => {}
                ElementKind::Table(_) if is_single => code.line(format!("object.{n}.reset();")),
                _ => code.line(format!("object.{n}.clear();")),
            }
        }
    });
}
