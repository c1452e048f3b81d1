//! Protobuf's own Rust library: accessors over upb, its kernel in C, by the compiler of the
//! same release.

use std::path::Path;
use std::process::Command;

use anyhow::{ensure, Result};
use wiregauge_build_tools::maven::{self, Jar};
use wiregauge_build_tools::run;
use wiregauge_normalized::{File, SourceWriter, Unit};
use wiregauge_schema::path::{ElementIndex, PathStep};
use wiregauge_schema::{Cardinality, Element, Field, Record, Schema, TypeDef, TypeId};

use super::{as_bytes, definition, from_rust, is_plain, to_rust, Syntax};
use crate::build::languages::rust::RUST;
use crate::codec::{Codec, Emission, GeneratorStep, Linkage};
use crate::flattened_field::{self, FlattenedField};
use crate::language::rust::glue;

/// The compiler. What it makes compiles with the crate of exactly its version.
const PROTOC: Jar = Jar {
    coordinates: "com.google.protobuf:protoc:4.36.2:exe:linux-x86_64",
    sha256: "f6ee22d65361338459208da8bff801c9ca689741cba9187b34990dd45198f864",
};

inventory::submit! {
    Codec {
        name: "protobuf-rust",
        title: "Protobuf Rust official",
        format: "protobuf",
        language: &RUST,
        is_bound: false,
        linkage: Linkage::Crate("protobuf"),
        options: &[
            "accessors by the protoc of the same version (from Maven Central, for x86-64 only), \
             kernel upb: the C library upb in the crate, compiled by cc as the crate does",
            "each message owns an arena, which clear() does not empty: a new message each time, \
             also with --objects reused",
            "serialize() returns a new Vec each time: the library writes into no buffer of the \
             caller's",
            "elements of lists are set one by one (push_default, extend after a reservation) and \
             read by iterators: there are no blocks",
            "texts are read in place and checked for UTF-8 when they are taken (to_str), as well \
             as by the parser",
            "for one number the whole message is parsed",
        ],
        calls: &[
            "encode: message = Message::new(), its set_X, X_mut; message.serialize()",
            "decode: message = Message::parse(bytes), then its view's accessors",
            "project, fixed, element: as decode, the view's accessors alone",
        ],
        needs: &[maven::NEED],
        check_type: super::check_type,
        idl: Some(idl),
        emit,
    }
}

fn idl(schema: &Schema) -> Result<File> {
    Ok(definition(&renamed(schema), Syntax::Proto3))
}

/// Methods that the library's messages have, which a field of this name would hide or meet.
const METHODS: &str = "as_message_mut_inner as_mut as_view borrow borrow_mut clear \
                       clear_and_parse clone clone_into copy_from default eq fmt from \
                       get_arena get_ptr get_ptr_mut into into_mut into_proxied into_view \
                       merge_from mut_from_parent new parse serialize serialized_len take_from \
                       to_owned try_from try_into type_id";
/// Names that the accessors take for the standard library's.
const TYPES: &str = "Box Clone Copy Debug Default Drop Err From Into None Ok Option Result Self \
                     Send Some String Sync Vec";

/// What accessors of a field are called.
fn field_name(field: &Field) -> String {
    let name = &field.name.legal;
    let starts = ["set_", "has_", "clear_"].iter().any(|start| name.starts_with(start));
    let ends = ["_opt", "_mut", "_view"].iter().any(|end| name.ends_with(end));
    match starts || ends || METHODS.split_whitespace().any(|method| method == name) {
        true => format!("f{}_{name}", field.id),
        false => name.clone(),
    }
}

/// The schema by names whose accessors and types compile beside each other.
fn renamed(schema: &Schema) -> Schema {
    let mut schema = schema.clone();
    for def in &mut schema.types {
        let TypeDef::Record(record) = def else { continue };
        record.name.legal = type_name(&record.name.legal);
        for field in &mut record.fields {
            field.name.legal = field_name(field);
        }
    }
    schema
}

fn type_name(legal: &str) -> String {
    let is_taken = TYPES.split_whitespace().any(|name| name == legal);
    match is_taken || legal.ends_with("View") || legal.ends_with("Mut") {
        true => format!("{legal}_"),
        false => legal.to_owned(),
    }
}

fn emit(unit: &Unit) -> Result<Emission> {
    let files = vec![
        idl(unit.schema)?,
        glue::main_file("Official", &["codec", "generated", "glue"]),
        File::new("codec.rs", include_str!("official/codec.rs")),
        File::new("glue.rs", glue_file(unit)),
    ];
    Ok(Emission {
        files,
        steps: vec![GeneratorStep::Call(Box::new(compile))],
        features: vec!["official-protobuf".into()],
        ..Emission::default()
    })
}

/// Runs Protobuf's compiler in the runner's folder.
fn compile(folder: &Path) -> Result<()> {
    ensure!(
        cfg!(all(target_os = "linux", target_arch = "x86_64")),
        "protoc 4.36.2, which makes the accessors, is pinned for x86-64 only; measure it there"
    );
    let mut command = Command::new(maven::program(folder, &PROTOC)?);
    command.args(["--rust_out=.", "--rust_opt=experimental-codegen=enabled,kernel=upb"]);
    run(command.arg("message.proto").current_dir(folder), "protoc").map(|_| ())
}

fn glue_file(unit: &Unit) -> String {
    let schema = unit.schema;
    let mut code = glue::begin_glue("protobuf");
    code.line("use crate::generated as wg;");
    code.line("");
    code.line(format!("pub type Whole = wg::{};", type_name(&schema.root().name.legal)));
    let named = renamed(schema);
    for (id, record) in schema.records() {
        let slots = named_slots(schema, &named, id);
        fill(schema, record, &slots, &mut code);
        take(schema, record, &slots, &mut code);
        tally(schema, record, &slots, &mut code);
    }
    glue::alias_root_functions(schema, &["fill", "take", "tally"], &mut code);
    let view = format!("wg::{}View<'_>", type_name(&schema.root().name.legal));
    glue::accessors(
        unit,
        &view,
        &mut code,
        |record, field, index| descend(schema, &named, record, field, index),
        |field| from_rust(schema, field, "*at"),
    );
    code.finish()
}

/// The slots of a record, each with what its accessors are called: a member of the normalized
/// form is called as the schema has it, an accessor as the renamed one.
fn named_slots(schema: &Schema, named: &Schema, id: TypeId) -> Vec<(FlattenedField, String)> {
    let slots = flattened_field::flatten_fields(schema, schema.record(id));
    let names = flattened_field::flatten_fields(named, named.record(id));
    slots.into_iter().zip(names).map(|(slot, named)| (slot, named.field.name.legal)).collect()
}

/// `fill_X(from, to)`: the normalized form into a new message.
fn fill(
    schema: &Schema,
    record: &Record,
    slots: &[(FlattenedField, String)],
    code: &mut SourceWriter,
) {
    let (name, own) = (&record.name.legal, type_name(&record.name.legal));
    code.line("");
    code.block(
        format!("pub fn fill_{name}(from: &crate::message::{name}, mut to: wg::{own}Mut<'_>) {{"),
        "}",
        |code| {
            for (slot, m) in slots {
                let (field, f) = (&slot.field, &slot.value);
                let borrowed = |value: &str| match field.element {
                    Element::String => format!("{value}.as_str()"),
                    Element::Bytes => format!("{value}.as_slice()"),
                    _ => to_rust(schema, field, value),
                };
                let is_text = matches!(field.element, Element::String | Element::Bytes);
                let value = if is_text { "v" } else { "*v" };
                code.line(match (field.element, field.cardinality) {
                    (Element::Record(id), cardinality) => {
                        let fill = format!("fill_{}", schema.record(id).name.legal);
                        match cardinality {
                            Cardinality::Required | Cardinality::Implicit => {
                                format!("{fill}(&from.{f}, to.{m}_mut());")
                            }
                            Cardinality::Optional => {
                                format!("if let Some(v) = &from.{f} {{ {fill}(v, to.{m}_mut()); }}")
                            }
                            _ => format!(
                                "let mut list = to.{m}_mut();\n\
                                 for v in &from.{f} {{ {fill}(v, list.push_default()); }}"
                            ),
                        }
                    }
                    _ if as_bytes(field) => format!("to.set_{m}(&from.{f}[..]);"),
                    (_, Cardinality::Required | Cardinality::Implicit) => {
                        format!("to.set_{m}({});", borrowed(&format!("from.{f}")))
                    }
                    (_, Cardinality::Optional) => {
                        let set = borrowed(value);
                        format!("if let Some(v) = &from.{f} {{ to.set_{m}({set}); }}")
                    }
                    _ => {
                        let each = borrowed(value);
                        format!("to.{m}_mut().extend(from.{f}.iter().map(|v| {each}));")
                    }
                });
            }
        },
    );
}

/// `take_X(from, to)`: what a view shows as the normalized form.
fn take(
    schema: &Schema,
    record: &Record,
    slots: &[(FlattenedField, String)],
    code: &mut SourceWriter,
) {
    let (name, own) = (&record.name.legal, type_name(&record.name.legal));
    code.line("");
    code.line(format!("pub fn take_{name}("));
    code.line(format!("  from: wg::{own}View<'_>, to: &mut crate::message::{name},"));
    code.block(") -> Result<(), Error> {", "}", |code| {
        for (slot, m) in slots {
            let (field, f) = (&slot.field, &slot.value);
            let is_array = matches!(field.cardinality, Cardinality::Array { .. });
            if is_array {
                code.line(format!(
                    "if from.{m}().len() != to.{f}.len() \
                     {{ return Err(Error::new(\"{name}.{f}: wrong length\")) }}"
                ));
            }
            // The statement that takes `v` into `to`, a reference.
            let one = match field.element {
                Element::Record(id) => {
                    format!("take_{}(v, to)?", schema.record(id).name.legal)
                }
                Element::String => "{ to.clear(); to.push_str(v.to_str()?) }".into(),
                Element::Bytes => "v.clone_into(to)".into(),
                _ => format!("*to = {}", from_rust(schema, field, "v")),
            };
            code.line(match field.cardinality {
                _ if as_bytes(field) && is_array => {
                    format!("to.{f}.copy_from_slice(from.{m}());")
                }
                _ if as_bytes(field) => format!("from.{m}().clone_into(&mut to.{f});"),
                Cardinality::Required | Cardinality::Implicit => {
                    format!("{{ let (v, to) = (from.{m}(), &mut to.{f}); {one}; }}")
                }
                Cardinality::Optional => format!(
                    "match from.{m}_opt() {{ None => to.{f} = None, Some(v) => \
                     {{ let to = to.{f}.get_or_insert_with(Default::default); {one}; }} }}"
                ),
                Cardinality::List { .. } | Cardinality::Array { .. } => {
                    let resize = match is_array {
                        true => String::new(),
                        false => format!("to.{f}.resize_with(list.len(), Default::default);\n"),
                    };
                    format!(
                        "let list = from.{m}();\n\
                         {resize}for (v, to) in list.iter().zip(&mut to.{f}) {{ {one}; }}"
                    )
                }
            });
        }
        code.line("Ok(())");
    });
}

/// `tally_X(from)`: every number that a view shows.
fn tally(
    schema: &Schema,
    record: &Record,
    slots: &[(FlattenedField, String)],
    code: &mut SourceWriter,
) {
    let (name, own) = (&record.name.legal, type_name(&record.name.legal));
    code.line("");
    let head = format!("pub fn tally_{name}<T: Tally>(from: wg::{own}View<'_>) -> T {{");
    code.block(head, "}", |code| {
        code.line("let mut tally = T::default();");
        for (slot, m) in slots {
            let (field, place) = (&slot.field, slot.place);
            let add = match field.element {
                Element::Record(id) => {
                    format!("tally.record({place}, tally_{}(v));", schema.record(id).name.legal)
                }
                Element::String => format!("tally.length({place}, v.as_bytes().len());"),
                Element::Bytes => format!("tally.length({place}, v.len());"),
                _ => format!("tally.number({place}, {});", from_rust(schema, field, "v")),
            };
            code.line(match field.cardinality {
                _ if as_bytes(field) => {
                    format!("for v in from.{m}() {{ tally.number({place}, *v); }}")
                }
                // A message field has presence by nature.
                Cardinality::Required | Cardinality::Implicit if is_plain(field) => {
                    format!("{{ let v = from.{m}(); {add} }}")
                }
                Cardinality::Required | Cardinality::Implicit | Cardinality::Optional => {
                    format!("if let Some(v) = from.{m}_opt() {{ {add} }}")
                }
                _ => format!("for v in from.{m}().iter() {{ {add} }}"),
            });
        }
        code.line("tally");
    });
}

/// The statement that goes down to a field's value or element, in a view that is `at`.
fn descend(
    schema: &Schema,
    named: &Schema,
    record: &Record,
    field: &Field,
    index: ElementIndex,
) -> String {
    let is_same = |other: &Field| other.name.legal == field.name.legal;
    let place = record.fields.iter().position(is_same).expect("a field of the record");
    let is_record = |(_, other): &(TypeId, &Record)| other.name.legal == record.name.legal;
    let (id, _) = schema.records().find(is_record).expect("a record of the schema");
    let (slots, names): (Vec<FlattenedField>, Vec<String>) =
        named_slots(schema, named, id).into_iter().unzip();
    let step = PathStep { field: place, index };
    let Some((slot, index)) = flattened_field::find_step(&slots, &step) else {
        return "return;".into();
    };
    let is_slot = |own: &FlattenedField| (own.place, own.number) == (slot.place, slot.number);
    let m = &names[slots.iter().position(is_slot).expect("one of them")];
    let some = |value: String| format!("let Some(at) = {value} else {{ return }};\nlet at = &at;");
    let byte = if as_bytes(&slot.field) { ".copied()" } else { "" };
    match (index, slot.field.cardinality) {
        (ElementIndex::At(index), _) => some(format!("at.{m}().get({index}){byte}")),
        (ElementIndex::Middle, _) => some(format!("at.{m}().get(at.{m}().len() / 2){byte}")),
        (ElementIndex::Single, Cardinality::Optional) => some(format!("at.{m}_opt()")),
        (ElementIndex::Single, _) => format!("let at = &at.{m}();"),
    }
}
