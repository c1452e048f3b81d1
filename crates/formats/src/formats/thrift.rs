//! Apache Thrift: the structures of its own compiler, by the binary and by the
//! compact protocol. The codec of its Java library is in the folder beside.

mod java;

use anyhow::Result;
use wiregauge_build_tools::Need;
use wiregauge_normalized::{cpp, File, SourceWriter, Unit};
use wiregauge_schema::path::{ElementIndex, PathStep};
use wiregauge_schema::{Cardinality, Element, Field, Record, Scalar, Schema, TypeDef, TypeId};

use crate::build::languages::cpp::CPP;
use crate::codec::{Codec, Emission, GeneratorStep, Linkage, Support};
use crate::flattened_field::{self, FlattenedField};
use crate::lowering::{self, Lowering};
use crate::packaged_library::PackagedLibrary;

inventory::submit! {
    PackagedLibrary {
        name: "Thrift",
        packages: &["libthrift-dev"],
        tried: &[
            ("0.16.0", "2022-02"),
            ("0.17.0", "2022-09"),
            ("0.19.0", "2023-09"),
            ("0.24.0", "2026-07"),
        ],
        newest: ("0.25.0", "2026-09"),
    }
}

const NEEDS: &[Need] = &[
    Need::Program("thrift", "thrift-compiler"),
    Need::Header("thrift/protocol/TCompactProtocol.h", "libthrift-dev"),
];

const BUILT: Linkage = Linkage::Shared("libthrift");

const CALLS: &[&str] = &[
    "encode: object.write(&protocol)",
    "decode: object.read(&protocol)",
    "project: as decode, then the structure's members",
    "fixed, element: protocol.readFieldBegin(…), readListBegin(…), skip(type) of what stands before",
];

inventory::submit! {
    Codec {
        name: "thrift",
        title: "Thrift C++ binary",
        format: "thrift",
        language: &CPP,
        is_bound: false,
        linkage: BUILT,
        options: &[
            "TBinaryProtocol",
            "--gen cpp:templates,moveable_types and protocols that know their transport's type: no \
             virtual call for each field",
            "reads by a TMemoryBuffer in place; writes into another one that is kept, whose bytes are \
             taken from where they are, as a transport would take them; where buffers are fresh, its \
             memory is freed",
            "the library's limits of texts and containers are set to the message's size",
            "fixed and element read by the protocol, which skips everything before by skip()",
        ],
        calls: CALLS,
        needs: NEEDS,
        check_type,
        idl: Some(|schema| idl(schema, "cpp")),
        emit: |unit| emit(unit, "TBinaryProtocol"),
    }
}

inventory::submit! {
    Codec {
        name: "thrift-compact",
        title: "Thrift C++ compact",
        format: "thrift-compact",
        language: &CPP,
        is_bound: false,
        linkage: BUILT,
        options: &["TCompactProtocol; otherwise as in the binary protocol"],
        calls: CALLS,
        needs: NEEDS,
        check_type,
        idl: Some(|schema| idl(schema, "cpp")),
        emit: |unit| emit(unit, "TCompactProtocol"),
    }
}

/// Whether a repeated field is carried as `binary`: octets as a block.
fn as_binary(field: &Field) -> bool {
    field.repeats_octets()
}

/// The Thrift type that carries a scalar.
fn scalar_type(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Bool => "bool",
        Scalar::U8 | Scalar::I8 => "i8",
        Scalar::U16 | Scalar::I16 => "i16",
        Scalar::U32 | Scalar::I32 => "i32",
        Scalar::U64 | Scalar::I64 => "i64",
        Scalar::F32 | Scalar::F64 => "double",
    }
}

/// The constant of the C++ library for an element's type on the wire.
fn wire_type(schema: &Schema, element: Element) -> String {
    match element {
        Element::String | Element::Bytes => "protocol::T_STRING".into(),
        Element::Record(_) => "protocol::T_STRUCT".into(),
        other => {
            let scalar = schema.scalar(other).expect("a number");
            format!("wire_type<{}>()", scalar.cpp_name())
        }
    }
}

/// The slots of a record. Where one number is too large for Thrift's 16 bits, all
/// are positions.
fn slots(schema: &Schema, record: &Record) -> Vec<FlattenedField> {
    let mut slots = flattened_field::flatten_fields(schema, record);
    let fits = |slot: &FlattenedField| (1..=i16::MAX as u32).contains(&slot.field.id);
    if !slots.iter().all(fits) {
        for (number, slot) in (1..).zip(&mut slots) {
            slot.field.id = number;
        }
    }
    slots
}

/// A field's name in Thrift: its structures have methods `read` and `write`.
fn member_name(field: &Field) -> String {
    match field.name.legal.as_str() {
        name @ ("read" | "write") => format!("{name}_"),
        name => name.to_string(),
    }
}

fn check_type(schema: &Schema, id: TypeId) -> Support {
    let TypeDef::Record(record) = &schema.types[id] else {
        return Support::lowered(vec![Lowering::enumeration()]);
    };
    let slots = slots(schema, record);
    if slots.len() > i16::MAX as usize {
        return Support::Rejected("it has more fields than Thrift can number (32,767)".into());
    }
    let mut lowerings = lowering::unions_and_bounds(record);
    if record.fields.iter().any(|field| field.id > i16::MAX as u32) {
        lowerings.push(Lowering::new(
            "field numbers by position",
            "the defined ones, of which one exceeds 32,767",
        ));
    }
    for slot in &slots {
        let field = &slot.field;
        if slot.number.is_some() {
            lowerings.push(Lowering::spread());
        }
        if as_binary(field) {
            lowerings.push(Lowering::octets("binary"));
        } else {
            match schema.scalar(field.element) {
                Some(Scalar::F32) => lowerings.push(Lowering::new(
                    "f32 as double",
                    "eight bytes each; that a not-a-number was a signalling one",
                )),
                Some(scalar @ (Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64)) => {
                    lowerings.push(Lowering::as_signed(scalar, scalar_type(scalar)));
                }
                _ => {}
            }
        }
        if let Cardinality::Array { .. } = field.cardinality {
            lowerings.push(Lowering::fixed_array());
        }
    }
    Support::lowered(lowerings)
}

/// `message.thrift` for a language.
fn idl(schema: &Schema, language: &str) -> Result<File> {
    let mut code = SourceWriter::new();
    code.line(format!("namespace {language} wg"));
    for (_, record) in schema.records() {
        code.line("");
        code.block(format!("struct {} {{", record.name.legal), "}", |code| {
            for slot in slots(schema, record) {
                let (field, number) = (&slot.field, slot.field.id);
                let element = match field.element {
                    Element::String => "string",
                    Element::Bytes => "binary",
                    Element::Record(id) => &schema.record(id).name.legal,
                    other => scalar_type(schema.scalar(other).expect("a number")),
                };
                let of = match field.cardinality {
                    _ if as_binary(field) => "required binary".to_string(),
                    Cardinality::Required | Cardinality::Implicit => format!("required {element}"),
                    Cardinality::Optional => format!("optional {element}"),
                    Cardinality::List { .. } | Cardinality::Array { .. } => {
                        format!("required list<{element}>")
                    }
                };
                code.line(format!("{number}: {of} {},", member_name(field)));
            }
        });
    }
    Ok(File::new("message.thrift", code.finish()))
}

fn emit(unit: &Unit, protocol: &str) -> Result<Emission> {
    Ok(Emission {
        files: vec![
            idl(unit.schema, "cpp")?,
            File::new("main.cpp", include_str!("thrift/main.cpp")),
            File::new("octets.hpp", include_str!("thrift/octets.hpp")),
            File::new("reader.hpp", include_str!("thrift/reader.hpp")),
            File::new("wire.hpp", wire(protocol)),
            File::new("glue.hpp", glue(unit)),
        ],
        steps: vec![GeneratorStep::command([
            "thrift",
            "--gen",
            "cpp:templates,moveable_types",
            "-out",
            ".",
            "message.thrift",
        ])],
        sources: vec!["main.cpp".into(), "message_types.cpp".into()],
        // By its name alone it would be the runner of that name.
        libraries: vec!["-lthrift".into()],
        ..Emission::default()
    })
}

/// The protocol, by the transport that it reads from or writes to.
fn wire(protocol: &str) -> String {
    let mut code = SourceWriter::new();
    code.line("// Generated by wiregauge: the protocol.");
    code.line("#pragma once");
    code.line("");
    code.line(format!("#include <thrift/protocol/{protocol}.h>"));
    code.line("");
    code.line("namespace glue {");
    code.line("template <class Transport>");
    code.line(format!("using Wire = apache::thrift::protocol::{protocol}T<Transport>;"));
    code.line("}  // namespace glue");
    code.finish()
}

fn glue(unit: &Unit) -> String {
    let schema = unit.schema;
    let root = &schema.root().name.legal;
    let mut code = cpp::begin_glue(&["message.hpp", "message_types.h", "octets.hpp", "reader.hpp"]);
    code.line("#include <algorithm>");
    code.line("#include <cstring>");
    code.line("");
    code.line("namespace glue {");
    code.line("");
    code.line(format!("using Root = wg::{root};"));
    for (id, record) in schema.records() {
        let slots = slots(schema, record);
        fill(record, &slots, &mut code);
        take(schema, record, &slots, &mut code);
        if has_flags(schema, id) {
            forget(schema, record, &mut code);
        }
        tally(schema, record, &slots, &mut code);
    }
    if !has_flags(schema, schema.root) {
        code.line("");
        code.line(format!("inline void forget(wg::{root} &) {{}}"));
    }
    accessor(schema, "fixed", unit.projection.fixed.as_deref(), &mut code);
    accessor(schema, "element", unit.projection.element.as_deref(), &mut code);
    code.line("");
    code.line("}  // namespace glue");
    code.finish()
}

/// `fill`: normalized to Thrift's, whatever that held.
fn fill(record: &Record, slots: &[FlattenedField], code: &mut SourceWriter) {
    let name = &record.name.legal;
    code.line("");
    code.block(
        format!(
            "inline void fill([[maybe_unused]] const message::{name} &from,\n\
             \x20                [[maybe_unused]] wg::{name} &to) {{"
        ),
        "}",
        |code| {
            for slot in slots {
                let field = &slot.field;
                let from = format!("from.{}", slot.value);
                let m = member_name(field);
                let to = format!("to.{m}");
                let one = |from: &str, to: &str| match field.element {
                    Element::Record(_) => format!("fill({from}, {to});"),
                    Element::String => format!("{to} = {from};"),
                    Element::Bytes => format!("fill_octets({from}, {to});"),
                    _ => format!("{to} = static_cast<decltype({to})>({from});"),
                };
                let is_number =
                    !matches!(field.element, Element::Record(_) | Element::String | Element::Bytes);
                code.line(match field.cardinality {
                    _ if as_binary(field) => format!("fill_octets({from}, {to});"),
                    Cardinality::Required | Cardinality::Implicit => one(&from, &to),
                    Cardinality::Optional => format!(
                        "to.__isset.{m} = {from}.has_value();\nif ({from}) {}",
                        one(&format!("*{from}"), &to)
                    ),
                    _ if is_number => format!("{to}.assign({from}.begin(), {from}.end());"),
                    _ => format!(
                        "{to}.resize({from}.size());\n\
                         for (std::size_t i = 0; i < {from}.size(); ++i) {}",
                        one(&format!("{from}[i]"), &format!("{to}[i]"))
                    ),
                });
            }
        },
    );
}

/// `take`: Thrift's to normalized; strings move.
fn take(schema: &Schema, record: &Record, slots: &[FlattenedField], code: &mut SourceWriter) {
    let name = &record.name.legal;
    code.line("");
    code.block(
        format!(
            "inline void take([[maybe_unused]] wg::{name} &from,\n\
             \x20                [[maybe_unused]] message::{name} &to) {{"
        ),
        "}",
        |code| {
            for slot in slots {
                let field = &slot.field;
                let m = member_name(field);
                let from = format!("from.{m}");
                let to = format!("to.{}", slot.value);
                if let Cardinality::Array { .. } = field.cardinality {
                    code.line(format!(
                        "if ({from}.size() != {to}.size())\n  \
                         throw std::runtime_error(\"{name}.{m}: wrong length\");"
                    ));
                }
                let scalar = schema.scalar(field.element);
                let one = |from: &str, to: &str| match (field.element, scalar) {
                    (Element::Record(_), _) => format!("take({from}, {to});"),
                    (Element::String, _) => format!("{to} = std::move({from});"),
                    (_, Some(scalar)) => {
                        format!("{to} = static_cast<{}>({from});", scalar.cpp_name())
                    }
                    (_, None) => format!("take_octets({from}, {to});"),
                };
                let all = match scalar {
                    Some(_) => format!("std::copy({from}.begin(), {from}.end(), {to}.begin());"),
                    None => format!(
                        "for (std::size_t i = 0; i < {to}.size(); ++i) {}",
                        one(&format!("{from}[i]"), &format!("{to}[i]"))
                    ),
                };
                code.line(match field.cardinality {
                    Cardinality::Array { .. } if as_binary(field) => {
                        format!("std::memcpy({to}.data(), {from}.data(), {to}.size());")
                    }
                    _ if as_binary(field) => format!("take_octets({from}, {to});"),
                    Cardinality::Required | Cardinality::Implicit => one(&from, &to),
                    Cardinality::Optional => {
                        let value = match scalar {
                            Some(_) => one(&from, &to),
                            None => format!(
                                "if (!{to}) {to}.emplace();\n  {}",
                                one(&from, &format!("*{to}"))
                            ),
                        };
                        format!(
                            "if (from.__isset.{m}) {{\n  {value}\n}} else {{\n  {to}.reset();\n}}"
                        )
                    }
                    Cardinality::Array { .. } => all,
                    Cardinality::List { .. } if scalar.is_some() => {
                        format!("{to}.assign({from}.begin(), {from}.end());")
                    }
                    Cardinality::List { .. } => format!("{to}.resize({from}.size());\n{all}"),
                });
            }
        },
    );
}

/// Whether a record has optional fields, itself or in a record that is one of
/// its fields. Records in lists are made anew when they are read.
fn has_flags(schema: &Schema, id: TypeId) -> bool {
    schema.record(id).fields.iter().any(|field| match (field.cardinality, field.element) {
        (Cardinality::Optional, _) => true,
        (Cardinality::List { .. } | Cardinality::Array { .. }, _) => false,
        (_, Element::Record(inner)) => has_flags(schema, inner),
        _ => false,
    })
}

/// `forget`: marks every optional field absent, which the generated reader
/// leaves to its caller.
fn forget(schema: &Schema, record: &Record, code: &mut SourceWriter) {
    code.line("");
    code.block(format!("inline void forget(wg::{} &object) {{", record.name.legal), "}", |code| {
        if record.fields.iter().any(|field| field.cardinality == Cardinality::Optional) {
            code.line("object.__isset = {};");
        }
        for field in &record.fields {
            let repeats =
                matches!(field.cardinality, Cardinality::List { .. } | Cardinality::Array { .. });
            match field.element {
                Element::Record(inner) if !repeats && has_flags(schema, inner) => {
                    code.line(format!("forget(object.{});", member_name(field)))
                }
                _ => {}
            }
        }
    });
}

/// `tally`: every number of Thrift's structure.
fn tally(schema: &Schema, record: &Record, slots: &[FlattenedField], code: &mut SourceWriter) {
    let name = &record.name.legal;
    code.line("");
    code.line("template <class Tally>");
    code.block(format!("Tally tally([[maybe_unused]] const wg::{name} &from) {{"), "}", |code| {
        code.line("Tally tally{};");
        for slot in slots {
            let (field, place, m) = (&slot.field, slot.place, member_name(&slot.field));
            let add = |value: &str| match schema.scalar(field.element) {
                Some(scalar) => {
                    format!("tally.number({place}, static_cast<{}>({value}));", scalar.cpp_name())
                }
                None if matches!(field.element, Element::Record(_)) => {
                    format!("tally.record({place}, glue::tally<Tally>({value}));")
                }
                None => format!("tally.length({place}, {value}.size());"),
            };
            code.line(match field.cardinality {
                Cardinality::Required | Cardinality::Implicit => add(&format!("from.{m}")),
                Cardinality::Optional => {
                    format!("if (from.__isset.{m}) {}", add(&format!("from.{m}")))
                }
                _ => format!("for (const auto &value : from.{m}) {}", add("value")),
            });
        }
        code.line("return tally;");
    });
}

/// `void NAME(Reader &, Tally &)`: the number at a path, nothing where it is not
/// there. Goes through the fields by the protocol and skips what stands before.
fn accessor(schema: &Schema, name: &str, path: Option<&[PathStep]>, code: &mut SourceWriter) {
    code.line("");
    code.line("template <class Tally>");
    let open =
        format!("void {name}([[maybe_unused]] Reader &in, [[maybe_unused]] Tally &tally) {{");
    code.block(open, "}", |code| {
        let mut id = schema.root;
        for (depth, step) in path.unwrap_or_default().iter().enumerate() {
            let slots = slots(schema, schema.record(id));
            let Some((slot, index)) = flattened_field::find_step(&slots, step) else { return };
            let (field, number) = (&slot.field, slot.field.id);
            let wire = wire_type(schema, field.element);
            let index = match index {
                ElementIndex::Single => None,
                ElementIndex::At(index) => Some(index.to_string()),
                ElementIndex::Middle => Some("count / 2".to_string()),
            };
            code.line(format!("const Struct scope{depth}(in);"));
            let outer = match &index {
                None => wire.clone(),
                Some(_) if as_binary(field) => "protocol::T_STRING".into(),
                Some(_) => "protocol::T_LIST".into(),
            };
            code.line(format!("if (!in.find({number}, {outer})) return;"));
            if let Some(index) = index {
                if as_binary(field) {
                    code.line("const std::string &octets = in.text();");
                    code.line("const std::size_t count = octets.size();");
                    code.line(format!("const std::size_t index = {index};"));
                    code.line(
                        "if (index < count) tally.number(0, static_cast<std::uint8_t>(octets[index]));",
                    );
                    return;
                }
                code.open("{");
                code.line(format!("const std::uint32_t count = in.list({wire});"));
                code.line(format!("const std::uint32_t index = {index};"));
                code.line("if (index >= count) return;");
                code.line(format!("in.skip({wire}, index);"));
                code.close("}");
            }
            match field.element {
                Element::Record(inner) => id = inner,
                other => {
                    let of = schema.scalar(other).expect("paths end at numbers").cpp_name();
                    code.line(format!("tally.number(0, in.number<{of}>());"));
                }
            }
        }
    });
}
