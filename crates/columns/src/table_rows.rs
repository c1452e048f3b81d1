//! Messages of a channel as rows, with what is said of each beside.

use std::collections::HashMap;
use std::sync::Arc;

use anyhow::{ensure, Context, Result};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Field, Schema, SchemaRef};
use wiregauge_flatbuffers::Definition;
use wiregauge_trace::channel::{Channel, FLATBUFFER};
use wiregauge_trace::decoding::TopicDecoder;
use wiregauge_trace::read::MessageInfo;

use crate::head_columns::{ElementHeads, MessageHeads};
use crate::plan::{ColumnPlan, ColumnReader, Wire};

/// Rows that are a batch. With more of them OSI's objects took longer.
const BATCH_ROWS: usize = 1 << 13;

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
        if channel.message_encoding == FLATBUFFER {
            let definition = Definition::read(&channel.definition.data)?;
            let (table, rows) = (&channel.definition.name, selection.rows.as_deref());
            return ColumnPlan::from_flatbuffers(&definition, table, rows, &selection.fields);
        }
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
        let heads = match selection.rows.is_some() {
            true => HeadColumns::Elements(ElementHeads::default(), 0),
            false => HeadColumns::Messages(MessageHeads::default()),
        };
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
        if let HeadColumns::Elements(_, messages) = &mut self.heads {
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
    /// As [`ColumnReader::finish`].
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
    Messages(MessageHeads),
    /// A row an element, and how many messages there were.
    Elements(ElementHeads, u64),
}

impl HeadColumns {
    fn fields(&self) -> Vec<Field> {
        match self {
            HeadColumns::Messages(_) => MessageHeads::fields(),
            HeadColumns::Elements(..) => ElementHeads::fields(),
        }
    }

    /// Adds a message with so many rows.
    fn push(&mut self, head: &MessageInfo, rows: usize) -> Result<()> {
        match self {
            HeadColumns::Messages(heads) => heads.push(head),
            HeadColumns::Elements(heads, messages) => {
                *messages += 1;
                heads.push(head.time, *messages - 1, rows)
            }
        }
    }

    fn finish(&mut self) -> Vec<ArrayRef> {
        match self {
            HeadColumns::Messages(heads) => heads.finish(),
            HeadColumns::Elements(heads, _) => heads.finish(),
        }
    }
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
