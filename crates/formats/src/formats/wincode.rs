//! Wincode: bincode's bytes by a derive that reads and writes memory in place.
//!
//! The format has no definition language: the Rust types are the definition.

use anyhow::Result;
use wiregauge_normalized::rust::Derive;
use wiregauge_normalized::Unit;
use wiregauge_schema::{Schema, TypeDef, TypeId};

use crate::build::languages::rust::RUST;
use crate::codec::{Codec, Emission, Linkage, Support};
use crate::language::rust::derived::{self, DerivingLibrary};

inventory::submit! {
    Codec {
        name: "wincode",
        title: "Bincode Rust wincode",
        format: "bincode",
        language: &RUST,
        is_bound: false,
        linkage: Linkage::Crate("wincode"),
        options: &[
            "the default configuration, which has the bytes of bincode's legacy one: fixed-width \
             little-endian integers",
            "a list may take up to 1 GiB of memory (with_preallocation_size_limit): the default is \
             4 MiB, and refuses larger lists in both directions",
            "the output has room for serialized_size() before it is written, as in serialize()",
            "lists of numbers, and of plain records whose memory has no gaps, move as blocks",
            "no partial reads: the whole message is decoded for one number",
        ],
        calls: &[
            "encode: out.reserve(wincode::config::serialized_size(message, CONFIG)); \
             wincode::config::serialize_into(out, message, CONFIG)",
            "decode, project, fixed, element: \
             wincode::config::deserialize_exact::<Message, _>(bytes, CONFIG)",
        ],
        needs: &[],
        check_type,
        idl: None,
        emit,
    }
}

fn check_type(schema: &Schema, id: TypeId) -> Support {
    match &schema.types[id] {
        TypeDef::Record(record) if record.fields.is_empty() => Support::Rejected(
            "wincode's derive does not compile for a record without fields (0.6.3)".into(),
        ),
        _ => derived::check_type(schema, id),
    }
}

fn emit(unit: &Unit) -> Result<Emission> {
    let runner = DerivingLibrary {
        library: "wincode",
        derive: Derive::Wincode,
        calls: include_str!("wincode/library.rs"),
        partial: None,
    };
    Ok(runner.emit(unit))
}
