//! A column of the packed field as an array of the crate `arrow-array`, without a copy.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi::{from_ffi, FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::types::Float64Type;
use arrow_array::{RecordBatch, StructArray};
use wiregauge_packed::{Column, Layout, View};
use wiregauge_packed_arrow::to_arrow;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let layout = Layout::plan(&[Column::f64("time_of_flight")], 2, 0, 64)?;
    let mut field = vec![0; layout.size()];
    layout.write(&mut field)?.columns()[0].sink::<f64>().expect("doubles").fill([1e-7, 2e-7]);

    let (mut schema, mut array) = to_arrow(Arc::new(field), |bytes| View::open(bytes))?;
    // SAFETY: both are as the C data interface has them, and are marked as released here.
    let data = unsafe {
        let schema = FFI_ArrowSchema::from_raw(std::ptr::from_mut(&mut schema).cast());
        let array = FFI_ArrowArray::from_raw(std::ptr::from_mut(&mut array).cast());
        from_ffi(array, &schema)?
    };
    let batch = RecordBatch::from(StructArray::from(data));
    let times = batch.column(0).as_primitive::<Float64Type>();
    println!("{} rows, the second has {} s", batch.num_rows(), times.value(1));
    Ok(())
}
