//! Messages in FlatBuffers have the values in columns that JSON shows of them.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int32Type, Int64Type, UInt32Type, UInt64Type, UInt8Type,
};
use arrow_array::{Array, RecordBatch, StructArray, UInt8Array};
use arrow_schema::DataType;
use proptest::prelude::*;
use serde_json::Value as Json;
use wiregauge_columns::{ColumnPlan, ColumnReader};
use wiregauge_flatbuffers::json::FlatBufferFormatter;
use wiregauge_flatbuffers::Definition;
use wiregauge_trace::parser::JsonFormatter;

/// A definition and a message of the fuzz targets' corpus: the length of the first stands
/// before it.
fn corpus(name: &str) -> (Definition, Vec<u8>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/flatbuffers");
    let input = fs::read(folder.join(name)).unwrap();
    let (length, rest) = input.split_first_chunk::<4>().unwrap();
    let (definition, message) = rest.split_at(u32::from_le_bytes(*length) as usize);
    (Definition::read(definition).unwrap(), message.to_vec())
}

fn read(definition: &Definition, message: &[u8]) -> RecordBatch {
    let plan = ColumnPlan::from_flatbuffers(definition, "", None, &[]).unwrap();
    let mut reader = ColumnReader::new(Arc::new(plan));
    assert_eq!(reader.push(message).unwrap(), 1);
    reader.finish().unwrap()
}

/// How many numbers and texts of a row are in what JSON shows, which leaves out what is absent,
/// and calls members of enums by their names.
fn compare(array: &dyn Array, row: usize, shown: Option<&Json>) -> usize {
    if array.is_null(row) {
        assert!(shown.is_none(), "{shown:?}");
        return 0;
    }
    macro_rules! whole {
        ($kind:ty) => {{
            let number = array.as_primitive::<$kind>().value(row);
            let Some(shown) = shown.filter(|shown| !shown.is_string()) else { return 0 };
            assert_eq!(number.to_string(), shown.to_string());
            1
        }};
    }
    let elements = |list: &dyn Array| {
        let shown = shown.and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
        assert_eq!(list.len(), shown.len());
        shown.iter().enumerate().map(|(at, shown)| compare(list, at, Some(shown))).sum()
    };
    match array.data_type() {
        DataType::Struct(fields) => {
            let (columns, object) = (array.as_struct().columns(), shown.and_then(Json::as_object));
            let columns = columns.iter().zip(fields);
            let of = |name: &str| object.and_then(|object| object.get(name));
            columns.map(|(column, field)| compare(column, row, of(field.name()))).sum()
        }
        DataType::List(_) => elements(&array.as_list::<i32>().value(row)),
        DataType::FixedSizeList(..) => elements(&array.as_fixed_size_list().value(row)),
        DataType::Binary => {
            elements(&UInt8Array::from(array.as_binary::<i32>().value(row).to_vec()))
        }
        DataType::Utf8 => {
            assert_eq!(Some(array.as_string::<i32>().value(row)), shown.and_then(Json::as_str));
            1
        }
        DataType::Boolean => {
            let truth = array.as_boolean().value(row);
            usize::from(shown.is_some_and(|shown| shown.as_bool().expect("a truth value") == truth))
        }
        DataType::Float64 => {
            let Some(shown) = shown.and_then(Json::as_f64) else { return 0 };
            assert_eq!(array.as_primitive::<Float64Type>().value(row), shown);
            1
        }
        DataType::Float32 => {
            let Some(shown) = shown.and_then(Json::as_f64) else { return 0 };
            assert_eq!(array.as_primitive::<Float32Type>().value(row), shown as f32);
            1
        }
        DataType::UInt8 => whole!(UInt8Type),
        DataType::UInt32 => whole!(UInt32Type),
        DataType::UInt64 => whole!(UInt64Type),
        DataType::Int32 => whole!(Int32Type),
        DataType::Int64 => whole!(Int64Type),
        other => panic!("{other}"),
    }
}

#[test]
fn columns_have_what_json_shows() {
    for (name, least) in [("tables-whole-flat", 10), ("structs-whole-flat", 10)] {
        let (definition, message) = corpus(name);
        let mut shown = Vec::new();
        let formatter = FlatBufferFormatter::from_root(definition.clone()).unwrap();
        formatter.write_json(&message, &mut shown).unwrap();
        let shown: Json = serde_json::from_slice(&shown).unwrap();
        let row = StructArray::from(read(&definition, &message));
        let found = compare(&row, 0, Some(&shown));
        assert!(found >= least, "{found} values of {shown}");
    }
}

proptest! {
    #[test]
    fn damaged_messages_add_no_row(
        at in any::<prop::sample::Index>(), byte: u8, cut: bool, is_table: bool,
    ) {
        let name = if is_table { "tables-whole-flat" } else { "structs-whole-flat" };
        let (definition, mut message) = corpus(name);
        let at = at.index(message.len());
        message[at] = byte;
        if cut {
            message.truncate(at);
        }
        let plan = ColumnPlan::from_flatbuffers(&definition, "", None, &[]).unwrap();
        let mut reader = ColumnReader::new(Arc::new(plan));
        let added = reader.push(&message).unwrap_or(0);
        prop_assert_eq!(reader.finish().unwrap().num_rows(), added);
    }
}
