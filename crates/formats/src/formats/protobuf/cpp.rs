//! Protobuf C++: the format's own compiler and runtime, with objects on the
//! heap and with objects on an arena.

use anyhow::Result;
use wiregauge_build_tools::Need;
use wiregauge_normalized::{File, SourceWriter, Unit};
use wiregauge_schema::path::{ElementIndex, PathStep};
use wiregauge_schema::{Cardinality, Element, Field, Record, Scalar, Schema};

use super::{as_bytes, element_type, ListEncoding, PlainLists};
use crate::build::languages::cpp::CPP;
use crate::codec::{Codec, Emission, GeneratorStep, Linkage};
use crate::flattened_field::{self, FlattenedField};

pub(in crate::formats) const NEEDS: &[Need] = &[
    Need::Program("protoc", "protobuf-compiler"),
    Need::Header("google/protobuf/message.h", "libprotobuf-dev"),
];

pub(in crate::formats) const BUILT: Linkage = Linkage::Shared("libprotobuf");

const CALLS: &[&str] = &[
    "encode: message.ByteSizeLong(); message.SerializeWithCachedSizesToArray(bytes)",
    "decode: message.ParseFromArray(bytes, size)",
    "project: as decode, then the message's accessors",
    "fixed, element: in.ReadTag(); in.Skip(…), in.PushLimit(…) or in.ReadLittleEndian32(…) …",
];

inventory::submit! {
    Codec {
        name: "protobuf-cpp",
        title: "Protobuf C++",
        format: "protobuf",
        language: &CPP,
        is_bound: false,
        linkage: BUILT,
        options: &[
            "objects on the heap; reused ones are cleared by Clear()",
            "optimize_for = SPEED, the default",
            "a shared library may be compiled with its assertions, as Debian's 36.2 is: then \
             parsing takes a third longer (docs/four-years.md)",
            "fixed and element skip through the bytes by CodedInputStream, because a message that \
             knows only the fields on the path would keep a copy of all others; they go to the end \
             of the message, where a field may be repeated",
        ],
        calls: CALLS,
        needs: NEEDS,
        check_type: super::check_type,
        idl: Some(super::idl),
        emit: |unit| emit(unit, include_str!("cpp/heap.hpp")),
    }
}

inventory::submit! {
    Codec {
        name: "protobuf-cpp-arena",
        title: "Protobuf C++ arena",
        format: "protobuf",
        language: &CPP,
        is_bound: false,
        linkage: BUILT,
        options: &[
            "objects on a google::protobuf::Arena, which is kept between messages as scratch, with \
             Reset() before each message",
            "the arena's initial_block has room for the largest SpaceUsed() so far; until this is \
             known, blocks of 4 KiB to 1 MiB (start_block_size, max_block_size)",
            "assertions of the shared library: as on the heap",
            "fixed and element as on the heap: they need no object",
        ],
        calls: &[
            "encode: Arena::CreateMessage<Message>(&arena), since 28 Arena::Create; then as on the heap",
            "decode: Arena::CreateMessage<Message>(&arena), since 28 Arena::Create; then as on the heap",
            "project: as decode, then the message's accessors; before each message arena.Reset()",
            "fixed, element: as on the heap",
        ],
        needs: NEEDS,
        check_type: super::check_type,
        idl: Some(super::idl),
        emit: |unit| emit(unit, include_str!("cpp/arena.hpp")),
    }
}

/// The runner of one way to keep messages, which `objects.hpp` is.
fn emit(unit: &Unit, objects: &str) -> Result<Emission> {
    Ok(emit_with(unit, objects, super::idl(unit.schema)?, &PlainLists))
}

/// The runner on the heap of a definition that has something in place of lists.
pub(in crate::formats) fn emission(unit: &Unit, idl: File, lists: &dyn ListEncoding) -> Emission {
    emit_with(unit, include_str!("cpp/heap.hpp"), idl, lists)
}

fn emit_with(unit: &Unit, objects: &str, idl: File, lists: &dyn ListEncoding) -> Emission {
    Emission {
        files: vec![
            idl,
            File::new("main.cpp", include_str!("cpp/main.cpp")),
            File::new("protobuf.hpp", include_str!("cpp/protobuf.hpp")),
            File::new("objects.hpp", objects),
            File::new("glue.hpp", glue(unit, lists)),
        ],
        steps: vec![GeneratorStep::command(["protoc", "--cpp_out=.", "message.proto"])],
        sources: vec!["main.cpp".into(), "message.pb.cc".into()],
        libraries: vec!["protobuf".into(), "pthread".into()],
        ..Emission::default()
    }
}

fn glue(unit: &Unit, lists: &dyn ListEncoding) -> String {
    let schema = unit.schema;
    let mut headers = vec!["message.hpp", "message.pb.h", "wiregauge/protobuf_path.hpp"];
    headers.extend(lists.extra_modules());
    let mut code = wiregauge_normalized::cpp::begin_glue(&headers);
    code.line("namespace {");
    code.line("");
    code.line(format!("using Root = wg::{};", schema.root().name.legal));
    lists.definitions(&mut code);
    for (_, record) in schema.records().filter(|(id, _)| lists.is_message(*id)) {
        let slots = flattened_field::flatten_fields(schema, record);
        fill("fill", record, &slots, lists, &mut code);
        take(schema, record, &slots, lists, &mut code);
        tally(schema, record, &slots, lists, &mut code);
    }
    let slots = flattened_field::flatten_fields(schema, schema.root());
    let (apart, rest): (Vec<_>, Vec<_>) =
        slots.into_iter().partition(|slot| lists.stands_apart(slot));
    if !apart.is_empty() {
        fill("fill_rest", schema.root(), &rest, lists, &mut code);
        lists.write_apart(&apart, &mut code);
    }
    accessor(schema, "fixed", unit.projection.fixed.as_deref(), lists, &mut code);
    accessor(schema, "element", unit.projection.element.as_deref(), lists, &mut code);
    code.line("");
    code.line("}  // namespace");
    code.finish()
}

/// Normalized to Protobuf's, which is empty: `fill`, or what fills some fields only.
fn fill(
    function: &str,
    record: &Record,
    slots: &[FlattenedField],
    lists: &dyn ListEncoding,
    code: &mut SourceWriter,
) {
    let name = &record.name.legal;
    code.line("");
    code.block(
        format!(
            "void {function}([[maybe_unused]] const message::{name} &from, \
             [[maybe_unused]] wg::{name} &to) {{"
        ),
        "}",
        |code| {
            for slot in slots {
                if let Some(statement) = lists.fill(slot) {
                    code.line(statement);
                    continue;
                }
                let (field, f, m) = (&slot.field, &slot.value, &slot.field.name.legal);
                code.line(match (field.element, field.cardinality) {
                    _ if as_bytes(field) => {
                        format!("to.set_{m}(from.{f}.data(), from.{f}.size());")
                    }
                    (Element::Record(_), Cardinality::Required | Cardinality::Implicit) => {
                        format!("fill(from.{f}, *to.mutable_{m}());")
                    }
                    (Element::Record(_), Cardinality::Optional) => {
                        format!("if (from.{f}) fill(*from.{f}, *to.mutable_{m}());")
                    }
                    (Element::Record(_), _) => format!(
                        "to.mutable_{m}()->Reserve(static_cast<int>(from.{f}.size()));\n\
                         for (const auto &value : from.{f}) fill(value, *to.add_{m}());"
                    ),
                    (Element::Bytes, Cardinality::Required | Cardinality::Implicit) => {
                        format!("to.set_{m}(from.{f}.data(), from.{f}.size());")
                    }
                    (Element::Bytes, Cardinality::Optional) => {
                        format!("if (from.{f}) to.set_{m}(from.{f}->data(), from.{f}->size());")
                    }
                    (Element::Bytes, _) => format!(
                        "for (const auto &value : from.{f}) to.add_{m}(value.data(), value.size());"
                    ),
                    (_, Cardinality::Required | Cardinality::Implicit) => {
                        format!("to.set_{m}(from.{f});")
                    }
                    (_, Cardinality::Optional) => {
                        format!("if (from.{f}) to.set_{m}(*from.{f});")
                    }
                    (Element::String, _) => {
                        format!("for (const auto &value : from.{f}) to.add_{m}(value);")
                    }
                    _ => format!("to.mutable_{m}()->Add(from.{f}.begin(), from.{f}.end());"),
                });
            }
        },
    );
}

/// `take`: Protobuf's to normalized; strings move.
fn take(
    schema: &Schema,
    record: &Record,
    slots: &[FlattenedField],
    lists: &dyn ListEncoding,
    code: &mut SourceWriter,
) {
    let name = &record.name.legal;
    code.line("");
    code.block(
        format!(
            "void take([[maybe_unused]] wg::{name} &from, [[maybe_unused]] message::{name} &to) {{"
        ),
        "}",
        |code| {
            for slot in slots {
                if let Some(statement) = lists.take(slot) {
                    code.line(statement);
                    continue;
                }
                let (field, f, m) = (&slot.field, &slot.value, &slot.field.name.legal);
                if let Cardinality::Array { .. } = field.cardinality {
                    let size =
                        if as_bytes(field) { format!("from.{m}().size()") } else { format!("static_cast<std::size_t>(from.{m}_size())") };
                    code.line(format!(
                        "if ({size} != to.{f}.size()) throw std::runtime_error(\"{name}.{f}: wrong length\");"
                    ));
                }
                code.line(match (field.element, field.cardinality) {
                    (_, Cardinality::Array { .. }) if as_bytes(field) => format!(
                        "std::memcpy(to.{f}.data(), from.{m}().data(), to.{f}.size());"
                    ),
                    _ if as_bytes(field) => {
                        format!("to.{f}.assign(from.{m}().begin(), from.{m}().end());")
                    }
                    (Element::Record(_), Cardinality::Required | Cardinality::Implicit) => format!(
                        "if (from.has_{m}()) take(*from.mutable_{m}(), to.{f}); else to.{f} = {{}};"
                    ),
                    (Element::Record(_), Cardinality::Optional) => format!(
                        "if (from.has_{m}()) {{ if (!to.{f}) to.{f}.emplace(); \
                         take(*from.mutable_{m}(), *to.{f}); }} else {{ to.{f}.reset(); }}"
                    ),
                    (Element::Record(_), cardinality) => {
                        let resize = if matches!(cardinality, Cardinality::List { .. }) {
                            format!("to.{f}.resize(static_cast<std::size_t>(from.{m}_size()));\n")
                        } else {
                            String::new()
                        };
                        format!(
                            "{resize}for (int i = 0; i < from.{m}_size(); ++i) \
                             take(*from.mutable_{m}(i), to.{f}[static_cast<std::size_t>(i)]);"
                        )
                    }
                    (Element::Bytes, Cardinality::Required | Cardinality::Implicit) => {
                        format!("to.{f}.assign(from.{m}().begin(), from.{m}().end());")
                    }
                    (Element::Bytes, Cardinality::Optional) => format!(
                        "if (from.has_{m}()) to.{f}.emplace(from.{m}().begin(), from.{m}().end()); \
                         else to.{f}.reset();"
                    ),
                    (Element::Bytes, cardinality) => {
                        let resize = if matches!(cardinality, Cardinality::List { .. }) {
                            format!("to.{f}.resize(static_cast<std::size_t>(from.{m}_size()));\n")
                        } else {
                            String::new()
                        };
                        format!(
                            "{resize}for (int i = 0; i < from.{m}_size(); ++i) \
                             to.{f}[static_cast<std::size_t>(i)].assign(from.{m}(i).begin(), from.{m}(i).end());"
                        )
                    }
                    (Element::String, Cardinality::Required | Cardinality::Implicit) => {
                        format!("to.{f} = std::move(*from.mutable_{m}());")
                    }
                    (Element::String, Cardinality::Optional) => format!(
                        "if (from.has_{m}()) to.{f} = std::move(*from.mutable_{m}()); else to.{f}.reset();"
                    ),
                    (Element::String, cardinality) => {
                        let resize = if matches!(cardinality, Cardinality::List { .. }) {
                            format!("to.{f}.resize(static_cast<std::size_t>(from.{m}_size()));\n")
                        } else {
                            String::new()
                        };
                        format!(
                            "{resize}for (int i = 0; i < from.{m}_size(); ++i) \
                             to.{f}[static_cast<std::size_t>(i)] = std::move(*from.mutable_{m}(i));"
                        )
                    }
                    (_, Cardinality::Required | Cardinality::Implicit) => {
                        format!("to.{f} = {};", narrow(schema, field, &format!("from.{m}()")))
                    }
                    (_, Cardinality::Optional) => format!(
                        "if (from.has_{m}()) to.{f} = {}; else to.{f}.reset();",
                        narrow(schema, field, &format!("from.{m}()"))
                    ),
                    (_, Cardinality::Array { .. }) => {
                        format!("std::copy(from.{m}().begin(), from.{m}().end(), to.{f}.begin());")
                    }
                    _ => format!("to.{f}.assign(from.{m}().begin(), from.{m}().end());"),
                });
            }
        },
    );
}

/// Protobuf's scalar as the normalized form holds it.
fn narrow(schema: &Schema, field: &Field, value: &str) -> String {
    match schema.scalar(field.element).expect("a number") {
        scalar @ (Scalar::U8 | Scalar::U16 | Scalar::I8 | Scalar::I16) => {
            format!("static_cast<{}>({value})", scalar.cpp_name())
        }
        _ => value.to_string(),
    }
}

/// `tally`: every number of Protobuf's message. Getters of absent messages give
/// the default instance.
fn tally(
    schema: &Schema,
    record: &Record,
    slots: &[FlattenedField],
    lists: &dyn ListEncoding,
    code: &mut SourceWriter,
) {
    let name = &record.name.legal;
    code.line("");
    code.line("template <class Tally>");
    code.block(format!("Tally tally([[maybe_unused]] const wg::{name} &from) {{"), "}", |code| {
        code.line("Tally tally{};");
        for slot in slots {
            if let Some(statement) = lists.tally(slot) {
                code.line(statement);
                continue;
            }
            let (field, place, m) = (&slot.field, slot.place, &slot.field.name.legal);
            let add = |value: &str| match schema.scalar(field.element) {
                Some(scalar) => {
                    format!("tally.number({place}, static_cast<{}>({value}));", scalar.cpp_name())
                }
                None if matches!(field.element, Element::Record(_)) => {
                    format!("tally.record({place}, ::tally<Tally>({value}));")
                }
                None => format!("tally.length({place}, {value}.size());"),
            };
            code.line(match field.cardinality {
                Cardinality::Required | Cardinality::Implicit => add(&format!("from.{m}()")),
                Cardinality::Optional => {
                    format!("if (from.has_{m}()) {}", add(&format!("from.{m}()")))
                }
                _ => format!("for (const auto &value : from.{m}()) {}", add("value")),
            });
        }
        code.line("return tally;");
    });
}

/// `void NAME(wiregauge::Wire, Tally &)`: the number at a path, nothing where it
/// is not there.
fn accessor(
    schema: &Schema,
    name: &str,
    path: Option<&[PathStep]>,
    lists: &dyn ListEncoding,
    code: &mut SourceWriter,
) {
    let (mut id, mut steps, mut certain) = (schema.root, Vec::new(), 0);
    let (mut number, mut inside) = (None, None);
    let path = path.unwrap_or_default();
    for (depth, step) in path.iter().enumerate() {
        let slots = flattened_field::flatten_fields(schema, schema.record(id));
        let Some((slot, index)) = flattened_field::find_step(&slots, step) else { break };
        inside = lists.tally_number(&slot.field, index, &path[depth + 1..]);
        if inside.is_some() {
            steps.push(format!("{{{}, kOnly}}", slot.field.id));
            break;
        }
        let element = match index {
            ElementIndex::Single => "kOnly".to_string(),
            ElementIndex::Middle => "kMiddle".into(),
            ElementIndex::At(index) => index.to_string(),
        };
        if index != ElementIndex::Single || slot.field.cardinality == Cardinality::Optional {
            certain = depth + 1;
        }
        steps.push(format!("{{{}, {element}}}", slot.field.id));
        match slot.field.element {
            Element::Record(inner) => id = inner,
            other => {
                number = schema.scalar(other).map(|scalar| (scalar, form(schema, &slot.field)))
            }
        }
    }
    code.line("");
    if number.is_none() && inside.is_none() {
        code.line(format!("template <class Tally>\nvoid {name}(wiregauge::Wire, Tally &) {{}}"));
        return;
    }
    let (length, steps) = (steps.len(), steps.join(", "));
    code.line(format!("namespace {name}_path {{"));
    code.line("using namespace protobuf_path;");
    code.line(format!("constexpr std::array<Step, {length}> kSteps{{{{{steps}}}}};"));
    code.line(format!("}}  // namespace {name}_path"));
    code.line("template <class Tally>");
    code.block(format!("void {name}(wiregauge::Wire wire, Tally &tally) {{"), "}", |code| {
        code.line("using namespace protobuf_path;");
        if let Some(inside) = inside {
            code.line(format!(
                "const auto field = Search<{name}_path::kSteps, Form::kBytes, {certain}>().bytes(wire);"
            ));
            code.block("if (field) {", "}", |code| code.line(inside));
        }
        if let Some((scalar, form)) = number {
            code.line(format!(
                "const auto bits = Search<{name}_path::kSteps, Form::{form}, {certain}>().find(wire);"
            ));
            code.line(format!("if (bits) tally.number(0, from_bits<{}>(*bits));", scalar.cpp_name()));
        }
    });
}

/// How a field's numbers stand on the wire, in `protobuf_path.hpp`'s words.
fn form(schema: &Schema, field: &Field) -> &'static str {
    match element_type(schema, field) {
        _ if as_bytes(field) => "kOctets",
        "float" | "fixed32" | "sfixed32" => "kFixed32",
        "double" | "fixed64" | "sfixed64" => "kFixed64",
        "sint32" | "sint64" => "kZigzag",
        _ => "kVarint",
    }
}
