//! Files of tables: Arrow's IPC file, or Parquet.

use std::io::{BufWriter, IntoInnerError, Write};
use std::path::Path;

use anyhow::{Context, Result};
use arrow_array::RecordBatch;
use arrow_ipc::writer::FileWriter;
use arrow_schema::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use wiregauge_trace::write::Output;

/// Most rows of a row group of Parquet, whose columns are held packed until it is whole.
const GROUP: usize = 1 << 18;

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

/// A file that rows are written to.
pub enum TableFile<W: Output + Send> {
    /// Arrow's IPC file.
    Arrow(Box<FileWriter<BufWriter<W>>>),
    /// Parquet.
    Parquet(Box<ArrowWriter<BufWriter<W>>>),
}

impl<W: Output + Send> TableFile<W> {
    /// Begins a file of these columns.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn begin(out: W, form: TableFormat, schema: &SchemaRef) -> Result<TableFile<W>> {
        let out = BufWriter::with_capacity(1 << 20, out);
        Ok(match form {
            TableFormat::Arrow => TableFile::Arrow(Box::new(FileWriter::try_new(out, schema)?)),
            TableFormat::Parquet => {
                let properties = WriterProperties::builder()
                    .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
                    .set_max_row_group_row_count(Some(GROUP))
                    .set_created_by(concat!("wiregauge ", env!("CARGO_PKG_VERSION")).into());
                let properties = Some(properties.build());
                let writer = ArrowWriter::try_new(out, SchemaRef::clone(schema), properties)?;
                TableFile::Parquet(Box::new(writer))
            }
        })
    }

    /// Writes rows.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        match self {
            TableFile::Arrow(file) => file.write(batch)?,
            TableFile::Parquet(file) => file.write(batch)?,
        }
        Ok(())
    }

    /// Writes what is left, and keeps all of it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(self) -> Result<()> {
        let mut out = match self {
            TableFile::Arrow(file) => file.into_inner()?,
            TableFile::Parquet(file) => file.into_inner()?,
        };
        out.flush()?;
        out.into_inner().map_err(IntoInnerError::into_error)?.commit()
    }
}
