//! rkyv: an archive is read in place, as the types that the derive makes of the
//! normalized structure.
//!
//! The format has no definition language: the Rust types are the definition.

use anyhow::Result;
use wiregauge_normalized::rust::Derive;
use wiregauge_normalized::{File, Unit};
use wiregauge_schema::path::ElementIndex;
use wiregauge_schema::{Cardinality, Element, Field, Scalar, Schema};

use crate::build::languages::rust::RUST;
use crate::codec::{Codec, Emission, Linkage};
use crate::language::rust::derived;
use crate::language::rust::glue;

inventory::submit! {
    Codec {
        name: "rkyv",
        title: "rkyv Rust",
        format: "rkyv",
        language: &RUST,
        is_bound: false,
        linkage: Linkage::Crate("rkyv"),
        options: &[
            "defaults: little-endian, aligned, 32-bit relative pointers",
            "reads in place by access_unchecked; verify is the checked access (bytecheck)",
            "bytes that do not start at a multiple of 16 are copied into an AlignedVec first; \
             those of the allocator do start there",
            "the arena of the serializer's own lists and the AlignedVec are kept as scratch",
        ],
        calls: &[
            "encode: rkyv::api::high::to_bytes_in_with_alloc(message, out, arena.acquire())",
            "decode: rkyv::deserialize::<Message, Error>(access_unchecked(bytes))",
            "project, fixed, element: rkyv::access_unchecked::<Archived<Message>>(bytes), fields of it",
            "verify: rkyv::access::<Archived<Message>, Error>(bytes)",
        ],
        needs: &[],
        check_type: derived::check_type,
        idl: None,
        emit,
    }
}

fn emit(unit: &Unit) -> Result<Emission> {
    let schema = unit.schema;
    let mut code = glue::begin_glue("rkyv");
    code.line("use crate::message::Root;");
    code.line("use rkyv::Archived;");
    for (_, record) in schema.records() {
        let of = format!("Archived<crate::message::{}>", record.name.legal);
        glue::tally(record, &of, &mut code, |place, field| add(schema, place, field));
    }
    glue::alias_root_functions(schema, &["tally"], &mut code);
    glue::accessors(
        unit,
        "Archived<Root>",
        &mut code,
        |_, field, index| descend(field, index),
        |field| number(schema, field.element, "at"),
    );
    let files = vec![
        glue::main_file_deriving(Derive::Rkyv, "Rkyv", &["codec", "glue"]),
        File::new("codec.rs", include_str!("rkyv/codec.rs")),
        File::new("glue.rs", code.finish()),
    ];
    Ok(Emission { files, ..Emission::default() })
}

/// The number behind a reference to its archived form. Numbers of more than one
/// byte are wrapped, whatever the byte order of the machine.
fn number(schema: &Schema, element: Element, value: &str) -> String {
    match schema.scalar(element).expect("a number") {
        Scalar::Bool | Scalar::U8 | Scalar::I8 => format!("*{value}"),
        _ => format!("{value}.to_native()"),
    }
}

/// The statement that adds the numbers of the field at a place.
fn add(schema: &Schema, place: usize, field: &Field) -> String {
    let f = &field.name.legal;
    let add = |value: &str| match field.element {
        Element::Record(id) => {
            format!("tally.record({place}, tally_{}({value}));", schema.record(id).name.legal)
        }
        Element::String | Element::Bytes => format!("tally.length({place}, {value}.len());"),
        other => format!("tally.number({place}, {});", number(schema, other, value)),
    };
    match field.cardinality {
        Cardinality::Required | Cardinality::Implicit => add(&format!("(&from.{f})")),
        _ => format!("for value in from.{f}.iter() {{ {} }}", add("value")),
    }
}

/// The statement that goes down to a field's value or element.
fn descend(field: &Field, index: ElementIndex) -> String {
    let value = format!("at.{}", field.name.legal);
    glue::descend(field, index, &value, &format!("{value}.as_ref()"))
}
