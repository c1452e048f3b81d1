//! The columns that are said of messages and not by them.
//!
//! They are plain numbers. A dictionary of times would take four bytes a row less, but Arrow's
//! file holds one dictionary for all batches, known before the first, and several readers take
//! none.

use std::sync::Arc;

use anyhow::{Context, Result};
use arrow_array::types::{ArrowPrimitiveType, TimestampNanosecondType, UInt32Type};
use arrow_array::{ArrayRef, PrimitiveArray};
use arrow_buffer::{BooleanBufferBuilder, NullBuffer};
use arrow_schema::{DataType, Field, TimeUnit};
use wiregauge_trace::read::{MessageInfo, Nanoseconds};

fn time_type() -> DataType {
    DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into()))
}

/// A row a message.
#[derive(Debug, Default)]
pub(crate) struct MessageHeads {
    log_times: Vec<Option<i64>>,
    publish_times: Vec<Option<i64>>,
    sequences: Vec<u32>,
}

impl MessageHeads {
    pub fn fields() -> Vec<Field> {
        vec![
            Field::new("log_time", time_type(), true),
            Field::new("publish_time", time_type(), true),
            Field::new("sequence", DataType::UInt32, false),
        ]
    }

    /// # Errors
    /// When a time is none that a table can hold.
    pub fn push(&mut self, head: &MessageInfo) -> Result<()> {
        self.log_times.push(table_time(head.time)?);
        self.publish_times.push(table_time(head.publish_time)?);
        self.sequences.push(head.sequence);
        Ok(())
    }

    pub fn finish(&mut self) -> Vec<ArrayRef> {
        vec![
            take_times(&mut self.log_times),
            take_times(&mut self.publish_times),
            take_numbers::<UInt32Type>(&mut self.sequences),
        ]
    }
}

/// A row an element of a message: `log_time`, and `message`, the number of the message in its
/// channel.
#[derive(Debug, Default)]
pub struct ElementHeads {
    /// One for each message: time, number, and how many rows it has.
    messages: Vec<(Option<i64>, u32, usize)>,
}

impl ElementHeads {
    /// The columns.
    pub fn fields() -> Vec<Field> {
        vec![
            Field::new("log_time", time_type(), true),
            Field::new("message", DataType::UInt32, false),
        ]
    }

    /// Adds the rows of a message.
    ///
    /// # Errors
    /// When its time or number is none that a table can hold.
    pub fn push(&mut self, time: Option<Nanoseconds>, number: u64, rows: usize) -> Result<()> {
        let number = u32::try_from(number);
        let number = number.context("a table holds at most 4,294,967,296 messages")?;
        self.messages.push((table_time(time)?, number, rows));
        Ok(())
    }

    /// Their arrays; no rows are left.
    pub fn finish(&mut self) -> Vec<ArrayRef> {
        let messages = std::mem::take(&mut self.messages);
        let rows = messages.iter().map(|(_, _, rows)| rows).sum();
        let mut times: Vec<i64> = Vec::with_capacity(rows);
        let mut numbers: Vec<u32> = Vec::with_capacity(rows);
        for (time, number, rows) in &messages {
            times.resize(times.len() + rows, time.unwrap_or_default());
            numbers.resize(numbers.len() + rows, *number);
        }
        let is_absent = |(time, _, rows): &(Option<i64>, u32, usize)| time.is_none() && *rows > 0;
        let nulls = messages.iter().any(is_absent).then(|| {
            let mut present = BooleanBufferBuilder::new(rows);
            messages.iter().for_each(|(time, _, rows)| present.append_n(*rows, time.is_some()));
            NullBuffer::new(present.finish())
        });
        let times = PrimitiveArray::<TimestampNanosecondType>::new(times.into(), nulls);
        let numbers = PrimitiveArray::<UInt32Type>::new(numbers.into(), None);
        vec![Arc::new(times.with_timezone("UTC")), Arc::new(numbers)]
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
