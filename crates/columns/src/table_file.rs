//! Files of tables: Arrow's IPC file, or Parquet.

use std::io::{BufWriter, IntoInnerError, Write};
use std::path::Path;
use std::sync::mpsc::{self, SyncSender};
use std::thread::{self, JoinHandle};

use anyhow::{anyhow, bail, Context, Result};
use arrow_array::RecordBatch;
use arrow_ipc::writer::FileWriter;
use arrow_schema::SchemaRef;
use wiregauge_trace::write::Output;

use crate::parquet_file::ParquetFile;

/// The files that hold tables, by the ends of their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableFormat {
    /// Arrow's IPC file.
    Arrow,
    /// Parquet, in zstd.
    Parquet,
}

impl TableFormat {
    /// The form that the name of a table's file asks for.
    ///
    /// # Errors
    /// When it asks for none.
    pub fn for_table(path: &Path) -> Result<TableFormat> {
        TableFormat::from_path(path).with_context(|| {
            format!("{}: end the name in .arrow or .parquet for a table", path.display())
        })
    }

    /// The form that a file's name asks for; none where it asks for no table.
    pub fn from_path(path: &Path) -> Option<TableFormat> {
        let extension = path.extension().unwrap_or_default().to_string_lossy();
        match extension.to_ascii_lowercase().as_str() {
            "arrow" => Some(TableFormat::Arrow),
            "parquet" => Some(TableFormat::Parquet),
            _ => None,
        }
    }
}

/// Batches that wait to be written: one more is made while these are.
const WAITING: usize = 2;

/// A file that rows are written to, on a thread of its own.
pub struct TableFile<W: Output + Send + 'static> {
    /// None once all are there.
    batches: Option<SyncSender<RecordBatch>>,
    writing: Option<JoinHandle<Result<TableEncoder<W>>>>,
}

/// What writes batches as they lie in the file.
enum TableEncoder<W: Output + Send> {
    Arrow(Box<FileWriter<BufWriter<W>>>),
    Parquet(Box<ParquetFile<BufWriter<W>>>),
}

impl<W: Output + Send> TableEncoder<W> {
    fn begin(out: W, form: TableFormat, schema: &SchemaRef) -> Result<TableEncoder<W>> {
        let out = BufWriter::with_capacity(1 << 20, out);
        Ok(match form {
            TableFormat::Arrow => TableEncoder::Arrow(Box::new(FileWriter::try_new(out, schema)?)),
            TableFormat::Parquet => {
                TableEncoder::Parquet(Box::new(ParquetFile::begin(out, schema)?))
            }
        })
    }

    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        match self {
            TableEncoder::Arrow(file) => file.write(batch)?,
            TableEncoder::Parquet(file) => file.write(batch)?,
        }
        Ok(())
    }

    fn finish(self) -> Result<()> {
        let mut out = match self {
            TableEncoder::Arrow(file) => file.into_inner()?,
            TableEncoder::Parquet(file) => file.finish()?,
        };
        out.flush()?;
        out.into_inner().map_err(IntoInnerError::into_error)?.commit()
    }
}

impl<W: Output + Send + 'static> TableFile<W> {
    /// Begins a file of these columns.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn begin(out: W, form: TableFormat, schema: &SchemaRef) -> Result<TableFile<W>> {
        let mut encoder = TableEncoder::begin(out, form, schema)?;
        let (batches, waiting) = mpsc::sync_channel::<RecordBatch>(WAITING);
        let writing = thread::spawn(move || {
            waiting.iter().try_for_each(|batch| encoder.write(&batch))?;
            Ok(encoder)
        });
        Ok(TableFile { batches: Some(batches), writing: Some(writing) })
    }

    /// Writes the rows of whole messages: a row group of Parquet ends between batches, and says
    /// that it is sorted by `log_time` where it is.
    ///
    /// # Errors
    /// When they, or those before, cannot be written.
    pub fn write(&mut self, batch: RecordBatch) -> Result<()> {
        match &self.batches {
            Some(batches) if batches.send(batch).is_ok() => Ok(()),
            _ => self.join().and(Err(anyhow!("a table ended before its rows"))),
        }
    }

    /// Writes what is left, and keeps all of it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(mut self) -> Result<()> {
        self.join()?.context("a table has ended")?.finish()
    }

    /// Waits until all rows were written.
    fn join(&mut self) -> Result<Option<TableEncoder<W>>> {
        self.batches = None;
        let writing = self.writing.take().map(JoinHandle::join);
        writing
            .map(|outcome| outcome.unwrap_or_else(|_| bail!("a table cannot be written")))
            .transpose()
    }
}

impl<W: Output + Send + 'static> Drop for TableFile<W> {
    fn drop(&mut self) {
        // What is not finished goes: nothing of it is left behind.
        drop(self.join());
    }
}
