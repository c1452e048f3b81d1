//! Points that lie one behind the other in bytes, as each message describes it.

use std::collections::BTreeSet;

use anyhow::{anyhow, ensure, Context, Result};
use wiregauge_system::text::format_count;

use crate::column::{each, unit, Column, Type, Values};

/// The most bytes that a point has: eight times the longest descriptors of PCL.
const LARGEST: usize = 1 << 16;

/// Why the points of a message are nowhere; none where its fields say where they are.
pub fn reason_unplaced(names: &BTreeSet<String>) -> Option<&'static str> {
    let placed = ["x", "y", "z"].iter().filter(|name| names.contains(**name)).count();
    (placed < 2).then_some("it needs at least two of the fields x, y and z")
}

/// What a message says of a field of its points.
pub struct PointField {
    /// Its name.
    pub name: String,
    /// Where it begins in a point, in bytes.
    pub offset: usize,
    /// The type of its values, or the number that stands for no type.
    pub kind: Result<Type, u64>,
    /// How many values it has.
    pub count: usize,
}

/// How points lie in the bytes: lengths in bytes.
pub struct PointLayout {
    /// Points in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// From a point to the next.
    pub step: usize,
    /// From a row to the next.
    pub row_step: usize,
    /// Whether numbers have their most significant byte first.
    pub is_big_endian: bool,
}

impl PointLayout {
    /// Fails where the bytes are no such points.
    pub fn check(&self, data: &[u8]) -> Result<()> {
        let PointLayout { width, height, step, row_step, .. } = *self;
        let row = width.checked_mul(step).filter(|row| *row <= row_step || height <= 1);
        let row = row.context("a row of points is longer than row_step")?;
        let all = match height {
            0 => Some(0),
            _ => (height - 1).checked_mul(row_step).and_then(|before| before.checked_add(row)),
        };
        let is_there = all.is_some_and(|all| all <= data.len());
        ensure!(
            is_there,
            "{} of {}, but only {}",
            format_count(height as u64, "row"),
            format_count(width as u64, "point"),
            format_count(data.len() as u64, "byte")
        );
        // Where there are no points, nothing but this bounds what fields count.
        ensure!(step <= LARGEST, "a point has {step} bytes; {LARGEST} is the limit");
        // Points without bytes would be as many as the message claims.
        ensure!(step > 0 || width == 0 || height == 0, "a point has 0 bytes");
        Ok(())
    }

    /// A column for each field, or as many as it counts, of those that are wanted; and the names
    /// of all.
    pub fn columns(
        &self,
        fields: &[PointField],
        data: &[u8],
        is_wanted: &dyn Fn(&str) -> bool,
    ) -> Result<(Vec<Column>, BTreeSet<String>)> {
        let (mut columns, mut names, mut starts) = (Vec::new(), BTreeSet::new(), Vec::new());
        let mut wanted = 0;
        // Old drivers fill gaps by fields of these names.
        for field in fields.iter().filter(|field| !field.name.is_empty() && field.name != "_") {
            let PointField { name, offset, kind, count } = field;
            let kind = kind.map_err(|kind| anyhow!("field {name} has the unknown type {kind}"))?;
            let end = count.checked_mul(kind.size()).and_then(|size| offset.checked_add(size));
            let is_within = end.is_some_and(|end| end <= self.step);
            ensure!(is_within, "field {name} lies outside of the point");
            wanted += count * kind.size();
            ensure!(wanted <= self.step, "field {name} overlaps a field before it");
            for at in 0..*count {
                let name = if *count == 1 { name.clone() } else { format!("{name}_{at}") };
                ensure!(names.insert(name.clone()), "two fields have the name {name}");
                if !is_wanted(&name) {
                    continue;
                }
                let mut values = kind.empty_values();
                values.reserve(self.width * self.height);
                columns.push(Column { unit: unit(&name), name, values, present: None });
                starts.push(offset + at * kind.size());
            }
        }
        self.gather(data, &starts, &mut columns);
        Ok((columns, names))
    }

    /// Adds the values of all points, each column from where it starts in a point.
    fn gather(&self, data: &[u8], starts: &[usize], columns: &mut [Column]) {
        if self.width == 0 || self.height == 0 {
            return;
        }
        let row = self.width * self.step;
        let mut gather = |points: &[u8]| {
            for (start, column) in starts.iter().zip(&mut *columns) {
                column.values.extend_strided(points, *start, self.step, self.is_big_endian);
            }
        };
        // Blocks of whole points stay in the first cache for all columns.
        let block = self.step * (BLOCK / self.step).max(1);
        if self.height == 1 || self.row_step == row {
            data[..row * self.height].chunks(block).for_each(&mut gather);
            return;
        }
        for line in data.chunks(self.row_step).take(self.height) {
            line[..row].chunks(block).for_each(&mut gather);
        }
    }
}

/// So many bytes are read for all columns before the next ones.
const BLOCK: usize = 16 << 10;

impl Values {
    /// Adds the numbers that lie so many bytes behind the beginning of each step.
    fn extend_strided(&mut self, bytes: &[u8], start: usize, step: usize, is_big_endian: bool) {
        each!(self, list => match is_big_endian {
            true => extend(list, bytes, start, step, FromBytes::from_be),
            false => extend(list, bytes, start, step, FromBytes::from_le),
        });
    }
}

/// A number by its bytes, in each of their orders.
trait FromBytes<const SIZE: usize> {
    fn from_le(bytes: [u8; SIZE]) -> Self;
    fn from_be(bytes: [u8; SIZE]) -> Self;
}

macro_rules! from_bytes {
    ($($kind:ty, $size:literal;)*) => {
        $(impl FromBytes<$size> for $kind {
            fn from_le(bytes: [u8; $size]) -> Self {
                <$kind>::from_le_bytes(bytes)
            }
            fn from_be(bytes: [u8; $size]) -> Self {
                <$kind>::from_be_bytes(bytes)
            }
        })*
    };
}

from_bytes! { i8, 1; u8, 1; i16, 2; u16, 2; i32, 4; u32, 4; u64, 8; f32, 4; f64, 8; }

/// Each order of bytes has its own loop, which for neighbours is a copy of memory.
#[inline]
fn extend<const SIZE: usize, T>(
    list: &mut Vec<T>,
    bytes: &[u8],
    start: usize,
    step: usize,
    read: impl Fn([u8; SIZE]) -> T,
) where
    T: FromBytes<SIZE>,
{
    let number = |point: &[u8]| {
        let mut number = [0; SIZE];
        number.copy_from_slice(&point[start..start + SIZE]);
        read(number)
    };
    // Steps that are common are known to the loop.
    match step {
        8 => list.extend(bytes.chunks_exact(8).map(number)),
        12 => list.extend(bytes.chunks_exact(12).map(number)),
        16 => list.extend(bytes.chunks_exact(16).map(number)),
        32 => list.extend(bytes.chunks_exact(32).map(number)),
        _ => list.extend(bytes.chunks_exact(step).map(number)),
    }
}
