//! Bincode 2.0.1: the normalized structure itself, by derive.
//!
//! The format has no definition language: the Rust types are the definition.

use anyhow::Result;
use wiregauge_normalized::rust::Derive;
use wiregauge_normalized::Unit;

use crate::build::languages::rust::RUST;
use crate::codec::{Codec, Emission, Linkage};
use crate::language::rust::derived::{self, DerivingLibrary};

inventory::submit! {
    Codec {
        name: "bincode",
        title: "Bincode Rust",
        format: "bincode",
        language: &RUST,
        is_bound: false,
        linkage: Linkage::Crate("bincode"),
        options: &[
            "config::legacy(): fixed-width little-endian integers, as in the paper's version",
            "not maintained since 2025 (RUSTSEC-2025-0141); 2.0.1 is the last version that builds. The \
             row wincode has the same bytes by a library that is maintained",
            "no partial reads: the whole message is decoded for one number",
        ],
        calls: &[
            "encode: bincode::encode_into_std_write(message, out, config::legacy())",
            "decode, project, fixed, element: bincode::decode_from_slice::<Message, _>(bytes, \
             config::legacy())",
        ],
        needs: &[],
        check_type: derived::check_type,
        idl: None,
        emit,
    }
}

fn emit(unit: &Unit) -> Result<Emission> {
    let runner = DerivingLibrary {
        library: "bincode",
        derive: Derive::Bincode,
        calls: include_str!("bincode/library.rs"),
        partial: None,
    };
    Ok(runner.emit(unit))
}
