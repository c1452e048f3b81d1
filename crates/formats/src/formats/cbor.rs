//! CBOR (RFC 8949): the normalized structure itself, by serde.
//!
//! The format has no definition language here: the Rust types are the
//! definition.

mod java;
mod python;

use anyhow::Result;
use wiregauge_normalized::rust::Derive;
use wiregauge_normalized::Unit;
use wiregauge_schema::{Schema, TypeId};

use crate::build::languages::rust::RUST;
use crate::codec::{Codec, Emission, Linkage, Support};
use crate::language::rust::derived::{self, DerivingLibrary};

inventory::submit! {
    Codec {
        name: "cbor",
        title: "CBOR Rust ciborium",
        format: "cbor",
        language: &RUST,
        is_bound: false,
        linkage: Linkage::Crate("ciborium"),
        options: &[
            "a record is a map from field names to values; the library has no other way",
            "a number takes the smallest width that holds its value, also a float; an f32 is \
             converted to f64 and back, so a signaling NaN becomes a quiet one",
            "bytes are a byte string",
            "for one number the whole message is decoded: to skip the other fields by serde's \
             IgnoredAny takes the library longer than to decode them",
        ],
        calls: &[
            "encode: ciborium::into_writer(message, out)",
            "decode, project, fixed, element: ciborium::from_reader::<Message, _>(bytes)",
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
        library: "ciborium",
        derive: Derive::Serde,
        calls: include_str!("cbor/library.rs"),
        partial: None,
    };
    Ok(runner.emit(unit))
}
