//! Rows of a column until there are enough of them to be written.

use std::sync::Arc;

use arrow_array::types::ArrowPrimitiveType;
use arrow_array::{types, ArrayRef, PrimitiveArray};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_schema::DataType;

use crate::column::{each, Column, Type, Values};

/// The rows of a column so far.
pub struct ColumnBuilder {
    values: Values,
    present: Vec<bool>,
}

impl ColumnBuilder {
    /// No rows.
    pub fn new(kind: Type) -> ColumnBuilder {
        ColumnBuilder { values: kind.empty_values(), present: Vec::new() }
    }

    /// Adds the values of so many points from one on; absent ones where they have no such
    /// column.
    pub fn add(&mut self, column: Option<&Column>, from: usize, count: usize) {
        let Some(column) = column else {
            self.present.resize(self.present.len() + count, false);
            let all = self.present.len();
            each!(&mut self.values, list => list.resize(all, Default::default()));
            return;
        };
        match &column.present {
            Some(present) => self.present.extend_from_slice(&present[from..from + count]),
            None => self.present.resize(self.present.len() + count, true),
        }
        let part = from..from + count;
        match (&mut self.values, &column.values) {
            (Values::I8(into), Values::I8(of)) => into.extend_from_slice(&of[part]),
            (Values::U8(into), Values::U8(of)) => into.extend_from_slice(&of[part]),
            (Values::I16(into), Values::I16(of)) => into.extend_from_slice(&of[part]),
            (Values::U16(into), Values::U16(of)) => into.extend_from_slice(&of[part]),
            (Values::I32(into), Values::I32(of)) => into.extend_from_slice(&of[part]),
            (Values::U32(into), Values::U32(of)) => into.extend_from_slice(&of[part]),
            (Values::U64(into), Values::U64(of)) => into.extend_from_slice(&of[part]),
            (Values::F32(into), Values::F32(of)) => into.extend_from_slice(&of[part]),
            (Values::F64(into), Values::F64(of)) => into.extend_from_slice(&of[part]),
            // Wider ones are these alone.
            (Values::U64(into), Values::U8(of)) => widen(into, &of[part]),
            (Values::U64(into), Values::U16(of)) => widen(into, &of[part]),
            (Values::U64(into), Values::U32(of)) => widen(into, &of[part]),
            (Values::F64(into), Values::I8(of)) => widen(into, &of[part]),
            (Values::F64(into), Values::U8(of)) => widen(into, &of[part]),
            (Values::F64(into), Values::I16(of)) => widen(into, &of[part]),
            (Values::F64(into), Values::U16(of)) => widen(into, &of[part]),
            (Values::F64(into), Values::I32(of)) => widen(into, &of[part]),
            (Values::F64(into), Values::U32(of)) => widen(into, &of[part]),
            (Values::F64(into), Values::F32(of)) => widen(into, &of[part]),
            (_, _) => unreachable!("a column holds the values of all lists"),
        }
    }

    /// The rows, and none are left.
    pub fn finish(&mut self) -> ArrayRef {
        let present = std::mem::take(&mut self.present);
        let nulls = present.contains(&false);
        let nulls = nulls.then(|| NullBuffer::new(BooleanBuffer::from(present)));
        let none = self.values.kind().empty_values();
        let values = std::mem::replace(&mut self.values, none);
        fn array<T: ArrowPrimitiveType>(
            values: Vec<T::Native>,
            nulls: Option<NullBuffer>,
        ) -> ArrayRef {
            Arc::new(PrimitiveArray::<T>::new(values.into(), nulls))
        }
        match values {
            Values::I8(values) => array::<types::Int8Type>(values, nulls),
            Values::U8(values) => array::<types::UInt8Type>(values, nulls),
            Values::I16(values) => array::<types::Int16Type>(values, nulls),
            Values::U16(values) => array::<types::UInt16Type>(values, nulls),
            Values::I32(values) => array::<types::Int32Type>(values, nulls),
            Values::U32(values) => array::<types::UInt32Type>(values, nulls),
            Values::U64(values) => array::<types::UInt64Type>(values, nulls),
            Values::F32(values) => array::<types::Float32Type>(values, nulls),
            Values::F64(values) => array::<types::Float64Type>(values, nulls),
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
