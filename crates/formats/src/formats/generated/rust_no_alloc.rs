//! In Rust without an allocator: of messages in which each list and text has a bound.

use anyhow::Result;
use wiregauge_data_holders::{rust_names, without_alloc, HolderLanguage, Package, Wire};
use wiregauge_normalized::Unit;
use wiregauge_schema::{Schema, TypeId};

use super::{explain_rejection, package, rust, GeneratedCode, GeneratedHolders};
use crate::build::languages::rust::RUST;
use crate::codec::{Emission, Support, OWN_CODE};

const CODE: GeneratedCode = GeneratedCode {
    language: &RUST,
    options: &[
        "the code of wiregauge generate --no-alloc, compiled with the runner: a message has room for \
         as much as its bounds allow, in memory of the caller's, so no footprint has it. Its holders \
         are the normalized form, so there is nothing to populate",
        OWN_CODE,
        "the output buffer is a vector, and all that it has room for is filled with zeros first; a \
         program with a buffer of its own does without",
        "every length is checked before it is used, and texts for UTF-8 in both directions",
        "no partial reads: the whole message is read for one number",
    ],
    needs: &[],
};

inventory::submit! {
    CODE.codec(
        ("generated-cdr-no-alloc-rust", "CDR Rust generated without allocator"),
        "cdr",
        &[
            "encode: wiregauge_no_alloc::serialize::<Cdr, _>(&message, &mut out)",
            "decode, project, fixed, element: wiregauge_no_alloc::deserialize_into::<Cdr, \
             _>(bytes, &mut message)",
        ],
        check_type,
        emit,
    )
}

fn fixed(schema: &Schema) -> Result<Package> {
    without_alloc(package(schema)?, &[HolderLanguage::Rust], &[Wire::Cdr])
}

fn check_type(schema: &Schema, id: TypeId) -> Support {
    match fixed(schema).err().and_then(|why| explain_rejection(schema, id, &why)) {
        Some(why) => Support::Rejected(why),
        None => super::check_type(Wire::Cdr, schema, id),
    }
}

fn emit(unit: &Unit) -> Result<Emission> {
    let form = GeneratedHolders::from_package(
        fixed(unit.schema)?,
        Wire::Cdr,
        HolderLanguage::Rust,
        rust_names,
        "crate::holders",
    )?;
    Ok(rust::emit_holders(Wire::Cdr, form, unit))
}
