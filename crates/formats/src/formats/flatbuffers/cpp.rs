//! FlatBuffers C++: the format's own library, from the definition with tables
//! only and from the one with structs.

use anyhow::Result;
use wiregauge_normalized::{File, SourceWriter, Unit};
use wiregauge_schema::{Cardinality, Element, Field, Record, Scalar, TypeId};

use super::{
    field_name, reader, Dialect, ElementKind, Style, ARRAYS, BUILDER, FLATC, HEADERS, SIGN, VERIFY,
};
use crate::build::languages::cpp::CPP;
use crate::codec::{Codec, Emission, GeneratorStep, Linkage};
use crate::flattened_field::FlattenedField;

inventory::submit! {
    Codec {
        name: "flatbuffers-cpp",
        title: "FlatBuffers C++ tables",
        format: "flatbuffers-tables",
        language: &CPP,
        is_bound: false,
        linkage: Linkage::Headers,
        options: &["every record is a table", ARRAYS, SIGN, BUILDER, VERIFY],
        calls: &[
            "encode: builder.Clear(); CreateVector, CreateString and CreateX(builder, …) from the leaves up; builder.Finish(root); builder.GetBufferPointer()",
            "decode: GetRoot<X>(data); every accessor; lists of numbers as blocks by Vector::data()",
            "project, fixed, element: GetRoot<X>(data), then the accessors on the way; Vector::Get(i)",
            "verify and the checked ones: Verifier(data, size, options).VerifyBuffer<X>()",
        ],
        needs: &[FLATC, HEADERS],
        check_type: |schema, id| super::check_type(schema, id, Style::Tables),
        idl: Some(|schema| super::idl(schema, Style::Tables)),
        emit: |unit| emit(unit, Style::Tables),
    }
}

inventory::submit! {
    Codec {
        name: "flatbuffers-cpp-structs",
        title: "FlatBuffers C++ structs",
        format: "flatbuffers",
        language: &CPP,
        is_bound: false,
        linkage: Linkage::Headers,
        options: &[
            "records of plain data are structs, and lists of them move as blocks; bytes in them \
             that belong to no field are cleared when they are written",
            ARRAYS,
            SIGN,
            BUILDER,
            VERIFY,
        ],
        calls: &[
            "encode: builder.Clear(); CreateVectorOfStructs(pointer, count) for each list of structs; CreateX(builder, …); builder.Finish(root); builder.GetBufferPointer()",
            "decode: GetRoot<X>(data); every accessor; lists of numbers and structs as blocks by Vector::data()",
            "project, fixed, element: GetRoot<X>(data), then the accessors on the way; Vector::Get(i)",
            "verify and the checked ones: Verifier(data, size, options).VerifyBuffer<X>()",
        ],
        needs: &[FLATC, HEADERS],
        check_type: |schema, id| super::check_type(schema, id, Style::Structs),
        idl: Some(|schema| super::idl(schema, Style::Structs)),
        emit: |unit| emit(unit, Style::Structs),
    }
}

fn emit(unit: &Unit, style: Style) -> Result<Emission> {
    let mut flatc = vec!["flatc", "--cpp", "--cpp-std", "c++17"];
    if style == Style::Structs {
        // Structs are filled field by field where they cannot move as blocks.
        flatc.push("--gen-mutable");
    }
    flatc.push("message.fbs");
    Ok(Emission {
        files: vec![
            super::idl(unit.schema, style)?,
            File::new("main.cpp", include_str!("cpp/main.cpp")),
            File::new("blocks.hpp", include_str!("cpp/blocks.hpp")),
            reader::names(),
            reader::reading(),
            File::new("glue.hpp", glue(unit, style)),
        ],
        steps: vec![GeneratorStep::command(flatc)],
        sources: vec!["main.cpp".into()],
        ..Emission::default()
    })
}

fn glue(unit: &Unit, style: Style) -> String {
    let dialect = Dialect::new(unit.schema, style);
    let mut code = wiregauge_normalized::cpp::begin_glue(&[
        "blocks.hpp",
        "message.hpp",
        "message_generated.h",
    ]);
    code.line("namespace {");
    // Structs hold structs only, and the templates for lists of them need them all.
    let of_structs = |is_struct: bool| {
        dialect.schema.records().filter(move |(id, _)| dialect.is_struct(*id) == is_struct)
    };
    for (id, record) in of_structs(true) {
        fill_struct(dialect, id, record, &mut code);
        take_struct(dialect, id, record, &mut code);
        layout(dialect, id, record, &mut code);
    }
    for (id, record) in of_structs(false) {
        build(dialect, id, record, &mut code);
        take(dialect, id, record, &mut code);
    }
    reader::write_reader(unit, dialect, &mut code);
    code.line("");
    code.line("}  // namespace");
    code.finish()
}

/// `fill`: normalized to a struct, field by field.
fn fill_struct(dialect: Dialect, id: TypeId, record: &Record, code: &mut SourceWriter) {
    let (name, wire) = (&record.name.legal, dialect.type_name(id));
    code.line("");
    code.block(
        format!("[[maybe_unused]] void fill(const message::{name} &from, wg::{wire} &to) {{"),
        "}",
        |code| {
            for field in &record.fields {
                let (f, n) = (&field.name.legal, field_name(field));
                let is_record = matches!(field.element, Element::Record(_));
                code.line(match field.cardinality {
                    Cardinality::Array { len } => {
                        let one = if is_record {
                            format!("fill(from.{f}[i], *to.mutable_{n}()->GetMutablePointer(i));")
                        } else {
                            format!("to.mutable_{n}()->Mutate(i, from.{f}[i]);")
                        };
                        format!("for (uoffset_t i = 0; i < {len}; ++i) {one}")
                    }
                    _ if is_record => format!("fill(from.{f}, to.mutable_{n}());"),
                    _ => format!("to.mutate_{n}(from.{f});"),
                });
            }
        },
    );
}

/// `take`: a struct to normalized, field by field.
fn take_struct(dialect: Dialect, id: TypeId, record: &Record, code: &mut SourceWriter) {
    let (name, wire) = (&record.name.legal, dialect.type_name(id));
    code.line("");
    code.block(
        format!("[[maybe_unused]] void take(const wg::{wire} &from, message::{name} &to) {{"),
        "}",
        |code| {
            for field in &record.fields {
                let (f, n) = (&field.name.legal, field_name(field));
                let is_record = matches!(field.element, Element::Record(_));
                code.line(match field.cardinality {
                    Cardinality::Array { len } => {
                        let one = if is_record {
                            format!("take(*from.{n}()->Get(i), to.{f}[i]);")
                        } else {
                            // An element of an array of truth values is an octet to flatc.
                            let is = match dialect.schema.scalar(field.element) {
                                Some(Scalar::Bool) => " != 0",
                                _ => "",
                            };
                            format!("to.{f}[i] = from.{n}()->Get(i){is};")
                        };
                        format!("for (uoffset_t i = 0; i < {len}; ++i) {one}")
                    }
                    _ if is_record => format!("take(from.{n}(), to.{f});"),
                    _ => format!("to.{f} = from.{n}();"),
                });
            }
        },
    );
}

/// `Layout`: whether a struct may move as a block.
fn layout(dialect: Dialect, id: TypeId, record: &Record, code: &mut SourceWriter) {
    let (name, wire) = (&record.name.legal, dialect.type_name(id));
    let layout = dialect.layout(id);
    let mut terms = vec![
        "FLATBUFFERS_LITTLEENDIAN".to_string(),
        format!("sizeof(message::{name}) == {}", layout.size()),
        format!("sizeof(wg::{wire}) == {}", layout.size()),
    ];
    for (field, offset) in record.fields.iter().zip(&layout.offsets) {
        terms.push(format!("offsetof(message::{name}, {}) == {offset}", field.name.legal));
        if let Element::Record(inner) = field.element {
            let inner = &dialect.schema.record(inner).name.legal;
            terms.push(format!("Layout<message::{inner}>::kSame"));
        }
    }
    code.line("");
    code.block(format!("template <> struct Layout<message::{name}> {{"), "};", |code| {
        code.line(format!("using Wire = wg::{wire};"));
        code.line(format!("static constexpr bool kSame = {};", terms.join(" &&\n    ")));
        code.line(format!("static constexpr bool kGaps = {};", layout.has_gaps()));
        code.line(format!("static constexpr bool kBools = {};", dialect.has_bools(id)));
        for (verb, from, to) in [("fill", "message", "wg"), ("take", "wg", "message")] {
            let (of, into) = if verb == "fill" { (name, &wire) } else { (&wire, name) };
            code.line(format!(
                "static void {verb}(const {from}::{of} &from, {to}::{into} &to) {{ ::{verb}(from, to); }}"
            ));
        }
        if layout.has_gaps() {
            // A struct is a whole number of words as wide as its alignment.
            let words: Vec<String> = layout.used.chunks(layout.align).map(mask).collect();
            code.line(format!(
                "static constexpr std::array<std::uint{}_t, {}> kFields{{{{{}}}}};",
                layout.align * 8,
                words.len(),
                words.join(", ")
            ));
        }
    });
}

/// A little-endian word with ones where a byte belongs to a field.
fn mask(used: &[bool]) -> String {
    let bytes = used.iter().rev().map(|used| if *used { "ff" } else { "00" });
    format!("0x{}u", bytes.collect::<String>())
}

/// `build`: normalized to a table, its children first.
fn build(dialect: Dialect, id: TypeId, record: &Record, code: &mut SourceWriter) {
    let (name, table) = (&record.name.legal, dialect.type_name(id));
    code.line("");
    code.block(
        format!(
            "Offset<wg::{table}> build(FlatBufferBuilder &builder, \
             [[maybe_unused]] Scratch &scratch, [[maybe_unused]] const message::{name} &from) {{"
        ),
        "}",
        |code| {
            let slots = dialect.slots(id);
            for FlattenedField { field, .. } in &slots {
                child(dialect, field, code);
            }
            let mut arguments = vec!["builder".to_string()];
            for FlattenedField { field, value, .. } in &slots {
                let f = &field.name.legal;
                let is_list = matches!(
                    field.cardinality,
                    Cardinality::List { .. } | Cardinality::Array { .. }
                );
                arguments.push(match (dialect.kind(field.element), field.cardinality) {
                    (ElementKind::Scalar(_), _) if !is_list => format!("from.{value}"),
                    (ElementKind::Struct(_), Cardinality::Optional) => {
                        format!("from.{f} ? &{f}_at : nullptr")
                    }
                    (ElementKind::Struct(_), _) if !is_list => format!("&{f}_at"),
                    _ => format!("{f}_at"),
                });
            }
            code.line(format!("return wg::Create{table}({});", arguments.join(", ")));
        },
    );
}

/// Builds what a field refers to, as `FIELD_at`.
fn child(dialect: Dialect, field: &Field, code: &mut SourceWriter) {
    let f = &field.name.legal;
    let kind = dialect.kind(field.element);
    let of_bytes = |value: &str| format!("builder.CreateVector({value}.data(), {value}.size())");
    match field.cardinality {
        Cardinality::List { .. } | Cardinality::Array { .. } => {
            let is_list = matches!(field.cardinality, Cardinality::List { .. });
            let (offset, one) = match kind {
                ElementKind::Scalar(_) | ElementKind::Struct(_) => {
                    let all = match kind {
                        // Truth values travel as octets; a list of them holds octets.
                        ElementKind::Scalar(Scalar::Bool) if !is_list => format!(
                            "builder.CreateVector(reinterpret_cast<const std::uint8_t *>(from.{f}.data()), from.{f}.size())"
                        ),
                        ElementKind::Scalar(_) => of_bytes(&format!("from.{f}")),
                        _ => format!("structs(builder, from.{f}.data(), from.{f}.size())"),
                    };
                    code.line(if is_list {
                        format!("decltype({all}) {f}_at;\nif (!from.{f}.empty()) {f}_at = {all};")
                    } else {
                        format!("const auto {f}_at = {all};")
                    });
                    return;
                }
                ElementKind::Text => {
                    ("flatbuffers::String".to_string(), "builder.CreateString(value)".to_string())
                }
                ElementKind::Bytes => {
                    let name = dialect.bytes_name();
                    (
                        format!("wg::{name}"),
                        format!("wg::Create{name}(builder, {})", of_bytes("value")),
                    )
                }
                ElementKind::Table(id) => (
                    format!("wg::{}", dialect.type_name(id)),
                    "build(builder, scratch, value)".to_string(),
                ),
            };
            code.line(format!("Offset<Vector<Offset<{offset}>>> {f}_at;"));
            let open = if is_list { format!("if (!from.{f}.empty()) {{") } else { "{".to_string() };
            code.block(open, "}", |code| {
                code.line("const std::size_t base = scratch.size();");
                code.block(format!("for (const auto &value : from.{f}) {{"), "}", |code| {
                    code.line(format!("const auto child = {one};"));
                    code.line("scratch.push_back(child.o);");
                });
                code.line(format!("{f}_at = children<{offset}>(builder, scratch, base);"));
            });
        }
        cardinality => {
            let (offset, one): (String, &dyn Fn(&str) -> String) = match kind {
                ElementKind::Scalar(_) => return,
                ElementKind::Struct(id) => {
                    let wire = dialect.type_name(id);
                    code.line(format!("wg::{wire} {f}_at;"));
                    code.line(match cardinality {
                        Cardinality::Optional => format!("if (from.{f}) fill(*from.{f}, {f}_at);"),
                        _ => format!("fill(from.{f}, {f}_at);"),
                    });
                    return;
                }
                ElementKind::Text => {
                    ("flatbuffers::String".into(), &|v| format!("builder.CreateString({v})"))
                }
                ElementKind::Bytes => ("Vector<std::uint8_t>".into(), &of_bytes),
                ElementKind::Table(id) => (format!("wg::{}", dialect.type_name(id)), &|v| {
                    format!("build(builder, scratch, {v})")
                }),
            };
            code.line(match (kind, cardinality) {
                (_, Cardinality::Optional) => format!(
                    "Offset<{offset}> {f}_at;\nif (from.{f}) {f}_at = {};",
                    one(&format!("(*from.{f})"))
                ),
                (ElementKind::Text | ElementKind::Bytes, Cardinality::Implicit) => format!(
                    "Offset<{offset}> {f}_at;\nif (!from.{f}.empty()) {f}_at = {};",
                    one(&format!("from.{f}"))
                ),
                _ => format!("const auto {f}_at = {};", one(&format!("from.{f}"))),
            });
        }
    }
}

/// `take`: a table to normalized, into whatever that held before. Text and
/// records that are not there are empty.
fn take(dialect: Dialect, id: TypeId, record: &Record, code: &mut SourceWriter) {
    let (name, table) = (&record.name.legal, dialect.type_name(id));
    code.line("");
    code.block(
        format!(
            "void take([[maybe_unused]] const wg::{table} &from, \
             [[maybe_unused]] std::size_t limit, [[maybe_unused]] message::{name} &to) {{"
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
    // From pointer `value` into `to`.
    let one = |value: &str, to: &str| match kind {
        ElementKind::Scalar(_) => unreachable!("not behind a pointer"),
        ElementKind::Text | ElementKind::Bytes => format!("assign({value}, limit, {to});"),
        ElementKind::Struct(_) => format!("take(*{value}, {to});"),
        ElementKind::Table(_) => format!("take(*{value}, limit, {to});"),
    };
    let in_list = |value: &str, to: &str| match kind {
        ElementKind::Bytes => one(&format!("{value}->value()"), to),
        _ => one(value, to),
    };
    code.line(match (kind, field.cardinality) {
        (
            ElementKind::Scalar(_),
            Cardinality::Required | Cardinality::Implicit | Cardinality::Optional,
        ) => format!("to.{value} = from.{n}();"),
        (ElementKind::Text | ElementKind::Bytes, Cardinality::Required | Cardinality::Implicit) => {
            format!("assign(from.{n}(), limit, to.{f});")
        }
        (_, Cardinality::Required | Cardinality::Implicit) => format!(
            "if (const auto *value = from.{n}()) {{ {} }} else {{ to.{f} = {{}}; }}",
            one("value", &format!("to.{f}"))
        ),
        (_, Cardinality::Optional) => format!(
            "if (const auto *value = from.{n}()) {{ if (!to.{f}) to.{f}.emplace(); {} }} \
             else {{ to.{f}.reset(); }}",
            one("value", &format!("(*to.{f})"))
        ),
        (ElementKind::Scalar(_), Cardinality::List { .. }) => {
            format!("assign(from.{n}(), limit, to.{f});")
        }
        (ElementKind::Struct(_), Cardinality::List { .. }) => {
            format!("take_structs(from.{n}(), limit, to.{f});")
        }
        (_, Cardinality::List { .. }) => format!(
            "{{ const auto *values = from.{n}();\n\
             to.{f}.resize(count(values, limit));\n\
             for (std::size_t i = 0; i < to.{f}.size(); ++i) {{ \
             const auto *value = values->Get(static_cast<uoffset_t>(i)); {} }} }}",
            in_list("value", &format!("to.{f}[i]"))
        ),
        (_, Cardinality::Array { len }) => {
            let all = match kind {
                ElementKind::Scalar(Scalar::Bool) => {
                    format!("for (uoffset_t i = 0; i < {len}; ++i) to.{f}[i] = values->Get(i) != 0;")
                }
                // Little-endian hosts only, as the normalized form is.
                ElementKind::Scalar(_) => {
                    format!("std::memcpy(to.{f}.data(), values->data(), sizeof to.{f});")
                }
                _ => format!(
                    "for (uoffset_t i = 0; i < {len}; ++i) {{ const auto *value = values->Get(i); {} }}",
                    in_list("value", &format!("to.{f}[i]"))
                ),
            };
            format!(
                "{{ const auto *values = from.{n}();\n\
                 if (values == nullptr || values->size() != {len}) \
                 throw std::runtime_error(\"{record}.{f}: wrong length\");\n\
                 {all} }}"
            )
        }
    });
}
