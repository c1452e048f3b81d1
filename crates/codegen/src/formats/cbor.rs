//! CBOR (RFC 8949): the normalized structure itself, by serde.
//!
//! The format has no definition language here: the Rust types are the
//! definition.

use anyhow::Result;

use crate::codec::{Codec, Emission, Language, Unit};
use crate::direct::{self, Direct};

inventory::submit! {
    Codec {
        name: "cbor",
        title: "CBOR",
        format: "cbor",
        language: Language::Rust,
        bound: false,
        options: &[
            "a record is a map from field names to values; the library has no other form",
            "numbers take the smallest width that holds their value, floats too; an f32 passes \
             through f64, and a signaling NaN comes back as a quiet one",
        ],
        needs: &[],
        answer: direct::answer,
        idl: None,
        emit,
    }
}

fn emit(_: &Unit) -> Result<Emission> {
    let runner = Direct {
        library: "ciborium",
        encode: "ciborium::into_writer(message, out)?;",
        decode: "ciborium::from_reader::<Root, _>(wire)",
        items: String::new(),
    };
    Ok(runner.emit())
}
