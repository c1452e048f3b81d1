//! Bitcode: the normalized structure itself, by a derive that keeps each field of
//! all records together.
//!
//! The format has no definition language: the Rust types are the definition.

use anyhow::Result;
use wiregauge_normalized::rust::Derive;
use wiregauge_normalized::{File, Unit};

use crate::build::languages::rust::RUST;
use crate::codec::{Codec, Emission, Linkage};
use crate::language::rust::derived;
use crate::language::rust::glue;

inventory::submit! {
    Codec {
        name: "bitcode",
        title: "Bitcode Rust",
        format: "bitcode",
        language: &RUST,
        is_bound: false,
        linkage: Linkage::Crate("bitcode"),
        options: &[
            "its own derive, which its authors prefer to serde's: all values of a field stand \
             together, integers as small as the largest of them allows",
            "a bitcode::Buffer is kept between messages; encode hands over the buffer's bytes \
             uncopied",
            "its authors keep the format stable only within a major version, and for Rust alone",
            "no partial reads: the whole message is decoded for one number",
        ],
        calls: &[
            "encode: bytes = buffer.encode(message)",
            "decode, project, fixed, element: buffer.decode::<Message>(bytes)",
        ],
        needs: &[],
        check_type: derived::check_type,
        idl: None,
        emit,
    }
}

fn emit(_: &Unit) -> Result<Emission> {
    let files = vec![
        glue::main_file_deriving(Derive::Bitcode, "Bitcode", &["codec", "glue"]),
        File::new("codec.rs", include_str!("bitcode/codec.rs")),
        File::new("glue.rs", glue::begin_glue("bitcode").finish()),
    ];
    Ok(Emission { files, ..Emission::default() })
}
