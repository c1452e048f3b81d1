//! Arrow data as Python's libraries take it: by the PyCapsule interface.

use std::ffi::CStr;

use arrow_array::ffi::{to_ffi, FFI_ArrowSchema};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array, RecordBatch, RecordBatchReader, StructArray};
use arrow_schema::{ArrowError, Schema};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

// What the interface calls them.
const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

/// The types of columns.
pub fn schema_capsule<'py>(
    python: Python<'py>,
    schema: &Schema,
) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(schema);
    PyCapsule::new_with_value(python, schema.map_err(explain)?, SCHEMA)
}

/// Types and columns of a record batch.
pub fn array_capsules<'py>(
    python: Python<'py>,
    batch: &RecordBatch,
) -> PyResult<Bound<'py, PyTuple>> {
    let data = StructArray::from(batch.clone()).to_data();
    let (array, schema) = to_ffi(&data).map_err(explain)?;
    let schema = PyCapsule::new_with_value(python, schema, SCHEMA)?;
    PyTuple::new(python, [schema, PyCapsule::new_with_value(python, array, ARRAY)?])
}

/// Record batches one after another.
pub fn stream_capsule(
    python: Python<'_>,
    batches: impl RecordBatchReader + Send + 'static,
) -> PyResult<Bound<'_, PyCapsule>> {
    PyCapsule::new_with_value(python, FFI_ArrowArrayStream::new(Box::new(batches)), STREAM)
}

fn explain(error: ArrowError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}
