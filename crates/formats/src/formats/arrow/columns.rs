//! Columns from the values of many records, and their values again.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::ArrowPrimitiveType;
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, FixedSizeListArray, ListArray, PrimitiveArray,
    StringArray, StructArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, Fields};
use wiregauge_runner::Error;

pub fn list_type(of: DataType) -> DataType {
    DataType::List(Arc::new(Field::new_list_field(of, false)))
}
pub fn array_type(of: DataType, len: i32) -> DataType {
    DataType::FixedSizeList(Arc::new(Field::new_list_field(of, false)), len)
}

/// The type of a list's elements.
pub fn item(kind: &DataType) -> &DataType {
    match kind {
        DataType::List(item) | DataType::FixedSizeList(item, _) => item.data_type(),
        other => unreachable!("{other} is no list"),
    }
}
pub fn fields(kind: &DataType) -> &Fields {
    match kind {
        DataType::Struct(fields) => fields,
        other => unreachable!("{other} is no record"),
    }
}

pub fn numbers<T: ArrowPrimitiveType>(values: impl Iterator<Item = T::Native>) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::from_iter_values(values))
}
pub fn options<T: ArrowPrimitiveType>(values: impl Iterator<Item = Option<T::Native>>) -> ArrayRef {
    let (mut all, mut present) = (Vec::new(), Vec::new());
    for value in values {
        present.push(value.is_some());
        all.push(value.unwrap_or_default());
    }
    Arc::new(PrimitiveArray::<T>::new(ScalarBuffer::from(all), Some(NullBuffer::from(present))))
}
/// Lists of numbers, one behind the other.
pub fn joined<'a, T: ArrowPrimitiveType>(lists: impl Iterator<Item = &'a [T::Native]>) -> ArrayRef {
    let mut all = Vec::new();
    lists.for_each(|list| all.extend_from_slice(list));
    Arc::new(PrimitiveArray::<T>::new(ScalarBuffer::from(all), None))
}
pub fn flags(values: impl Iterator<Item = Option<bool>>) -> ArrayRef {
    Arc::new(values.collect::<BooleanArray>())
}
pub fn texts<'a>(values: impl Iterator<Item = Option<&'a str>>) -> ArrayRef {
    Arc::new(values.collect::<StringArray>())
}
pub fn octets<'a>(values: impl Iterator<Item = Option<&'a [u8]>>) -> ArrayRef {
    Arc::new(values.collect::<BinaryArray>())
}
pub fn record(
    kind: &DataType,
    len: usize,
    present: Option<NullBuffer>,
    columns: Vec<ArrayRef>,
) -> ArrayRef {
    let fields = fields(kind);
    Arc::new(match fields.is_empty() {
        true => StructArray::new_empty_fields(len, present),
        false => StructArray::new(fields.clone(), columns, present),
    })
}
pub fn list(kind: &DataType, lengths: impl Iterator<Item = usize>, values: ArrayRef) -> ArrayRef {
    let DataType::List(item) = kind else { unreachable!("{kind} is no list") };
    Arc::new(ListArray::new(item.clone(), OffsetBuffer::from_lengths(lengths), values, None))
}
pub fn array(kind: &DataType, rows: usize, values: ArrayRef) -> ArrayRef {
    let DataType::FixedSizeList(item, len) = kind else { unreachable!("{kind} is no array") };
    debug_assert_eq!(values.len(), rows * *len as usize);
    Arc::new(FixedSizeListArray::new(item.clone(), *len, values, None))
}

pub fn other_type() -> Error {
    Error::new("columns of another type")
}

pub fn values<T: ArrowPrimitiveType>(column: &ArrayRef) -> Result<&[T::Native], Error> {
    column.as_primitive_opt::<T>().map(|array| &array.values()[..]).ok_or_else(other_type)
}
pub fn flag_column(column: &ArrayRef) -> Result<&BooleanArray, Error> {
    column.as_boolean_opt().ok_or_else(other_type)
}
pub fn text_column(column: &ArrayRef) -> Result<&StringArray, Error> {
    column.as_string_opt::<i32>().ok_or_else(other_type)
}
pub fn octet_column(column: &ArrayRef) -> Result<&BinaryArray, Error> {
    column.as_binary_opt::<i32>().ok_or_else(other_type)
}
pub fn children(column: &ArrayRef) -> Result<&[ArrayRef], Error> {
    column.as_struct_opt().map(StructArray::columns).ok_or_else(other_type)
}
pub fn list_column(column: &ArrayRef) -> Result<&ListArray, Error> {
    column.as_list_opt::<i32>().ok_or_else(other_type)
}
pub fn array_column(column: &ArrayRef, len: i32) -> Result<&FixedSizeListArray, Error> {
    let array = column.as_fixed_size_list_opt().ok_or_else(other_type)?;
    if array.value_length() != len {
        return Err(Error::new("an array of another length"));
    }
    Ok(array)
}

/// What has several values in each row.
pub trait Several {
    fn range(&self, row: usize) -> Range<usize>;
}

impl Several for ListArray {
    fn range(&self, row: usize) -> Range<usize> {
        self.value_offsets()[row] as usize..self.value_offsets()[row + 1] as usize
    }
}

impl Several for FixedSizeListArray {
    fn range(&self, row: usize) -> Range<usize> {
        self.value_offset(row) as usize..self.value_offset(row + 1) as usize
    }
}

/// Which values stand in a row.
pub fn range(list: &impl Several, row: usize) -> Range<usize> {
    list.range(row)
}
