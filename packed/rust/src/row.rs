//! A row's values, from a sub-message and to one.

use crate::error::{Error, Fault, Result};
use crate::find::{Kind, ROWS};
use crate::leaf::{leaves, row_name, Leaf, LeafType, MOST};
use crate::wire::{put_head, put_varint, tag, varint_size, Field, Fields};

/// The values of a row: the bits of doubles, identifiers, and enumerations with
/// their sign.
#[derive(Default)]
pub(crate) struct Row {
    /// Bit i: leaf i.
    pub has: u32,
    /// Bit n: the row's message number n.
    pub messages: u32,
    pub values: [u64; MOST],
}

impl Row {
    pub fn has(&self, leaf: usize) -> bool {
        self.has >> leaf & 1 != 0
    }

    pub fn has_message(&self, number: u32) -> bool {
        self.messages >> number & 1 != 0
    }

    fn take(&mut self, index: usize, leaf: &Leaf, row: &str, field: &Field<'_>) -> Result<()> {
        let wanted = if leaf.kind == LeafType::Number { 1 } else { 0 };
        if field.kind != wanted {
            let message = if leaf.inner == 0 { row } else { leaf.parent() };
            return Err(Error::new(Fault::Unknown, field.number, message));
        }
        if leaf.kind == LeafType::Enumeration && i32::try_from(field.value as i64).is_err() {
            return Err(Error::new(Fault::Value, field.number, leaf.name));
        }
        self.has |= 1 << index;
        self.values[index] = field.value;
        Ok(())
    }

    /// Takes the values of a sub-message; of several of one field the last.
    fn read(&mut self, kind: Kind, bytes: &[u8]) -> Result<()> {
        let all = leaves(kind);
        self.has = 0;
        self.messages = 0;
        for field in Fields::new(bytes) {
            let field = field?;
            let unknown = || Error::new(Fault::Unknown, field.number, row_name(kind));
            let index =
                all.iter().position(|leaf| leaf.number == field.number).ok_or_else(unknown)?;
            if all[index].inner == 0 {
                self.take(index, &all[index], row_name(kind), &field)?;
                continue;
            }
            if field.kind != 2 {
                return Err(unknown());
            }
            self.messages |= 1 << field.number;
            for value in Fields::new(field.content) {
                let value = value?;
                let leaf = index + value.number as usize - 1;
                let found = all.get(leaf).filter(|leaf| leaf.number == field.number);
                let found = found
                    .ok_or_else(|| Error::new(Fault::Unknown, value.number, all[index].parent()))?;
                self.take(leaf, found, row_name(kind), &value)?;
            }
        }
        Ok(())
    }

    /// Appends the row as a sub-message.
    pub fn write(&self, kind: Kind, out: &mut Vec<u8>) {
        let all = leaves(kind);
        let size: usize = groups(all).map(|group| self.group_size(group.0, group.1)).sum();
        put_head(out, ROWS, size);
        for (first, group) in groups(all) {
            if group[0].inner == 0 {
                self.put_leaf(first, &group[0], group[0].number, out);
            } else if self.has_message(group[0].number) {
                put_head(out, group[0].number, self.content_size(first, group));
                for (i, leaf) in group.iter().enumerate() {
                    self.put_leaf(first + i, leaf, leaf.inner, out);
                }
            }
        }
    }

    fn group_size(&self, first: usize, group: &[Leaf]) -> usize {
        let content = self.content_size(first, group);
        match group[0].inner {
            0 => content,
            _ if self.has_message(group[0].number) => 1 + varint_size(content as u64) + content,
            _ => 0,
        }
    }

    fn content_size(&self, first: usize, group: &[Leaf]) -> usize {
        let sizes = group.iter().enumerate().filter(|(i, _)| self.has(first + i)).map(
            // All numbers are below 16: a tag is one byte.
            |(i, leaf)| match leaf.kind {
                LeafType::Number => 9,
                _ => 1 + varint_size(self.values[first + i]),
            },
        );
        sizes.sum()
    }

    fn put_leaf(&self, index: usize, leaf: &Leaf, number: u32, out: &mut Vec<u8>) {
        if !self.has(index) {
            return;
        }
        if leaf.kind == LeafType::Number {
            put_varint(out, tag(number, 1));
            out.extend_from_slice(&self.values[index].to_le_bytes());
        } else {
            put_varint(out, tag(number, 0));
            put_varint(out, self.values[index]);
        }
    }
}

/// The leaves of one number with the index of the first.
fn groups(all: &'static [Leaf]) -> impl Iterator<Item = (usize, &'static [Leaf])> {
    let mut first = 0;
    all.chunk_by(|a, b| a.number == b.number).map(move |group| {
        let at = first;
        first += group.len();
        (at, group)
    })
}

/// Hands each row of a message on.
pub(crate) fn for_rows(
    kind: Kind,
    message: &[u8],
    mut each: impl FnMut(&Row) -> Result<()>,
) -> Result<()> {
    let mut row = Row::default();
    for field in Fields::new(message) {
        let field = field?;
        if (field.number, field.kind) == (ROWS, 2) {
            row.read(kind, field.content)?;
            each(&row)?;
        }
    }
    Ok(())
}
