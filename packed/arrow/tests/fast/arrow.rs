//! What an Arrow library makes of the exported structures, and what becomes of them.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi::{from_ffi, FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::types::{Float64Type, UInt32Type};
use arrow_array::{Array, StructArray};
use arrow_schema::DataType;
use wiregauge_packed::{
    find, Column, Element, Error, Fault, Layout, Reduced, Reduction, Root, View,
};
use wiregauge_packed_arrow::{to_arrow, ArrowArray, ArrowSchema};

/// What an Arrow library reads by the interface.
fn imported(schema: &mut ArrowSchema, array: &mut ArrowArray) -> StructArray {
    // SAFETY: both are as the interface has them; what is moved away is marked as released.
    let data = unsafe {
        let schema = FFI_ArrowSchema::from_raw(std::ptr::from_mut(schema).cast());
        let array = FFI_ArrowArray::from_raw(std::ptr::from_mut(array).cast());
        from_ffi(array, &schema).unwrap()
    };
    data.validate_full().unwrap();
    StructArray::from(data)
}

fn open(bytes: &[u8]) -> Result<View<'_>, Error> {
    View::open(bytes)
}

fn import(message: &Arc<Vec<u8>>) -> StructArray {
    let (mut schema, mut array) = to_arrow(message.clone(), open).unwrap();
    let batch = imported(&mut schema, &mut array);
    assert!(schema.release.is_none() && array.release.is_none());
    batch
}

/// All numbers of a column as doubles, by the Arrow library.
fn number(column: &dyn Array, row: usize) -> f64 {
    let cast = |from: &dyn Array| -> f64 {
        macro_rules! of {
            ($($kind:ident: $type:ident),*) => {
                match from.data_type() {
                    $(DataType::$kind =>
                        from.as_primitive::<arrow_array::types::$type>().value(row) as f64,)*
                    DataType::Float16 =>
                        from.as_primitive::<arrow_array::types::Float16Type>().value(row).into(),
                    other => panic!("{other}"),
                }
            };
        }
        of!(
            Float64: Float64Type, Float32: Float32Type, UInt64: UInt64Type, UInt32: UInt32Type,
            UInt16: UInt16Type, UInt8: UInt8Type, Int64: Int64Type, Int32: Int32Type,
            Int16: Int16Type, Int8: Int8Type
        )
    };
    cast(column)
}

#[test]
fn every_column_of_every_language_has_its_values() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../rust/tests/golden");
    let (mut seen, mut absent) = (0, 0);
    for entry in fs::read_dir(golden).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let root = match name.split('.').next() {
            Some("SensorView") => Root::SensorView,
            Some("SensorData") => Root::SensorData,
            _ => continue,
        };
        let message = fs::read(&path).unwrap();
        for field in find(root, &message).unwrap().iter().filter_map(|found| found.field) {
            let field = Arc::new(field.to_vec());
            let batch = import(&field);
            let view = View::open(&field).unwrap();
            assert_eq!((batch.len(), batch.num_columns()), (view.rows(), view.columns().len()));
            for (column, array) in view.columns().iter().zip(batch.columns()) {
                assert!(batch.column_by_name(column.name).is_some());
                for row in 0..view.rows() {
                    seen += 1;
                    if column.element == Some(Element::None) {
                        assert_eq!(array.as_boolean().value(row), column.present(row));
                        continue;
                    }
                    assert_eq!(array.is_valid(row), column.present(row), "{name} {}", column.name);
                    absent += usize::from(!column.present(row));
                    if column.present(row) {
                        let (is, wanted) = (number(array, row), column.value(row));
                        let same = is.to_bits() == wanted.to_bits() || is == wanted;
                        assert!(same, "{name} {}: {is} and not {wanted}", column.name);
                    }
                }
            }
        }
    }
    assert!(seen > 1000 && absent > 20, "{seen} values, {absent} of them absent");
}

/// A field of a plain, a reduced and an absent column.
fn field(rows: usize) -> Vec<u8> {
    let times: Vec<f64> = (0..rows).map(|row| row as f64 * 1.5e-9).collect();
    let marks: Vec<u32> = (0..rows as u32).collect();
    let reduced = Reduced::new("ring", &marks, None, &Reduction::exact()).unwrap();
    let columns = [
        Column::f64("time"),
        Column::reduced("ring", &reduced),
        Column::new("class", Element::U8).optional(),
    ];
    let layout = Layout::plan(&columns, rows as u64, 0, 64).unwrap();
    let mut field = vec![0; layout.size()];
    let mut table = layout.write(&mut field).unwrap();
    let mut columns = table.columns();
    columns[0].sink::<f64>().unwrap().fill(times);
    columns[1].put(&reduced).unwrap();
    field
}

#[test]
fn what_lies_in_place_is_not_copied_and_kept_as_long_as_it_is_read() {
    // A vector of u64 would be aligned by its type; this one is by its allocator.
    let message = Arc::new(field(3000));
    let inside = message.as_ptr_range();
    let batch = import(&message);
    let buffer = |name: &str| batch.column_by_name(name).unwrap().to_data().buffers()[0].as_ptr();
    assert!(inside.contains(&buffer("time")) && inside.contains(&buffer("class")));
    assert!(!inside.contains(&buffer("ring")), "what is reduced cannot lie in place");
    assert_eq!(batch.column_by_name("class").unwrap().logical_null_count(), 3000);
    let time = batch.column_by_name("time").unwrap().clone();
    let kept = Arc::downgrade(&message);
    drop((message, batch));
    assert!(kept.upgrade().is_some(), "one column is still there");
    assert_eq!(time.as_primitive::<Float64Type>().value(2999), 2999.0 * 1.5e-9);
    drop(time);
    assert!(kept.upgrade().is_none(), "nobody reads it any more");
}

#[test]
fn what_nobody_imports_releases_itself() {
    let message = Arc::new(field(10));
    let (schema, array) = to_arrow(message.clone(), open).unwrap();
    assert!(Arc::strong_count(&message) > 2);
    drop(schema);
    drop(array);
    assert_eq!(Arc::strong_count(&message), 1);
    // A consumer may take one child and release the rest.
    let (_, mut array) = to_arrow(message.clone(), open).unwrap();
    // SAFETY: the interface moves a child so: copied, and marked as released where it was.
    let child = unsafe { FFI_ArrowArray::from_raw((*array.children).cast()) };
    if let Some(release) = array.release {
        // SAFETY: it is not yet released.
        unsafe { release(&mut array) };
    }
    assert!(array.release.is_none());
    assert_eq!(Arc::strong_count(&message), 2);
    drop(child);
    assert_eq!(Arc::strong_count(&message), 1);
}

#[test]
fn columns_that_do_not_lie_aligned_and_empty_fields_are_right() {
    for rows in [0, 1, 1025] {
        let mut shifted = vec![0];
        shifted.extend(field(rows));
        let (mut schema, mut array) =
            to_arrow(Arc::new(shifted), |bytes| View::open(&bytes[1..])).unwrap();
        let batch = imported(&mut schema, &mut array);
        assert_eq!(batch.len(), rows);
        for row in 0..rows {
            let of = |name: &str| batch.column_by_name(name).unwrap();
            assert_eq!(of("time").as_primitive::<Float64Type>().value(row), row as f64 * 1.5e-9);
            assert_eq!(of("ring").as_primitive::<UInt32Type>().value(row), row as u32);
        }
    }
    let none: Result<_, Error> = to_arrow(Arc::new(vec![0; 40]), open);
    assert_eq!(none.unwrap_err().fault, Fault::Magic);
}
