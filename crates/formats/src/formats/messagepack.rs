//! MessagePack: the normalized structure itself, by serde.
//!
//! The format has no definition language: the Rust types are the definition.

mod java;
mod python;

use anyhow::Result;
use wiregauge_normalized::rust::Derive;
use wiregauge_normalized::Unit;
use wiregauge_schema::{Schema, TypeId};

use crate::build::languages::rust::RUST;
use crate::codec::{Codec, Emission, Linkage, Support};
use crate::language::rust::derived::{self, DerivingLibrary};
use crate::language::rust::partial_struct::FieldKey;

inventory::submit! {
    Codec {
        name: "messagepack",
        title: "MessagePack Rust rmp-serde",
        format: "messagepack",
        language: &RUST,
        is_bound: false,
        linkage: Linkage::Crate("rmp-serde"),
        options: &[
            "a record is an array of its fields without names, the library's compact default",
            "integers take as few bytes as their value needs; bytes are bin",
            "one number is read through a structure of its record's fields, where serde's \
             IgnoredAny replaces the other fields. All numbers: the whole message is decoded",
        ],
        calls: &[
            "encode: rmp_serde::encode::write(out, message)",
            "decode, project: rmp_serde::from_slice::<Message>(bytes)",
            "fixed, element: rmp_serde::from_slice::<Part>(bytes)",
        ],
        needs: &[],
        check_type,
        idl: None,
        emit,
    }
}

fn check_type(schema: &Schema, id: TypeId) -> Support {
    derived::check_type_with_octets(schema, id, "bin")
}

fn emit(unit: &Unit) -> Result<Emission> {
    let runner = DerivingLibrary {
        library: "rmp-serde",
        derive: Derive::Serde,
        calls: include_str!("messagepack/library.rs"),
        partial: Some(FieldKey::Positional),
    };
    Ok(runner.emit(unit))
}
