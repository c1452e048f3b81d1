//! What of a definition a wire does not carry.

use anyhow::{bail, ensure, Result};
use wiregauge_schema::{Cardinality, Element, Record};

use crate::definition::Package;
use crate::layout;
use crate::tagged;
use crate::wire::Wire;

/// Something that a wire does not carry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Where: `pkg/Type.field`.
    pub place: String,
    /// What it is written as, and what is lost.
    pub what: String,
}

/// What is lost on this wire.
///
/// # Errors
/// When the definitions cannot be said on it at all.
pub fn losses(wire: Wire, package: &Package) -> Result<Vec<Loss>> {
    let mut losses = Vec::new();
    let schema = &package.schema;
    let title = wire.name();
    for (id, record) in schema.records() {
        let name = &record.name.original;
        if wire == Wire::Protobuf {
            ensure!(
                !tagged::requires_itself(schema, id),
                "{name} must contain itself, so a message would never end; make the field optional"
            );
            numbered(package, record)?;
            continue;
        }
        ensure!(
            !schema.is_recursive(id),
            "{name} contains itself, which {title} cannot express; use protobuf"
        );
        for field in &record.fields {
            let place = format!("{name}.{}", field.name.original);
            let spelling = package.spelling(record, field).unwrap_or_default();
            if spelling.starts_with("wstring") {
                bail!(
                    "{place} is a wstring, which implementations of {title} write differently; \
                     make it a string"
                );
            }
            ensure!(
                !wire.is_dds() || field.cardinality != (Cardinality::Array { len: 0 }),
                "{place} is an array of 0 elements, which {title} cannot express; remove the \
                 field, or use ros-msg"
            );
            let repeats = matches!(field.cardinality, Cardinality::List { .. });
            if let (true, Element::Record(inner)) = (repeats, field.element) {
                ensure!(
                    layout::min_size(schema, inner, wire) > 0,
                    "{place} is a list of records that take no bytes in {title}, so its length \
                     cannot be checked; give the record a field"
                );
            }
            let what = match (field.cardinality, field.element) {
                (Cardinality::Optional, _) if wire.is_delimited() => continue,
                (Cardinality::Optional, _) if wire.counts_bytes() => {
                    "optional value as a list of none or one: that there is at most one"
                }
                (Cardinality::Optional, Element::Record(_)) => {
                    "optional record as a list of none or one: that there is at most one"
                }
                (Cardinality::Optional, _) => {
                    "optional value as a flag and the value: an absent value is paid for"
                }
                _ => continue,
            };
            losses.push(Loss { place, what: what.into() });
        }
    }
    Ok(losses)
}

/// Protobuf carries what is defined in its own language.
fn numbered(package: &Package, record: &Record) -> Result<()> {
    let name = &record.name.original;
    let is_ros = package.documentation(name).is_some_and(|words| words.text.is_some());
    ensure!(
        !is_ros && tagged::fields(&package.schema, record).is_some(),
        "{name} is not defined in a .proto, so its fields have no Protobuf numbers and types; \
         define it in a .proto"
    );
    Ok(())
}
