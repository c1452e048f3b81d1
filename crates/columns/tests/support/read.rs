//! Reads rows back as values.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    DurationNanosecondType, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type, Int8Type,
    TimestampNanosecondType, UInt16Type, UInt32Type, UInt64Type, UInt8Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use wiregauge_schema::Value;

/// The rows of a batch.
pub fn rows(batch: &RecordBatch) -> Vec<Value> {
    let row = |at| Value::Record(batch.columns().iter().map(|column| value(column, at)).collect());
    (0..batch.num_rows()).map(row).collect()
}

/// Octets as numbers, wherever the model has them as bytes.
fn normalized(value: &Value) -> Value {
    match value {
        Value::Record(values) => Value::Record(values.iter().map(normalized).collect()),
        Value::List(values) => Value::List(values.iter().map(normalized).collect()),
        Value::Bytes(bytes) => {
            Value::List(bytes.iter().map(|octet| Value::Unsigned((*octet).into())).collect())
        }
        other => other.clone(),
    }
}

/// Fails where values differ in a bit.
pub fn assert_same(read: &[Value], wanted: &[Value]) {
    assert_eq!(read.len(), wanted.len());
    for (read, wanted) in read.iter().zip(wanted) {
        // As text: NaNs are not equal to themselves.
        let text = |value: &Value| format!("{:?}", normalized(value));
        assert_eq!(text(read), text(wanted));
    }
}

/// A time of Protobuf.
fn time(nanos: i64) -> Value {
    let parts = [nanos / 1_000_000_000, nanos % 1_000_000_000];
    Value::Record(parts.map(Value::Signed).to_vec())
}

fn value(array: &dyn Array, at: usize) -> Value {
    if array.is_null(at) {
        return Value::Absent;
    }
    let elements = |list: &dyn Array| (0..list.len()).map(|at| value(list, at)).collect();
    match array.data_type() {
        DataType::Boolean => Value::Bool(array.as_boolean().value(at)),
        DataType::UInt8 => Value::Unsigned(array.as_primitive::<UInt8Type>().value(at).into()),
        DataType::UInt16 => Value::Unsigned(array.as_primitive::<UInt16Type>().value(at).into()),
        DataType::UInt32 => Value::Unsigned(array.as_primitive::<UInt32Type>().value(at).into()),
        DataType::UInt64 => Value::Unsigned(array.as_primitive::<UInt64Type>().value(at)),
        DataType::Int8 => Value::Signed(array.as_primitive::<Int8Type>().value(at).into()),
        DataType::Int16 => Value::Signed(array.as_primitive::<Int16Type>().value(at).into()),
        DataType::Int32 => Value::Signed(array.as_primitive::<Int32Type>().value(at).into()),
        DataType::Int64 => Value::Signed(array.as_primitive::<Int64Type>().value(at)),
        DataType::Float32 => Value::F32(array.as_primitive::<Float32Type>().value(at)),
        DataType::Float64 => Value::F64(array.as_primitive::<Float64Type>().value(at)),
        DataType::Utf8 => Value::String(array.as_string::<i32>().value(at).into()),
        DataType::Binary => Value::Bytes(array.as_binary::<i32>().value(at).into()),
        DataType::FixedSizeBinary(_) => Value::Bytes(array.as_fixed_size_binary().value(at).into()),
        DataType::List(_) => Value::List(elements(&array.as_list::<i32>().value(at))),
        DataType::Map(..) => Value::List(elements(&array.as_map().value(at))),
        DataType::Timestamp(..) => time(array.as_primitive::<TimestampNanosecondType>().value(at)),
        DataType::Duration(_) => time(array.as_primitive::<DurationNanosecondType>().value(at)),
        DataType::FixedSizeList(..) => Value::List(elements(&array.as_fixed_size_list().value(at))),
        DataType::Struct(_) => {
            let columns = array.as_struct().columns();
            Value::Record(columns.iter().map(|column| value(column, at)).collect())
        }
        other => panic!("{other}"),
    }
}
