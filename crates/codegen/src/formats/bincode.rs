//! Bincode 2.0.1: the normalized structure itself, by derive.
//!
//! The format has no definition language: the Rust types are the definition.

use anyhow::Result;

use crate::codec::{Codec, Emission, Language, Unit};
use crate::direct::{self, Direct};

inventory::submit! {
    Codec {
        name: "bincode",
        title: "Bincode",
        format: "bincode",
        language: Language::Rust,
        bound: false,
        options: &[
            "config::legacy(): fixed-width little-endian integers, as the paper's version wrote them",
            "unmaintained since 2025; 2.0.1 is the last release that builds",
        ],
        needs: &[],
        answer: direct::answer,
        idl: None,
        emit,
    }
}

fn emit(_: &Unit) -> Result<Emission> {
    let runner = Direct {
        library: "bincode",
        encode: "bincode::encode_into_std_write(message, out, bincode::config::legacy())?;",
        decode: "bincode::decode_from_slice(wire, bincode::config::legacy()).map(|(root, _)| root)",
        items: String::new(),
    };
    Ok(runner.emit())
}
