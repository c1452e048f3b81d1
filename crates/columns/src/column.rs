//! Columns that grow row by row, and become arrays of Arrow without a copy.

use std::sync::Arc;

use anyhow::{bail, ensure, Result};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, DurationNanosecondType, Float32Type, Float64Type, Int16Type, Int32Type,
    Int64Type, Int8Type, TimestampNanosecondType, UInt16Type, UInt32Type, UInt64Type, UInt8Type,
};
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, FixedSizeBinaryArray, FixedSizeListArray, ListArray,
    MapArray, PrimitiveArray, StringArray, StructArray,
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, FieldRef, Fields};
use wiregauge_schema::Scalar;

use crate::number_list::NumberList;
use crate::zeros::zero_buffer;

/// The most bytes, texts or elements that a column holds in one batch: offsets have 31 bits.
const LONGEST: usize = i32::MAX as usize;

/// The most memory in bytes that elements of lists may take in one batch: an element that has
/// hardly any bytes in a message still takes a row in each of its columns.
const LARGEST: usize = 1 << 30;

/// A column, or the columns of a record.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub content: Content,
    /// One byte a row, 1 where it has a value; none where all rows have one.
    present: Option<Vec<u8>>,
    /// How many rows there are before the first that has a value. They are in neither of the
    /// others until then: most columns of a message never get a value.
    absent: usize,
}

/// The rows of a column.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    Number(NumberList, Scalar),
    /// Text or bytes, each up to an offset.
    Bytes {
        bytes: Vec<u8>,
        ends: Vec<i32>,
        is_text: bool,
    },
    /// Octets, always as many in a row.
    Octets {
        bytes: Vec<u8>,
        length: usize,
    },
    /// Lists, each up to an offset of its elements, or maps of entries.
    List {
        element: Box<Column>,
        ends: Vec<i32>,
        field: FieldRef,
        is_map: bool,
    },
    /// Elements, always as many in a row.
    Array {
        element: Box<Column>,
        length: usize,
        rows: usize,
        field: FieldRef,
    },
    Record {
        columns: Vec<Column>,
        rows: usize,
        fields: Fields,
        form: RecordForm,
    },
}

/// What a record becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordForm {
    Struct,
    /// A point in time, of seconds and nanoseconds.
    Timestamp,
    /// A span of time, likewise.
    Duration,
}

impl Column {
    pub fn new(content: Content, is_nullable: bool) -> Column {
        Column { content, present: is_nullable.then(Vec::new), absent: 0 }
    }

    /// How many rows it has.
    pub fn rows(&self) -> usize {
        self.absent + self.content.rows()
    }

    /// About how many bytes a row takes, without what varies.
    pub fn row_size(&self) -> usize {
        match &self.content {
            Content::Number(words, _) => words.size(),
            Content::Bytes { .. } | Content::List { .. } => 4,
            Content::Octets { length, .. } => *length,
            Content::Array { element, length, .. } => element.row_size() * length,
            Content::Record { columns, .. } => columns.iter().map(Column::row_size).sum(),
        }
    }

    /// Adds about what so many more rows take to a sum.
    ///
    /// # Errors
    /// When the sum is more than a batch may take.
    pub fn count_size(&self, rows: usize, size: &mut usize) -> Result<()> {
        add_size(rows, self.row_size(), size)
    }

    /// Leaves out all rows behind these.
    pub fn truncate(&mut self, rows: usize) {
        if self.absent > 0 {
            self.absent = self.absent.min(rows);
            return;
        }
        if let Some(present) = &mut self.present {
            present.truncate(rows);
        }
        match &mut self.content {
            Content::Number(words, _) => words.truncate(rows),
            Content::Bytes { bytes, ends, .. } => {
                ends.truncate(rows + 1);
                bytes.truncate(last(ends));
            }
            Content::Octets { bytes, length } => bytes.truncate(rows * *length),
            Content::List { element, ends, .. } => {
                ends.truncate(rows + 1);
                element.truncate(last(ends));
            }
            Content::Array { element, length, rows: count, .. } => {
                element.truncate(rows * *length);
                *count = rows;
            }
            Content::Record { columns, rows: count, .. } => {
                columns.iter_mut().for_each(|column| column.truncate(rows));
                *count = rows;
            }
        }
    }

    /// A row that nothing is said of: absent where it can be, else zero or empty.
    pub fn push_empty(&mut self) {
        self.push_empties(1);
    }

    /// So many rows that nothing is said of.
    pub fn push_empties(&mut self, count: usize) {
        match &mut self.present {
            Some(_) if self.content.rows() == 0 => self.absent += count,
            Some(present) => {
                present.resize(present.len() + count, 0);
                self.content.push_empties(count);
            }
            None => self.content.push_empties(count),
        }
    }

    /// A row whose value is zero or empty until it is set.
    pub fn push_present(&mut self) {
        self.push_presence(1);
        self.content.push_empties(1);
    }

    /// Says of rows that follow that they have a value, which is added to the content alone.
    #[inline]
    pub fn push_presence(&mut self, count: usize) {
        self.write_absent();
        if let Some(present) = &mut self.present {
            present.resize(present.len() + count, 1);
        }
    }

    /// Writes the rows before the first that has a value.
    #[inline]
    fn write_absent(&mut self) {
        if self.absent > 0 {
            let count = std::mem::take(&mut self.absent);
            self.present.iter_mut().for_each(|present| present.resize(count, 0));
            self.content.push_empties(count);
        }
    }

    /// The last row has a value now.
    #[inline]
    pub fn mark_present(&mut self) {
        self.write_absent();
        if let Some(last) = self.present.as_mut().and_then(|present| present.last_mut()) {
            *last = 1;
        }
    }

    /// Nothing is said of the last row any more.
    pub fn reset_last(&mut self) {
        self.truncate(self.rows() - 1);
        self.push_empty();
    }

    /// So many rows, of which those that its numbers lie in have been added.
    pub fn settle(&mut self, wanted: usize) {
        if let Some(present) = &mut self.present {
            present.resize(wanted, 1);
        }
        match &mut self.content {
            Content::Number(..) | Content::Bytes { .. } | Content::Octets { .. } => {}
            Content::List { ends, .. } => ends.resize(wanted + 1, last(ends) as i32),
            Content::Array { element, length, rows, .. } => {
                *rows = wanted;
                element.settle(wanted * *length);
            }
            Content::Record { columns, rows, .. } => {
                *rows = wanted;
                columns.iter_mut().for_each(|column| column.settle(wanted));
            }
        }
    }

    /// More rows of a record, whose columns have them.
    #[inline]
    pub fn count_rows(&mut self, count: usize) {
        if let Content::Record { rows, .. } = &mut self.content {
            *rows += count;
        }
    }

    /// The columns of a record.
    pub fn columns(&mut self) -> &mut [Column] {
        match &mut self.content {
            Content::Record { columns, .. } => columns,
            _ => unreachable!("a plan and its columns are made together"),
        }
    }

    /// The array of all rows; none are left.
    ///
    /// # Errors
    /// When a time is none that a table can hold.
    pub fn finish(&mut self) -> Result<ArrayRef> {
        let absent = std::mem::take(&mut self.absent);
        if let (Content::Number(words, scalar), true) = (&self.content, absent > 0) {
            let zeros = zero_buffer(absent * words.size());
            return Ok(finish_numbers(zeros, *scalar, Some(NullBuffer::new_null(absent))));
        }
        self.content.push_empties(absent);
        let nulls = match &self.present {
            _ if absent > 0 => Some(NullBuffer::new_null(absent)),
            Some(present) if present.contains(&0) => {
                let bits = BooleanBuffer::collect_bool(present.len(), |row| present[row] != 0);
                Some(NullBuffer::new(bits))
            }
            _ => None,
        };
        self.present.iter_mut().for_each(Vec::clear);
        Ok(match &mut self.content {
            Content::Number(words, scalar) => finish_numbers(words.take(), *scalar, nulls),
            Content::Bytes { bytes, ends, is_text } => {
                let values = Buffer::from_vec(std::mem::take(bytes));
                let offsets = take_offsets(ends);
                match *is_text {
                    // Each was checked as it was read.
                    true => Arc::new(StringArray::new(offsets, values, nulls)),
                    false => Arc::new(BinaryArray::new(offsets, values, nulls)),
                }
            }
            Content::Octets { bytes, length } => {
                let values = Buffer::from_vec(std::mem::take(bytes));
                Arc::new(FixedSizeBinaryArray::new(*length as i32, values, nulls))
            }
            Content::List { element, ends, field, is_map } => {
                let (field, ends, elements) =
                    (field.clone(), take_offsets(ends), element.finish()?);
                match (*is_map, elements.as_struct_opt()) {
                    (true, Some(entries)) => {
                        Arc::new(MapArray::new(field, ends, entries.clone(), nulls, false))
                    }
                    _ => Arc::new(ListArray::new(field, ends, elements, nulls)),
                }
            }
            Content::Array { element, length, rows, field } => {
                *rows = 0;
                let (field, length) = (field.clone(), *length as i32);
                Arc::new(FixedSizeListArray::new(field, length, element.finish()?, nulls))
            }
            Content::Record { columns, rows, fields, form } => {
                let rows = std::mem::take(rows);
                let arrays = columns.iter_mut().map(Column::finish).collect::<Result<Vec<_>>>()?;
                match form {
                    RecordForm::Struct if fields.is_empty() => {
                        Arc::new(StructArray::new_empty_fields(rows, nulls))
                    }
                    RecordForm::Struct => Arc::new(StructArray::new(fields.clone(), arrays, nulls)),
                    form => finish_times(*form, &arrays, nulls)?,
                }
            }
        })
    }
}

impl Content {
    /// How many rows it has.
    #[inline]
    fn rows(&self) -> usize {
        match self {
            Content::Number(words, _) => words.len(),
            Content::Bytes { ends, .. } | Content::List { ends, .. } => ends.len() - 1,
            Content::Octets { bytes, length } => bytes.len() / length,
            Content::Array { rows, .. } | Content::Record { rows, .. } => *rows,
        }
    }

    /// Adds so many rows that are zero or empty.
    fn push_empties(&mut self, count: usize) {
        match self {
            Content::Number(words, _) => words.push_zeros(count),
            Content::Bytes { ends, .. } | Content::List { ends, .. } => {
                ends.resize(ends.len() + count, last(ends) as i32);
            }
            Content::Octets { bytes, length } => bytes.resize(bytes.len() + count * *length, 0),
            Content::Array { element, length, rows, .. } => {
                element.push_empties(count * *length);
                *rows += count;
            }
            Content::Record { columns, rows, .. } => {
                columns.iter_mut().for_each(|column| column.push_empties(count));
                *rows += count;
            }
        }
    }
}

/// Adds what so many rows of a size take to a sum.
///
/// # Errors
/// When the sum is more than a batch may take.
pub(crate) fn add_size(rows: usize, row_size: usize, size: &mut usize) -> Result<()> {
    *size = size.saturating_add(rows.saturating_mul(row_size));
    ensure!(*size <= LARGEST, "the rows take more than 1 GiB; make smaller batches");
    Ok(())
}

/// The last offset.
#[inline]
fn last(ends: &[i32]) -> usize {
    ends[ends.len() - 1] as usize
}

/// Another end, behind so much.
#[inline]
pub(crate) fn push_end(ends: &mut Vec<i32>, end: usize) -> Result<()> {
    check_end(end)?;
    ends.push(end as i32);
    Ok(())
}

#[inline]
pub(crate) fn check_end(end: usize) -> Result<()> {
    ensure!(end <= LONGEST, "the values of a batch are longer than 2 GiB; make smaller batches");
    Ok(())
}

fn take_offsets(ends: &mut Vec<i32>) -> OffsetBuffer<i32> {
    OffsetBuffer::new(ScalarBuffer::from(std::mem::replace(ends, vec![0])))
}

/// Seconds and nanoseconds as one number; null where it is further away than that holds.
fn finish_times(
    form: RecordForm,
    parts: &[ArrayRef],
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    let [seconds, nanos] = parts else { bail!("a time has other fields than two") };
    let seconds = seconds.as_primitive::<Int64Type>().values();
    let nanos = nanos.as_primitive::<Int32Type>().values();
    let time = |(seconds, nanos): (&i64, &i32)| {
        seconds.checked_mul(1_000_000_000)?.checked_add(i64::from(*nanos))
    };
    let times: Vec<Option<i64>> = seconds.iter().zip(nanos).map(time).collect();
    let held = times.iter().any(Option::is_none);
    let held = held.then(|| NullBuffer::from_iter(times.iter().map(Option::is_some)));
    let nulls = NullBuffer::union(nulls.as_ref(), held.as_ref());
    let times: Vec<i64> = times.into_iter().map(Option::unwrap_or_default).collect();
    Ok(match form {
        RecordForm::Duration => {
            Arc::new(PrimitiveArray::<DurationNanosecondType>::new(times.into(), nulls))
        }
        _ => {
            let times = PrimitiveArray::<TimestampNanosecondType>::new(times.into(), nulls);
            Arc::new(times.with_timezone("UTC"))
        }
    })
}

fn finish_numbers(values: Buffer, scalar: Scalar, nulls: Option<NullBuffer>) -> ArrayRef {
    fn array<T: ArrowPrimitiveType>(values: Buffer, nulls: Option<NullBuffer>) -> ArrayRef {
        Arc::new(PrimitiveArray::<T>::new(ScalarBuffer::from(values), nulls))
    }
    match scalar {
        Scalar::Bool => {
            let bits = BooleanBuffer::collect_bool(values.len(), |row| values[row] != 0);
            Arc::new(BooleanArray::new(bits, nulls))
        }
        Scalar::U8 => array::<UInt8Type>(values, nulls),
        Scalar::U16 => array::<UInt16Type>(values, nulls),
        Scalar::U32 => array::<UInt32Type>(values, nulls),
        Scalar::U64 => array::<UInt64Type>(values, nulls),
        Scalar::I8 => array::<Int8Type>(values, nulls),
        Scalar::I16 => array::<Int16Type>(values, nulls),
        Scalar::I32 => array::<Int32Type>(values, nulls),
        Scalar::I64 => array::<Int64Type>(values, nulls),
        Scalar::F32 => array::<Float32Type>(values, nulls),
        Scalar::F64 => array::<Float64Type>(values, nulls),
    }
}

/// The type of a number's column.
pub(crate) fn number_type(scalar: Scalar) -> DataType {
    match scalar {
        Scalar::Bool => DataType::Boolean,
        Scalar::U8 => DataType::UInt8,
        Scalar::U16 => DataType::UInt16,
        Scalar::U32 => DataType::UInt32,
        Scalar::U64 => DataType::UInt64,
        Scalar::I8 => DataType::Int8,
        Scalar::I16 => DataType::Int16,
        Scalar::I32 => DataType::Int32,
        Scalar::I64 => DataType::Int64,
        Scalar::F32 => DataType::Float32,
        Scalar::F64 => DataType::Float64,
    }
}
