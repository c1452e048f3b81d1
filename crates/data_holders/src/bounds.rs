//! Whether all of a package has bounds, which holders without an allocator need.

use anyhow::{bail, ensure, Result};
use wiregauge_schema::{Cardinality, Element, Field, Record};

use crate::definition::Package;
use crate::language::HolderLanguage;
use crate::wire::Wire;

/// The package, with holders that need no allocator.
///
/// # Errors
/// When a text or list has no bound, or a language or wire has no such holders.
pub fn without_alloc(
    package: Package,
    languages: &[HolderLanguage],
    wires: &[Wire],
) -> Result<Package> {
    if let Some(language) = languages.iter().find(|one| **one != HolderLanguage::Rust) {
        bail!("--no-alloc is for rust; generate {} without it", language.name());
    }
    ensure!(
        !wires.contains(&Wire::Protobuf),
        "--no-alloc has no wire protobuf, as a .proto has no bounds; choose from {}",
        Wire::SEQUENTIAL.map(Wire::name).join(", ")
    );
    if let Some(field) = first_unbounded(&package) {
        bail!(
            "{field} has no bound, and --no-alloc needs one of each list and text, as float32[<=32] \
             or string<=32 has"
        );
    }
    Ok(Package { is_without_alloc: true, ..package })
}

/// The first field that may be of any length.
fn first_unbounded(package: &Package) -> Option<String> {
    package.schema.records().find_map(|(_, record)| {
        let field = record.fields.iter().find(|field| !is_bounded(package, record, field))?;
        Some(format!("{}.{}", record.name.original, field.name.original))
    })
}

fn is_list_bounded(field: &Field) -> bool {
    !matches!(field.cardinality, Cardinality::List { bound: None })
}

fn is_bounded(package: &Package, record: &Record, field: &Field) -> bool {
    is_list_bounded(field)
        && match field.element {
            Element::String => package.text_bound(record, field).is_some(),
            Element::Bytes => false,
            _ => true,
        }
}
