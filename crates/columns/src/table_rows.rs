//! Messages of a channel as rows, with what is said of each beside.

use std::collections::HashMap;
use std::sync::Arc;

use anyhow::{ensure, Context, Result};
use arrow_array::types::{ArrowPrimitiveType, TimestampNanosecondType, UInt32Type, UInt64Type};
use arrow_array::{ArrayRef, PrimitiveArray, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use wiregauge_trace::channel::Channel;
use wiregauge_trace::decoding::TopicDecoder;
use wiregauge_trace::read::{MessageInfo, Nanoseconds};

use crate::plan::{ColumnPlan, ColumnReader, Wire};

/// Rows that are a batch.
const BATCH_ROWS: usize = 1 << 16;

/// Bytes that are a batch.
const BATCH_BYTES: usize = 16 << 20;

/// What becomes a table.
#[derive(Clone, Debug, Default)]
pub struct TableSelection {
    /// The list whose elements are the rows; none where each message is one.
    pub rows: Option<String>,
    /// The fields that become columns; all where there is none.
    pub fields: Vec<String>,
    /// Whether messages that do not fit their definition are left out, and no error.
    pub skips_failed: bool,
}

impl ColumnPlan {
    /// For the messages of a channel, by the definition that it carries.
    ///
    /// # Errors
    /// When it carries none that can be read, and as [`ColumnPlan::messages`].
    pub fn from_channel(channel: &Channel, selection: &TableSelection) -> Result<ColumnPlan> {
        let decoder = TopicDecoder::from_channel(channel)?;
        let wire = match &decoder {
            TopicDecoder::Cdr(_) => Wire::Cdr,
            TopicDecoder::Ros1(_) => Wire::Ros1,
            TopicDecoder::Protobuf(_) => Wire::Protobuf,
        };
        let (schema, fields) = (decoder.schema(), &selection.fields);
        match &selection.rows {
            Some(list) => ColumnPlan::elements(schema, wire, list, fields),
            None => ColumnPlan::messages(schema, wire, fields),
        }
    }
}

/// The rows of one channel's messages.
#[derive(Debug)]
pub struct TableRows {
    channel: Channel,
    schema: SchemaRef,
    reader: ColumnReader,
    heads: HeadColumns,
}

impl TableRows {
    /// Of the messages of a channel, by the definition that it carries.
    ///
    /// # Errors
    /// As [`ColumnPlan::from_channel`].
    pub fn new(channel: &Channel, selection: &TableSelection) -> Result<TableRows> {
        let plan = ColumnPlan::from_channel(channel, selection)
            .with_context(|| format!("channel {}", channel.topic))?;
        let heads = HeadColumns::new(selection.rows.is_some());
        let schema = Arc::new(table_schema(&plan.schema(), &heads, channel));
        let reader = ColumnReader::new(Arc::new(plan));
        Ok(TableRows { channel: channel.clone(), schema, reader, heads })
    }

    /// The columns.
    pub fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.schema)
    }

    /// Fails for messages of another channel: a table holds those of one.
    ///
    /// # Errors
    /// With both channels' names.
    pub fn check_channel(&self, other: &Channel) -> Result<()> {
        let own = &self.channel;
        ensure!(
            own.topic == other.topic && own.definition.name == other.definition.name,
            "a table holds the messages of one channel, and there are {} and {}; choose one",
            own.topic,
            other.topic
        );
        Ok(())
    }

    /// Adds the rows of a message; none where this fails.
    ///
    /// # Errors
    /// When the message does not fit its definition.
    pub fn push(&mut self, head: &MessageInfo, data: &[u8]) -> Result<()> {
        let rows = self
            .reader
            .push(data)
            .with_context(|| format!("{}: the message at {}", self.channel.topic, head.place))?;
        self.heads.push(head, rows)
    }

    /// Says how many messages of the channel are before the next one, where not all of a
    /// recording is read.
    pub fn count_from(&mut self, number: u64) {
        if let HeadColumns::Elements { messages, .. } = &mut self.heads {
            *messages = number;
        }
    }

    /// The rows since the last batch.
    pub fn len(&self) -> usize {
        self.reader.rows()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether there are enough for a batch.
    pub fn is_full(&self) -> bool {
        self.reader.rows() >= BATCH_ROWS || self.reader.size() >= BATCH_BYTES
    }

    /// The rows since the last batch, as one.
    ///
    /// # Errors
    /// Never, unless a column is longer than another one.
    pub fn finish(&mut self) -> Result<RecordBatch> {
        let mut columns = self.heads.finish();
        columns.extend(self.reader.finish()?.columns().iter().cloned());
        Ok(RecordBatch::try_new(self.schema(), columns)?)
    }
}

/// The columns that are said of messages and not by them.
#[derive(Debug)]
enum HeadColumns {
    /// A row a message.
    Messages { log_times: Vec<Option<i64>>, publish_times: Vec<Option<i64>>, sequences: Vec<u32> },
    /// A row an element.
    Elements { log_times: Vec<Option<i64>>, numbers: Vec<u64>, messages: u64 },
}

impl HeadColumns {
    fn new(are_elements: bool) -> HeadColumns {
        match are_elements {
            true => {
                HeadColumns::Elements { log_times: Vec::new(), numbers: Vec::new(), messages: 0 }
            }
            false => HeadColumns::Messages {
                log_times: Vec::new(),
                publish_times: Vec::new(),
                sequences: Vec::new(),
            },
        }
    }

    fn fields(&self) -> Vec<Field> {
        let time = || DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into()));
        match self {
            HeadColumns::Messages { .. } => vec![
                Field::new("log_time", time(), true),
                Field::new("publish_time", time(), true),
                Field::new("sequence", DataType::UInt32, false),
            ],
            HeadColumns::Elements { .. } => vec![
                Field::new("log_time", time(), true),
                Field::new("message", DataType::UInt64, false),
            ],
        }
    }

    /// Adds a message with so many rows.
    fn push(&mut self, head: &MessageInfo, rows: usize) -> Result<()> {
        match self {
            HeadColumns::Messages { log_times, publish_times, sequences } => {
                log_times.push(table_time(head.time)?);
                publish_times.push(table_time(head.publish_time)?);
                sequences.push(head.sequence);
            }
            HeadColumns::Elements { log_times, numbers, messages } => {
                log_times.resize(log_times.len() + rows, table_time(head.time)?);
                numbers.resize(numbers.len() + rows, *messages);
                *messages += 1;
            }
        }
        Ok(())
    }

    fn finish(&mut self) -> Vec<ArrayRef> {
        match self {
            HeadColumns::Messages { log_times, publish_times, sequences } => vec![
                take_times(log_times),
                take_times(publish_times),
                take_numbers::<UInt32Type>(sequences),
            ],
            HeadColumns::Elements { log_times, numbers, .. } => {
                vec![take_times(log_times), take_numbers::<UInt64Type>(numbers)]
            }
        }
    }
}

fn table_time(time: Option<Nanoseconds>) -> Result<Option<i64>> {
    let time = time.map(i64::try_from).transpose();
    time.context("a time lies outside of the 292 years that a table can hold")
}

fn take_times(times: &mut Vec<Option<i64>>) -> ArrayRef {
    let times = PrimitiveArray::<TimestampNanosecondType>::from(std::mem::take(times));
    Arc::new(times.with_timezone("UTC"))
}

fn take_numbers<T: ArrowPrimitiveType>(numbers: &mut Vec<T::Native>) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::from_iter_values(std::mem::take(numbers)))
}

/// All columns of a table. A field that is called as one that is said of the message is
/// called `field_…`.
fn table_schema(fields: &Schema, heads: &HeadColumns, channel: &Channel) -> Schema {
    let heads = heads.fields();
    let is_taken = |name: &str| heads.iter().any(|head| head.name() == name);
    let own = fields.fields().iter().map(|field| match is_taken(field.name()) {
        true => field.as_ref().clone().with_name(format!("field_{}", field.name())),
        false => field.as_ref().clone(),
    });
    let metadata = [("channel", &channel.topic), ("type", &channel.definition.name)];
    let metadata: HashMap<String, String> =
        metadata.into_iter().map(|(name, of)| (name.to_owned(), of.clone())).collect();
    let own: Vec<Field> = own.collect();
    Schema::new_with_metadata(heads.iter().cloned().chain(own).collect::<Vec<_>>(), metadata)
}
