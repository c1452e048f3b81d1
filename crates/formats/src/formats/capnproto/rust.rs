//! Cap'n Proto in Rust: the accessors that capnpc generates, over the standard
//! and over the packed encoding.

use anyhow::{Context, Result};
use wiregauge_build_tools::Need;
use wiregauge_normalized::{File, SourceWriter, Unit};
use wiregauge_schema::path::{ElementIndex, PathStep};
use wiregauge_schema::{Cardinality, Element, Field, Record, Scalar, Schema};

use super::{flat_names, nesting_limit, FieldForm};
use crate::build::languages::rust::RUST;
use crate::codec::{Codec, Emission, GeneratorStep, Linkage};
use crate::language::rust::glue;

const NEEDS: &[Need] = &[Need::Program("capnp", "capnproto")];

inventory::submit! {
    Codec {
        name: "capnproto",
        title: "Cap'n Proto Rust",
        format: "capnproto",
        language: &RUST,
        is_bound: false,
        linkage: Linkage::Crate("capnp"),
        options: &[
            "the builder's first segment is kept between messages, with room for the largest \
             message so far; it is not kept where scratch or buffers are fresh",
            "the segments are handed over uncopied, after a segment table",
            "read in place, so bytes must be aligned to 8; without the crate's feature \
             `unaligned`, which does not give lists as slices",
            "traversal limit: the default 64 MiB, or twice the message if that is more; nesting \
             limit: the default 64, or what the definition needs",
            "texts are checked for UTF-8",
            "lists of numbers move as blocks; lists of structs element by element, because the \
             generated accessors have no blocks for them",
            "a fixed array of up to 4 numbers is written as that many fields",
            "empty texts, bytes and lists are left null, which reads the same",
            "verify: total_size(), which follows every pointer and checks all limits; each access \
             checks again",
        ],
        calls: &[
            "encode: Builder::new(allocator); builder.init_root(); set_…(), init_…(n); builder.get_segments_for_output()",
            "decode: serialize::read_message_from_flat_slice_no_alloc(&mut wire, options); get_root(); get_…(); lists of numbers by as_slice()",
            "project, fixed, element: the same reader, then get_…() of the numbers that are read; list.try_get(i)",
            "verify: get_root()?.total_size()",
        ],
        needs: NEEDS,
        check_type: super::check_type,
        idl: Some(super::idl),
        emit: |unit| emit(unit, include_str!("rust/standard.rs")),
    }
}

inventory::submit! {
    Codec {
        name: "capnproto-packed",
        title: "Cap'n Proto Rust packed",
        format: "capnproto-packed",
        language: &RUST,
        is_bound: false,
        linkage: Linkage::Crate("capnp"),
        options: &[
            "packed encoding: zero bytes are left out; built and read like the standard encoding \
             (capnproto)",
            "unpacked into memory that is kept between messages; it is not kept where scratch is \
             fresh",
            "limit of the unpacked size: 64 MiB, or 16 times the packed size if that is more",
        ],
        calls: &[
            "encode: as the standard encoding; serialize_packed::write_message(out, &builder)",
            "decode, project, fixed, element: serialize_packed::read_message_no_alloc(&mut wire, words, options), then as the standard encoding",
            "verify: the same, then get_root()?.total_size()",
        ],
        needs: NEEDS,
        check_type: super::check_type,
        idl: Some(super::idl),
        emit: |unit| emit(unit, include_str!("rust/packed.rs")),
    }
}

/// The modules of the runner.
const MODULES: [&str; 6] = ["allocator", "codec", "glue", "message_capnp", "reading", "wire"];

/// The runner of one encoding, which the module `wire` is.
fn emit(unit: &Unit, wire: &str) -> Result<Emission> {
    Ok(Emission {
        files: vec![
            super::idl(unit.schema)?,
            glue::main_file("CapnProto", &MODULES),
            File::new("allocator.rs", include_str!("rust/allocator.rs")),
            File::new("codec.rs", include_str!("rust/codec.rs")),
            File::new("reading.rs", include_str!("rust/reading.rs")),
            File::new("wire.rs", wire),
            File::new("glue.rs", glue(unit)),
        ],
        steps: vec![GeneratorStep::Call(Box::new(|folder| {
            capnpc::CompilerCommand::new()
                .no_standard_import()
                .src_prefix(folder)
                .file(folder.join("message.capnp"))
                .output_path(folder)
                .run()
                .context("capnpc failed")
        }))],
        ..Emission::default()
    })
}

fn glue(unit: &Unit) -> String {
    let schema = unit.schema;
    let mut code = glue::begin_glue("capnp");
    code.line(format!("pub const NESTING: i32 = {};", nesting_limit(schema)));
    code.line("");
    code.line("use crate::message_capnp;");
    code.line("use crate::reading::{take_data, take_text};");
    code.line("");
    code.line(format!("pub type Root<'a> = {}::Reader<'a>;", module(schema.root())));
    for (_, record) in schema.records() {
        fill(schema, record, &mut code);
        take(schema, record, &mut code);
        tally(schema, record, &mut code);
    }
    accessor(schema, "fixed", unit.projection.fixed.as_deref(), &mut code);
    accessor(schema, "element", unit.projection.element.as_deref(), &mut code);
    glue::alias_root_functions(schema, &["fill", "take", "tally"], &mut code);
    code.finish()
}

/// capnpc's module of a struct.
fn module(record: &Record) -> String {
    let mut text = String::from("message_capnp::");
    for (at, letter) in record.name.legal.char_indices() {
        if letter.is_ascii_uppercase() && at > 0 {
            text.push('_');
        }
        text.push(letter.to_ascii_lowercase());
    }
    text
}

/// Whether a list holds its elements as memory does: all numbers but truth
/// values, which are bits.
fn is_block(schema: &Schema, field: &Field) -> bool {
    schema.scalar(field.element).is_some_and(|scalar| scalar != Scalar::Bool)
}

/// `fill_X`: normalized to a new struct of Cap'n Proto's.
fn fill(schema: &Schema, record: &Record, code: &mut SourceWriter) {
    let name = &record.name.legal;
    let of = module(record);
    code.line("");
    code.line("#[inline]");
    code.block(
        format!("pub fn fill_{name}(from: &crate::message::{name}, mut to: {of}::Builder<'_>) {{"),
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
    let is_list = matches!(field.cardinality, Cardinality::List { .. });
    let is_optional = field.cardinality == Cardinality::Optional;
    // What is empty stays null; what is optional and empty must not.
    let unless_empty = |set: String| format!("if !from.{f}.is_empty() {{ {set} }}");
    let form = FieldForm::from_field(schema, field);
    let set = match form {
        FieldForm::Number => format!("to.set_{f}(from.{f});"),
        FieldForm::Flagged => {
            format!("if let Some(value) = from.{f} {{ to.set_has_{f}(true); to.set_{f}(value); }}")
        }
        FieldForm::Flat(len) => {
            let names = flat_names(record, field, len);
            let set = |(at, name)| format!("to.set_{name}(from.{f}[{at}]);");
            names.iter().enumerate().map(set).collect::<Vec<_>>().join(" ")
        }
        FieldForm::Octets => format!("to.set_{f}(&from.{f});"),
        FieldForm::Pointer => match field.element {
            Element::Record(id) => {
                let inner = &schema.record(id).name.legal;
                if is_optional {
                    format!(
                        "if let Some(value) = &from.{f} {{ fill_{inner}(value, to.reborrow().init_{f}()); }}"
                    )
                } else {
                    format!("fill_{inner}(&from.{f}, to.reborrow().init_{f}());")
                }
            }
            _ if is_optional => {
                format!("if let Some(value) = &from.{f} {{ to.set_{f}(value); }}")
            }
            _ => unless_empty(format!("to.set_{f}(&from.{f});")),
        },
        FieldForm::List => fill_list(schema, field),
    };
    match form {
        FieldForm::List | FieldForm::Octets if is_list => {
            code.block(format!("if !from.{f}.is_empty() {{"), "}", |code| code.line(set))
        }
        FieldForm::List => code.block("{", "}", |code| code.line(set)),
        _ => code.line(set),
    }
}

fn fill_list(schema: &Schema, field: &Field) -> String {
    let f = &field.name.legal;
    let init = format!("let mut list = to.reborrow().init_{f}(from.{f}.len() as u32);");
    if is_block(schema, field) {
        return format!(
            "{init}\nif let Some(numbers) = list.as_slice() {{ numbers.copy_from_slice(&from.{f}); }}"
        );
    }
    let set = match field.element {
        Element::Record(id) => {
            format!("fill_{}(value, list.reborrow().get(at));", schema.record(id).name.legal)
        }
        Element::String | Element::Bytes => "list.set(at, value);".to_string(),
        _ => "list.set(at, *value);".to_string(),
    };
    format!("{init}\nfor (value, at) in from.{f}.iter().zip(0..) {{ {set} }}")
}

/// `take_X`: Cap'n Proto's to normalized.
fn take(schema: &Schema, record: &Record, code: &mut SourceWriter) {
    let name = &record.name.legal;
    let of = module(record);
    code.line("");
    code.line("#[inline]");
    code.block(
        format!(
            "pub fn take_{name}(from: {of}::Reader<'_>, to: &mut crate::message::{name}) -> Result<(), Error> {{"
        ),
        "}",
        |code| {
            for field in &record.fields {
                take_field(schema, record, field, code);
            }
            code.line("Ok(())");
        },
    );
}

fn take_field(schema: &Schema, record: &Record, field: &Field, code: &mut SourceWriter) {
    let f = &field.name.legal;
    let is_array = matches!(field.cardinality, Cardinality::Array { .. });
    let wrong = format!("Error::new(\"{}.{f}: wrong length\")", record.name.legal);
    let read = |value: &str, to: &str| match field.element {
        Element::Record(id) => format!("take_{}({value}, {to})?;", schema.record(id).name.legal),
        Element::String => format!("take_text({value}?, {to})?;"),
        Element::Bytes => format!("take_data({value}?, {to});"),
        _ => format!("*{to} = {value};"),
    };
    match FieldForm::from_field(schema, field) {
        FieldForm::Number => code.line(format!("to.{f} = from.get_{f}();")),
        FieldForm::Flagged => {
            code.line(format!("to.{f} = from.get_has_{f}().then(|| from.get_{f}());"))
        }
        FieldForm::Flat(len) => {
            let names = flat_names(record, field, len);
            let each: Vec<_> = names.iter().map(|name| format!("from.get_{name}()")).collect();
            code.line(format!("to.{f} = [{}];", each.join(", ")));
        }
        FieldForm::Octets if is_array => {
            code.line(format!("to.{f} = from.get_{f}()?.try_into().map_err(|_| {wrong})?;"))
        }
        FieldForm::Octets => code.line(format!("take_data(from.get_{f}()?, &mut to.{f});")),
        FieldForm::Pointer => {
            let got = match field.element {
                Element::Record(_) => format!("from.get_{f}()?"),
                _ => format!("from.get_{f}()"),
            };
            if field.cardinality == Cardinality::Optional {
                code.open(format!("if from.has_{f}() {{"));
                code.line(read(&got, &format!("to.{f}.get_or_insert_with(Default::default)")));
                code.next("} else {");
                code.line(format!("to.{f} = None;"));
                code.close("}");
            } else {
                code.line(read(&got, &format!("&mut to.{f}")));
            }
        }
        FieldForm::List => code.block("{", "}", |code| {
            code.line(format!("let list = from.get_{f}()?;"));
            if is_array {
                code.line(format!(
                    "if list.len() as usize != to.{f}.len() {{ return Err({wrong}); }}"
                ));
            }
            let each = format!(
                "for (value, to) in list.iter().zip(&mut to.{f}) {{ {} }}",
                read("value", "to")
            );
            match (schema.scalar(field.element), is_array) {
                (Some(Scalar::Bool), true) => code.line(each),
                (Some(Scalar::Bool), false) => {
                    code.line(format!("to.{f}.clear();\nto.{f}.extend(list.iter());"))
                }
                // No slice: the writer's definition has structs there.
                (Some(_), true) => code.line(format!(
                    "match list.as_slice() {{\n  Some(numbers) => to.{f}.copy_from_slice(numbers),\n  \
                     None => {each},\n}}"
                )),
                (Some(_), false) => code.line(format!(
                    "to.{f}.clear();\nmatch list.as_slice() {{\n  \
                     Some(numbers) => to.{f}.extend_from_slice(numbers),\n  \
                     None => to.{f}.extend(list.iter()),\n}}"
                )),
                (None, _) => {
                    if !is_array {
                        // A loop of calls of a default in another crate is slow.
                        let is_pod = matches!(field.element, Element::Record(id) if schema.is_pod(id));
                        let resize = if is_pod {
                            "resize(list.len() as usize, Default::default())"
                        } else {
                            "resize_with(list.len() as usize, Default::default)"
                        };
                        code.line(format!("to.{f}.{resize};"));
                    }
                    code.line(each);
                }
            }
        }),
    }
}

/// `tally_X`: every number of Cap'n Proto's struct, read in place.
fn tally(schema: &Schema, record: &Record, code: &mut SourceWriter) {
    let name = &record.name.legal;
    let of = module(record);
    code.line("");
    code.line("#[inline]");
    let open =
        format!("pub fn tally_{name}<T: Tally>(from: {of}::Reader<'_>) -> Result<T, Error> {{");
    code.block(open, "}", |code| {
        code.line("let mut tally = T::default();");
        for (place, field) in record.fields.iter().enumerate() {
            tally_field(schema, record, place, field, code);
        }
        code.line("Ok(tally)");
    });
}

fn tally_field(
    schema: &Schema,
    record: &Record,
    place: usize,
    field: &Field,
    code: &mut SourceWriter,
) {
    let f = &field.name.legal;
    let add = |value: &str| match field.element {
        Element::Record(id) => {
            format!("tally.record({place}, tally_{}({value})?);", schema.record(id).name.legal)
        }
        Element::String | Element::Bytes => format!("tally.length({place}, {value}?.len());"),
        _ => format!("tally.number({place}, {value});"),
    };
    code.line(match FieldForm::from_field(schema, field) {
        FieldForm::Number => add(&format!("from.get_{f}()")),
        FieldForm::Flagged => {
            format!("if from.get_has_{f}() {{ {} }}", add(&format!("from.get_{f}()")))
        }
        FieldForm::Flat(len) => {
            let names = flat_names(record, field, len);
            let each = names.iter().map(|name| add(&format!("from.get_{name}()")));
            each.collect::<Vec<_>>().join(" ")
        }
        FieldForm::Octets => {
            format!("for value in from.get_{f}()? {{ {} }}", add("*value"))
        }
        FieldForm::Pointer => {
            let got = match field.element {
                Element::Record(_) => format!("from.get_{f}()?"),
                _ => format!("from.get_{f}()"),
            };
            match field.cardinality {
                Cardinality::Optional => format!("if from.has_{f}() {{ {} }}", add(&got)),
                _ => add(&got),
            }
        }
        FieldForm::List if !is_block(schema, field) => {
            format!("for value in from.get_{f}()?.iter() {{ {} }}", add("value"))
        }
        FieldForm::List => format!(
            "let list = from.get_{f}()?;\n\
             match list.as_slice() {{\n  \
             Some(numbers) => for value in numbers {{ {} }},\n  \
             None => for value in list.iter() {{ {} }},\n}}",
            add("*value"),
            add("value")
        ),
    });
}

/// `NAME`: the number at a path, read in place; nothing where it is not there.
fn accessor(schema: &Schema, name: &str, path: Option<&[PathStep]>, code: &mut SourceWriter) {
    let of = module(schema.root());
    code.line("");
    let open = format!(
        "pub fn {name}<T: Tally>(at: {of}::Reader<'_>, tally: &mut T) -> Result<(), Error> {{"
    );
    code.block(open, "}", |code| {
        descend(schema, path.unwrap_or_default(), code);
        code.line("Ok(())");
    });
}

/// The way along a path, which ends early where there is nothing.
fn descend(schema: &Schema, path: &[PathStep], code: &mut SourceWriter) {
    let or_nothing = "else { return Ok(()) };";
    let mut record = schema.root();
    for step in path {
        let field = &record.fields[step.field];
        let f = &field.name.legal;
        let index = |len: &str| match step.index {
            ElementIndex::At(index) => index.to_string(),
            _ => format!("{len} / 2"),
        };
        match FieldForm::from_field(schema, field) {
            FieldForm::Number => code.line(format!("let at = at.get_{f}();")),
            FieldForm::Flagged => code
                .line(format!("if !at.get_has_{f}() {{ return Ok(()) }}\nlet at = at.get_{f}();")),
            FieldForm::Pointer => {
                if field.cardinality == Cardinality::Optional {
                    code.line(format!("if !at.has_{f}() {{ return Ok(()) }}"));
                }
                code.line(format!("let at = at.get_{f}()?;"));
            }
            FieldForm::Flat(len) => {
                let index = match step.index {
                    ElementIndex::At(index) => index,
                    _ => len / 2,
                };
                let names = flat_names(record, field, len);
                let Some(name) = names.get(index as usize) else { return };
                code.line(format!("let at = at.get_{name}();"));
            }
            FieldForm::Octets => code.line(format!(
                "let data = at.get_{f}()?;\nlet Some(&at) = data.get({}) {or_nothing}",
                index("data.len()")
            )),
            FieldForm::List => code.line(format!(
                "let list = at.get_{f}()?;\nlet Some(at) = list.try_get({}) {or_nothing}",
                index("list.len()")
            )),
        }
        match field.element {
            Element::Record(inner) => record = schema.record(inner),
            _ => code.line("tally.number(0, at);"),
        }
    }
}
