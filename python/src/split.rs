//! A part of a recording that a plan made: small, and read wherever the file is.

use std::ffi::OsString;
use std::io::Cursor;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{ensure, Context, Result};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::SchemaRef;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyTuple};
use serde::{Deserialize, Serialize};
use wiregauge_columns::TableSelection;
use wiregauge_points::{Elevation, Rays, SensorConventions};
use wiregauge_system::text;
use wiregauge_trace::input_splits::InputSplit;
use wiregauge_trace::open::OpenHints;
use wiregauge_trace::read::Nanoseconds;

use crate::arrow::{schema_capsule, stream_capsule};
use crate::error::to_python;
use crate::file_identity::FileIdentity;
use crate::recording::select;
use crate::rows::{number_column, text_column, Rows};
use crate::table_source::{Definition, LeftOut, PlannedPart, TableReading, TableSource};

/// A part of a recording, made by plan(). It is Arrow data: whoever has it and can open the
/// file reads these rows. It can be pickled.
#[pyclass(module = "wiregauge", frozen)]
pub struct Split {
    source: TableSource,
    part: PlannedPart,
}

/// What is said of a split where it is written down, beside its path and its columns.
#[derive(Serialize, Deserialize)]
struct WrittenSplit {
    version: String,
    osi_type: Option<String>,
    channels: Vec<String>,
    times: (Option<Nanoseconds>, Option<Nanoseconds>),
    rows: Option<String>,
    points: Option<WrittenConventions>,
    fields: Vec<String>,
    definition: Option<Definition>,
    /// From, to, the messages before it, its messages, its size.
    part: (u64, u64, Option<u64>, Option<u64>, u64),
    skips: bool,
    file_column: Option<String>,
    identity: FileIdentity,
}

/// What sensors mean by their numbers: whether elevation points up, and rays lie in the centers.
type WrittenConventions = (Option<bool>, Option<bool>);

impl Split {
    /// A part that was planned.
    pub fn new(source: TableSource, part: PlannedPart) -> Split {
        Split { source: TableSource { part: Some(part.clone()), ..source }, part }
    }

    /// What is read.
    pub fn source(&self) -> &TableSource {
        &self.source
    }

    /// What the last reading of it here left out.
    pub fn left_out(&self) -> Vec<LeftOut> {
        self.part.left_out.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn write(&self) -> Result<(String, Vec<u8>)> {
        let TableSource { hints, selection, table, points, definition, .. } = self.source.clone();
        let is_up = |it: Elevation| it == Elevation::Up;
        let are_centers = |it: Rays| it == Rays::Centers;
        let InputSplit { from, to, first, messages, size } = self.part.split;
        let written = WrittenSplit {
            version: env!("CARGO_PKG_VERSION").into(),
            osi_type: hints.osi_type,
            channels: selection.channels,
            times: (selection.from, selection.to),
            rows: table.rows,
            points: points.map(|it| (it.elevation.map(is_up), it.rays.map(are_centers))),
            fields: table.fields,
            definition,
            part: (from, to, first, messages, size),
            skips: self.source.skips,
            file_column: self.part.file_column.clone(),
            identity: self.part.identity.clone(),
        };
        let mut schema = StreamWriter::try_new(Vec::new(), &self.part.schema)?;
        schema.finish()?;
        Ok((serde_json::to_string(&written)?, schema.into_inner()?))
    }

    fn read(path: PathBuf, text: &str, schema: &[u8]) -> Result<Split> {
        let written: WrittenSplit = serde_json::from_str(text).context("no split of wiregauge")?;
        let own = env!("CARGO_PKG_VERSION");
        ensure!(
            written.version == own,
            "a split was planned by wiregauge {} and this is {own}; install the same version on \
             all machines",
            written.version
        );
        let schema: SchemaRef = StreamReader::try_new(Cursor::new(schema), None)?.schema();
        let (from, to, first, messages, size) = written.part;
        let skips_failed = false;
        let source = TableSource {
            path,
            hints: OpenHints { osi_type: written.osi_type },
            selection: select(written.channels, written.times),
            table: TableSelection { rows: written.rows, fields: written.fields, skips_failed },
            points: written.points.map(|(is_up, are_centers)| SensorConventions {
                elevation: is_up.map(|up| if up { Elevation::Up } else { Elevation::Down }),
                rays: are_centers.map(|it| if it { Rays::Centers } else { Rays::Edges }),
            }),
            definition: written.definition,
            skips: written.skips,
            opened: None,
            part: None,
        };
        let part = PlannedPart {
            split: InputSplit { from, to, first, messages, size },
            schema,
            file_column: written.file_column,
            identity: written.identity,
            left_out: Arc::new(Mutex::default()),
        };
        Ok(Split::new(source, part))
    }
}

/// What was left out, as rows.
pub fn left_out_rows(left: &[LeftOut]) -> Result<Rows> {
    Rows::new([
        ("file", text_column(left.iter().map(|left| left.file.as_str()))),
        ("position", number_column(left.iter().map(|left| left.position))),
        ("messages", number_column(left.iter().map(|left| left.messages))),
        ("reason", text_column(left.iter().map(|left| left.reason.as_str()))),
    ])
}

#[pymethods]
impl Split {
    /// A split as pickle wrote it down.
    #[new]
    fn new_unpickled(path: PathBuf, text: &str, schema: Vec<u8>) -> PyResult<Split> {
        Split::read(path, text, &schema).map_err(to_python)
    }

    fn __reduce__<'py>(&self, python: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let (text, schema) = self.write().map_err(to_python)?;
        let path: OsString = self.source.path.clone().into();
        let schema = PyBytes::new(python, &schema);
        let arguments = (path, text, schema).into_pyobject(python)?;
        let class = python.get_type::<Split>();
        (class, arguments).into_pyobject(python)
    }

    /// The file.
    #[getter]
    fn file(&self) -> String {
        self.source.origin()
    }

    /// How many messages it has; None where only reading tells.
    #[getter]
    fn messages(&self) -> Option<u64> {
        self.part.split.messages
    }

    /// How many bytes are read of the file for it, unpacked.
    #[getter]
    fn size(&self) -> u64 {
        self.part.split.size
    }

    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        let schema = self.part.whole_schema();
        schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// What the last reading of it in this process left out, where errors="skip": rows of
    /// file, position, messages and reason.
    #[getter]
    fn skipped(&self) -> PyResult<Rows> {
        left_out_rows(&self.left_out()).map_err(to_python)
    }

    fn __repr__(&self) -> String {
        let InputSplit { from, to, .. } = self.part.split;
        let to = if to == u64::MAX { "its end".to_owned() } else { to.to_string() };
        format!("<Split of {} from byte {from} to {to}>", text::escape(&self.source.origin()))
    }

    /// The types of the columns, by Arrow's PyCapsule interface.
    fn __arrow_c_schema__<'py>(&self, python: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(python, &self.part.whole_schema())
    }

    /// The columns as a stream of record batches, for which this part of the file is read.
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
