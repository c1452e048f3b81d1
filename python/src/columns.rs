//! Messages as columns, which Arrow's libraries take batch by batch while the file is read.

use anyhow::Result;
use arrow_schema::SchemaRef;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use wiregauge_system::text;

use crate::arrow::{schema_capsule, stream_capsule};
use crate::error::to_python;
use crate::table_source::{TableReading, TableSource};

/// Messages of a channel as columns. It is Arrow data: pyarrow, Polars, pandas and DuckDB take
/// it as it is, as often as they like; each time the file is read anew.
#[pyclass(module = "wiregauge", frozen)]
pub struct Columns {
    source: TableSource,
    schema: SchemaRef,
}

impl Columns {
    /// Opens the file, whose first message says the columns.
    ///
    /// # Errors
    /// As [`TableReading::open`].
    pub fn open(source: TableSource) -> Result<Columns> {
        let schema = TableReading::open(&source)?.schema();
        Ok(Columns { source, schema })
    }
}

#[pymethods]
impl Columns {
    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __repr__(&self) -> String {
        let path = text::escape(&self.source.origin());
        format!("<Columns: {} of {path}>", self.column_names().join(", "))
    }

    /// The types of the columns, by Arrow's PyCapsule interface.
    fn __arrow_c_schema__<'py>(&self, python: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(python, &self.schema)
    }

    /// The columns as a stream of record batches, for which the file is read.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        python: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // Other types may be wished for, and need not be given.
        let _ = requested_schema;
        let rows = python.detach(|| TableReading::open(&self.source)).map_err(to_python)?;
        stream_capsule(python, rows)
    }
}
