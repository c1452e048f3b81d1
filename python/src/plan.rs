//! Many recordings as one table: planned as small parts, by summaries and indexes alone.

use std::path::{absolute, Path, PathBuf};
use std::sync::{Arc, Mutex};

use anyhow::{anyhow, bail, ensure, Context, Result};
use arrow_schema::{Schema, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use wiregauge_columns::TableSelection;
use wiregauge_system::interrupt::{self, Interrupted};
use wiregauge_system::quantity::parse_nonzero_bytes;
use wiregauge_system::text;
use wiregauge_trace::input_splits::{FileSplits, InputSplit};
use wiregauge_trace::open::{self, OpenHints};
use wiregauge_trace::read::Nanoseconds;
use wiregauge_trace::remote_file::is_remote;
use wiregauge_trace::select::Selection;
use wiregauge_trace::split_finder::find_splits;

use crate::arrow::{schema_capsule, stream_capsule};
use crate::error::to_python;
use crate::file_identity::FileIdentity;
use crate::files::Files;
use crate::plan_reading::PlanReading;
use crate::recording::{read_conventions, select};
use crate::rows::{number_column, text_column, Rows};
use crate::split::{left_out_rows, Split};
use crate::table_source::{
    check_columns, Definition, LeftOut, PlannedPart, TableReading, TableSource,
};

/// Recordings as one table, made by plan(): its parts, for engines that read them on many
/// processes or machines. It is Arrow data, too: pyarrow, Polars, pandas and DuckDB take it as
/// it is, and it is read by all processors of this machine.
#[pyclass(module = "wiregauge", frozen)]
pub struct Plan {
    splits: Vec<Py<Split>>,
    sources: Vec<TableSource>,
    files: Vec<PlannedFile>,
    /// What could not be planned.
    left_out: Vec<LeftOut>,
    schema: SchemaRef,
}

/// What was planned of a file.
struct PlannedFile {
    source: TableSource,
    identity: FileIdentity,
    splits: Vec<InputSplit>,
    remark: &'static str,
}

/// What plans files.
struct Planner {
    /// Of each file, but for its path.
    source: TableSource,
    most: u64,
    schema: Option<SchemaRef>,
    files: Vec<PlannedFile>,
    left_out: Vec<LeftOut>,
}

impl Planner {
    /// Plans a file; its columns must be those of the files before.
    fn add(&mut self, path: &Path) -> Result<()> {
        // Who reads it may be in another folder.
        let path = if is_remote(path) { path.to_owned() } else { absolute(path)? };
        let source = TableSource { path, ..self.source.clone() };
        let identity = FileIdentity::read(&source.path)?;
        identity.require_version(&source.path)?;
        let TableSource { path, hints, selection, .. } = &source;
        let FileSplits { splits, channels, remark } =
            find_splits(path, hints, selection, self.most)?;
        if let Some((first, others)) = channels.as_deref().and_then(<[_]>::split_first) {
            let rows = source.begin_rows(first)?;
            for other in others {
                rows.check_channel(other).with_context(|| source.origin())?;
            }
            // Those of points are told by the first message that has some.
            match (rows.schema(), &self.schema) {
                (Some(found), Some(schema)) => {
                    check_columns(&source.origin(), first, &found, schema)?;
                }
                (Some(found), None) => self.schema = Some(found),
                (None, _) => {}
            }
        }
        self.files.push(PlannedFile { source, identity, splits, remark });
        Ok(())
    }

    fn add_all(&mut self, paths: &[PathBuf]) -> Result<()> {
        ensure!(!paths.is_empty(), "there are no files; give at least one");
        for path in paths {
            interrupt::check()?;
            match self.add(path) {
                Ok(()) => {}
                Err(error) if !self.source.skips || error.is::<Interrupted>() => return Err(error),
                Err(error) => self.left_out.push(LeftOut {
                    file: path.display().to_string(),
                    position: None,
                    messages: None,
                    reason: text::escape(&format!("{error:#}")),
                }),
            }
        }
        if self.schema.is_none() {
            self.schema = Some(self.read_schema()?);
        }
        Ok(())
    }

    /// The columns, where no file tells them before it is read: by the messages that are wanted,
    /// and where these tell none, by those at other times, so that a plan has the same columns
    /// for any times.
    fn read_schema(&self) -> Result<SchemaRef> {
        let mut first = None;
        let sources = self.files.iter().filter(|file| !file.splits.is_empty());
        for source in sources.map(|file| file.source.clone()).chain(self.sources_at_any_time()) {
            match TableReading::open(&source) {
                Ok(reading) => return Ok(reading.schema()),
                Err(error) if error.is::<Interrupted>() => return Err(error),
                Err(error) => {
                    first.get_or_insert(error);
                }
            }
        }
        if let Some(error) = first {
            return Err(error);
        }
        let Some(file) = self.files.first() else {
            let reason = self.left_out.first().map_or("", |left| left.reason.as_str());
            bail!("no file can be read; of the first one: {reason}");
        };
        let reader = open::open(&file.source.path, &file.source.hints)?;
        self.source.selection.check(&file.source.origin(), reader.channels().values())?;
        Err(anyhow!("{}: there are no such messages", file.source.origin()))
    }

    /// The files without limits of time; none where there are no limits.
    fn sources_at_any_time(&self) -> impl Iterator<Item = TableSource> + '_ {
        let Selection { from, to, .. } = &self.source.selection;
        let files = if from.or(*to).is_some() { &self.files[..] } else { &[] };
        files.iter().map(|file| {
            let mut source = file.source.clone();
            (source.selection.from, source.selection.to) = (None, None);
            source
        })
    }
}

/// How large a split is, as Python says it.
#[derive(FromPyObject)]
pub enum SplitSize {
    /// In bytes.
    Bytes(u64),
    /// With its unit: "64MiB".
    Text(String),
}

/// Plans to read the messages of a channel of many recordings as one table.
///
/// `files` are one or several, or a pattern such as "drives/**/*.mcap". `channel` is the topic.
/// `fields` are the paths of those that become columns, such as "header.stamp"; all where there
/// is none. With `rows`, the path of a list of records, each element is a row, and the paths
/// begin there. `from_time` and `to_time` are nanoseconds, both included.
///
/// The plan has parts of about `split` bytes, by summaries and indexes alone: each message is in
/// exactly one. `files` of the plan says how many a file has, and why.
///
/// With points=True each point is a row, as of Recording.points(), and `fields` are its columns.
/// The first message with points says which there are, and later ones must not have others:
/// name those that are wanted. Where no message in the limits of time has points, one at another
/// time says it. `elevation` and `rays` are as there.
///
/// With errors="skip", what cannot be read is left out: `skipped` says it as rows. With "raise"
/// it is an error. `file_column` is the name of a column with the file of each row.
///
/// A file without this channel has no rows.
///
/// >>> import duckdb, wiregauge
/// >>> drives = wiregauge.plan("drives/*.mcap", "/state", ["number"], file_column="file")
/// >>> duckdb.sql("select count(*), max(number) from drives").fetchall()
/// [(267, 199)]
#[pyfunction]
#[pyo3(name = "plan", signature = (files, channel, fields=None, rows=None, *, points=false,
    from_time=None, to_time=None, split=None, errors="raise", file_column=None, elevation=None,
    rays=None, definition=None, osi_type=None))]
#[allow(clippy::too_many_arguments, reason = "they are Python's keywords")]
pub fn plan_files(
    python: Python<'_>,
    files: Files,
    channel: String,
    fields: Option<Vec<String>>,
    rows: Option<String>,
    points: bool,
    from_time: Option<Nanoseconds>,
    to_time: Option<Nanoseconds>,
    split: Option<SplitSize>,
    errors: &str,
    file_column: Option<String>,
    elevation: Option<String>,
    rays: Option<String>,
    definition: Option<Definition>,
    osi_type: Option<String>,
) -> PyResult<Plan> {
    let files = files.list(python)?;
    let conventions = read_conventions(elevation, rays)?;
    let make = || -> Result<Planner> {
        let most = match split {
            None => 64 << 20,
            Some(SplitSize::Bytes(bytes)) => bytes,
            Some(SplitSize::Text(text)) => parse_nonzero_bytes(&text).context("split")?,
        };
        ensure!(most > 0, "split: give a size such as 64MiB");
        ensure!(!points || rows.is_none(), "rows are points or elements of a list, not both");
        let skips = match errors {
            "raise" => false,
            "skip" => true,
            other => bail!("errors is \"raise\" or \"skip\" and not {other:?}"),
        };
        let definition = match definition {
            // Who reads it may be in another folder.
            Some(Definition::Path(path)) => Some(Definition::Path(absolute(path)?)),
            bytes => bytes,
        };
        let source = TableSource {
            path: PathBuf::new(),
            hints: OpenHints { osi_type },
            selection: select(vec![channel], (from_time, to_time)),
            table: TableSelection { rows, fields: fields.unwrap_or_default(), skips_failed: false },
            points: points.then_some(conventions),
            definition,
            skips,
            opened: None,
            part: None,
        };
        let (schema, found, left_out) = (None, Vec::new(), Vec::new());
        let mut planner = Planner { source, most, schema, files: found, left_out };
        planner.add_all(&files)?;
        Ok(planner)
    };
    let planner = python.detach(make).map_err(to_python)?;
    Plan::new(python, planner, file_column)
}

impl Plan {
    fn new(python: Python<'_>, planner: Planner, file_column: Option<String>) -> PyResult<Plan> {
        let Planner { schema, files, left_out, .. } = planner;
        let schema = schema.unwrap_or_else(|| Arc::new(Schema::empty()));
        let about = |split: InputSplit, identity: &FileIdentity| PlannedPart {
            split,
            schema: schema.clone(),
            file_column: file_column.clone(),
            identity: identity.clone(),
            left_out: Arc::new(Mutex::default()),
        };
        let (mut splits, mut sources) = (Vec::new(), Vec::new());
        for file in &files {
            for split in &file.splits {
                let split = Split::new(file.source.clone(), about(*split, &file.identity));
                sources.push(split.source().clone());
                splits.push(Py::new(python, split)?);
            }
        }
        let nothing = InputSplit { from: 0, to: 0, first: None, messages: None, size: 0 };
        let columns = about(nothing, &FileIdentity::default()).whole_schema();
        let names: Vec<&String> = columns.fields().iter().map(|field| field.name()).collect();
        if names.iter().skip(1).any(|name| Some(*name) == file_column.as_ref()) {
            let error = anyhow!("a field is called {} too; give another file_column", names[0]);
            return Err(to_python(error));
        }
        Ok(Plan { splits, sources, files, left_out, schema: columns })
    }
}

#[pymethods]
impl Plan {
    /// Its parts, in the order of the files.
    #[getter]
    fn splits(&self, python: Python<'_>) -> Vec<Py<Split>> {
        self.splits.iter().map(|split| split.clone_ref(python)).collect()
    }

    fn __len__(&self) -> usize {
        self.splits.len()
    }

    /// What was planned of each file: rows of file, size, splits, messages and remark, which
    /// says why it is one split, or what it cost to find more.
    #[getter]
    fn files(&self) -> PyResult<Rows> {
        let names: Vec<String> = self.files.iter().map(|file| file.source.origin()).collect();
        let messages = |file: &PlannedFile| {
            let counts = file.splits.iter().map(|split| split.messages);
            counts.sum::<Option<u64>>()
        };
        let files = || self.files.iter();
        let rows = Rows::new([
            ("file", text_column(names.iter().map(String::as_str))),
            ("size", number_column(files().map(|file| Some(file.identity.size())))),
            ("splits", number_column(files().map(|file| Some(file.splits.len() as u64)))),
            ("messages", number_column(files().map(messages))),
            ("remark", text_column(files().map(|file| file.remark))),
        ]);
        rows.map_err(to_python)
    }

    /// What was left out, where errors="skip": rows of file, position, messages and reason. By
    /// planning, and by reading this plan or its splits in this process.
    #[getter]
    fn skipped(&self) -> PyResult<Rows> {
        let mut left_out = self.left_out.clone();
        left_out.extend(self.splits.iter().flat_map(|split| split.get().left_out()));
        left_out_rows(&left_out).map_err(to_python)
    }

    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __repr__(&self) -> String {
        let (splits, files) = (self.splits.len(), self.files.len());
        format!(
            "<Plan: {} of {} in {}>",
            self.column_names().join(", "),
            text::format_count(files as u64, "file"),
            text::format_count(splits as u64, "split")
        )
    }

    /// The types of the columns, by Arrow's PyCapsule interface.
    fn __arrow_c_schema__<'py>(&self, python: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(python, &self.schema)
    }

    /// The columns as a stream of record batches, for which the files are read: in the order
    /// of the splits, by all processors.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        python: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // Other types may be wished for, and need not be given.
        let _ = requested_schema;
        stream_capsule(python, PlanReading::begin(&self.sources, self.schema.clone()))
    }
}
