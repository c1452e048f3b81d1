//! Arrow's IPC stream.

use std::ptr::NonNull;
use std::sync::Arc;

use anyhow::{bail, Context, Result};
use arrow_array::cast::AsArray;
use arrow_array::types::ArrowPrimitiveType;
use arrow_array::{types, Array, ArrayRef, PrimitiveArray, RecordBatch};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, ScalarBuffer};
use arrow_ipc::reader::StreamDecoder;
use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};
use arrow_ipc::CompressionType;
use arrow_schema::{DataType, Field, Schema};
use wiregauge_points::{Type, Values};

use crate::reduction::{DecodeUnit, Fidelity, Reduction, ReductionEntry, ReductionFactory};
use crate::table::{Column, Table};

inventory::submit! {
    ReductionEntry {
        name: "arrow",
        title: "Arrow IPC",
        order: 50,
        library: LIBRARY,
        is_bound: false,
        keeps: Fidelity::Everything,
        exact: false,
        decode_unit: DecodeUnit::Row,
        options: &[STREAM, COPIED],
        compressors: &[],
        sorted_by: None,
        make: ReductionFactory::Rust(|| Box::new(Arrow { compression: None })),
    }
}

inventory::submit! {
    ReductionEntry {
        name: "arrow-zstd",
        title: "Arrow IPC, its own zstd 1",
        order: 51,
        library: LIBRARY,
        is_bound: false,
        keeps: Fidelity::Everything,
        exact: false,
        decode_unit: DecodeUnit::Whole,
        options: &[STREAM, "each buffer compressed by itself, zstd at level 1", COPIED],
        compressors: &[],
        sorted_by: None,
        make: ReductionFactory::Rust(|| Box::new(Arrow { compression: Some(CompressionType::ZSTD) })),
    }
}

inventory::submit! {
    ReductionEntry {
        name: "arrow-lz4",
        title: "Arrow IPC, its own LZ4",
        order: 52,
        library: LIBRARY,
        is_bound: false,
        keeps: Fidelity::Everything,
        exact: false,
        decode_unit: DecodeUnit::Whole,
        options: &[STREAM, "each buffer compressed by itself, LZ4 frames", COPIED],
        compressors: &[],
        sorted_by: None,
        make: ReductionFactory::Rust(|| Box::new(Arrow { compression: Some(CompressionType::LZ4_FRAME) })),
    }
}

const LIBRARY: &str = "arrow-ipc 60.1.0";
const STREAM: &str = "a stream of its own for each table: schema, one batch, end";
const COPIED: &str =
    "decoding copies the columns out of the arrays, where a reader could read them";

struct Arrow {
    compression: Option<CompressionType>,
}

/// The bytes of a slice as a buffer of Arrow's, without a copy.
///
/// # Safety
/// The buffer, and all that is made of it, must be gone before the slice is.
unsafe fn borrow_bytes(bytes: &[u8]) -> Buffer {
    let start = NonNull::from(bytes).cast::<u8>();
    // SAFETY: these are so many bytes, which live on as the caller says.
    unsafe { Buffer::from_custom_allocation(start, bytes.len(), Arc::new(())) }
}

/// A column as an array that lies where the column does.
///
/// # Safety
/// As of [`borrow_bytes`].
unsafe fn borrow_array(column: &Column) -> ArrayRef {
    /// # Safety
    /// As of [`lent`].
    unsafe fn typed_array<T: ArrowPrimitiveType>(
        list: &[T::Native],
        bits: Option<&[u8]>,
    ) -> ArrayRef
    where
        T::Native: bytemuck::Pod,
    {
        // SAFETY: as the caller says.
        let buffer = unsafe { borrow_bytes(bytemuck::cast_slice(list)) };
        let values = ScalarBuffer::new(buffer, 0, list.len());
        // SAFETY: as the caller says.
        let bits = bits.map(|bits| unsafe { borrow_bytes(bits) });
        let nulls = bits.map(|bits| NullBuffer::new(BooleanBuffer::new(bits, 0, list.len())));
        Arc::new(PrimitiveArray::<T>::new(values, nulls))
    }
    let bits = column.presence();
    // SAFETY: as the caller says.
    unsafe {
        match &column.values {
            Values::I8(list) => typed_array::<types::Int8Type>(list, bits),
            Values::U8(list) => typed_array::<types::UInt8Type>(list, bits),
            Values::I16(list) => typed_array::<types::Int16Type>(list, bits),
            Values::U16(list) => typed_array::<types::UInt16Type>(list, bits),
            Values::I32(list) => typed_array::<types::Int32Type>(list, bits),
            Values::U32(list) => typed_array::<types::UInt32Type>(list, bits),
            Values::U64(list) => typed_array::<types::UInt64Type>(list, bits),
            Values::F32(list) => typed_array::<types::Float32Type>(list, bits),
            Values::F64(list) => typed_array::<types::Float64Type>(list, bits),
        }
    }
}

fn type_of_arrow(data_type: &DataType) -> Result<Type> {
    Ok(match data_type {
        DataType::Int8 => Type::I8,
        DataType::UInt8 => Type::U8,
        DataType::Int16 => Type::I16,
        DataType::UInt16 => Type::U16,
        DataType::Int32 => Type::I32,
        DataType::UInt32 => Type::U32,
        DataType::UInt64 => Type::U64,
        DataType::Float32 => Type::F32,
        DataType::Float64 => Type::F64,
        other => bail!("a column of {other}"),
    })
}

/// Copies an array into a column of its type and length.
fn fill(array: &dyn Array, values: &mut Values) {
    macro_rules! copied {
        ($list:expr, $kind:ident) => {
            $list.copy_from_slice(array.as_primitive::<types::$kind>().values())
        };
    }
    match values {
        Values::I8(list) => copied!(list, Int8Type),
        Values::U8(list) => copied!(list, UInt8Type),
        Values::I16(list) => copied!(list, Int16Type),
        Values::U16(list) => copied!(list, UInt16Type),
        Values::I32(list) => copied!(list, Int32Type),
        Values::U32(list) => copied!(list, UInt32Type),
        Values::U64(list) => copied!(list, UInt64Type),
        Values::F32(list) => copied!(list, Float32Type),
        Values::F64(list) => copied!(list, Float64Type),
    }
}

/// The bits of an array's rows that have a value, and none behind them.
fn bits(array: &dyn Array, present: &mut Vec<u8>) {
    match array.nulls() {
        Some(nulls) => {
            let bits = nulls.inner().sliced();
            present.extend_from_slice(&bits[..array.len().div_ceil(8)]);
        }
        None => present.resize(array.len().div_ceil(8), u8::MAX),
    }
    if let (Some(last), 1..) = (present.last_mut(), array.len() % 8) {
        *last &= (1 << (array.len() % 8)) - 1;
    }
}

impl Reduction for Arrow {
    fn encode(&mut self, table: &Table, out: &mut Vec<u8>) -> Result<()> {
        out.clear();
        // SAFETY: the arrays are dropped with this function, and the table lives on.
        let arrays: Vec<ArrayRef> =
            table.columns.iter().map(|column| unsafe { borrow_array(column) }).collect();
        let fields = table.columns.iter().zip(&arrays).map(|(column, array)| {
            Field::new(&column.name, array.data_type().clone(), column.presence().is_some())
        });
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let mut options = IpcWriteOptions::default().try_with_compression(self.compression)?;
        if self.compression == Some(CompressionType::ZSTD) {
            options = options.try_with_compression_level(Some(1))?;
        }
        let mut writer = StreamWriter::try_new_with_options(out, &schema, options)?;
        writer.write(&RecordBatch::try_new(schema, arrays)?)?;
        writer.finish()?;
        Ok(())
    }

    fn decode(&mut self, bytes: &[u8], table: &mut Table) -> Result<()> {
        // SAFETY: the buffer and the batch are dropped with this function.
        let mut rest = unsafe { borrow_bytes(bytes) };
        let mut decoder = StreamDecoder::new();
        let batch = decoder.decode(&mut rest)?.context("no batch")?;
        for (at, (field, array)) in batch.schema().fields().iter().zip(batch.columns()).enumerate()
        {
            let column = table.prepare_column(
                at,
                field.name(),
                type_of_arrow(field.data_type())?,
                batch.num_rows(),
            );
            fill(array, &mut column.values);
            if field.is_nullable() {
                bits(array, &mut column.present);
            }
        }
        table.columns.truncate(batch.num_columns());
        Ok(())
    }
}
