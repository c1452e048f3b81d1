//! A Parquet file whose row groups are whole batches, and say that they are sorted by time where
//! they are. The library says it for a whole file, before it has a row: so groups are written by
//! its parts here.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{anyhow, Context, Result};
use arrow_array::cast::AsArray;
use arrow_array::types::TimestampNanosecondType;
use arrow_array::{Array, RecordBatch};
use arrow_schema::SchemaRef;
use parquet::arrow::arrow_writer::{compute_leaves, ArrowColumnWriter, ArrowRowGroupWriterFactory};
use parquet::arrow::{add_encoded_arrow_schema_to_metadata, ArrowSchemaConverter};
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::page_index::PageIndexBuilder;
use parquet::file::metadata::{
    FileMetaData, ParquetMetaDataBuilder, ParquetMetaDataWriter, RowGroupMetaData, SortingColumn,
};
use parquet::file::page_index::column_index::ColumnIndexMetaData;
use parquet::file::page_index::offset_index::OffsetIndexMetaData;
use parquet::file::properties::{WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter, TrackedWrite};
use parquet::schema::types::SchemaDescPtr;

/// Rows of a row group, whose columns are held packed until it is whole.
const GROUP: usize = 1 << 18;

/// What begins a file.
const MAGIC: &[u8] = b"PAR1";

/// The column that rows are sorted by.
const TIME: &str = "log_time";

/// A file that batches are written to.
pub(crate) struct ParquetFile<W: Write + Send> {
    /// The library keeps what it writes the end of a file to.
    out: Arc<Mutex<W>>,
    tracked: TrackedWrite<SharedOut<W>>,
    schema: SchemaRef,
    columns: SchemaDescPtr,
    writers: ArrowRowGroupWriterFactory,
    /// Of groups that are not sorted, and of those that are.
    properties: [WriterPropertiesPtr; 2],
    /// The group that is not whole yet.
    group: Option<OpenGroup>,
    groups: Vec<WrittenGroup>,
}

/// A file that several write to, one after the other.
struct SharedOut<W>(Arc<Mutex<W>>);

impl<W: Write> Write for SharedOut<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).flush()
    }
}

/// A group whose columns are held packed.
struct OpenGroup {
    columns: Vec<ArrowColumnWriter>,
    rows: usize,
    order: TimeOrder,
}

/// Whether rows are in the order of their times.
struct TimeOrder {
    is_sorted: bool,
    last: i64,
}

/// What the end of the file says of a group.
struct WrittenGroup {
    about: RowGroupMetaData,
    column_indexes: Vec<Option<ColumnIndexMetaData>>,
    offset_indexes: Vec<Option<OffsetIndexMetaData>>,
}

impl TimeOrder {
    const NEW: TimeOrder = TimeOrder { is_sorted: true, last: i64::MIN };

    /// Goes on with the rows of a batch: their first column has the times. Those without a time
    /// have no place.
    fn add(&mut self, batch: &RecordBatch) {
        let is_time = batch.schema_ref().fields().first().is_some_and(|field| field.name() == TIME);
        let times = batch.columns().first().filter(|_| is_time);
        let times = times.and_then(|times| times.as_primitive_opt::<TimestampNanosecondType>());
        let Some(times) = times.filter(|times| times.null_count() == 0) else {
            self.is_sorted = false;
            return;
        };
        let values = times.values();
        let is_after = values.first().is_none_or(|first| self.last <= *first);
        self.is_sorted &= is_after && values.is_sorted();
        self.last = values.last().copied().unwrap_or(self.last);
    }
}

impl<W: Write + Send> ParquetFile<W> {
    /// Begins a file of these columns.
    pub fn begin(out: W, schema: &SchemaRef) -> Result<ParquetFile<W>> {
        let columns = Arc::new(ArrowSchemaConverter::new().convert(schema)?);
        let by_time = SortingColumn { column_idx: 0, descending: false, nulls_first: false };
        let level = ZstdLevel::try_new(1)?;
        let properties = [None, Some(vec![by_time])].map(|sorting| {
            let mut properties = WriterProperties::builder()
                .set_compression(Compression::ZSTD(level))
                .set_created_by(concat!("wiregauge ", env!("CARGO_PKG_VERSION")).into())
                .set_sorting_columns(sorting)
                .build();
            add_encoded_arrow_schema_to_metadata(schema, &mut properties);
            Arc::new(properties)
        });
        // It knows how columns are packed; what it begins is thrown away.
        let root = columns.root_schema_ptr();
        let model = SerializedFileWriter::new(Vec::new(), root, Arc::clone(&properties[0]))?;
        let writers = ArrowRowGroupWriterFactory::new(&model, SchemaRef::clone(schema));
        let out = Arc::new(Mutex::new(out));
        let mut tracked = TrackedWrite::new(SharedOut(Arc::clone(&out)));
        tracked.write_all(MAGIC)?;
        let (schema, groups) = (SchemaRef::clone(schema), Vec::new());
        Ok(ParquetFile { out, tracked, schema, columns, writers, properties, group: None, groups })
    }

    /// Adds a batch, which is in one group: a few whole messages, so that a reader of one message
    /// reads one group, which its statistics tell.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        if self.group.as_ref().is_some_and(|group| group.rows + batch.num_rows() > GROUP) {
            self.end_group()?;
        }
        let group = match &mut self.group {
            Some(group) => group,
            None => {
                let columns = self.writers.create_column_writers(self.groups.len())?;
                self.group.insert(OpenGroup { columns, rows: 0, order: TimeOrder::NEW })
            }
        };
        group.rows += batch.num_rows();
        group.order.add(batch);
        let mut columns = group.columns.iter_mut();
        for (field, array) in self.schema.fields().iter().zip(batch.columns()) {
            for leaf in compute_leaves(field, array)? {
                columns.next().context("a batch has more columns than its table")?.write(&leaf)?;
            }
        }
        Ok(())
    }

    /// Writes the group that is not whole yet.
    fn end_group(&mut self) -> Result<()> {
        let Some(group) = self.group.take() else { return Ok(()) };
        let properties = Arc::clone(&self.properties[usize::from(group.order.is_sorted)]);
        let (columns, number) = (Arc::clone(&self.columns), i32::try_from(self.groups.len())?);
        let groups = &mut self.groups;
        let keep = move |_: &mut _, about, _, column_indexes, offset_indexes| {
            groups.push(WrittenGroup { about, column_indexes, offset_indexes });
            Ok(())
        };
        let mut writer = SerializedRowGroupWriter::new(
            columns,
            properties,
            &mut self.tracked,
            number,
            Some(Box::new(keep)),
        );
        for column in group.columns {
            column.close()?.append_to_row_group(&mut writer)?;
        }
        writer.close()?;
        Ok(())
    }

    /// Writes what is left and the end of the file, which tells its groups.
    pub fn finish(mut self) -> Result<W> {
        self.end_group()?;
        let ParquetFile { out, tracked, columns, properties, groups, .. } = self;
        let mut pages = PageIndexBuilder::new(groups.len(), columns.num_columns());
        let mut rows = 0;
        let mut about = Vec::with_capacity(groups.len());
        for (at, group) in groups.into_iter().enumerate() {
            for (column, index) in group.column_indexes.into_iter().enumerate() {
                index.into_iter().for_each(|index| pages.put_column_index(index, at, column));
            }
            for (column, index) in group.offset_indexes.into_iter().enumerate() {
                index.into_iter().for_each(|index| pages.put_offset_index(index, at, column));
            }
            rows += group.about.num_rows();
            about.push(group.about);
        }
        let [properties, _] = properties;
        let file = FileMetaData::new(
            properties.writer_version().as_num(),
            rows,
            Some(properties.created_by().to_owned()),
            properties.key_value_metadata().cloned(),
            columns,
            None,
        );
        let metadata = ParquetMetaDataBuilder::new(file)
            .set_row_groups(about)
            .set_page_index(Some(Arc::new(pages.build())))
            .build();
        ParquetMetaDataWriter::new_with_tracked(tracked, &metadata).finish()?;
        let out = Arc::into_inner(out).ok_or_else(|| anyhow!("a table is still being written"))?;
        Ok(out.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}
