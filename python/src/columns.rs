//! Messages as columns, which Arrow's libraries take batch by batch while the file is read.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result};
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use wiregauge_columns::{TableRows, TableSelection};
use wiregauge_system::text;
use wiregauge_trace::channel::Channel;
use wiregauge_trace::open::{self, OpenHints};
use wiregauge_trace::read::{Nanoseconds, Reader};
use wiregauge_trace::select::{Selection, SelectionCursor};

use crate::arrow::{schema_capsule, stream_capsule};
use crate::error::to_python;

/// Messages of a channel as columns. It is Arrow data: pyarrow, Polars, pandas and DuckDB take
/// it as it is, as often as they like; each time the file is read anew.
#[pyclass(module = "wiregauge", frozen)]
pub struct Columns {
    source: Source,
    schema: SchemaRef,
}

/// What is read.
#[derive(Clone)]
struct Source {
    path: PathBuf,
    hints: OpenHints,
    selection: Selection,
    table: TableSelection,
    definition: Option<Vec<u8>>,
}

/// Batches of a file that is read.
struct Batches {
    source: Source,
    reader: Box<dyn Reader>,
    cursor: SelectionCursor,
    rows: TableRows,
    is_done: bool,
}

impl Source {
    /// Opens the file, and reads its first message.
    fn open(&self) -> Result<Batches> {
        let mut reader = open::open(&self.path, &self.hints)?;
        let mut cursor = self.selection.begin(reader.as_mut());
        let origin = self.path.display();
        let Some(head) = cursor.advance(&self.selection, reader.as_mut())? else {
            self.selection.check(&origin.to_string(), reader.channels().values())?;
            anyhow::bail!("{origin}: there are no such messages");
        };
        let channel = self.describe(&reader.channels()[&head.channel]);
        let mut rows = TableRows::new(&channel, &self.table).with_context(|| origin.to_string())?;
        rows.push(&head, reader.data()?).with_context(|| origin.to_string())?;
        Ok(Batches { source: self.clone(), reader, cursor, rows, is_done: false })
    }

    /// The channel with the user's definition, where there is one.
    fn describe(&self, channel: &Channel) -> Channel {
        let mut channel = channel.clone();
        if let Some(data) = &self.definition {
            let own = Arc::make_mut(&mut channel.definition);
            (own.encoding, own.data) = ("protobuf".into(), data.clone());
        }
        channel
    }
}

impl Batches {
    /// The next batch; none at the end.
    fn read(&mut self) -> Result<Option<RecordBatch>> {
        while !self.is_done && !self.rows.is_full() {
            let selection = &self.source.selection;
            let Some(head) = self.cursor.advance(selection, self.reader.as_mut())? else {
                self.is_done = true;
                break;
            };
            self.rows.check_channel(&self.reader.channels()[&head.channel])?;
            self.rows.push(&head, self.reader.data()?)?;
        }
        match self.rows.is_empty() {
            true => Ok(None),
            false => self.rows.finish().map(Some),
        }
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let origin = self.source.path.display().to_string();
        let batch = self.read().with_context(|| origin).transpose()?;
        Some(batch.map_err(|error| {
            self.is_done = true;
            ArrowError::ExternalError(text::escape(&format!("{error:#}")).into())
        }))
    }
}

impl RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        self.rows.schema()
    }
}

/// The fields of a channel's messages as columns.
///
/// `topic` is the channel; it may be left out where the file has one. `fields` are the paths
/// of those that are wanted, such as "header.stamp"; all where there is none. With `rows`, the
/// path of a list of records, each element is a row, and paths begin there. `start` and `end`
/// are times in nanoseconds, both included. `definition` is an encoded FileDescriptorSet for a
/// file that has none, as .osi.
///
/// Raises WiregaugeError, in one line, where the file or the fields cannot be read.
///
/// >>> import pyarrow, wiregauge
/// >>> table = pyarrow.table(wiregauge.columns("drive.mcap", "/SensorView", ["timestamp"]))
/// >>> table.column_names
/// ['log_time', 'publish_time', 'sequence', 'timestamp']
#[pyfunction]
#[pyo3(signature = (path, topic=None, fields=None, rows=None, start=None, end=None, *,
    definition=None, osi_type=None))]
#[allow(clippy::too_many_arguments, reason = "they are Python's keywords")]
pub fn columns(
    python: Python<'_>,
    path: PathBuf,
    topic: Option<String>,
    fields: Option<Vec<String>>,
    rows: Option<String>,
    start: Option<Nanoseconds>,
    end: Option<Nanoseconds>,
    definition: Option<Vec<u8>>,
    osi_type: Option<String>,
) -> PyResult<Columns> {
    let source = Source {
        path,
        hints: OpenHints { osi_type },
        selection: Selection {
            channels: topic.into_iter().collect(),
            from: start,
            to: end,
            ..Selection::default()
        },
        table: TableSelection { rows, fields: fields.unwrap_or_default(), skips_failed: false },
        definition,
    };
    let schema = python.detach(|| source.open().map(|batches| batches.schema()));
    Ok(Columns { schema: schema.map_err(to_python)?, source })
}

#[pymethods]
impl Columns {
    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __repr__(&self) -> String {
        let path = text::escape(&self.source.path.display().to_string());
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
        let batches = python.detach(|| self.source.open()).map_err(to_python)?;
        stream_capsule(python, batches)
    }
}
