//! The packed field (docs/packed.md) in messages of one's own: Protobuf in which each list
//! of plain records is a field of `bytes` that holds columns. What is a plain record and
//! which columns it has stands here; the codecs are in the folder beside.

mod cpp;
mod python;
mod rust;

use std::collections::BTreeSet;

use anyhow::Result;
use wiregauge_normalized::File;
use wiregauge_schema::path::{ElementIndex, PathStep};
use wiregauge_schema::{reachable, Cardinality, Element, Field, Scalar, Schema, TypeDef, TypeId};

use super::protobuf;
use crate::codec::Support;
use crate::lowering::{self, Lowering};

/// What a packed field holds at most.
const MAX_COLUMNS: u64 = 256;
const MAX_NAME: usize = 255;

/// The rows of a list: what each has.
struct RowLayout {
    id: TypeId,
    parts: Vec<RowField>,
}

/// A field of a record in a row: one item, or a fixed array of them.
struct RowField {
    place: usize,
    is_array: bool,
    items: Vec<RowItem>,
}

enum RowItem {
    Number(Column),
    Record(RowRecord),
}

/// A number of a row.
struct Column {
    name: String,
    scalar: Scalar,
    /// Whether a row may be without it: it is optional or in a record that is.
    is_optional: bool,
}

/// A record in a row.
struct RowRecord {
    id: TypeId,
    is_optional: bool,
    /// The column that tells of it in a row that has none of its numbers.
    marker: Option<String>,
    parts: Vec<RowField>,
}

impl RowLayout {
    /// Those of a field that becomes a packed field: a list of records that hold numbers
    /// and such records only, and fit.
    fn from_field(schema: &Schema, field: &Field) -> Option<RowLayout> {
        let (Element::Record(id), Cardinality::List { .. }) = (field.element, field.cardinality)
        else {
            return None;
        };
        let columns = if schema.is_recursive(id) { None } else { count(schema, id) };
        // Rows without a column cost no bytes: no reader could believe how many there are.
        if !(1..=MAX_COLUMNS).contains(&columns?) {
            return None;
        }
        let mut longest = 0;
        let parts = parts(schema, id, "", false, &mut longest);
        (longest <= MAX_NAME).then_some(RowLayout { id, parts })
    }

    /// Where a path leads in a row: the place of a field and which of its items, alternating.
    /// None where it leads behind the end of an array.
    fn item_path(&self, path: &[PathStep]) -> Option<Vec<usize>> {
        let (mut parts, mut way) = (&self.parts, Vec::new());
        for step in path {
            let part = &parts[step.field];
            let item = match step.index {
                ElementIndex::Single => 0,
                ElementIndex::Middle => part.items.len() / 2,
                ElementIndex::At(at) => at as usize,
            };
            way.extend([part.place, item]);
            if let RowItem::Record(inner) = part.items.get(item)? {
                parts = &inner.parts;
            }
        }
        Some(way)
    }

    /// The column there.
    fn column(&self, path: &[PathStep]) -> Option<&Column> {
        let mut parts = &self.parts;
        for pair in self.item_path(path)?.chunks_exact(2) {
            match &parts[pair[0]].items[pair[1]] {
                RowItem::Number(column) => return Some(column),
                RowItem::Record(inner) => parts = &inner.parts,
            }
        }
        None
    }
}

/// The lists of a schema that become packed fields, each once by what it is of.
fn packed_lists(schema: &Schema) -> Vec<RowLayout> {
    let mut done = BTreeSet::new();
    let fields = schema.records().flat_map(|(_, record)| &record.fields);
    fields
        .filter_map(|field| RowLayout::from_field(schema, field))
        .filter(|rows| done.insert(rows.id))
        .collect()
}

/// The items of a record's parts, each with its part and the member of the normalized record
/// `at` that it is, in C++ and Rust.
fn items<'a>(
    schema: &Schema,
    id: TypeId,
    parts: &'a [RowField],
    at: &str,
) -> Vec<(&'a RowField, &'a RowItem, String)> {
    let mut items = Vec::new();
    for part in parts {
        let member = format!("{at}.{}", schema.record(id).fields[part.place].name.legal);
        items.extend(part.items.iter().enumerate().map(|(number, item)| {
            let element = format!("{member}[{number}]");
            (part, item, if part.is_array { element } else { member.clone() })
        }));
    }
    items
}

/// Whether a part may be missing where its record is there.
fn is_optional(schema: &Schema, id: TypeId, part: &RowField) -> bool {
    schema.record(id).fields[part.place].cardinality == Cardinality::Optional
}

/// How many columns a record has, at most; none where it is not plain.
fn count(schema: &Schema, id: TypeId) -> Option<u64> {
    schema.record(id).fields.iter().try_fold(0u64, |columns, field| {
        let each = match field.element {
            // One may be the marker.
            Element::Record(inner) if field.cardinality == Cardinality::Optional => {
                count(schema, inner)?.saturating_add(1)
            }
            Element::Record(inner) => count(schema, inner)?,
            Element::Scalar(_) | Element::Enum(_) => 1,
            Element::String | Element::Bytes => return None,
        };
        match field.cardinality {
            Cardinality::List { .. } => None,
            Cardinality::Array { len } => {
                Some(columns.saturating_add(each.saturating_mul(len.into())))
            }
            _ => Some(columns.saturating_add(each)),
        }
    })
}

/// The fields of a record whose columns' names begin with `stem`.
fn parts(
    schema: &Schema,
    id: TypeId,
    stem: &str,
    may_miss: bool,
    longest: &mut usize,
) -> Vec<RowField> {
    let mut part = |(place, field): (usize, &Field)| {
        let is_optional = field.cardinality == Cardinality::Optional;
        let mut item = |name: String| {
            *longest = name.len().max(*longest);
            let is_optional = may_miss || is_optional;
            let Element::Record(inner) = field.element else {
                let scalar = schema.scalar(field.element).expect("a number");
                return RowItem::Number(Column { name, scalar, is_optional });
            };
            let parts = parts(schema, inner, &format!("{name}."), is_optional, longest);
            let is_optional = field.cardinality == Cardinality::Optional;
            let marker =
                (is_optional && !always_has_number(schema, inner)).then(|| format!("{name}?"));
            *longest = marker.as_ref().map_or(0, String::len).max(*longest);
            RowItem::Record(RowRecord { id: inner, is_optional, marker, parts })
        };
        let name = format!("{stem}{}", field.name.legal);
        let items = match field.cardinality {
            Cardinality::Array { len } => {
                (0..len).map(|at| item(format!("{name}[{at}]"))).collect()
            }
            _ => vec![item(name)],
        };
        let is_array = matches!(field.cardinality, Cardinality::Array { .. });
        RowField { place, is_array, items }
    };
    schema.record(id).fields.iter().enumerate().map(&mut part).collect()
}

/// Whether a record has a number wherever it is there itself.
fn always_has_number(schema: &Schema, id: TypeId) -> bool {
    schema.record(id).fields.iter().any(|field| match field.element {
        _ if field.cardinality == Cardinality::Optional => false,
        Element::Record(inner) => always_has_number(schema, inner),
        _ => true,
    })
}

/// The schema with each such list as `bytes`, the types in their places.
fn lowered(schema: &Schema) -> Schema {
    let mut lowered = schema.clone();
    for def in &mut lowered.types {
        let TypeDef::Record(record) = def else { continue };
        for field in &mut record.fields {
            if RowLayout::from_field(schema, field).is_some() {
                field.element = Element::Bytes;
                field.cardinality = Cardinality::Implicit;
            }
        }
    }
    lowered
}

/// The records that are messages of Protobuf still.
fn messages(schema: &Schema) -> BTreeSet<TypeId> {
    let (mut known, mut open) = (BTreeSet::new(), vec![schema.root]);
    while let Some(id) = open.pop() {
        if !known.insert(id) {
            continue;
        }
        for field in &schema.record(id).fields {
            match field.element {
                Element::Record(inner) if RowLayout::from_field(schema, field).is_none() => {
                    open.push(inner)
                }
                _ => {}
            }
        }
    }
    known
}

/// Whether all packed fields are of the root message itself, so that they may stand at the end
/// of its bytes. `messages` are those of [`messages`].
fn only_root_has_lists(schema: &Schema, messages: &BTreeSet<TypeId>) -> bool {
    let others = messages.iter().filter(|id| **id != schema.root);
    let has_rows = |field: &Field| RowLayout::from_field(schema, field).is_some();
    !schema.is_recursive(schema.root)
        && schema.root().fields.iter().any(has_rows)
        && !others.flat_map(|id| &schema.record(*id).fields).any(has_rows)
}

fn check_type(schema: &Schema, id: TypeId) -> Support {
    let TypeDef::Record(record) = &schema.types[id] else {
        return protobuf::check_type(schema, id);
    };
    let has_rows = |field: &Field| RowLayout::from_field(schema, field).is_some();
    if id == schema.root && !schema.records().any(|(_, record)| record.fields.iter().any(has_rows))
    {
        return Support::Rejected("it has no list of plain records".into());
    }
    let mut lowerings = lowering::unions_and_bounds(record);
    if messages(schema).contains(&id) {
        match protobuf::check_type(&lowered(schema), id) {
            Support::Lowered(others) => lowerings.extend(others),
            Support::Supported => {}
            rejected => return rejected,
        }
    }
    for rows in record.fields.iter().filter_map(|field| RowLayout::from_field(schema, field)) {
        lowerings.push(Lowering::new(
            "list of plain records as bytes that hold a packed field",
            "which fields the records have; the packed field says so itself",
        ));
        in_columns(schema, rows.id, &mut lowerings);
    }
    Support::lowered(lowerings)
}

/// What columns say in another way.
fn in_columns(schema: &Schema, id: TypeId, lowerings: &mut Vec<Lowering>) {
    for field in &schema.record(id).fields {
        if let Cardinality::Array { .. } = field.cardinality {
            lowerings.push(Lowering::new(
                "fixed array in a plain record as columns of their own",
                "that they are one array",
            ));
        }
        match field.element {
            Element::Record(inner) => in_columns(schema, inner, lowerings),
            Element::Scalar(Scalar::Bool) => {
                lowerings.push(Lowering::widened(Scalar::Bool, "u8 in a column"));
            }
            _ => {}
        }
    }
}

/// `message.proto`.
fn idl(schema: &Schema) -> Result<File> {
    let lowered = lowered(schema);
    let small_array = schema.small_array;
    protobuf::idl(&Schema { small_array, ..reachable(lowered.types, schema.root) })
}
