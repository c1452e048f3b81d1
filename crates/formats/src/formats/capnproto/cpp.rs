//! Cap'n Proto C++: the format's own compiler and runtime.

use anyhow::Result;
use wiregauge_build_tools::Need;
use wiregauge_normalized::{cpp, File, SourceWriter, Unit};
use wiregauge_schema::path::{ElementIndex, PathStep};
use wiregauge_schema::{Cardinality, Element, Field, Record, Scalar, Schema};

use super::{camel, capital, flat_names, nesting_limit, FieldForm};
use crate::build::languages::cpp::CPP;
use crate::codec::{Codec, Emission, GeneratorStep, Linkage};

inventory::submit! {
    Codec {
        name: "capnproto-cpp",
        title: "Cap'n Proto C++",
        format: "capnproto",
        language: &CPP,
        is_bound: false,
        linkage: Linkage::Shared("libcapnp"),
        options: &[
            "MallocMessageBuilder over a first segment that is kept between messages, with room \
             for the largest message so far; it is not kept where scratch or buffers are fresh",
            "the segments are handed over uncopied, after a segment table",
            "read in place; bytes must be aligned to 8",
            "traversal limit: the default 64 MiB, or twice the message if that is more; nesting \
             limit: the default 64, or what the definition needs",
            "the library does not check texts for UTF-8",
            "lists of numbers move as blocks (AnyList::getRawBytes); lists of structs element by \
             element, by generated accessors, which call the shared library for each",
            "a fixed array of up to 4 numbers is written as that many fields",
            "empty texts, bytes and lists are left null, which reads the same",
            "verify: totalSize(), which follows every pointer and checks all limits; each access \
             checks again",
        ],
        calls: &[
            "encode: MallocMessageBuilder builder(firstSegment); builder.initRoot<X>(); set…(), init…(n); capnp::writeMessage(stream, builder.getSegmentsForOutput()), the stream refers to the segments",
            "decode: FlatArrayMessageReader reader(words, options); reader.getRoot<X>(); get…(); lists of numbers by AnyList::getRawBytes()",
            "project, fixed, element: the same reader, then get…() of the numbers that are read; list[i]",
            "verify: reader.getRoot<X>().totalSize()",
        ],
        needs: &[
            Need::Program("capnp", "capnproto"),
            Need::Header("capnp/message.h", "libcapnp-dev"),
        ],
        check_type: super::check_type,
        idl: Some(super::idl),
        emit,
    }
}

fn emit(unit: &Unit) -> Result<Emission> {
    let mut idl = super::idl(unit.schema)?;
    idl.text += "\n$import \"/capnp/c++.capnp\".namespace(\"wg\");\n";
    Ok(Emission {
        files: vec![
            idl,
            File::new("main.cpp", include_str!("cpp/main.cpp")),
            File::new("values.hpp", include_str!("cpp/values.hpp")),
            File::new("glue.hpp", glue(unit)),
        ],
        steps: vec![GeneratorStep::command(["capnp", "compile", "-oc++", "message.capnp"])],
        sources: vec!["main.cpp".into(), "message.capnp.c++".into()],
        libraries: vec!["capnp".into(), "kj".into()],
        ..Emission::default()
    })
}

fn glue(unit: &Unit) -> String {
    let schema = unit.schema;
    let mut code = cpp::begin_glue(&["message.capnp.h", "message.hpp", "values.hpp"]);
    code.line("namespace {");
    code.line("");
    code.line(format!("using Root = wg::{};", schema.root().name.legal));
    code.line(format!("constexpr int kNesting = {};", nesting_limit(schema)));
    for (_, record) in schema.records() {
        fill(schema, record, &mut code);
        take(schema, record, &mut code);
        write_tally(schema, record, &mut code);
    }
    accessor(schema, "fixed", unit.projection.fixed.as_deref(), &mut code);
    accessor(schema, "element", unit.projection.element.as_deref(), &mut code);
    code.line("");
    code.line("}  // namespace");
    code.finish()
}

/// The name of a field in its accessors: `Guid` of `getGuid`.
fn accessor_name(field: &Field) -> String {
    capital(&camel(&field.name.legal))
}

/// Likewise of the numbers of a flat array.
fn flat_accessors(record: &Record, field: &Field, len: u32) -> Vec<String> {
    flat_names(record, field, len).iter().map(|name| capital(&camel(name))).collect()
}

/// `fill`: normalized to a new struct of Cap'n Proto's.
fn fill(schema: &Schema, record: &Record, code: &mut SourceWriter) {
    let name = &record.name.legal;
    code.line("");
    code.block(
        format!(
            "void fill([[maybe_unused]] const message::{name} &from, [[maybe_unused]] wg::{name}::Builder to) {{"
        ),
        "}",
        |code| {
            for field in &record.fields {
                fill_field(schema, record, field, code);
            }
        },
    );
}

fn fill_field(schema: &Schema, record: &Record, field: &Field, code: &mut SourceWriter) {
    let f = &field.name.legal;
    let m = accessor_name(field);
    let is_list = matches!(field.cardinality, Cardinality::List { .. });
    let is_optional = field.cardinality == Cardinality::Optional;
    let value = if is_optional { format!("(*from.{f})") } else { format!("from.{f}") };
    let blob = |value: &str| match field.element {
        Element::String => format!("as_text({value})"),
        _ => format!("as_data({value})"),
    };
    // What is empty stays null; what is optional and empty must not.
    let condition = match (is_optional, field.element) {
        (true, _) => format!("if (from.{f}) "),
        (_, Element::String | Element::Bytes) => format!("if (!from.{f}.empty()) "),
        _ => String::new(),
    };
    match FieldForm::from_field(schema, field) {
        FieldForm::Number => code.line(format!("to.set{m}(from.{f});")),
        FieldForm::Flagged => code.block(format!("if (from.{f}) {{"), "}", |code| {
            code.line(format!("to.setHas{m}(true);"));
            code.line(format!("to.set{m}(*from.{f});"));
        }),
        FieldForm::Flat(len) => {
            for (at, m) in flat_accessors(record, field, len).iter().enumerate() {
                code.line(format!("to.set{m}(from.{f}[{at}]);"));
            }
        }
        FieldForm::Octets if is_list => {
            code.line(format!("if (!from.{f}.empty()) to.set{m}(as_data(from.{f}));"))
        }
        FieldForm::Octets => code.line(format!("to.set{m}(as_data(from.{f}));")),
        FieldForm::Pointer => code.line(match field.element {
            Element::Record(_) => format!("{condition}fill({value}, to.init{m}());"),
            _ => format!("{condition}to.set{m}({});", blob(&value)),
        }),
        FieldForm::List => {
            let open = if is_list { format!("if (!from.{f}.empty()) {{") } else { "{".into() };
            code.block(open, "}", |code| {
                code.line(format!(
                    "auto list = to.init{m}(static_cast<unsigned>(from.{f}.size()));"
                ));
                let set = match (schema.scalar(field.element), field.element) {
                    (Some(Scalar::Bool), _) => "list.set(at++, value != 0);".to_string(),
                    (Some(_), _) => {
                        code.line(format!("put_block(from.{f}, list);"));
                        return;
                    }
                    (None, Element::Record(_)) => "fill(value, list[at++]);".to_string(),
                    (None, _) => format!("list.set(at++, {});", blob("value")),
                };
                code.line("unsigned at = 0;");
                code.line(format!("for (const auto &value : from.{f}) {set}"));
            });
        }
    }
}

/// `take`: Cap'n Proto's to normalized.
fn take(schema: &Schema, record: &Record, code: &mut SourceWriter) {
    let name = &record.name.legal;
    code.line("");
    code.block(
        format!(
            "void take([[maybe_unused]] wg::{name}::Reader from, [[maybe_unused]] message::{name} &to) {{"
        ),
        "}",
        |code| {
            for field in &record.fields {
                take_field(schema, record, field, code);
            }
        },
    );
}

fn take_field(schema: &Schema, record: &Record, field: &Field, code: &mut SourceWriter) {
    let f = &field.name.legal;
    let m = accessor_name(field);
    let is_array = matches!(field.cardinality, Cardinality::Array { .. });
    let wrong = format!("throw std::runtime_error(\"{}.{f}: wrong length\");", record.name.legal);
    match FieldForm::from_field(schema, field) {
        FieldForm::Number => code.line(format!("to.{f} = from.get{m}();")),
        FieldForm::Flagged => {
            code.line(format!("if (from.getHas{m}()) to.{f} = from.get{m}(); else to.{f}.reset();"))
        }
        FieldForm::Flat(len) => {
            for (at, m) in flat_accessors(record, field, len).iter().enumerate() {
                code.line(format!("to.{f}[{at}] = from.get{m}();"));
            }
        }
        FieldForm::Octets if is_array => code.block("{", "}", |code| {
            code.line(format!("const auto octets = from.get{m}();"));
            code.line(format!("if (octets.size() != to.{f}.size()) {wrong}"));
            code.line(format!("std::copy(octets.begin(), octets.end(), to.{f}.begin());"));
        }),
        FieldForm::Octets => code.line(format!("take(from.get{m}(), to.{f});")),
        FieldForm::Pointer if field.cardinality == Cardinality::Optional => {
            code.open(format!("if (from.has{m}()) {{"));
            code.line(format!("if (!to.{f}) to.{f}.emplace();"));
            code.line(format!("take(from.get{m}(), *to.{f});"));
            code.next("} else {");
            code.line(format!("to.{f}.reset();"));
            code.close("}");
        }
        FieldForm::Pointer => code.line(format!("take(from.get{m}(), to.{f});")),
        FieldForm::List => code.block("{", "}", |code| {
            code.line(format!("const auto list = from.get{m}();"));
            code.line(if is_array {
                format!("if (list.size() != to.{f}.size()) {wrong}")
            } else {
                format!("to.{f}.resize(list.size());")
            });
            match schema.scalar(field.element) {
                Some(Scalar::Bool) => code.line(format!("take_each(list, to.{f});")),
                Some(_) => code.line(format!("take_block(list, to.{f});")),
                None => {
                    code.line(format!("auto *at = to.{f}.data();"));
                    code.line("for (const auto value : list) take(value, *at++);");
                }
            }
        }),
    }
}

/// `tallied`: every number of Cap'n Proto's struct, read in place.
fn write_tally(schema: &Schema, record: &Record, code: &mut SourceWriter) {
    let name = &record.name.legal;
    code.line("");
    code.line("template <class Tally>");
    let open = format!("Tally tallied([[maybe_unused]] wg::{name}::Reader from) {{");
    code.block(open, "}", |code| {
        code.line("Tally tally{};");
        for (place, field) in record.fields.iter().enumerate() {
            let m = accessor_name(field);
            let add = |value: &str| match field.element {
                Element::Record(_) => format!("tally.record({place}, tallied<Tally>({value}));"),
                Element::String | Element::Bytes => {
                    format!("tally.length({place}, {value}.size());")
                }
                _ => format!("tally.number({place}, {value});"),
            };
            let single = add(&format!("from.get{m}()"));
            code.line(match FieldForm::from_field(schema, field) {
                FieldForm::Flagged => format!("if (from.getHas{m}()) {single}"),
                FieldForm::Pointer if field.cardinality == Cardinality::Optional => {
                    format!("if (from.has{m}()) {single}")
                }
                FieldForm::Number | FieldForm::Pointer => single,
                FieldForm::Flat(len) => {
                    let names = flat_accessors(record, field, len);
                    let each: Vec<_> =
                        names.iter().map(|m| add(&format!("from.get{m}()"))).collect();
                    each.join("\n")
                }
                FieldForm::Octets | FieldForm::List => {
                    format!("for (const auto value : from.get{m}()) {}", add("value"))
                }
            });
        }
        code.line("return tally;");
    });
}

/// `NAME`: the number at a path, read in place; nothing where it is not there.
fn accessor(schema: &Schema, name: &str, path: Option<&[PathStep]>, code: &mut SourceWriter) {
    let root = &schema.root().name.legal;
    code.line("");
    code.line("template <class Tally>");
    code.block(
        format!(
            "void {name}([[maybe_unused]] wg::{root}::Reader from, [[maybe_unused]] Tally &tally) {{"
        ),
        "}",
        |code| {
            let Some(path) = path else { return };
            let mut record = schema.root();
            let mut at = "from".to_string();
            for (depth, step) in path.iter().enumerate() {
                let field = &record.fields[step.field];
                let m = accessor_name(field);
                let index = |size: &str| match step.index {
                    ElementIndex::At(index) => index.to_string(),
                    _ => format!("{size} / 2"),
                };
                let form = FieldForm::from_field(schema, field);
                match form {
                    FieldForm::Flagged => code.line(format!("if (!{at}.getHas{m}()) return;")),
                    FieldForm::Pointer if field.cardinality == Cardinality::Optional => {
                        code.line(format!("if (!{at}.has{m}()) return;"))
                    }
                    _ => {}
                }
                at = match form {
                    FieldForm::Number | FieldForm::Flagged | FieldForm::Pointer => format!("{at}.get{m}()"),
                    FieldForm::Flat(len) => {
                        let index = match step.index {
                            ElementIndex::At(index) => index,
                            _ => len / 2,
                        };
                        let names = flat_accessors(record, field, len);
                        let Some(m) = names.get(index as usize) else { return };
                        format!("{at}.get{m}()")
                    }
                    FieldForm::Octets | FieldForm::List => {
                        let list = format!("list{depth}");
                        let index = index(&format!("{list}.size()"));
                        code.line(format!("const auto {list} = {at}.get{m}();"));
                        code.line(format!("if ({index} >= {list}.size()) return;"));
                        format!("{list}[{index}]")
                    }
                };
                if let Element::Record(inner) = field.element {
                    record = schema.record(inner);
                }
            }
            code.line(format!("tally.number(0, {at});"));
        },
    );
}
