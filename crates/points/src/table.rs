//! Writes points as a table, a row a point: Arrow's IPC file, or Parquet.

use std::collections::HashMap;
use std::sync::Arc;

use anyhow::{Context, Result};
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Int32Array, Int64Array, RecordBatch, StringArray, UInt32Array,
    UInt64Array,
};
use arrow_schema::{DataType, Field, Schema};
use wiregauge_columns::{TableFile, TableFormat};
use wiregauge_trace::channel::Channel;
use wiregauge_trace::read::MessageInfo;
use wiregauge_trace::write::{Output, Writer};

use crate::column::Column;
use crate::column_builder::{data_type, ColumnBuilder};
use crate::osi::SensorConventions;
use crate::points::Points;
use crate::source::{DecoderLookup, PointSource};
use crate::survey::{table_column_name, TableContents, FIXED_COLUMNS};

/// Rows that are held before they are written.
const BATCH: usize = 1 << 16;

/// A table.
pub struct TableWriter<W: Output + Send> {
    rows: TableFile<W>,
    schema: Arc<Schema>,
    reading: SensorConventions,
    others: DecoderLookup,
    skips: bool,
    found: TableContents,
    channels: Vec<TableChannel>,
    /// How many rows are held, and how many were written.
    held: usize,
    written: u64,
    times: Vec<Option<i64>>,
    words: [Vec<i32>; 2],
    messages: Vec<u64>,
    numbers: Vec<u32>,
    columns: Vec<ColumnBuilder>,
}

/// A channel that is read.
struct TableChannel {
    topic: String,
    source: Option<PointSource>,
    messages: u64,
}

impl<W: Output + Send> TableWriter<W> {
    /// Begins a table that holds what was found.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn begin(
        out: W,
        form: TableFormat,
        reading: SensorConventions,
        found: TableContents,
    ) -> Result<TableWriter<W>> {
        let schema = Arc::new(schema(&found));
        let rows = TableFile::begin(out, form, &schema)?;
        let columns = found.columns.iter().map(|column| ColumnBuilder::new(column.kind)).collect();
        let (channels, times, words, messages, numbers) = Default::default();
        Ok(TableWriter {
            rows,
            schema,
            reading,
            others: |_| Ok(None),
            skips: false,
            found,
            channels,
            held: 0,
            written: 0,
            times,
            words,
            messages,
            numbers,
            columns,
        })
    }

    /// The same with messages of OSI in other encodings.
    pub fn with_decoders(self, others: DecoderLookup) -> TableWriter<W> {
        TableWriter { others, ..self }
    }

    /// The same, and leaves out messages whose points cannot be read where that is wanted:
    /// those that the survey told of.
    pub fn skip_failed(self, skips: bool) -> TableWriter<W> {
        TableWriter { skips, ..self }
    }

    fn add(&mut self, at: usize, head: &MessageInfo, points: &Points) -> Result<()> {
        let time = head.time.map(|time| {
            i64::try_from(time)
                .context("a time lies outside of the 292 years that a table can hold")
        });
        let time = time.transpose()?;
        let topic = index_of_word(&self.found.topics, &self.channels[at].topic)?;
        let list = index_of_word(&self.found.lists, &points.list)?;
        // Points of which nothing is known have no columns, and no bytes that bound them.
        let count = if points.columns.is_empty() { 0 } else { points.count };
        let mut from = 0;
        while from < count {
            let part = (count - from).min(BATCH - self.held);
            self.held += part;
            self.times.resize(self.held, time);
            self.words[0].resize(self.held, topic);
            self.words[1].resize(self.held, list);
            self.messages.resize(self.held, self.channels[at].messages);
            self.numbers.extend((from..from + part).map(|point| point as u32));
            for (wanted, gather) in self.found.columns.iter().zip(&mut self.columns) {
                let own = |column: &&Column| table_column_name(&column.name) == wanted.name;
                gather.add(points.columns.iter().find(own), from, part);
            }
            from += part;
            if self.held == BATCH {
                self.flush()?;
            }
        }
        Ok(())
    }

    /// Writes the rows that are held.
    fn flush(&mut self) -> Result<()> {
        if self.held == 0 {
            return Ok(());
        }
        self.written += self.held as u64;
        self.held = 0;
        let take = std::mem::take::<Vec<i32>>;
        let known = [&self.found.topics, &self.found.lists];
        let words = self.words.iter_mut().zip(known).map(|(words, known)| -> Result<ArrayRef> {
            let known: ArrayRef = Arc::new(StringArray::from(known.clone()));
            let keys = Int32Array::from(take(words));
            Ok(Arc::new(DictionaryArray::<Int32Type>::try_new(keys, known)?))
        });
        let mut words = words.collect::<Result<Vec<_>>>()?.into_iter();
        let mut arrays: Vec<ArrayRef> =
            vec![Arc::new(Int64Array::from(std::mem::take(&mut self.times)))];
        arrays.extend(words.by_ref());
        arrays.push(Arc::new(UInt64Array::from(std::mem::take(&mut self.messages))));
        arrays.push(Arc::new(UInt32Array::from(std::mem::take(&mut self.numbers))));
        arrays.extend(self.columns.iter_mut().map(ColumnBuilder::finish));
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), arrays)?;
        self.rows.write(&batch)
    }
}

fn index_of_word(known: &[String], word: &str) -> Result<i32> {
    let at = known.iter().position(|known| known == word);
    Ok(i32::try_from(at.context("the input changed while it was read")?)?)
}

/// The columns of a table, with their units.
fn schema(found: &TableContents) -> Schema {
    let words = || DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    let unit = |field: Field, unit: &str| match unit {
        "" => field,
        unit => field.with_metadata(HashMap::from([("unit".to_owned(), unit.to_owned())])),
    };
    let [time, channel, list, message, point] = FIXED_COLUMNS;
    let mut fields = vec![
        unit(Field::new(time, DataType::Int64, true), "ns"),
        Field::new(channel, words(), false),
        Field::new(list, words(), false),
        Field::new(message, DataType::UInt64, false),
        Field::new(point, DataType::UInt32, false),
    ];
    let columns = found.columns.iter();
    fields.extend(
        columns.map(|column| {
            unit(Field::new(&column.name, data_type(column.kind), true), column.unit)
        }),
    );
    Schema::new(fields)
}

impl<W: Output + Send> Writer for TableWriter<W> {
    fn add_channel(&mut self, channel: &Channel) -> Result<u16> {
        let (topic, source) =
            (channel.topic.clone(), PointSource::from_channel_with(channel, self.others)?);
        self.channels.push(TableChannel { topic, source, messages: 0 });
        Ok(u16::try_from(self.channels.len() - 1)?)
    }

    fn write_message(&mut self, channel: u16, head: &MessageInfo, data: &[u8]) -> Result<()> {
        let at = usize::from(channel);
        let Some(source) = &self.channels[at].source else { return Ok(()) };
        let found = match source.points(data, self.reading) {
            Err(_) if self.skips => Vec::new(),
            found => found?,
        };
        for points in found {
            if !points.columns.is_empty() {
                self.add(at, head, &points)?;
            }
        }
        self.channels[at].messages += 1;
        Ok(())
    }

    fn remarks(&self) -> Vec<String> {
        vec![format!("{} points, one row each", self.written + self.held as u64)]
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.flush()?;
        self.rows.finish()
    }
}
