//! CBOR (RFC 8949) by minicbor: the normalized structure itself, by a derive of
//! its own.
//!
//! The format has no definition language here: the Rust types are the
//! definition.

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
        name: "minicbor",
        title: "CBOR Rust minicbor",
        format: "cbor-arrays",
        language: &RUST,
        is_bound: false,
        linkage: Linkage::Crate("minicbor"),
        options: &[
            "a record is an array of its fields, each at the index of its number: the library's \
             default and its compact form",
            "integers take as few bytes as their value needs, floats keep their width; bytes are a \
             byte string",
            "one number is read through a structure of the fields on its path; the library skips \
             the others. All numbers: the whole message is decoded",
        ],
        calls: &[
            "encode: minicbor::encode(message, out)",
            "decode, project: minicbor::decode::<Message>(bytes)",
            "fixed, element: minicbor::decode::<Part>(bytes)",
        ],
        needs: &[],
        check_type,
        idl: None,
        emit,
    }
}

fn check_type(schema: &Schema, id: TypeId) -> Support {
    derived::check_type_with_octets(schema, id, "a byte string")
}

fn emit(unit: &Unit) -> Result<Emission> {
    let runner = DerivingLibrary {
        library: "minicbor",
        derive: Derive::Minicbor,
        calls: include_str!("minicbor/library.rs"),
        partial: Some(FieldKey::Numbered),
    };
    Ok(runner.emit(unit))
}
