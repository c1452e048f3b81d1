//! Rows as columns, from sub-messages or from the packed field.

use anyhow::{anyhow, ensure, Result};
use wiregauge_packed as packed;
use wiregauge_packed::{Element, Half, Number, View};
use wiregauge_trace::wire::{is_message, Content, Fields};

use super::fields::{messages, read_fields};
use super::leaf::{Leaf, LeafKind, PointListKind};
use crate::column::{each, Column, Values};

/// How many rows a list has, and a column for each field that some of them have.
pub fn columns(list: PointListKind, holder: &[u8]) -> Result<(usize, Vec<Column>)> {
    if list.is_packable() {
        // Of several the last counts.
        if let Some(field) = messages(holder, u64::from(packed::FIELD))?.last() {
            let view = View::open(field).map_err(|error| anyhow!("the packed field: {error}"))?;
            let columns = list.leaves().iter().filter_map(|leaf| unpack_column(&view, leaf));
            return Ok((view.rows(), columns.collect::<Result<_>>()?));
        }
    }
    let rows = messages(holder, list.number())?;
    let mut read: Vec<FieldValues> = list.leaves().iter().map(|_| FieldValues::default()).collect();
    for (at, row) in rows.iter().enumerate() {
        for (number, content) in read_fields(row)? {
            let leaves = list.leaves().iter().zip(&mut read);
            let leaves = leaves.filter(|(leaf, _)| leaf.number == number);
            for (leaf, column) in leaves {
                match (leaf.inner, content) {
                    (0, content) => column.add_value(leaf.kind, content, at),
                    (inner, Content::Bytes(message)) => {
                        ensure!(is_message(message), "{}: not a valid Protobuf message", leaf.name);
                        let found = Fields(message).filter(|(number, _)| *number == inner);
                        found.for_each(|(_, content)| column.add_value(leaf.kind, content, at));
                    }
                    _ => {}
                }
            }
        }
    }
    let columns = list.leaves().iter().zip(read);
    Ok((rows.len(), columns.filter_map(|(leaf, read)| read.column(leaf, rows.len())).collect()))
}

/// The values of a field, up to the last row that has one.
#[derive(Default)]
struct FieldValues {
    bits: Vec<u64>,
    present: Vec<bool>,
    /// How many rows have one.
    count: usize,
}

impl FieldValues {
    /// Takes a row's value; of several the last counts.
    fn add_value(&mut self, kind: LeafKind, content: Content, row: usize) {
        let bits = match (kind, content) {
            (LeafKind::Number, Content::Fixed(bytes)) => {
                bytes.try_into().map(u64::from_le_bytes).ok()
            }
            (LeafKind::Number, _) => None,
            (_, Content::Number(number)) => Some(number),
            _ => None,
        };
        let Some(bits) = bits else { return };
        if self.bits.len() <= row {
            self.bits.resize(row + 1, 0);
            self.present.resize(row + 1, false);
        }
        self.count += usize::from(!self.present[row]);
        (self.bits[row], self.present[row]) = (bits, true);
    }

    fn column(mut self, leaf: &Leaf, rows: usize) -> Option<Column> {
        if self.count == 0 {
            return None;
        }
        self.bits.resize(rows, 0);
        self.present.resize(rows, false);
        let values = match leaf.kind {
            LeafKind::Number => Values::F64(self.bits.into_iter().map(f64::from_bits).collect()),
            LeafKind::Identifier => Values::U64(self.bits),
            LeafKind::Enumeration => {
                Values::I32(self.bits.iter().map(|bits| *bits as i32).collect())
            }
            LeafKind::Count => Values::U32(self.bits.iter().map(|bits| *bits as u32).collect()),
            LeafKind::Flag => {
                Values::U8(self.bits.iter().map(|bits| u8::from(*bits != 0)).collect())
            }
        };
        let present = (self.count < rows).then_some(self.present);
        Some(Column { name: leaf.column(), unit: leaf.unit, values, present })
    }
}

/// A column of the packed field; none where it has no such column.
fn unpack_column(view: &View, leaf: &Leaf) -> Option<Result<Column>> {
    let column = view.values(leaf.name)?;
    let element = column.element?;
    let rows = view.rows();
    let present: Vec<bool> = (0..rows).map(|row| column.present(row)).collect();
    if !present.contains(&true) {
        return None;
    }
    let wrong = || anyhow!("the packed field: column {} has another type", leaf.name);
    let mut values = match leaf.kind {
        LeafKind::Number => {
            let raw = match element {
                Element::F64 => numbers::<f64, _>(&column, rows, |value| value),
                Element::F32 => numbers::<f32, _>(&column, rows, f64::from),
                Element::F16 => numbers::<Half, _>(&column, rows, Half::to_f64),
                Element::U64 => numbers::<u64, _>(&column, rows, |value| value as f64),
                Element::U32 => numbers::<u32, _>(&column, rows, f64::from),
                Element::U16 => numbers::<u16, _>(&column, rows, f64::from),
                Element::U8 => numbers::<u8, _>(&column, rows, f64::from),
                Element::I64 => numbers::<i64, _>(&column, rows, |value| value as f64),
                Element::I32 => numbers::<i32, _>(&column, rows, f64::from),
                Element::I16 => numbers::<i16, _>(&column, rows, f64::from),
                Element::I8 => numbers::<i8, _>(&column, rows, f64::from),
                Element::None => return Some(Err(wrong())),
            };
            let (offset, scale) = column.scale.unwrap_or((0.0, 1.0));
            let is_scaled = column.scale.is_some();
            let value = |raw| if is_scaled { offset + scale * raw } else { raw };
            Values::F64(raw.into_iter().map(value).collect())
        }
        // No list with counts and flags is packed.
        LeafKind::Count | LeafKind::Flag => return None,
        LeafKind::Identifier | LeafKind::Enumeration => {
            let whole: Vec<u64> = match element {
                Element::U64 => numbers::<u64, _>(&column, rows, |value| value),
                Element::U32 => numbers::<u32, _>(&column, rows, u64::from),
                Element::U16 => numbers::<u16, _>(&column, rows, u64::from),
                Element::U8 => numbers::<u8, _>(&column, rows, u64::from),
                Element::I64 => numbers::<i64, _>(&column, rows, |value| value as u64),
                Element::I32 => numbers::<i32, _>(&column, rows, |value| i64::from(value) as u64),
                Element::I16 => numbers::<i16, _>(&column, rows, |value| i64::from(value) as u64),
                Element::I8 => numbers::<i8, _>(&column, rows, |value| i64::from(value) as u64),
                _ => return Some(Err(wrong())),
            };
            match leaf.kind {
                LeafKind::Identifier => Values::U64(whole),
                _ => Values::I32(whole.into_iter().map(|value| value as i32).collect()),
            }
        }
    };
    let present = present.contains(&false).then_some(present);
    if let Some(present) = &present {
        // What stands there means nothing.
        each!(&mut values, list => {
            let absent = list.iter_mut().zip(present).filter(|(_, present)| !**present);
            absent.for_each(|(value, _)| *value = Default::default());
        });
    }
    Some(Ok(Column { name: leaf.column(), unit: leaf.unit, values, present }))
}

/// The elements of a column, in another type.
fn numbers<T: Number + Default, V>(
    column: &packed::Values,
    rows: usize,
    into: impl Fn(T) -> V,
) -> Vec<V> {
    let mut raw = vec![T::default(); rows];
    let is_right = column.read(0, &mut raw);
    debug_assert!(is_right, "of its own element type");
    raw.into_iter().map(into).collect()
}
