//! MessagePack: the normalized structure itself, by serde.
//!
//! The format has no definition language: the Rust types are the definition.

use anyhow::Result;

use crate::codec::{Codec, Emission, Language, Unit};
use crate::direct::{self, Direct};

inventory::submit! {
    Codec {
        name: "messagepack",
        title: "MessagePack",
        format: "messagepack",
        language: Language::Rust,
        bound: false,
        options: &[
            "a record is an array of its fields without names, the library's compact default",
            "integers take as few bytes as their value needs; bytes are bin",
        ],
        needs: &[],
        answer: direct::answer,
        idl: None,
        emit,
    }
}

fn emit(_: &Unit) -> Result<Emission> {
    let runner = Direct {
        library: "rmp-serde",
        encode: "rmp_serde::encode::write(out, message)?;",
        decode: "rmp_serde::from_slice::<Root>(wire)",
        items: String::new(),
    };
    Ok(runner.emit())
}
