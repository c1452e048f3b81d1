//! CDR by FastCDR: calls of the library as fastddsgen generates them for its
//! own structures, generated for the normalized ones.

use anyhow::Result;
use wiregauge_build_tools::Need;
use wiregauge_normalized::{cpp, File, SourceWriter, Unit};
use wiregauge_schema::{Cardinality, Element, Record, Scalar, Schema, TypeDef, TypeId};

use crate::build::languages::cpp::CPP;
use crate::codec::{Codec, Emission, Linkage, Support};
use crate::lowering::{self, Lowering};
use crate::omg_idl;
use crate::packaged_library::PackagedLibrary;
use crate::sequential::{self, flag_name};

inventory::submit! {
    PackagedLibrary {
        name: "Fast CDR",
        packages: &["libfastcdr-dev"],
        tried: &[
            ("1.0.23", "2021-12"),
            ("1.0.26", "2022-12"),
            ("1.1.0", "2023-06"),
            ("2.2.5", "2024-10"),
            ("2.3.6", "2026-06"),
        ],
        newest: ("2.3.6", "2026-06"),
    }
}

inventory::submit! {
    Codec {
        name: "fastcdr",
        title: "CDR C++ FastCDR",
        format: "cdr",
        language: &CPP,
        is_bound: false,
        linkage: Linkage::Shared("libfastcdr"),
        options: &[
            "XCDR version 1, little-endian, without the encapsulation header (4 bytes) of DDS",
            "the length is computed before writing, as in code of fastddsgen; a fresh buffer is \
             zeroed, as Fast DDS does, because the library does not write padding",
            "one call of the library for each field, as in code of fastddsgen: lists of numbers \
             move as blocks, lists of records do not",
            "a text with a zero in it is refused: the library would end it there",
            "no partial reads: the whole message is deserialized for one number",
        ],
        calls: &[
            "encode: getCdrSerializedSize as fastddsgen generates it, then cdr << field for each",
            "decode, project, fixed, element: cdr >> field for each",
        ],
        needs: &[Need::Header("fastcdr/Cdr.h", "libfastcdr-dev")],
        check_type,
        idl: Some(definition),
        emit,
    }
}

fn check_type(schema: &Schema, id: TypeId) -> Support {
    let TypeDef::Record(record) = &schema.types[id] else {
        return Support::lowered(vec![Lowering::enumeration()]);
    };
    let mut lowerings: Vec<_> = sequential::lowerings(record).collect();
    lowerings.extend(lowering::unions(record));
    if record.fields.is_empty() {
        lowerings.push(Lowering::no_fields());
    }
    Support::lowered(lowerings)
}

/// `message.idl`.
fn definition(schema: &Schema) -> Result<File> {
    let mut code = SourceWriter::new();
    code.open("module wg {");
    for (_, record) in schema.records() {
        code.block(format!("@final struct {} {{", record.name.legal), "};", |code| {
            for field in &record.fields {
                let name = member_name(schema, &field.name.legal);
                let element = element_type(schema, field.element);
                let is_record = matches!(field.element, Element::Record(_));
                code.line(match field.cardinality {
                    Cardinality::Required | Cardinality::Implicit => format!("{element} {name};"),
                    Cardinality::Optional if is_record => format!("sequence<{element}, 1> {name};"),
                    Cardinality::Optional => {
                        format!("boolean {};\n{element} {name};", flag_name(record, field))
                    }
                    Cardinality::List { bound: None } => format!("sequence<{element}> {name};"),
                    Cardinality::List { bound: Some(bound) } => {
                        format!("sequence<{element}, {bound}> {name};")
                    }
                    Cardinality::Array { len } => format!("{element} {name}[{len}];"),
                });
            }
            if record.fields.is_empty() {
                code.line("octet filler;");
            }
        });
    }
    code.close("};");
    Ok(File::new("message.idl", code.finish()))
}

/// IDL takes names that differ in case only for one, so that a member must not
/// be called like a type.
fn member_name(schema: &Schema, legal: &str) -> String {
    let taken = schema.records().any(|(_, record)| record.name.legal.eq_ignore_ascii_case(legal));
    format!("{legal}{}", if taken { "_" } else { "" })
}

fn element_type(schema: &Schema, element: Element) -> String {
    match element {
        Element::String => "string".into(),
        Element::Bytes => "sequence<octet>".into(),
        Element::Record(id) => schema.record(id).name.legal.clone(),
        other => omg_idl::scalar_type(schema.scalar(other).expect("a number")).into(),
    }
}

fn emit(unit: &Unit) -> Result<Emission> {
    let schema = unit.schema;
    let mut code = cpp::begin_glue(&["message.hpp", "primitives.hpp"]);
    code.line("namespace glue {");
    for (_, record) in schema.records() {
        size(schema, record, &mut code);
        serialize(record, &mut code);
        deserialize(schema, record, &mut code);
    }
    code.line("");
    code.line("}  // namespace glue");
    Ok(Emission {
        files: vec![
            File::new("main.cpp", include_str!("fastcdr/main.cpp")),
            File::new("primitives.hpp", include_str!("fastcdr/primitives.hpp")),
            File::new("glue.hpp", code.finish()),
        ],
        sources: vec!["main.cpp".into()],
        // By its name alone it would be the runner of that name.
        libraries: vec!["-lfastcdr".into()],
        ..Emission::default()
    })
}

/// `size(from, at)`: where a record ends that is written at offset `at`.
fn size(schema: &Schema, record: &Record, code: &mut SourceWriter) {
    let name = &record.name.legal;
    code.line("");
    code.block(
        format!(
            "inline std::size_t size([[maybe_unused]] const message::{name} &from,\n\
             \x20                       std::size_t at) {{"
        ),
        "}",
        |code| {
            for field in &record.fields {
                let f = format!("from.{}", field.name.legal);
                let of = |value: &str| match field.element {
                    Element::Record(_) => format!("at = size({value}, at);"),
                    Element::String => {
                        format!("at = after(after(at, 4, 1), 1, {value}.size() + 1);")
                    }
                    Element::Bytes => format!("at = after(after(at, 4, 1), 1, {value}.size());"),
                    other => {
                        let size = schema.scalar(other).expect("a number").size();
                        format!("at = after(at, {size}, 1);")
                    }
                };
                let is_number = schema.scalar(field.element).is_some();
                if matches!(field.cardinality, Cardinality::List { .. }) {
                    code.line("at = after(at, 4, 1);");
                }
                code.line(match field.cardinality {
                    Cardinality::Required | Cardinality::Implicit => of(&f),
                    Cardinality::Optional => match field.element {
                        Element::Record(_) => {
                            format!("at = after(at, 4, 1);\nif ({f}) {}", of(&format!("(*{f})")))
                        }
                        _ if is_number => format!("at = after(at, 1, 1);\n{}", of(&f)),
                        _ => format!("at = after(at, 1, 1);\n{}", of(&format!("value_of({f})"))),
                    },
                    _ if is_number => {
                        let size = schema.scalar(field.element).expect("a number").size();
                        format!("at = after(at, {size}, {f}.size());")
                    }
                    _ => format!("for (const auto &value : {f}) {}", of("value")),
                });
            }
            if record.fields.is_empty() {
                code.line("at = after(at, 1, 1);");
            }
            code.line("return at;");
        },
    );
}

/// `serialize`: normalized form to bytes.
fn serialize(record: &Record, code: &mut SourceWriter) {
    let name = &record.name.legal;
    code.line("");
    code.block(
        format!("inline void serialize(Out &out, [[maybe_unused]] const message::{name} &from) {{"),
        "}",
        |code| {
            for field in &record.fields {
                let f = format!("from.{}", field.name.legal);
                let by_itself = !matches!(field.element, Element::Record(_) | Element::String);
                code.line(match field.cardinality {
                    Cardinality::Optional if matches!(field.element, Element::Record(_)) => {
                        format!("out.count({f} ? 1 : 0);\nif ({f}) serialize(out, *{f});")
                    }
                    Cardinality::Optional => {
                        format!("out.cdr << {f}.has_value();\nserialize(out, value_of({f}));")
                    }
                    _ if by_itself => format!("out.cdr << {f};"),
                    Cardinality::Required | Cardinality::Implicit => {
                        format!("serialize(out, {f});")
                    }
                    Cardinality::List { .. } => format!(
                        "out.count({f}.size());\nfor (const auto &value : {f}) serialize(out, value);"
                    ),
                    Cardinality::Array { .. } => {
                        format!("for (const auto &value : {f}) serialize(out, value);")
                    }
                });
            }
            if record.fields.is_empty() {
                code.line("out.cdr << std::uint8_t{0};");
            }
        },
    );
}

/// `deserialize`: bytes to normalized form.
fn deserialize(schema: &Schema, record: &Record, code: &mut SourceWriter) {
    let name = &record.name.legal;
    code.line("");
    code.block(
        format!("inline void deserialize(In &in, [[maybe_unused]] message::{name} &to) {{"),
        "}",
        |code| {
            for field in &record.fields {
                let t = format!("to.{}", field.name.legal);
                let is_bool = schema.scalar(field.element) == Some(Scalar::Bool);
                code.line(match (field.element, field.cardinality) {
                    (Element::Record(_), Cardinality::Required | Cardinality::Implicit) => {
                        format!("deserialize(in, {t});")
                    }
                    (Element::Record(_), Cardinality::Optional) => format!(
                        "if (in.presence())\n  deserialize(in, {t} ? *{t} : {t}.emplace());\n\
                         else\n  {t}.reset();"
                    ),
                    (Element::Record(_), cardinality) => {
                        let resize = match cardinality {
                            Cardinality::List { .. } => format!("{t}.resize(in.count());\n"),
                            _ => String::new(),
                        };
                        format!("{resize}for (auto &value : {t}) deserialize(in, value);")
                    }
                    (_, Cardinality::Optional) => format!("deserialize_optional(in, {t});"),
                    (_, Cardinality::List { .. }) if is_bool => {
                        format!("in.cdr >> {t};\ncheck_flags({t});")
                    }
                    _ => format!("in.cdr >> {t};"),
                });
            }
            if record.fields.is_empty() {
                code.line("std::uint8_t filler = 0;\nin.cdr >> filler;");
            }
        },
    );
}
