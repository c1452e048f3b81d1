//! Postcard: the normalized structure itself, by serde.
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
        name: "postcard",
        title: "Postcard Rust",
        format: "postcard",
        language: &RUST,
        is_bound: false,
        linkage: Linkage::Crate("postcard"),
        options: &[
            "integers of more than one byte are varints, signed ones zigzag; no framing and no \
             checksum",
            "written by to_extend into the buffer that is kept, which has the library's flavor for \
             a Vec",
            "no partial reads: the whole message is decoded for one number",
        ],
        calls: &[
            "encode: postcard::to_extend(message, out)",
            "decode, project, fixed, element: postcard::from_bytes::<Message>(bytes)",
        ],
        needs: &[],
        check_type: derived::check_type,
        idl: None,
        emit,
    }
}

fn emit(unit: &Unit) -> Result<Emission> {
    let runner = DerivingLibrary {
        library: "postcard",
        derive: Derive::Serde,
        calls: include_str!("postcard/library.rs"),
        partial: None,
    };
    Ok(runner.emit(unit))
}
