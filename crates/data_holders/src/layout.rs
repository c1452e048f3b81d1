//! What a record is on a wire that writes field after field.

use wiregauge_schema::{Cardinality, Element, Record, Scalar, Schema, TypeId};

use crate::wire::Wire;

/// The fewest bytes that a record takes, without what aligns it. A list with
/// more elements than this leaves room for is not believed.
pub fn min_size(schema: &Schema, id: TypeId, wire: Wire) -> u64 {
    let record = schema.record(id);
    if record.fields.is_empty() {
        return u64::from(wire.has_filler());
    }
    let sizes = record.fields.iter().map(|field| {
        let one = min_element_size(schema, field.element, wire);
        match field.cardinality {
            Cardinality::Required | Cardinality::Implicit => one,
            Cardinality::List { .. } => 4 + delimiter(wire, field.element),
            Cardinality::Optional if wire.is_delimited() => 1,
            Cardinality::Optional if wire.counts_bytes() => 4,
            Cardinality::Optional if matches!(field.element, Element::Record(_)) => 4,
            Cardinality::Optional => one.saturating_add(1),
            Cardinality::Array { len } => {
                one.saturating_mul(len.into()).saturating_add(delimiter(wire, field.element))
            }
        }
    });
    sizes.fold(0, u64::saturating_add)
}

/// The bytes of the size before a list or array of this element; 0 where it has none.
fn delimiter(wire: Wire, element: Element) -> u64 {
    4 * u64::from(is_delimited(wire, element))
}

/// Whether the size of a list or array of this element stands before it. Enums are no
/// primitive types in XTypes, so that theirs does.
pub fn is_delimited(wire: Wire, element: Element) -> bool {
    wire.is_delimited() && !matches!(element, Element::Scalar(_))
}

/// The fewest bytes that an element takes.
pub fn min_element_size(schema: &Schema, element: Element, wire: Wire) -> u64 {
    match element {
        // A length, the mark and the zero; an empty text in CDR may do without its zero.
        Element::String if wire == Wire::SomeIp => 8,
        Element::String | Element::Bytes => 4,
        Element::Record(id) => min_size(schema, id, wire),
        other => schema.scalar(other).map_or(0, |scalar| scalar.size() as u64),
    }
}

/// The numbers of a record in order, where it is nothing but numbers, each with
/// the fields that lead to it; no truth values, as not every byte is one.
pub fn numbers(schema: &Schema, record: &Record) -> Option<Vec<Scalar>> {
    let mut numbers = Vec::new();
    for field in &record.fields {
        let count = match field.cardinality {
            Cardinality::Required | Cardinality::Implicit => 1,
            // One of no elements takes memory in C++, and aligns in Rust.
            Cardinality::Array { len } if len > 0 => len as usize,
            _ => return None,
        };
        let one = match field.element {
            Element::Record(id) => self::numbers(schema, schema.record(id))?,
            other => vec![schema.scalar(other)?],
        };
        if one.contains(&Scalar::Bool) || one.len().saturating_mul(count) > MOST_NUMBERS {
            return None;
        }
        (0..count).for_each(|_| numbers.extend(&one));
    }
    (!numbers.is_empty() && numbers.len() <= MOST_NUMBERS).then_some(numbers)
}

/// Most numbers of a record that moves as a block; one with more gains little.
const MOST_NUMBERS: usize = 4096;

/// A record that is one block without gaps, in memory and on each wire that it
/// begins aligned on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its bytes.
    pub size: usize,
    /// The alignment of its largest number.
    pub alignment: usize,
}

/// The block that a record is on this wire too; none where something stands between its
/// numbers, such as the size of an array of records.
pub fn block_on(schema: &Schema, id: TypeId, wire: Wire) -> Option<Block> {
    let differs = wire.is_big_endian() || wire.is_delimited() && has_sizes(schema, id);
    block(schema, id).filter(|_| !differs)
}

/// Whether a plain record has arrays whose size stands before them on some wire.
pub fn has_sizes(schema: &Schema, id: TypeId) -> bool {
    schema.record(id).fields.iter().any(|field| match (field.cardinality, field.element) {
        (Cardinality::Array { .. }, Element::Record(_) | Element::Enum(_)) => true,
        (_, Element::Record(inner)) => has_sizes(schema, inner),
        _ => false,
    })
}

/// Whether a plain record has arrays of records.
fn has_record_arrays(schema: &Schema, id: TypeId) -> bool {
    schema.record(id).fields.iter().any(|field| match (field.cardinality, field.element) {
        (Cardinality::Array { .. }, Element::Record(_)) => true,
        (_, Element::Record(inner)) => has_record_arrays(schema, inner),
        _ => false,
    })
}

/// The block that a record in a list is on this wire for who keeps its bytes as they come,
/// as Python does: only the wire's own gaps matter, and not those of memory.
pub fn row(schema: &Schema, id: TypeId, wire: Wire) -> Option<Block> {
    if wire.alignment() > 1 {
        return block_on(schema, id, wire);
    }
    let plain = wire.has_views() && !schema.is_recursive(id);
    let numbers = plain.then(|| numbers(schema, schema.record(id)))??;
    Some(Block { size: numbers.iter().map(|number| number.size()).sum(), alignment: 1 })
}

/// A plain record that has gaps on a wire, always the same ones, as its first number aligns
/// all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GappedRow {
    /// Its numbers, each with the gap before it.
    pub numbers: Vec<(usize, Scalar)>,
    /// Its bytes.
    pub size: usize,
    /// The gap between one and the next.
    pub gap: usize,
}

/// Whether a list of the record moves as one block on this wire for who keeps its bytes as
/// they come, with gaps or without.
pub fn is_block(schema: &Schema, id: TypeId, wire: Wire) -> bool {
    row(schema, id, wire).is_some() || gapped_row(schema, id, wire).is_some()
}

/// What a record in a list is on this wire where it is no [`row`].
pub fn gapped_row(schema: &Schema, id: TypeId, wire: Wire) -> Option<GappedRow> {
    let plain = wire.has_views() && !schema.is_recursive(id) && row(schema, id, wire).is_none();
    let all = plain.then(|| numbers(schema, schema.record(id)))??;
    // Of an array of records each may have its gaps elsewhere.
    if has_record_arrays(schema, id) || wire.is_delimited() && has_sizes(schema, id) {
        return None;
    }
    let alignment = |number: &Scalar| number.size().min(wire.alignment());
    let first = alignment(&all[0]);
    if all.iter().any(|number| alignment(number) > first) {
        return None;
    }
    let (mut numbers, mut size) = (Vec::new(), 0usize);
    for number in all {
        let gap = size.next_multiple_of(alignment(&number)) - size;
        size += gap + number.size();
        numbers.push((gap, number));
    }
    Some(GappedRow { numbers, size, gap: size.next_multiple_of(first) - size })
}

/// The block that a record is; none where it is no plain record or has gaps.
pub fn block(schema: &Schema, id: TypeId) -> Option<Block> {
    if schema.is_recursive(id) {
        return None;
    }
    let numbers = numbers(schema, schema.record(id))?;
    let mut size = 0;
    for number in &numbers {
        if size % number.size() != 0 {
            return None;
        }
        size += number.size();
    }
    let alignment = numbers.iter().map(|number| number.size()).max()?;
    // A record inside is padded to its own alignment in memory.
    let inside = schema.record(id).fields.iter().all(|field| match field.element {
        Element::Record(inner) => block(schema, inner).is_some(),
        _ => true,
    });
    (size % alignment == 0 && inside).then_some(Block { size, alignment })
}
