//! What of a recording becomes a table, and how far it was read.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{bail, ensure, Context, Result};
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Int32Array, RecordBatch, RecordBatchReader, StringArray,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use pyo3::FromPyObject;
use serde::{Deserialize, Serialize};
use wiregauge_columns::TableSelection;
use wiregauge_points::SensorConventions;
use wiregauge_system::interrupt::Interrupted;
use wiregauge_system::text;
use wiregauge_trace::channel::Channel;
use wiregauge_trace::input_splits::InputSplit;
use wiregauge_trace::open::{self, OpenHints};
use wiregauge_trace::read::{MessageInfo, Reader};
use wiregauge_trace::select::{Selection, SelectionCursor};

use crate::file_identity::{require_same, FileIdentity};
use crate::row_reader::RowReader;

/// An encoded FileDescriptorSet for a file that has no definition.
#[derive(Clone, Debug, FromPyObject, Serialize, Deserialize)]
pub enum Definition {
    /// Itself.
    Bytes(Vec<u8>),
    /// The file that it is in.
    Path(PathBuf),
}

/// What is read.
#[derive(Clone)]
pub struct TableSource {
    /// The recording.
    pub path: PathBuf,
    /// What it does not tell.
    pub hints: OpenHints,
    /// Which messages are wanted.
    pub selection: Selection,
    /// Which fields.
    pub table: TableSelection,
    /// What sensors mean by their numbers, where the rows are points; the fields are their
    /// columns.
    pub points: Option<SensorConventions>,
    /// The definition where the recording has none.
    pub definition: Option<Definition>,
    /// Whether what is damaged is left out, and no error.
    pub skips: bool,
    /// What a file in an archive was when it was opened, where it must still be that.
    pub opened: Option<FileIdentity>,
    /// The part that a plan made of it.
    pub part: Option<PlannedPart>,
}

/// A part of a recording, with what a plan knows of it.
#[derive(Clone)]
pub struct PlannedPart {
    /// Which part.
    pub split: InputSplit,
    /// The columns of all parts, without that of the file.
    pub schema: SchemaRef,
    /// What the column with the file's name is called, where one is wanted.
    pub file_column: Option<String>,
    /// What the file was when it was planned.
    pub identity: FileIdentity,
    /// What its last reading left out.
    pub left_out: Arc<Mutex<Vec<LeftOut>>>,
}

/// What was left out of a recording.
#[derive(Clone, Debug)]
pub struct LeftOut {
    /// The recording.
    pub file: String,
    /// Where it begins, where that is known.
    pub position: Option<u64>,
    /// How many messages that were, where that is known.
    pub messages: Option<u64>,
    /// Why.
    pub reason: String,
}

impl Definition {
    /// The bytes.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read(&self) -> Result<Vec<u8>> {
        match self {
            Definition::Bytes(bytes) => Ok(bytes.clone()),
            Definition::Path(path) => {
                std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))
            }
        }
    }
}

impl PlannedPart {
    /// The columns, with that of the file.
    pub fn whole_schema(&self) -> SchemaRef {
        let Some(name) = &self.file_column else { return self.schema.clone() };
        let words = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        let mut fields = vec![Arc::new(Field::new(name, words, false))];
        fields.extend(self.schema.fields().iter().cloned());
        Arc::new(Schema::new_with_metadata(fields, self.schema.metadata().clone()))
    }

    fn add_left_out(&self, left: LeftOut) {
        self.left_out.lock().unwrap_or_else(PoisonError::into_inner).push(left);
    }
}

impl TableSource {
    /// The file as messages of errors have it.
    pub fn origin(&self) -> String {
        self.path.display().to_string()
    }

    /// The rows of a channel's messages, by the user's definition where there is one.
    pub fn begin_rows(&self, channel: &Channel) -> Result<RowReader> {
        let mut channel = channel.clone();
        if let Some(definition) = &self.definition {
            let own = Arc::make_mut(&mut channel.definition);
            (own.encoding, own.data) = ("protobuf".into(), definition.read()?);
        }
        let planned = self.part.as_ref().map(|part| &part.schema);
        RowReader::new(&channel, &self.table, self.points, planned).with_context(|| self.origin())
    }

    /// Opens the recording; where it is damaged, so that what is whole is found.
    fn open_input(&self, salvages: bool) -> Result<(Box<dyn Reader>, SelectionCursor)> {
        if let Some(part) = &self.part {
            let is_same = FileIdentity::read(&self.path)? == part.identity;
            ensure!(is_same, "{} was changed since it was planned; plan again", self.origin());
        }
        require_same(self.opened.as_ref(), &self.path)?;
        let mut reader = open::open(&self.path, &self.hints)?;
        if salvages {
            reader.salvage();
        }
        let mut limits = self.selection.clone();
        let has_numbers = self.table.rows.is_some() || self.points.is_some();
        if has_numbers && self.first_number().is_none() {
            // Rows have the number of their message, so none may be hopped over.
            (limits.from, limits.to) = (None, None);
        }
        let cursor = limits.begin(reader.as_mut());
        if let Some(PlannedPart { split, .. }) = &self.part {
            reader.limit_positions(split.from, split.to)?;
        }
        Ok((reader, cursor))
    }

    /// How many messages of the channel are before the first one that is read, where a plan
    /// counted them.
    fn first_number(&self) -> Option<u64> {
        self.part.as_ref().and_then(|part| part.split.first)
    }
}

/// A table that is read, batch by batch.
pub struct TableReading {
    source: TableSource,
    schema: SchemaRef,
    /// None once it is read, or cannot be.
    input: Option<(Box<dyn Reader>, SelectionCursor)>,
    rows: Option<RowReader>,
    /// Messages that were read.
    count: u64,
    /// Why it is read as a damaged file is.
    damage: Option<String>,
    /// How many messages were left out of damaged chunks, by where these begin.
    damaged: BTreeMap<u64, u64>,
    /// What is wrong, once the rows before it were taken.
    failure: Option<anyhow::Error>,
    /// Messages that do not fit their definition: how many, where the first one is, and why.
    failed: Option<(u64, u64, String)>,
}

impl TableReading {
    /// Opens the file. Without a plan, its first message says the columns.
    ///
    /// # Errors
    /// When it cannot be read, or there are no such messages or fields.
    pub fn open(source: &TableSource) -> Result<TableReading> {
        let schema = source.part.as_ref().map(PlannedPart::whole_schema);
        if let Some(part) = &source.part {
            part.left_out.lock().unwrap_or_else(PoisonError::into_inner).clear();
        }
        let mut reading = TableReading {
            source: source.clone(),
            schema: schema.clone().unwrap_or_else(|| Arc::new(Schema::empty())),
            input: None,
            rows: None,
            count: 0,
            damage: None,
            damaged: BTreeMap::new(),
            failure: None,
            failed: None,
        };
        match source.open_input(false) {
            Ok(input) => reading.input = Some(input),
            Err(error) => reading.skip_damage(error)?,
        }
        if schema.is_none() {
            while reading.schema_of_rows().is_none() && reading.input.is_some() {
                if let Err(error) = reading.push_next() {
                    reading.skip_damage(error)?;
                }
            }
            reading.schema = reading.schema_of_rows().with_context(|| {
                let what = match (&reading.damage, &reading.failed, &reading.rows) {
                    (Some(reason), ..) | (None, Some((.., reason)), _) => reason,
                    (None, None, Some(_)) => "the messages have no points",
                    (None, None, None) => "there are no such messages",
                };
                add_origin(&source.origin(), what)
            })?;
        }
        Ok(reading)
    }

    /// The columns.
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn schema_of_rows(&self) -> Option<SchemaRef> {
        self.rows.as_ref().and_then(RowReader::schema)
    }

    /// Reads the next message; whether there is one.
    fn push_next(&mut self) -> Result<bool> {
        let Some((reader, cursor)) = &mut self.input else { return Ok(false) };
        let Some(head) = cursor.advance(&self.source.selection, reader.as_mut())? else {
            self.end_input()?;
            return Ok(false);
        };
        if self.damage.is_some() && is_in_damage(reader.as_ref(), &head) {
            *self.damaged.entry(head.place.at).or_default() += 1;
            return Ok(true);
        }
        let channel = &reader.channels()[&head.channel];
        if let Some(rows) = &self.rows {
            rows.check_channel(channel)?;
        } else {
            self.rows = Some(begin_rows(&self.source, channel)?);
        }
        let data = reader.data()?;
        self.count += 1;
        let Some(rows) = &mut self.rows else { return Ok(false) };
        let number = self.source.first_number().unwrap_or(0) + cursor.count() - 1;
        match rows.push(number, &head, data) {
            Err(error) if self.source.skips => self.count_failed(&head, &error),
            Err(error) => return Err(error).with_context(|| self.source.origin()),
            Ok(()) => {}
        }
        Ok(true)
    }

    fn count_failed(&mut self, head: &MessageInfo, error: &anyhow::Error) {
        let first = || (0, head.place.at, text::escape(&format!("{error:#}")));
        self.failed.get_or_insert_with(first).0 += 1;
    }

    /// Ends the reading: holds the number of messages against the plan, and says what was
    /// left out.
    fn end_input(&mut self) -> Result<()> {
        let Some((reader, _)) = &self.input else { return Ok(()) };
        let Some(part) = &self.source.part else {
            // A topic that is not there is a mistake of who asked for it.
            let channels = reader.channels().values();
            self.source.selection.check(&self.source.origin(), channels)?;
            self.input = None;
            return Ok(());
        };
        let file = self.source.origin();
        if let Some(reason) = &self.damage {
            let losses = reader.losses();
            for loss in losses {
                let (position, reason) = (Some(loss.at), text::escape(&loss.what));
                let messages = self.damaged.get(&loss.at).copied();
                part.add_left_out(LeftOut { file: file.clone(), position, messages, reason });
            }
            if losses.is_empty() {
                let (position, messages, reason) = (None, None, reason.clone());
                part.add_left_out(LeftOut { file: file.clone(), position, messages, reason });
            }
        } else if let Some(planned) = part.split.messages.filter(|planned| *planned != self.count) {
            let found = self.count;
            bail!(
                "{file} has {found} messages where its index has {planned}; write it again with \
                 'wiregauge trace repair'"
            );
        }
        if let Some((messages, at, reason)) = self.failed.take() {
            let (position, messages) = (Some(at), Some(messages));
            part.add_left_out(LeftOut { file, position, messages, reason });
        }
        self.input = None;
        Ok(())
    }

    /// Goes on behind what is damaged, where that is wanted.
    ///
    /// # Errors
    /// With the same error where it is not.
    fn skip_damage(&mut self, error: anyhow::Error) -> Result<()> {
        if !self.source.skips || error.is::<Interrupted>() {
            return Err(error);
        }
        let reason = text::escape(&format!("{error:#}"));
        let is_first = self.damage.replace(reason.clone()).is_none();
        self.input = None;
        if is_first {
            match self.reopen() {
                Ok(()) => return Ok(()),
                Err(error) if error.is::<Interrupted>() => return Err(error),
                Err(_) => {}
            }
        }
        if let Some(part) = &self.source.part {
            let file = self.source.origin();
            part.add_left_out(LeftOut { file, position: None, messages: None, reason });
        }
        Ok(())
    }

    /// Reads it again as a damaged file is read, up to where it was read before.
    fn reopen(&mut self) -> Result<()> {
        let (mut reader, mut cursor) = self.source.open_input(true)?;
        for _ in 0..self.count {
            cursor.advance(&self.source.selection, reader.as_mut())?;
        }
        self.input = Some((reader, cursor));
        Ok(())
    }

    /// The next batch; none at the end.
    fn read_batch(&mut self) -> Result<Option<RecordBatch>> {
        while !self.rows.as_ref().is_some_and(RowReader::is_full) {
            match self.push_next() {
                Ok(true) => {}
                Ok(false) if self.input.is_none() => break,
                Ok(false) => {}
                Err(error) => {
                    if let Err(error) = self.skip_damage(error) {
                        self.input = None;
                        self.failure = Some(error);
                    }
                }
            }
        }
        let Some(rows) = self.rows.as_mut().filter(|rows| !rows.is_empty()) else {
            return self.failure.take().map_or(Ok(None), Err);
        };
        let batch = rows.finish()?;
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(batch.num_columns() + 1);
        if self.source.part.as_ref().is_some_and(|part| part.file_column.is_some()) {
            let names = Arc::new(StringArray::from(vec![self.source.origin()]));
            let keys = Int32Array::from(vec![0; batch.num_rows()]);
            columns.push(Arc::new(DictionaryArray::<Int32Type>::try_new(keys, names)?));
        }
        columns.extend(batch.columns().iter().cloned());
        Ok(Some(RecordBatch::try_new(self.schema(), columns)?))
    }
}

/// Whether a message is in a chunk that is damaged: repair keeps what looks like one, but its
/// values may be wrong.
fn is_in_damage(reader: &dyn Reader, head: &MessageInfo) -> bool {
    let mut latest = reader.losses().iter().rev().take(64);
    head.place.within.is_some() && latest.any(|loss| loss.at == head.place.at)
}

/// The rows of a channel's messages, which have the columns of the plan.
fn begin_rows(source: &TableSource, channel: &Channel) -> Result<RowReader> {
    let rows = source.begin_rows(channel)?;
    if let (Some(part), Some(schema)) = (&source.part, rows.schema()) {
        check_columns(&source.origin(), channel, &schema, &part.schema)?;
    }
    Ok(rows)
}

/// Fails where a file has other columns than those of the plan.
///
/// # Errors
/// With the first column that differs.
pub fn check_columns(
    origin: &str,
    channel: &Channel,
    found: &Schema,
    planned: &Schema,
) -> Result<()> {
    let (found, planned) = (found.fields(), planned.fields());
    if found == planned {
        return Ok(());
    }
    let differs = found.iter().zip(planned).find(|(one, other)| one != other);
    let what = match differs {
        Some((one, other)) if one.name() == other.name() => {
            format!("'{}' is {} there and {} here", one.name(), other.data_type(), one.data_type())
        }
        Some((one, other)) => format!("'{}' is there and '{}' here", other.name(), one.name()),
        None => format!("{} columns are there and {} here", planned.len(), found.len()),
    };
    bail!(
        "{origin}: the messages of {} ({}) have other columns than those of the first file: \
         {what}; name fields that both have, or read them apart",
        channel.topic,
        channel.definition.name
    )
}

/// What is wrong, with the file where it does not name it itself.
fn add_origin(origin: &str, what: &str) -> String {
    match what.contains(origin) {
        true => what.to_owned(),
        false => format!("{origin}: {what}"),
    }
}

impl Iterator for TableReading {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.read_batch().transpose()?;
        Some(batch.map_err(|error| {
            self.input = None;
            self.rows = None;
            let said = add_origin(&self.source.origin(), &format!("{error:#}"));
            ArrowError::ExternalError(text::escape(&said).into())
        }))
    }
}

impl RecordBatchReader for TableReading {
    fn schema(&self) -> SchemaRef {
        self.schema()
    }
}
