//! Prost: plain Rust structs that its derive encodes.

use anyhow::{Context, Result};
use wiregauge_normalized::{File, Unit};
use wiregauge_schema::{Cardinality, Element, Field, Schema};

use super::{
    as_bytes, fill_numbers, fill_records, take_numbers, take_records, ListEncoding, Partial,
    PlainLists, Syntax,
};
use crate::build::languages::rust::RUST;
use crate::codec::{Codec, Emission, GeneratorStep, Linkage};
use crate::flattened_field::{self, FlattenedField};
use crate::language::rust::glue;

inventory::submit! {
    Codec {
        name: "prost",
        title: "Protobuf Rust prost",
        format: "protobuf",
        language: &RUST,
        is_bound: false,
        linkage: Linkage::Crate("prost"),
        options: &[
            "texts and bytes are owned (String, Vec<u8>), the default",
            "decode() makes a new message, as users do, also with --objects reused",
            "the output has room for encoded_len() before it is written, as in encode_to_vec()",
            "fixed and element decode a message that knows only the fields on the path: prost \
             skips the others",
            "-0.0 in a field that is not optional is refused: the library drops it, as it drops \
             0.0",
        ],
        calls: &[
            "encode: out.reserve(message.encoded_len()); message.encode_raw(out), as encode_to_vec() does",
            "decode: message = Message::decode(bytes)",
            "project: as decode, then the struct's members",
            "fixed, element: merge(bytes) into a struct of the fields on the way, then its members",
        ],
        needs: &[],
        check_type: super::check_type,
        idl: Some(super::idl),
        emit,
    }
}

fn emit(unit: &Unit) -> Result<Emission> {
    Ok(emission(unit, super::idl(unit.schema)?, &PlainLists))
}

/// The runner of a definition that may have something in place of lists.
pub(in crate::formats) fn emission(unit: &Unit, idl: File, lists: &dyn ListEncoding) -> Emission {
    let partials = Partial::for_projection(unit, lists);
    let mut files = vec![
        idl,
        super::rust_main("Prost", &partials, lists),
        File::new("codec.rs", include_str!("prost/codec.rs")),
        File::new("glue.rs", glue(unit, &partials, lists)),
    ];
    files.extend(super::partial_definition(&partials, Syntax::Proto3));
    let definitions: Vec<String> = files
        .iter()
        .filter(|file| file.path.ends_with(".proto"))
        .map(|file| file.path.clone())
        .collect();
    Emission {
        files,
        steps: vec![GeneratorStep::Call(Box::new(move |folder| {
            let paths = definitions.iter().map(|path| folder.join(path));
            let files = protox::compile(paths, [folder])
                .context("the emitted definition does not compile")?;
            prost_build::Config::new()
                .out_dir(folder)
                .compile_fds(files)
                .context("prost-build failed")
        }))],
        ..Emission::default()
    }
}

fn glue(unit: &Unit, partials: &[(&str, Partial)], lists: &dyn ListEncoding) -> String {
    let schema = unit.schema;
    let mut code = super::rust_glue("prost", partials, lists);
    code.line("use prost::Message as _;");
    code.line("");
    code.line(format!("pub type Whole = wg::{};", schema.root().name.legal));
    lists.definitions(&mut code);
    for (_, record) in schema.records().filter(|(id, _)| lists.is_message(*id)) {
        let object = format!("wg::{}", record.name.legal);
        let slots = flattened_field::flatten_fields(schema, record);
        super::fill(record, &object, &slots, &mut code, |slot| {
            lists.fill(slot).unwrap_or_else(|| fill(schema, slot))
        });
        super::take(record, &object, &slots, &mut code, |slot| {
            let statement = lists.take(slot).unwrap_or_else(|| take(schema, slot));
            (member(&slot.field), statement)
        });
        super::tally(schema, record, &object, lists, &mut code, member);
    }
    glue::alias_root_functions(schema, &["fill", "take", "tally"], &mut code);
    code.line("");
    let head = "pub fn project<T: Tally>(from: &Whole, sum: &mut T) -> Result<(), Error> {";
    code.block(head, "}", |code| {
        let question = if lists.tally_may_fail() { "?" } else { "" };
        code.line(format!("*sum = tally(from){question};"));
        code.line("Ok(())");
    });
    for (name, partial) in partials {
        let object = |_: &str| format!("partial::{}", partial.schema.root().name.legal);
        partial.reading(
            name,
            "",
            object,
            "object.clear();\nobject.merge(wire)?;",
            &mut code,
            member,
        );
    }
    code.finish()
}

fn member(field: &Field) -> String {
    field.name.legal.clone()
}

/// Fills a member, whatever it held before.
pub(super) fn fill(schema: &Schema, slot: &FlattenedField) -> String {
    let (f, m) = (&slot.value, member(&slot.field));
    match (slot.field.element, slot.field.cardinality) {
        (Element::Record(id), _) => fill_records(schema, id, slot, &m),
        (Element::String | Element::Bytes, Cardinality::Optional) => format!(
            "match &from.{f} {{ None => to.{m} = None, Some(from) => \
             to.{m}.get_or_insert_with(Default::default).clone_from(from) }}"
        ),
        (Element::String | Element::Bytes, Cardinality::Array { .. }) => {
            format!("to.{m}.clear(); to.{m}.extend_from_slice(&from.{f});")
        }
        (Element::String | Element::Bytes, _) => format!("to.{m}.clone_from(&from.{f});"),
        _ if as_bytes(&slot.field) => {
            format!("to.{m}.clear(); to.{m}.extend_from_slice(&from.{f});")
        }
        _ => fill_numbers(schema, slot, &m),
    }
}

/// Takes from a member; what is owned moves.
pub(super) fn take(schema: &Schema, slot: &FlattenedField) -> String {
    let (f, m) = (&slot.value, member(&slot.field));
    let is_array = matches!(slot.field.cardinality, Cardinality::Array { .. });
    match slot.field.element {
        Element::Record(id) => take_records(schema, id, slot, &m),
        Element::String | Element::Bytes if is_array => format!(
            "for (from, to) in from.{m}.iter_mut().zip(&mut to.{f}) \
             {{ *to = std::mem::take(from) }}"
        ),
        Element::String | Element::Bytes => format!("to.{f} = std::mem::take(&mut from.{m});"),
        _ if is_array && as_bytes(&slot.field) => format!("to.{f}.copy_from_slice(&from.{m});"),
        _ if as_bytes(&slot.field) => format!("to.{f} = std::mem::take(&mut from.{m});"),
        _ => take_numbers(schema, slot, &m),
    }
}
