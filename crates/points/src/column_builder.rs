//! Rows of a column until there are enough of them to be written.

use std::sync::Arc;

use arrow_array::types::ArrowPrimitiveType;
use arrow_array::{types, ArrayRef, PrimitiveArray};
use arrow_buffer::{BooleanBuffer, NullBuffer, ScalarBuffer};
use arrow_schema::DataType;
use wiregauge_columns::zero_buffer;

use crate::column::{each, Column, Type, Values};

/// The rows of a column so far.
#[derive(Debug)]
pub struct ColumnBuilder {
    values: Values,
    /// None while all rows have a value.
    present: Option<Vec<bool>>,
    /// Rows without a value before the first that has one, which are in neither of them.
    absent: usize,
}

impl ColumnBuilder {
    /// No rows.
    pub fn new(kind: Type) -> ColumnBuilder {
        ColumnBuilder { values: kind.empty_values(), present: None, absent: 0 }
    }

    /// Adds a row for each value of a column; as the first ones they are not copied.
    pub fn add(&mut self, column: Column) {
        self.write_absent();
        let before = self.values.len();
        match (&mut self.present, column.present) {
            (None, None) => {}
            (present, None) => {
                if let Some(all) = present {
                    all.resize(before + column.values.len(), true);
                }
            }
            (present, Some(more)) => {
                present.get_or_insert_with(|| vec![true; before]).extend(more);
            }
        }
        if before == 0 && self.values.kind() == column.values.kind() {
            self.values = column.values;
            return;
        }
        match (&mut self.values, column.values) {
            (Values::I8(into), Values::I8(of)) => into.extend(of),
            (Values::U8(into), Values::U8(of)) => into.extend(of),
            (Values::I16(into), Values::I16(of)) => into.extend(of),
            (Values::U16(into), Values::U16(of)) => into.extend(of),
            (Values::I32(into), Values::I32(of)) => into.extend(of),
            (Values::U32(into), Values::U32(of)) => into.extend(of),
            (Values::U64(into), Values::U64(of)) => into.extend(of),
            (Values::F32(into), Values::F32(of)) => into.extend(of),
            (Values::F64(into), Values::F64(of)) => into.extend(of),
            // Wider ones are these alone.
            (Values::U64(into), Values::U8(of)) => widen(into, &of),
            (Values::U64(into), Values::U16(of)) => widen(into, &of),
            (Values::U64(into), Values::U32(of)) => widen(into, &of),
            (Values::F64(into), Values::I8(of)) => widen(into, &of),
            (Values::F64(into), Values::U8(of)) => widen(into, &of),
            (Values::F64(into), Values::I16(of)) => widen(into, &of),
            (Values::F64(into), Values::U16(of)) => widen(into, &of),
            (Values::F64(into), Values::I32(of)) => widen(into, &of),
            (Values::F64(into), Values::U32(of)) => widen(into, &of),
            (Values::F64(into), Values::F32(of)) => widen(into, &of),
            (_, _) => unreachable!("a column holds the values of all lists"),
        }
    }

    /// Adds rows without a value.
    pub fn add_absent(&mut self, count: usize) {
        self.absent += count;
        if !self.values.is_empty() {
            self.write_absent();
        }
    }

    /// Puts rows without a value among those that have one.
    fn write_absent(&mut self) {
        let count = std::mem::take(&mut self.absent);
        if count > 0 {
            let (before, all) = (self.values.len(), self.values.len() + count);
            self.present.get_or_insert_with(|| vec![true; before]).resize(all, false);
            each!(&mut self.values, list => list.resize(all, Default::default()));
        }
    }

    /// The rows, and none are left.
    pub fn finish(&mut self) -> ArrayRef {
        let present = self.present.take().filter(|present| present.contains(&false));
        let nulls = present.map(|present| NullBuffer::new(BooleanBuffer::from(present)));
        let mut values = self.values.kind().empty_values();
        std::mem::swap(&mut values, &mut self.values);
        let absent = std::mem::take(&mut self.absent);
        let nulls = if absent > 0 { Some(NullBuffer::new_null(absent)) } else { nulls };
        fn array<T: ArrowPrimitiveType>(
            values: Vec<T::Native>,
            absent: usize,
            nulls: Option<NullBuffer>,
        ) -> ArrayRef {
            let values = match absent {
                0 => values.into(),
                // No row has a value.
                _ => ScalarBuffer::from(zero_buffer(absent * size_of::<T::Native>())),
            };
            Arc::new(PrimitiveArray::<T>::new(values, nulls))
        }
        match values {
            Values::I8(values) => array::<types::Int8Type>(values, absent, nulls),
            Values::U8(values) => array::<types::UInt8Type>(values, absent, nulls),
            Values::I16(values) => array::<types::Int16Type>(values, absent, nulls),
            Values::U16(values) => array::<types::UInt16Type>(values, absent, nulls),
            Values::I32(values) => array::<types::Int32Type>(values, absent, nulls),
            Values::U32(values) => array::<types::UInt32Type>(values, absent, nulls),
            Values::U64(values) => array::<types::UInt64Type>(values, absent, nulls),
            Values::F32(values) => array::<types::Float32Type>(values, absent, nulls),
            Values::F64(values) => array::<types::Float64Type>(values, absent, nulls),
        }
    }
}

/// Adds values in a type that holds them.
fn widen<T: Copy + Into<V>, V>(into: &mut Vec<V>, of: &[T]) {
    into.extend(of.iter().map(|value| (*value).into()));
}

/// The type as tables have it.
pub fn data_type(kind: Type) -> DataType {
    match kind {
        Type::I8 => DataType::Int8,
        Type::U8 => DataType::UInt8,
        Type::I16 => DataType::Int16,
        Type::U16 => DataType::UInt16,
        Type::I32 => DataType::Int32,
        Type::U32 => DataType::UInt32,
        Type::U64 => DataType::UInt64,
        Type::F32 => DataType::Float32,
        Type::F64 => DataType::Float64,
    }
}
