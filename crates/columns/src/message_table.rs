//! The messages of a channel as a table: a row a message, or a row an element of a list in it.

use std::collections::HashMap;
use std::sync::Arc;

use anyhow::{anyhow, bail, ensure, Context, Result};
use arrow_array::types::{ArrowPrimitiveType, TimestampNanosecondType, UInt32Type, UInt64Type};
use arrow_array::{ArrayRef, PrimitiveArray, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use wiregauge_trace::channel::{Channel, Definition};
use wiregauge_trace::decoding::TopicDecoder;
use wiregauge_trace::read::{MessageInfo, Nanoseconds};
use wiregauge_trace::write::{Output, Writer};

use crate::plan::{ColumnPlan, ColumnReader, Wire};
use crate::table_file::{TableFile, TableFormat};

/// Rows that are held before they are written.
const BATCH_ROWS: usize = 1 << 16;

/// Bytes that are held before they are written.
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

/// Finds the definition of a channel that does not carry its own.
pub type FindDefinition = fn(&Channel) -> Result<Definition>;

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

/// Writes the messages of one channel as a table.
pub struct MessageTable<W: Output + Send> {
    /// None once it is begun.
    out: Option<(W, TableFormat)>,
    selection: TableSelection,
    find_definition: FindDefinition,
    channels: Vec<Channel>,
    table: Option<OpenTable<W>>,
    rows: u64,
    skipped: u64,
    first_failure: Option<String>,
}

/// A table whose columns are known.
struct OpenTable<W: Output + Send> {
    channel: usize,
    file: TableFile<W>,
    schema: SchemaRef,
    reader: ColumnReader,
    heads: HeadColumns,
}

/// The columns that are said of messages and not by them.
enum HeadColumns {
    /// A row a message.
    Messages { log_times: Vec<Option<i64>>, publish_times: Vec<Option<i64>>, sequences: Vec<u32> },
    /// A row an element.
    Elements { log_times: Vec<Option<i64>>, numbers: Vec<u64>, messages: u64 },
}

impl<W: Output + Send> MessageTable<W> {
    /// Begins a table. What OSI's files lack is found by `find_definition`.
    pub fn new(
        out: W,
        form: TableFormat,
        selection: TableSelection,
        find_definition: FindDefinition,
    ) -> MessageTable<W> {
        MessageTable {
            out: Some((out, form)),
            selection,
            find_definition,
            channels: Vec::new(),
            table: None,
            rows: 0,
            skipped: 0,
            first_failure: None,
        }
    }

    /// Begins the table with the first message, whose channel says the columns.
    fn open(&mut self, channel: usize) -> Result<OpenTable<W>> {
        let described = &self.channels[channel];
        let mut described = described.clone();
        if described.definition.data.is_empty() && described.message_encoding == "protobuf" {
            described.definition = Arc::new((self.find_definition)(&described)?);
        }
        let plan = ColumnPlan::from_channel(&described, &self.selection)
            .with_context(|| format!("channel {}", described.topic))?;
        let heads = HeadColumns::new(self.selection.rows.is_some());
        let schema = Arc::new(table_schema(&plan.schema(), &heads, &described));
        let (out, form) = self.out.take().context("the table was begun")?;
        let file = TableFile::begin(out, form, &schema)?;
        Ok(OpenTable { channel, file, schema, reader: ColumnReader::new(Arc::new(plan)), heads })
    }
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

impl<W: Output + Send> OpenTable<W> {
    /// Writes the rows that are held; how many these were.
    fn flush(&mut self) -> Result<usize> {
        let rows = self.reader.rows();
        if rows == 0 {
            return Ok(0);
        }
        let mut columns = self.heads.finish();
        columns.extend(self.reader.finish()?.columns().iter().cloned());
        self.file.write(&RecordBatch::try_new(SchemaRef::clone(&self.schema), columns)?)?;
        Ok(rows)
    }
}

impl<W: Output + Send> Writer for MessageTable<W> {
    fn add_channel(&mut self, channel: &Channel) -> Result<u16> {
        self.channels.push(channel.clone());
        Ok(u16::try_from(self.channels.len() - 1)?)
    }

    fn write_message(&mut self, channel: u16, head: &MessageInfo, data: &[u8]) -> Result<()> {
        let channel = usize::from(channel);
        let mut table = match self.table.take() {
            Some(table) => table,
            None => self.open(channel)?,
        };
        let topic = &self.channels[channel].topic;
        let first = &self.channels[table.channel].topic;
        ensure!(
            channel == table.channel,
            "a table holds the messages of one channel, and there are {first} and {topic}; choose \
             one by --channel"
        );
        match table.reader.push(data) {
            Ok(rows) => table.heads.push(head, rows)?,
            Err(error) if self.selection.skips_failed => {
                self.skipped += 1;
                self.first_failure.get_or_insert_with(|| format!("{error:#}"));
            }
            Err(error) => {
                return Err(error.context(format!("{topic}: the message at {}", head.place)))
            }
        }
        if table.reader.rows() >= BATCH_ROWS || table.reader.size() >= BATCH_BYTES {
            self.rows += table.flush()? as u64;
        }
        self.table = Some(table);
        Ok(())
    }

    fn remarks(&self) -> Vec<String> {
        let held = self.table.as_ref().map_or(0, |table| table.reader.rows() as u64);
        let mut remarks = vec![format!("{} rows", self.rows + held)];
        if let Some(reason) = &self.first_failure {
            let skipped = self.skipped;
            remarks.push(format!("{skipped} messages left out, the first as {reason}"));
        }
        remarks
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        let Some(mut table) = self.table.take() else {
            return Err(match self.first_failure.take() {
                Some(reason) => anyhow!("no message can be read: {reason}"),
                None => anyhow!("no message was selected"),
            });
        };
        if self.rows == 0 && table.reader.rows() == 0 {
            if let Some(reason) = &self.first_failure {
                bail!("no message can be read: {reason}");
            }
        }
        table.flush()?;
        table.file.finish()
    }
}
