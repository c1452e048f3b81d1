//! Messages as rows: when they were, of which channel, and their bytes where they were read to.

use std::collections::HashMap;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::Arc;

use anyhow::{Context, Result};
use arrow_array::builder::make_view;
use arrow_array::types::TimestampNanosecondType;
use arrow_array::{
    ArrayRef, BinaryViewArray, PrimitiveArray, RecordBatch, RecordBatchReader, StringArray,
    UInt32Array,
};
use arrow_buffer::{Buffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef, TimeUnit};
use wiregauge_system::text;
use wiregauge_trace::open::{self, OpenHints};
use wiregauge_trace::read::{MessageInfo, Nanoseconds, Reader};
use wiregauge_trace::select::{Selection, SelectionCursor};
use wiregauge_trace::shared_bytes::SharedBytes;

/// Messages that are a batch.
const BATCH_ROWS: usize = 1 << 16;

/// Bytes that are a batch.
const BATCH_BYTES: u64 = 16 << 20;

/// Up to so many bytes lie in a view itself.
const INLINE: usize = 12;

/// Messages that are read, batch by batch.
pub struct MessageRows {
    origin: String,
    reader: Box<dyn Reader>,
    selection: Selection,
    cursor: SelectionCursor,
    schema: SchemaRef,
    /// What is wrong, once the messages before it were taken.
    failure: Option<anyhow::Error>,
    is_done: bool,
}

/// The bytes of messages, as views of the buffers that they were read to.
#[derive(Default)]
struct PayloadViews {
    views: Vec<u128>,
    buffers: Vec<Buffer>,
    /// The number of each buffer, by its address.
    known: HashMap<usize, u32>,
}

impl MessageRows {
    /// Opens a file.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn open(path: &Path, hints: &OpenHints, selection: &Selection) -> Result<MessageRows> {
        let mut reader = open::open(path, hints)?;
        reader.verify();
        let cursor = selection.begin(reader.as_mut());
        Ok(MessageRows {
            origin: path.display().to_string(),
            reader,
            selection: selection.clone(),
            cursor,
            schema: Arc::new(message_schema()),
            failure: None,
            is_done: false,
        })
    }

    fn read_message(&mut self) -> Result<Option<(MessageInfo, SharedBytes)>> {
        match self.cursor.advance(&self.selection, self.reader.as_mut())? {
            Some(head) => Ok(Some((head, self.reader.shared_data()?))),
            None => {
                self.selection.check(&self.origin, self.reader.channels().values())?;
                Ok(None)
            }
        }
    }

    /// The next batch; none at the end.
    fn read_batch(&mut self) -> Result<Option<RecordBatch>> {
        let (mut heads, mut topics, mut bytes) = (Vec::new(), Vec::new(), 0);
        let mut payloads = PayloadViews::default();
        while !self.is_done && heads.len() < BATCH_ROWS && bytes < BATCH_BYTES {
            match self.read_message() {
                Ok(Some((head, data))) => {
                    topics.push(self.reader.channels()[&head.channel].topic.clone());
                    bytes += head.size;
                    payloads.push(data)?;
                    heads.push(head);
                }
                Ok(None) => self.is_done = true,
                Err(error) => {
                    self.failure = Some(error);
                    self.is_done = true;
                }
            }
        }
        if heads.is_empty() {
            return self.failure.take().map_or(Ok(None), Err);
        }
        let times = |time: fn(&MessageInfo) -> Option<Nanoseconds>| -> Result<ArrayRef> {
            let times = heads.iter().map(|head| time(head).map(i64::try_from).transpose());
            let times: Result<Vec<_>, _> = times.collect();
            let times = times.context("a time lies outside of the 292 years of a table")?;
            let times = PrimitiveArray::<TimestampNanosecondType>::from(times);
            Ok(Arc::new(times.with_timezone("UTC")))
        };
        let sequences = heads.iter().map(|head| head.sequence);
        let columns: Vec<ArrayRef> = vec![
            times(|head| head.time)?,
            times(|head| head.publish_time)?,
            Arc::new(sequences.collect::<UInt32Array>()),
            Arc::new(StringArray::from(topics)),
            Arc::new(payloads.finish()?),
        ];
        Ok(Some(RecordBatch::try_new(self.schema.clone(), columns)?))
    }
}

/// The columns of messages.
pub fn message_schema() -> Schema {
    let time = || DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into()));
    Schema::new(vec![
        Field::new("log_time", time(), true),
        Field::new("publish_time", time(), true),
        Field::new("sequence", DataType::UInt32, false),
        Field::new("channel", DataType::Utf8, false),
        Field::new("data", DataType::BinaryView, false),
    ])
}

impl PayloadViews {
    fn push(&mut self, bytes: SharedBytes) -> Result<()> {
        let (message, buffer) = (&bytes[..], bytes.buffer());
        let (start, end) = (buffer.as_ptr() as usize, message.as_ptr() as usize);
        let offset = u32::try_from(end.wrapping_sub(start)).context("a buffer of 4 GiB")?;
        if message.len() <= INLINE {
            self.views.push(make_view(message, 0, 0));
            return Ok(());
        }
        let number = match self.known.get(&start) {
            Some(number) => *number,
            None => {
                let number = u32::try_from(self.buffers.len())?;
                let first = NonNull::new(buffer.as_ptr().cast_mut()).context("an empty buffer")?;
                let length = buffer.len();
                // SAFETY: the owner that goes with it keeps these bytes where they are.
                let buffer = unsafe {
                    Buffer::from_custom_allocation(first, length, Arc::new(bytes.clone()))
                };
                self.buffers.push(buffer);
                self.known.insert(start, number);
                number
            }
        };
        self.views.push(make_view(message, number, offset));
        Ok(())
    }

    fn finish(self) -> Result<BinaryViewArray> {
        Ok(BinaryViewArray::try_new(ScalarBuffer::from(self.views), self.buffers, None)?)
    }
}

impl Iterator for MessageRows {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.read_batch().transpose()?;
        Some(batch.map_err(|error| {
            self.is_done = true;
            ArrowError::ExternalError(text::escape(&format!("{error:#}")).into())
        }))
    }
}

impl RecordBatchReader for MessageRows {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}
