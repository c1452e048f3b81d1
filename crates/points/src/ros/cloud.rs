//! Point clouds, whose fields each message describes itself.

use std::collections::BTreeSet;

use anyhow::{ensure, Context, Result};
use wiregauge_columns::Cursor;
use wiregauge_system::text::format_count;

use super::{read_text, read_truth, read_u32, Header};
use crate::column::{unit, Column, Type, Values};
use crate::points::Points;

/// The most bytes that a point has: eight times the longest descriptors of PCL.
const LARGEST: usize = 1 << 16;

/// The fewest bytes of a field's description: its name's length, offset, type and count.
const SMALLEST_FIELD: usize = 4 + 4 + 1 + 4;

/// The points of a `sensor_msgs/PointCloud2` behind its header.
pub fn read_points(
    cursor: &mut Cursor,
    header: Header,
    wanted: &dyn Fn(&str) -> bool,
) -> Result<Points> {
    let (height, width) = (read_u32(cursor)? as usize, read_u32(cursor)? as usize);
    let count = cursor.length()?;
    let left = cursor.left();
    ensure!(count <= left / SMALLEST_FIELD, "{count} fields, but only {left} bytes are left");
    let fields = (0..count).map(|_| PointField::read(cursor)).collect::<Result<Vec<_>>>()?;
    let is_big_endian = read_truth(cursor)?;
    let (step, row_step) = (read_u32(cursor)? as usize, read_u32(cursor)? as usize);
    let length = cursor.length()?;
    let data = cursor.take(length)?;
    read_truth(cursor)?;
    let layout = PointLayout { width, height, step, row_step, is_big_endian };
    layout.check(data)?;
    let (columns, names) = layout.columns(&fields, data, wanted)?;
    let has = |name: &&str| names.contains(*name);
    let is_placed = ["x", "y", "z"].iter().filter(|name| has(name)).count() >= 2;
    let unplaced = (!is_placed).then_some("it needs at least two of the fields x, y and z");
    Ok(Points {
        list: String::new(),
        count: width * height,
        columns,
        frame: Some(header.frame),
        pose: None,
        time: Some(header.time),
        unplaced,
        by_elevation: false,
    })
}

/// What a message says of a field of its points.
struct PointField {
    name: String,
    offset: usize,
    datatype: u64,
    count: usize,
}

impl PointField {
    fn read(cursor: &mut Cursor) -> Result<PointField> {
        let (name, offset) = (read_text(cursor)?, read_u32(cursor)? as usize);
        let datatype = cursor.number(1)?;
        // 0 stands for one, as PCL takes it.
        let count = (read_u32(cursor)? as usize).max(1);
        Ok(PointField { name, offset, datatype, count })
    }
}

/// How points lie in the bytes.
struct PointLayout {
    width: usize,
    height: usize,
    step: usize,
    row_step: usize,
    is_big_endian: bool,
}

impl PointLayout {
    fn check(&self, data: &[u8]) -> Result<()> {
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
    fn columns(
        &self,
        fields: &[PointField],
        data: &[u8],
        is_wanted: &dyn Fn(&str) -> bool,
    ) -> Result<(Vec<Column>, BTreeSet<String>)> {
        let (mut columns, mut names, mut starts) = (Vec::new(), BTreeSet::new(), Vec::new());
        let mut wanted = 0;
        // Old drivers fill gaps by fields of these names.
        for field in fields.iter().filter(|field| !field.name.is_empty() && field.name != "_") {
            let PointField { name, offset, datatype, count } = field;
            let kind = type_of_datatype(*datatype)
                .with_context(|| format!("field {name} has the unknown type {datatype}"))?;
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

/// The type that a number of `PointField` stands for.
fn type_of_datatype(datatype: u64) -> Option<Type> {
    let all =
        [Type::I8, Type::U8, Type::I16, Type::U16, Type::I32, Type::U32, Type::F32, Type::F64];
    all.get(usize::try_from(datatype).ok()?.checked_sub(1)?).copied()
}

impl Values {
    /// Adds the numbers that lie so many bytes behind the beginning of each step.
    fn extend_strided(&mut self, bytes: &[u8], start: usize, step: usize, is_big_endian: bool) {
        match self {
            Values::I8(list) => extend(list, bytes, start, step, |byte| i8::from_le_bytes(byte)),
            Values::U8(list) => extend(list, bytes, start, step, |[byte]| byte),
            Values::I16(list) if is_big_endian => {
                extend(list, bytes, start, step, i16::from_be_bytes)
            }
            Values::I16(list) => extend(list, bytes, start, step, i16::from_le_bytes),
            Values::U16(list) if is_big_endian => {
                extend(list, bytes, start, step, u16::from_be_bytes)
            }
            Values::U16(list) => extend(list, bytes, start, step, u16::from_le_bytes),
            Values::I32(list) if is_big_endian => {
                extend(list, bytes, start, step, i32::from_be_bytes)
            }
            Values::I32(list) => extend(list, bytes, start, step, i32::from_le_bytes),
            Values::U32(list) if is_big_endian => {
                extend(list, bytes, start, step, u32::from_be_bytes)
            }
            Values::U32(list) => extend(list, bytes, start, step, u32::from_le_bytes),
            Values::U64(list) if is_big_endian => {
                extend(list, bytes, start, step, u64::from_be_bytes)
            }
            Values::U64(list) => extend(list, bytes, start, step, u64::from_le_bytes),
            Values::F32(list) if is_big_endian => {
                extend(list, bytes, start, step, f32::from_be_bytes)
            }
            Values::F32(list) => extend(list, bytes, start, step, f32::from_le_bytes),
            Values::F64(list) if is_big_endian => {
                extend(list, bytes, start, step, f64::from_be_bytes)
            }
            Values::F64(list) => extend(list, bytes, start, step, f64::from_le_bytes),
        }
    }
}

/// Each order of bytes has its own loop, which for neighbours is a copy of memory.
#[inline]
fn extend<const SIZE: usize, T>(
    list: &mut Vec<T>,
    bytes: &[u8],
    start: usize,
    step: usize,
    read: impl Fn([u8; SIZE]) -> T,
) {
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
