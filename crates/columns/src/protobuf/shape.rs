//! Elements of a list that are written alike: the same fields in the same order, with numbers
//! of the same lengths. The first tells where tags and lengths lie; it and those like it are read
//! column by column.

use super::message_plan::{to_tag, Conversion, MessagePlan, ValuePlan};
use crate::column::{Column, Content};
use crate::selection::PlanTarget;

/// So many bytes are read for all columns before the next ones: they stay in the first cache.
const BLOCK: usize = 16 << 10;

/// So many elements are read one by one, as turning to each column would take longer.
const FEW: usize = 4;

/// How an element is written, with its tag and length.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    size: usize,
    /// Where tags and lengths lie.
    checks: Vec<WordCheck>,
    columns: Vec<Place>,
}

/// Eight bytes of an element with tags and lengths in them.
#[derive(Clone, Copy, Debug)]
struct WordCheck {
    at: usize,
    /// Which bits are those of tags and lengths, and what they are.
    mask: u64,
    bits: u64,
}

/// Where the value of a column lies in an element.
#[derive(Clone, Debug)]
enum Place {
    Absent,
    /// Four or eight bytes.
    Fixed(usize),
    /// So many bytes.
    Varint(usize, usize, Conversion),
    Record(Vec<Place>),
}

impl Shape {
    /// Of the element at the beginning of these bytes, if it is there whole and has this tag;
    /// none where the fields that are read of it are not numbers alone.
    pub fn learn(plan: &MessagePlan, tag: u32, bytes: &[u8], columns: &[Column]) -> Option<Shape> {
        // A group has no length to go by.
        let (own_tag, at) = varint(bytes, 0).filter(|(tag, _)| tag & 7 == 2)?;
        let (length, head) = varint(bytes, at)?;
        let end = head.checked_add(usize::try_from(length).ok()?)?;
        let element = bytes.get(..end).filter(|_| own_tag == u64::from(tag))?;
        let mut mask = vec![0; end];
        mask[..head].fill(0xff);
        let columns = learn_record(plan, element, (head, end), columns, &mut mask)?;
        // The last word ends with the element, and may overlap the one before.
        let starts = (0..end).step_by(8).map(|at| at.min(end.saturating_sub(8)));
        let checks = starts.map(|at| {
            let mask = word(&mask[at..]);
            WordCheck { at, mask, bits: word(&element[at..]) & mask }
        });
        let checks = checks.filter(|check| check.mask != 0).collect();
        Some(Shape { size: end, checks, columns })
    }

    /// How many elements at the beginning of these bytes are alike.
    pub fn count(&self, bytes: &[u8]) -> usize {
        bytes.chunks_exact(self.size).take_while(|element| self.is_like(element)).count()
    }

    /// The bytes of so many elements.
    pub fn bytes(&self, count: usize) -> usize {
        self.size * count
    }

    #[inline]
    fn is_like(&self, element: &[u8]) -> bool {
        self.checks.iter().all(|check| word(&element[check.at..]) & check.mask == check.bits)
    }

    /// Adds the rows of elements that are alike.
    pub fn gather(&self, elements: &[u8], columns: &mut [Column]) {
        if elements.len() <= FEW * self.size {
            elements.chunks_exact(self.size).for_each(|it| push_row(&self.columns, it, columns));
            return;
        }
        for block in elements.chunks(self.size * (BLOCK / self.size).max(1)) {
            gather_record(&self.columns, block, self.size, columns);
        }
    }
}

/// The first eight bytes, or as many as there are, as a number.
#[inline]
fn word(bytes: &[u8]) -> u64 {
    match bytes.first_chunk() {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    }
}

fn learn_record(
    plan: &MessagePlan,
    element: &[u8],
    (mut at, end): (usize, usize),
    columns: &[Column],
    mask: &mut [u8],
) -> Option<Vec<Place>> {
    let mut places = vec![Place::Absent; columns.len()];
    let mut missing = plan.fields.iter().filter(|field| field.is_required).count();
    while at < end {
        let (tag, next) = varint(element, at)?;
        mask[at..next].fill(0xff);
        at = next;
        let tag = to_tag(tag)?;
        let (from, to) = find_value(tag, element, at, mask).filter(|(_, to)| *to <= end)?;
        at = to;
        let Some(field) = plan.find(tag >> 3) else { continue };
        let PlanTarget::Column(column) = field.target else { return None };
        let is_first = matches!(places[column], Place::Absent);
        if field.is_repeated || !field.rivals.is_empty() || !is_first {
            return None;
        }
        missing -= usize::from(field.is_required);
        places[column] = match (&field.value, tag & 7) {
            (ValuePlan::Varint(conversion), 0) => Place::Varint(from, to - from, *conversion),
            (ValuePlan::Fixed(8), 1) | (ValuePlan::Fixed(4), 5) => Place::Fixed(from),
            (ValuePlan::Message(inner), 2) => {
                let Content::Record { columns, .. } = &columns[column].content else {
                    return None;
                };
                Place::Record(learn_record(inner, element, (from, to), columns, mask)?)
            }
            _ => return None,
        };
    }
    (at == end && missing == 0).then_some(places)
}

/// From where to where the value behind a tag lies. How long it is belongs to the shape, what it
/// is does not. None for a group.
fn find_value(tag: u32, element: &[u8], at: usize, mask: &mut [u8]) -> Option<(usize, usize)> {
    match tag & 7 {
        0 => {
            let (_, end) = varint(element, at)?;
            mask[at..end].fill(0x80);
            Some((at, end))
        }
        1 => Some((at, at + 8)),
        2 => {
            let (length, from) = varint(element, at)?;
            mask[at..from].fill(0xff);
            Some((from, from.checked_add(usize::try_from(length).ok()?)?))
        }
        5 => Some((at, at + 4)),
        _ => None,
    }
}

/// The number at a place, and where it ends.
fn varint(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    let length = bytes.get(at..)?.iter().take(10).position(|byte| *byte < 0x80)? + 1;
    Some((read_varint(&bytes[at..at + length]), at + length))
}

#[inline]
fn read_varint(bytes: &[u8]) -> u64 {
    let bytes = bytes.iter().enumerate();
    bytes.fold(0, |number, (at, byte)| number | u64::from(byte & 0x7f) << (7 * at))
}

fn push_row(places: &[Place], element: &[u8], columns: &mut [Column]) {
    for (place, column) in places.iter().zip(columns) {
        if let Place::Absent = place {
            column.push_empties(1);
            continue;
        }
        column.push_presence(1);
        match (place, &mut column.content) {
            (Place::Fixed(at), Content::Number(words, _)) => words.push_bytes(&element[*at..]),
            (Place::Varint(at, length, conversion), Content::Number(words, _)) => {
                words.push(conversion.apply(read_varint(&element[*at..*at + *length])));
            }
            (Place::Record(places), Content::Record { columns, rows, .. }) => {
                *rows += 1;
                push_row(places, element, columns);
            }
            _ => unreachable!("a shape is learned from its plan"),
        }
    }
}

fn gather_record(places: &[Place], block: &[u8], size: usize, columns: &mut [Column]) {
    let rows = block.len() / size;
    for (place, column) in places.iter().zip(columns) {
        if let Place::Absent = place {
            column.push_empties(rows);
            continue;
        }
        column.push_presence(rows);
        match (place, &mut column.content) {
            (Place::Fixed(at), Content::Number(words, _)) => {
                words.extend_strided(block, *at, size, false);
            }
            (Place::Varint(at, length, conversion), Content::Number(words, _)) => {
                let rows = block.chunks_exact(size).map(|row| &row[*at..*at + *length]);
                // Apart, so that the short ones are read without a loop.
                match length {
                    1 => words.extend_numbers(rows.map(|it| conversion.apply(it[0].into()))),
                    2 => words.extend_numbers(
                        rows.map(|it| conversion.apply(read_varint(&[it[0], it[1]]))),
                    ),
                    _ => words.extend_numbers(rows.map(|it| conversion.apply(read_varint(it)))),
                }
            }
            (Place::Record(places), Content::Record { columns, rows: count, .. }) => {
                *count += rows;
                gather_record(places, block, size, columns);
            }
            _ => unreachable!("a shape is learned from its plan"),
        }
    }
}
