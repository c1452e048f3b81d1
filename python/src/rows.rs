//! A small table that is held whole: what is said of files.

use std::sync::Arc;

use anyhow::Result;
use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchIterator, StringArray, UInt64Array};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};

use crate::arrow::{schema_capsule, stream_capsule};

/// Rows that are said of files. They are Arrow data: pyarrow, Polars, pandas and DuckDB take
/// them as they are. `to_pylist()` gives them as dictionaries.
#[pyclass(module = "wiregauge", frozen)]
pub struct Rows {
    batch: RecordBatch,
}

impl Rows {
    /// Columns of one length, with their names.
    ///
    /// # Errors
    /// When one is longer than another one.
    pub fn new<const N: usize>(columns: [(&str, ArrayRef); N]) -> Result<Rows> {
        Ok(Rows {
            batch: RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(
                |(name, column)| {
                    // What may be absent may be absent in each such table.
                    let is_nullable = column.as_string_opt::<i32>().is_none();
                    (name, column, is_nullable)
                },
            ))?,
        })
    }
}

/// A column of text.
pub fn text_column<'t>(texts: impl Iterator<Item = &'t str>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(texts))
}

/// A column of numbers.
pub fn number_column(numbers: impl Iterator<Item = Option<u64>>) -> ArrayRef {
    Arc::new(numbers.collect::<UInt64Array>())
}

#[pymethods]
impl Rows {
    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The rows as dictionaries.
    fn to_pylist<'py>(&self, python: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let mut rows = Vec::with_capacity(self.batch.num_rows());
        for at in 0..self.batch.num_rows() {
            let row = PyDict::new(python);
            for (name, column) in self.column_names().iter().zip(self.batch.columns()) {
                if column.is_null(at) {
                    row.set_item(name, python.None())?;
                } else if let Some(texts) = column.as_string_opt::<i32>() {
                    row.set_item(name, texts.value(at))?;
                } else {
                    row.set_item(name, column.as_primitive::<UInt64Type>().value(at))?;
                }
            }
            rows.push(row);
        }
        Ok(rows)
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    fn __repr__(&self) -> String {
        format!("<Rows: {} rows of {}>", self.batch.num_rows(), self.column_names().join(", "))
    }

    /// The types of the columns, by Arrow's PyCapsule interface.
    fn __arrow_c_schema__<'py>(&self, python: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(python, &self.batch.schema())
    }

    /// The columns as a stream of one record batch.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        python: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // Other types may be wished for, and need not be given.
        let _ = requested_schema;
        let batches = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        stream_capsule(python, batches)
    }
}
