//! Writes points as a table, a row a point: Arrow's IPC file, or Parquet.
//!
//! A table says its columns before its rows. The first message of each channel mostly has them
//! all: then the input is read once. Where a later one has more, nothing is written, what all
//! messages have is found out, and the input has to be read again.

use std::cell::RefCell;
use std::rc::Rc;

use anyhow::{bail, ensure, Result};
use wiregauge_columns::{TableFile, TableFormat};
use wiregauge_trace::channel::Channel;
use wiregauge_trace::read::MessageInfo;
use wiregauge_trace::write::{Output, Writer};

use crate::notices::{Notices, SkipCounter};
use crate::osi::SensorConventions;
use crate::point_rows::{PointOrigin, PointRows};
use crate::points::Points;
use crate::source::{DecoderLookup, PointSource};
use crate::table_contents::TableContents;

/// Most bytes of messages that wait for the first ones of other channels.
const MOST_WAITING: u64 = 16 << 20;

/// A table of points: what is known of it, before and after it is written.
#[derive(Clone, Default)]
pub struct PointTable(Rc<RefCell<TableState>>);

#[derive(Default)]
struct TableState {
    contents: TableContents,
    notices: Notices,
    /// Whether the contents are those of all messages.
    is_known: bool,
    is_written: bool,
}

impl PointTable {
    /// One whose messages are left out and counted where their points cannot be read, if that
    /// is wanted.
    pub fn new(skipped: Option<SkipCounter>) -> PointTable {
        let table = PointTable::default();
        table.0.borrow_mut().notices.count_skipped(skipped);
        table
    }

    /// Whether what it has is known.
    pub fn is_known(&self) -> bool {
        self.0.borrow().is_known
    }

    /// Whether it was written. If not, its contents are known now, and the messages have to
    /// be written again.
    pub fn is_written(&self) -> bool {
        self.0.borrow().is_written
    }

    /// What the user must know, also where writing failed.
    pub fn notices(&self, reading: SensorConventions) -> Vec<String> {
        self.0.borrow().notices.list_all(reading, "have no x, y and z")
    }
}

/// Writes a table.
pub struct TableWriter<W: Output + Send + 'static> {
    origin: String,
    reading: SensorConventions,
    others: DecoderLookup,
    table: PointTable,
    channels: Vec<TableChannel>,
    /// How many channels with points are expected.
    expected: usize,
    state: WriteState<W>,
    /// Rows up to here.
    rows: u64,
    /// The channel and the message of the last list that was written.
    last: Option<(usize, u64)>,
}

/// A channel that is read.
struct TableChannel {
    topic: String,
    source: Option<PointSource>,
    messages: u64,
    /// Whether points of it came.
    has_come: bool,
}

/// A list of points in a message.
struct PointList {
    channel: usize,
    /// The number of the message in its channel.
    message: u64,
    head: MessageInfo,
    points: Points,
}

/// How far a table is.
enum WriteState<W: Output + Send + 'static> {
    /// The first messages wait; their bytes in all.
    Waiting {
        out: W,
        form: TableFormat,
        lists: Vec<PointList>,
        size: u64,
    },
    Writing(PointRows, TableFile<W>),
    /// Nothing is written: a later message has more than the first ones.
    Surveying,
}

impl<W: Output + Send + 'static> TableWriter<W> {
    /// Writes a table to `out`, in a form, of so many channels with points, as far as that is
    /// known; without it finds out what it will have. `origin` says in errors what is read.
    pub fn new(
        origin: &str,
        out: Option<(W, TableFormat, usize)>,
        reading: SensorConventions,
        table: &PointTable,
    ) -> TableWriter<W> {
        let expected = out.as_ref().map_or(0, |(_, _, expected)| *expected);
        let state = match out {
            Some((out, form, _)) => WriteState::Waiting { out, form, lists: Vec::new(), size: 0 },
            None => WriteState::Surveying,
        };
        TableWriter {
            origin: origin.to_owned(),
            reading,
            others: |_| Ok(None),
            table: table.clone(),
            channels: Vec::new(),
            expected,
            state,
            rows: 0,
            last: None,
        }
    }

    /// The same with messages of OSI in other encodings.
    pub fn with_decoders(self, others: DecoderLookup) -> TableWriter<W> {
        TableWriter { others, ..self }
    }

    /// The points of a message; none of one that is left out.
    fn read(&self, channel: usize, data: &[u8]) -> Result<Vec<Points>> {
        let TableChannel { topic, source: Some(source), .. } = &self.channels[channel] else {
            return Ok(Vec::new());
        };
        let found = source.points(data, self.reading);
        let mut table = self.table.0.borrow_mut();
        if table.is_known {
            // What is left out was told when the contents were found out.
            return if table.notices.skips() { Ok(found.unwrap_or_default()) } else { found };
        }
        let found = table.notices.skip_failed(topic, found)?.unwrap_or_default();
        for points in &found {
            table.notices.add_points(&format!("{topic}/{}", points.list), points);
        }
        Ok(found)
    }

    /// Adds the rows of a list, or finds out what it has.
    fn add(&mut self, list: PointList) -> Result<()> {
        let channel = &mut self.channels[list.channel];
        channel.has_come = true;
        let is_new = {
            let mut table = self.table.0.borrow_mut();
            !table.is_known && table.contents.add_points(&channel.topic, &list.points)?
        };
        match &mut self.state {
            WriteState::Waiting { lists, .. } => lists.push(list),
            // Its file goes.
            WriteState::Writing(..) if is_new => self.state = WriteState::Surveying,
            WriteState::Writing(rows, file) => {
                let PointList { channel: list_channel, message, head, points } = list;
                let origin = (list_channel, message);
                // All lists of a message are in one batch.
                if rows.is_full() && self.last != Some(origin) {
                    file.write(rows.finish()?)?;
                }
                self.last = Some(origin);
                let before = rows.len();
                rows.add(PointOrigin { topic: &channel.topic, time: head.time, message }, points)?;
                self.rows += (rows.len() - before) as u64;
            }
            WriteState::Surveying => {}
        }
        Ok(())
    }

    /// Begins the file with what waits.
    fn begin(&mut self) -> Result<()> {
        let state = std::mem::replace(&mut self.state, WriteState::Surveying);
        let WriteState::Waiting { out, form, lists, .. } = state else {
            self.state = state;
            return Ok(());
        };
        let rows = PointRows::new(self.table.0.borrow().contents.clone());
        let file = TableFile::begin(out, form, &rows.schema())?;
        self.state = WriteState::Writing(rows, file);
        lists.into_iter().try_for_each(|list| self.add(list))
    }

    /// Whether enough is known to begin.
    fn is_ready(&self) -> bool {
        let WriteState::Waiting { size, .. } = &self.state else { return false };
        let come = self.channels.iter().filter(|channel| channel.has_come).count();
        come >= self.expected.max(1) || *size > MOST_WAITING || self.table.0.borrow().is_known
    }
}

impl<W: Output + Send + 'static> Writer for TableWriter<W> {
    fn add_channel(&mut self, channel: &Channel) -> Result<u16> {
        let source = PointSource::from_channel_with(channel, self.others)?;
        let topic = channel.topic.clone();
        self.channels.push(TableChannel { topic, source, messages: 0, has_come: false });
        Ok(u16::try_from(self.channels.len() - 1)?)
    }

    fn write_message(&mut self, channel: u16, head: &MessageInfo, data: &[u8]) -> Result<()> {
        let channel = usize::from(channel);
        if self.channels[channel].source.is_none() {
            return Ok(());
        }
        let message = self.channels[channel].messages;
        for points in self.read(channel, data)? {
            self.add(PointList { channel, message, head: *head, points })?;
        }
        self.channels[channel].messages += 1;
        if let WriteState::Waiting { size, .. } = &mut self.state {
            *size += head.size;
        }
        if self.is_ready() {
            self.begin()?;
        }
        Ok(())
    }

    fn remarks(&self) -> Vec<String> {
        let waiting = match &self.state {
            WriteState::Waiting { lists, .. } => {
                let counts = lists.iter().map(|list| match list.points.columns.is_empty() {
                    true => 0,
                    false => list.points.count as u64,
                });
                counts.sum()
            }
            _ => 0,
        };
        let mut remarks = self.table.notices(self.reading);
        remarks.push(format!("{} points, one row each", self.rows + waiting));
        remarks
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        {
            let table = self.table.0.borrow();
            let is_there = !table.contents.columns.is_empty();
            if let Some(reason) = table.notices.reason().filter(|_| !is_there) {
                bail!("no point can be read from {}: {reason}", self.origin);
            }
            ensure!(is_there, PointSource::explain_missing(&self.origin));
        }
        self.begin()?;
        let is_written = match self.state {
            WriteState::Writing(mut rows, mut file) => {
                if !rows.is_empty() {
                    file.write(rows.finish()?)?;
                }
                file.finish()?;
                true
            }
            _ => false,
        };
        let mut table = self.table.0.borrow_mut();
        (table.is_known, table.is_written) = (true, is_written);
        Ok(())
    }
}
