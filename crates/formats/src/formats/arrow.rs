//! Arrow's IPC stream: a message as a batch of one row, its lists of records as lists of
//! structures, which Arrow keeps as columns.

use anyhow::Result;
use wiregauge_normalized::{File, SourceWriter, Unit};
use wiregauge_schema::path::ElementIndex;
use wiregauge_schema::{Cardinality, Element, Field, Record, Scalar, Schema, TypeDef, TypeId};

use crate::build::languages::rust::RUST;
use crate::codec::{Codec, Emission, Linkage, Support};
use crate::language::rust::glue;
use crate::lowering::{self, Lowering};

inventory::submit! {
    Codec {
        name: "arrow",
        title: "Arrow IPC Rust",
        format: "arrow",
        language: &RUST,
        is_bound: false,
        linkage: Linkage::Crate("arrow-ipc"),
        options: &[
            "a stream of its own for each message: schema, one batch with one row, end. Arrow is \
             made for many rows in a batch; where a message is a list of records, its elements are \
             such rows. A small message pays for the schema",
            "a record is a structure, a list of records a list of structures: each field of all \
             elements is one column",
            "the schema is made once; columns are made from the normalized form by iterators, as \
             Arrow's documentation has it",
            "decode validates the batch, the default; its buffers are the message's own bytes, \
             without a copy, and its values are copied into the normalized form",
            "one number is found in place after that validation; all numbers: the whole message is \
             decoded",
        ],
        calls: &[
            "encode: StreamWriter::try_new(out, &schema); write(&RecordBatch::try_new(schema, \
             columns)); finish()",
            "decode, project: StreamDecoder::new().decode(&mut buffer), then its columns",
            "fixed, element: the same batch, then the columns on the way",
        ],
        needs: &[],
        check_type,
        idl: None,
        emit,
    }
}

fn check_type(schema: &Schema, id: TypeId) -> Support {
    Support::lowered(match &schema.types[id] {
        TypeDef::Enum(_) => vec![Lowering::enumeration()],
        TypeDef::Record(record) => lowering::unions_and_bounds(record),
    })
}

fn emit(unit: &Unit) -> Result<Emission> {
    let schema = unit.schema;
    let mut code = glue::begin_glue("arrow-ipc");
    code.line("use arrow_array::{types, Array, ArrayRef};");
    code.line("use arrow_schema::{DataType, Field, Fields};");
    code.line("use crate::columns as c;");
    for (_, record) in schema.records() {
        fields(schema, record, &mut code);
        columns(schema, record, &mut code);
        take(schema, record, &mut code);
    }
    glue::alias_root_functions(schema, &["fields", "columns", "take"], &mut code);
    glue::accessors(
        unit,
        "(&[ArrayRef], usize)",
        &mut code,
        |record, field, index| descend(schema, record, field, index),
        |_| "*at".into(),
    );
    let files = vec![
        glue::main_file("Arrow", &["codec", "columns", "glue"]),
        File::new("codec.rs", include_str!("arrow/codec.rs")),
        File::new("columns.rs", include_str!("arrow/columns.rs")),
        File::new("glue.rs", code.finish()),
    ];
    Ok(Emission { files, features: vec!["arrow".into()], ..Emission::default() })
}

/// The marker of a number's type; none of a truth value, which is a bit.
fn marker(scalar: Scalar) -> Option<&'static str> {
    Some(match scalar {
        Scalar::Bool => return None,
        Scalar::U8 => "types::UInt8Type",
        Scalar::U16 => "types::UInt16Type",
        Scalar::U32 => "types::UInt32Type",
        Scalar::U64 => "types::UInt64Type",
        Scalar::I8 => "types::Int8Type",
        Scalar::I16 => "types::Int16Type",
        Scalar::I32 => "types::Int32Type",
        Scalar::I64 => "types::Int64Type",
        Scalar::F32 => "types::Float32Type",
        Scalar::F64 => "types::Float64Type",
    })
}

/// The type of an element, as an expression.
fn data_type(schema: &Schema, element: Element) -> String {
    match element {
        Element::String => "DataType::Utf8".into(),
        Element::Bytes => "DataType::Binary".into(),
        Element::Record(id) => {
            format!("DataType::Struct(fields_{}())", schema.record(id).name.legal)
        }
        other => {
            let scalar = schema.scalar(other).expect("a number");
            marker(scalar).map_or("DataType::Boolean".into(), |marker| {
                format!("<{marker} as types::ArrowPrimitiveType>::DATA_TYPE")
            })
        }
    }
}

/// `fields_X()`: the fields of a record.
fn fields(schema: &Schema, record: &Record, code: &mut SourceWriter) {
    code.line("");
    code.block(format!("pub fn fields_{}() -> Fields {{", record.name.legal), "}", |code| {
        code.block("Fields::from(Vec::<Field>::from([", "]))", |code| {
            for field in &record.fields {
                let of = data_type(schema, field.element);
                let kind = match field.cardinality {
                    Cardinality::List { .. } => format!("c::list_type({of})"),
                    Cardinality::Array { len } => format!("c::array_type({of}, {len})"),
                    _ => of,
                };
                let is_optional = field.cardinality == Cardinality::Optional;
                code.line(format!("Field::new({:?}, {kind}, {is_optional}),", field.name.legal));
            }
        });
    });
}

/// `columns_X(fields, rows)`: a column for each field, of so many records.
fn columns(schema: &Schema, record: &Record, code: &mut SourceWriter) {
    let name = &record.name.legal;
    code.line("");
    code.line(format!("pub fn columns_{name}("));
    code.line(format!("  fields: &Fields, rows: &[&crate::message::{name}],"));
    code.block(") -> Vec<ArrayRef> {", "}", |code| {
        code.block("Vec::<ArrayRef>::from([", "])", |code| {
            for (place, field) in record.fields.iter().enumerate() {
                code.line(format!("{},", column(schema, place, field)));
            }
        });
    });
}

/// The column of a field, as an expression.
fn column(schema: &Schema, place: usize, field: &Field) -> String {
    let f = &field.name.legal;
    let scalar = schema.scalar(field.element);
    let marker = scalar.and_then(marker);
    let kind = format!("fields[{place}].data_type()");
    // The records that `all` names, of a type that `kind` is.
    let records = |id: TypeId, all: &str, kind: &str, present: &str| {
        let name = &schema.record(id).name.legal;
        format!(
            "{{ let all: Vec<&crate::message::{name}> = {all}; \
             c::record({kind}, all.len(), {present}, columns_{name}(c::fields({kind}), &all)) }}"
        )
    };
    let shown = |value: &str| match field.element {
        Element::String => format!("{value}.as_str()"),
        Element::Bytes => format!("{value}.as_slice()"),
        _ => format!("*{value}"),
    };
    let made = match field.element {
        Element::String => "c::texts",
        Element::Bytes => "c::octets",
        _ => "c::flags",
    };
    match (field.cardinality, field.element) {
        (Cardinality::Required | Cardinality::Implicit, Element::Record(id)) => {
            records(id, &format!("rows.iter().map(|r| &r.{f}).collect()"), &kind, "None")
        }
        (Cardinality::Optional, Element::Record(id)) => {
            let all = format!("rows.iter().map(|r| r.{f}.as_ref().unwrap_or(&none)).collect()");
            let present = format!("Some(rows.iter().map(|r| r.{f}.is_some()).collect())");
            format!("{{ let none = Default::default(); {} }}", records(id, &all, &kind, &present))
        }
        (Cardinality::Required | Cardinality::Implicit, _) => match marker {
            Some(marker) => format!("c::numbers::<{marker}>(rows.iter().map(|r| r.{f}))"),
            None => format!("{made}(rows.iter().map(|r| Some({})))", shown(&format!("(&r.{f})"))),
        },
        (Cardinality::Optional, _) => match marker {
            Some(marker) => format!("c::options::<{marker}>(rows.iter().map(|r| r.{f}))"),
            None => format!("{made}(rows.iter().map(|r| r.{f}.as_ref().map(|v| {})))", shown("v")),
        },
        (cardinality, element) => {
            let values = match (element, marker) {
                (Element::Record(id), _) => records(
                    id,
                    &format!("rows.iter().flat_map(|r| r.{f}.iter()).collect()"),
                    &format!("c::item({kind})"),
                    "None",
                ),
                (_, Some(marker)) => {
                    format!("c::joined::<{marker}>(rows.iter().map(|r| &r.{f}[..]))")
                }
                _ => {
                    let all = format!("rows.iter().flat_map(|r| r.{f}.iter())");
                    format!("{made}({all}.map(|v| Some({})))", shown("v"))
                }
            };
            match cardinality {
                Cardinality::Array { .. } => format!("c::array({kind}, rows.len(), {values})"),
                _ => format!("c::list({kind}, rows.iter().map(|r| r.{f}.len()), {values})"),
            }
        }
    }
}

/// `take_X(columns, start, to)`: records from a row on.
fn take(schema: &Schema, record: &Record, code: &mut SourceWriter) {
    let name = &record.name.legal;
    code.line("");
    code.line(format!("pub fn take_{name}("));
    code.line(format!(
        "  columns: &[ArrayRef], start: usize, to: &mut [&mut crate::message::{name}],"
    ));
    code.block(") -> Result<(), Error> {", "}", |code| {
        let count = record.fields.len();
        code.line(format!(
            "let [{}] = columns else {{ return Err(c::other_type()) }};",
            (0..count).map(|at| format!("c{at}")).collect::<Vec<_>>().join(", ")
        ));
        for (place, field) in record.fields.iter().enumerate() {
            take_field(schema, place, field, code);
        }
        code.line("Ok(())");
    });
}

fn take_field(schema: &Schema, place: usize, field: &Field, code: &mut SourceWriter) {
    let (f, of) = (&field.name.legal, format!("c{place}"));
    let marker = schema.scalar(field.element).and_then(marker);
    // What has values by their places, and the statement that takes one of them into `to`.
    let source = |of: &str| match (field.element, marker) {
        (Element::Record(_), _) => format!("c::children({of})?"),
        (Element::String, _) => format!("c::text_column({of})?"),
        (Element::Bytes, _) => format!("c::octet_column({of})?"),
        (_, Some(marker)) => format!("c::values::<{marker}>({of})?"),
        _ => format!("c::flag_column({of})?"),
    };
    let one = |at: &str| match (field.element, marker) {
        (Element::Record(id), _) => {
            format!("take_{}(v, {at}, &mut [&mut *to])?", schema.record(id).name.legal)
        }
        (Element::String, _) => format!("{{ to.clear(); to.push_str(v.value({at})) }}"),
        (Element::Bytes, _) => format!("v.value({at}).clone_into(to)"),
        (_, Some(_)) => format!("*to = v[{at}]"),
        _ => format!("*to = v.value({at})"),
    };
    match (field.cardinality, field.element) {
        (Cardinality::Required | Cardinality::Implicit, Element::Record(id)) => {
            let inner = &schema.record(id).name.legal;
            code.line(format!(
                "let mut inner: Vec<_> = to.iter_mut().map(|to| &mut to.{f}).collect();"
            ));
            code.line(format!("take_{inner}(c::children({of})?, start, &mut inner)?;"));
        }
        (Cardinality::Required | Cardinality::Implicit, _) => {
            code.line(format!("let v = {};", source(&of)));
            code.block("for (k, to) in to.iter_mut().enumerate() {", "}", |code| {
                code.line(format!("let to = &mut to.{f};\n{};", one("start + k")));
            });
        }
        (Cardinality::Optional, _) => {
            code.line(format!("let v = {};", source(&of)));
            code.block("for (k, to) in to.iter_mut().enumerate() {", "}", |code| {
                code.line(format!("if !{of}.is_valid(start + k) {{ to.{f} = None; continue }}"));
                code.line(format!("let to = to.{f}.get_or_insert_with(Default::default);"));
                code.line(format!("{};", one("start + k")));
            });
        }
        (cardinality, element) => {
            let is_array = matches!(cardinality, Cardinality::Array { .. });
            let open = match cardinality {
                Cardinality::Array { len } => format!("c::array_column({of}, {len})?"),
                _ => format!("c::list_column({of})?"),
            };
            code.line(format!("let list = {open};"));
            code.line(format!("let v = {};", source("list.values()")));
            code.block("for (k, to) in to.iter_mut().enumerate() {", "}", |code| {
                code.line("let range = c::range(list, start + k);");
                code.line(format!("let to = &mut to.{f};"));
                match (element, marker) {
                    (_, Some(_)) if is_array => code.line("to.copy_from_slice(&v[range]);"),
                    (_, Some(_)) => {
                        code.line("to.clear();\nto.extend_from_slice(&v[range]);");
                    }
                    (element, _) => {
                        if !is_array {
                            code.line("to.resize_with(range.len(), Default::default);");
                        }
                        if let Element::Record(id) = element {
                            let inner = &schema.record(id).name.legal;
                            code.line("let mut inner: Vec<_> = to.iter_mut().collect();");
                            code.line(format!("take_{inner}(v, range.start, &mut inner)?;"));
                        } else {
                            code.block("for (at, to) in range.zip(to.iter_mut()) {", "}", |code| {
                                code.line(format!("{};", one("at")));
                            });
                        }
                    }
                }
            });
        }
    }
}

/// The statement that goes down to a field's value or element: `at` is columns and a row, then
/// the number.
fn descend(schema: &Schema, record: &Record, field: &Field, index: ElementIndex) -> String {
    let is_same = |other: &Field| other.name.legal == field.name.legal;
    let place = record.fields.iter().position(is_same).expect("a field of the record");
    let last = |of: &str, row: &str| {
        let value = match schema.scalar(field.element) {
            None => format!("c::children({of}).ok().map(|columns| (columns, {row}))"),
            Some(scalar) => match marker(scalar) {
                Some(marker) => {
                    format!("c::values::<{marker}>({of}).ok().map(|v| v[{row}])")
                }
                None => format!("c::flag_column({of}).ok().map(|v| v.value({row}))"),
            },
        };
        format!("let Some(at) = {value} else {{ return }};\nlet at = &at;")
    };
    let of = format!("at.0[{place}]");
    match field.cardinality {
        Cardinality::Required | Cardinality::Implicit => last(&format!("&{of}"), "at.1"),
        Cardinality::Optional => {
            format!("if !{of}.is_valid(at.1) {{ return }}\n{}", last(&format!("&{of}"), "at.1"))
        }
        cardinality => {
            let open = match cardinality {
                Cardinality::Array { len } => format!("c::array_column(&{of}, {len})"),
                _ => format!("c::list_column(&{of})"),
            };
            let wanted = match index {
                ElementIndex::At(index) => index.to_string(),
                _ => "range.len() / 2".into(),
            };
            format!(
                "let Ok(list) = {open} else {{ return }};\n\
                 let range = c::range(list, at.1);\n\
                 let Some(row) = range.clone().nth({wanted}) else {{ return }};\n{}",
                last("list.values()", "row")
            )
        }
    }
}
