//! Holders that need no allocator: a text or list has room for as much as the definition
//! allows at most, and a message is written into memory of the caller's.

use anyhow::{ensure, Result};
use wiregauge_schema::literal::{self, Literal};
use wiregauge_schema::{Cardinality, Element, Record};

use crate::definition::Package;
use crate::layout;
use crate::names::Rules;
use crate::wire::Wire;

/// What holders that allocate have, and what those without an allocator have beside it.
pub(super) const RULES: Rules = Rules {
    members: concat!(members!(), " MAX_BYTES"),
    types: "Buffer Default Err Error From Limits None Ok Option Reader Result Sequence Sizer Some \
            String Text Value Vec W Wire Writer",
    ..super::RULES
};

/// How a record of numbers writes itself at once.
pub(super) const WRITE_BLOCK: &str = "fn write_block(&self, out: &mut Buffer<'_>)";

/// The module of the wires: another one than that of holders that allocate, which may lie beside.
pub(super) const WIRES: &str = "wiregauge_no_alloc";

/// The wires, the same for all holders.
pub(super) fn wires() -> String {
    let parts = [
        include_str!("header.txt"),
        include_str!("wiregauge.rs"),
        include_str!("fixed_capacity.rs"),
        include_str!("wires.rs"),
        include_str!("values.rs"),
    ];
    let code = parts.join("\n");
    // Some parts are those of holders that allocate, which write into a vector.
    code.replace("&'a mut Vec<u8>", "&'a mut Buffer<'a>").replace("&mut Vec<u8>", "&mut Buffer<'_>")
}

/// What holders take of them, from what those take that allocate.
pub(super) fn imports(of_heap: &str) -> String {
    of_heap
        .replace("wiregauge::{", &format!("{WIRES}::{{Buffer, "))
        .replace("Sizer,", "Sequence, Sizer, Text,")
}

/// A default, which [`check_defaults`] has found to have room.
pub(super) fn initial(value: &str) -> String {
    format!("TryFrom::try_from({value}).unwrap_or_default()")
}

/// Enough bytes for any message of a type on any of these wires, wherever it begins.
pub(super) fn most_bytes(package: &Package, record: &Record, wires: &[Wire]) -> u64 {
    let most = wires.iter().map(|wire| {
        let header = if wire.is_dds() { 4 } else { 0 };
        most_of_record(package, record, *wire).saturating_add(header)
    });
    most.max().unwrap_or(0)
}

fn most_of_record(package: &Package, record: &Record, wire: Wire) -> u64 {
    let schema = &package.schema;
    // A number, and what aligns it.
    let number = |size: u64| size + size.min(wire.alignment() as u64) - 1;
    let fields = record.fields.iter().map(|field| {
        let one = match field.element {
            Element::String => {
                // A mark before it and a zero behind it, where the wire has them.
                let text = package.text_bound(record, field).unwrap_or(0);
                number(4) + u64::from(text) + 4
            }
            Element::Record(id) => most_of_record(package, schema.record(id), wire),
            other => schema.scalar(other).map_or(0, |scalar| number(scalar.size() as u64)),
        };
        let delimiter = if layout::is_delimited(wire, field.element) { number(4) } else { 0 };
        match field.cardinality {
            Cardinality::Required | Cardinality::Implicit => one,
            Cardinality::Optional => one.saturating_add(number(4)),
            Cardinality::List { bound } => {
                one.saturating_mul(bound.unwrap_or(0).into()).saturating_add(number(4) + delimiter)
            }
            Cardinality::Array { len } => one.saturating_mul(len.into()).saturating_add(delimiter),
        }
    });
    fields.fold(1, u64::saturating_add)
}

/// Whether all defaults have room within their bounds.
pub(super) fn check_defaults(package: &Package) -> Result<()> {
    for (_, record) in package.schema.records() {
        for field in &record.fields {
            let Some(default) = literal::default(&package.schema, field)? else {
                continue;
            };
            let text = package.text_bound(record, field).map_or(usize::MAX, |most| most as usize);
            let list = match field.cardinality {
                Cardinality::List { bound } => bound.map_or(usize::MAX, |most| most as usize),
                _ => usize::MAX,
            };
            ensure!(
                has_room(&default, text, list),
                "{}.{}: its default exceeds its bound",
                record.name.original,
                field.name.original
            );
        }
    }
    Ok(())
}

fn has_room(value: &Literal, text: usize, list: usize) -> bool {
    match value {
        Literal::Text(value) => value.len() <= text,
        Literal::List(values) => {
            values.len() <= list && values.iter().all(|value| has_room(value, text, list))
        }
        _ => true,
    }
}
