//! Where each field of a record stands: in the block, or behind it as a group or
//! as data; and how large that is.

use wiregauge_schema::{Cardinality, Element, Field, Scalar, Schema, TypeId};

/// Where a field stands in a block, group or message.
#[derive(PartialEq)]
pub enum FieldPlacement {
    /// Nowhere: it has no bytes.
    Nowhere,
    /// In the block.
    Block,
    /// Behind the block, as a group.
    Group,
    /// Behind the groups, as data.
    Data,
}

/// The entries of a group.
#[derive(Clone, Copy)]
pub enum GroupEntry {
    /// A record's fields, groups and data.
    Record(TypeId),
    /// One number.
    Number(Scalar),
    /// One text or octets.
    Octets,
}

/// How many entries a group has.
pub enum EntryCount {
    /// Exactly so many.
    Exactly(u32),
    /// None or one.
    Option,
    /// Any number.
    Any,
}

pub fn repeats(field: &Field) -> bool {
    matches!(field.cardinality, Cardinality::List { .. } | Cardinality::Array { .. })
}

pub fn placement(schema: &Schema, field: &Field) -> FieldPlacement {
    match (field.element, field.cardinality) {
        (Element::String | Element::Bytes, _) if !repeats(field) => FieldPlacement::Data,
        (Element::String | Element::Bytes, _) => FieldPlacement::Group,
        (Element::Record(id), Cardinality::Required | Cardinality::Implicit)
            if is_fixed(schema, id) =>
        {
            match block_size(schema, id) {
                0 => FieldPlacement::Nowhere,
                _ => FieldPlacement::Block,
            }
        }
        (Element::Record(_), _) | (_, Cardinality::List { .. }) => FieldPlacement::Group,
        _ => FieldPlacement::Block,
    }
}

/// Whether a record fits into a block whole.
pub fn is_fixed(schema: &Schema, id: TypeId) -> bool {
    let inside =
        |field| matches!(placement(schema, field), FieldPlacement::Nowhere | FieldPlacement::Block);
    schema.record(id).fields.iter().all(inside)
}

/// Size of a record's block.
pub fn block_size(schema: &Schema, id: TypeId) -> u64 {
    schema.record(id).fields.iter().map(|field| field_size(schema, field)).sum()
}

/// What a field adds to the block.
pub fn field_size(schema: &Schema, field: &Field) -> u64 {
    let flag = u64::from(has_flag(field));
    if placement(schema, field) != FieldPlacement::Block {
        return flag;
    }
    let element = match field.element {
        Element::Record(id) => block_size(schema, id),
        other => schema.scalar(other).map_or(0, |scalar| scalar.size() as u64),
    };
    match field.cardinality {
        Cardinality::Array { len } => u64::from(len) * element,
        _ => flag + element,
    }
}

/// Whether a flag in the block tells if the field is there.
pub fn has_flag(field: &Field) -> bool {
    field.cardinality == Cardinality::Optional && !matches!(field.element, Element::Record(_))
}

/// The fewest bytes of an entry: its block, and the headers behind.
pub fn min_size(schema: &Schema, entry: GroupEntry) -> u64 {
    match entry {
        GroupEntry::Number(scalar) => scalar.size() as u64,
        GroupEntry::Octets => 4,
        GroupEntry::Record(id) => {
            let behind = |field| match placement(schema, field) {
                FieldPlacement::Group => 6,
                FieldPlacement::Data => 4,
                _ => 0,
            };
            block_size(schema, id) + schema.record(id).fields.iter().map(behind).sum::<u64>()
        }
    }
}

/// How many groups stand in a record, those in other groups included.
pub fn groups(schema: &Schema, id: TypeId) -> u64 {
    let of = |field: &Field| match (placement(schema, field), field.element) {
        (FieldPlacement::Group, Element::Record(inner)) => groups(schema, inner).saturating_add(1),
        (FieldPlacement::Group, _) => 1,
        _ => 0,
    };
    schema.record(id).fields.iter().map(of).fold(0, u64::saturating_add)
}

/// The entries of a group and their number.
pub fn group(schema: &Schema, field: &Field) -> (GroupEntry, EntryCount) {
    let entry = match field.element {
        Element::Record(id) => GroupEntry::Record(id),
        Element::String | Element::Bytes => GroupEntry::Octets,
        other => GroupEntry::Number(schema.scalar(other).expect("a number")),
    };
    let count = match field.cardinality {
        Cardinality::Required | Cardinality::Implicit => EntryCount::Exactly(1),
        Cardinality::Array { len } => EntryCount::Exactly(len),
        Cardinality::Optional => EntryCount::Option,
        Cardinality::List { .. } => EntryCount::Any,
    };
    (entry, count)
}
