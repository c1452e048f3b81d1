//! The points of one channel as rows, message by message.

use anyhow::{bail, ensure, Context, Result};
use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use wiregauge_trace::channel::Channel;
use wiregauge_trace::read::MessageInfo;

use crate::osi::SensorConventions;
use crate::point_rows::{PointOrigin, PointRows};
use crate::points::Points;
use crate::source::PointSource;
use crate::table_contents::{common_type, table_column_name, TableContents};

/// Reads the points of a channel's messages into batches: a row a point, in columns `log_time`
/// and `message`, in OSI `list`, and those of the points.
pub struct ChannelPoints {
    topic: String,
    source: PointSource,
    reading: SensorConventions,
    /// The columns that are wanted; all where there is none.
    columns: Vec<String>,
    /// None before the first point.
    rows: Option<PointRows>,
    messages: u64,
}

impl ChannelPoints {
    /// Of a channel, with some columns; with all where none is named.
    ///
    /// # Errors
    /// When its messages have no points.
    pub fn new(
        channel: &Channel,
        columns: &[String],
        reading: SensorConventions,
    ) -> Result<ChannelPoints> {
        let (topic, name) = (channel.topic.clone(), &channel.definition.name);
        let source = PointSource::from_channel(channel).with_context(|| {
            let encoding = &channel.message_encoding;
            let supported = PointSource::SUPPORTED;
            format!(
                "channel {topic}: {name} in '{encoding}' has no points; messages with points are \
                 {supported}"
            )
        })?;
        let (columns, source) = (columns.to_vec(), source.with_columns(columns));
        Ok(ChannelPoints { topic, source, reading, columns, rows: None, messages: 0 })
    }

    /// Takes the columns of a table that was begun with other messages of the channel.
    ///
    /// # Errors
    /// When it is none of points.
    pub fn set_schema(&mut self, schema: &Schema) -> Result<()> {
        self.rows = Some(PointRows::new(TableContents::from_schema(&self.topic, schema)?));
        Ok(())
    }

    /// The columns; none before a message with points was added.
    pub fn schema(&self) -> Option<SchemaRef> {
        self.rows.as_ref().map(PointRows::schema)
    }

    /// Adds the points of a message; how many these are.
    ///
    /// # Errors
    /// When they cannot be read, lack a column that is wanted, or have one that those before
    /// them did not have.
    pub fn push(&mut self, head: &MessageInfo, data: &[u8]) -> Result<usize> {
        let place = || format!("{}: the message at {}", self.topic, head.place);
        let lists = self.source.points(data, self.reading).with_context(place)?;
        let message = self.messages;
        self.messages += 1;
        if self.rows.is_none() && lists.iter().any(|points| points.count > 0) {
            self.rows = Some(self.begin(&lists).with_context(place)?);
        }
        let Some(rows) = &mut self.rows else { return Ok(0) };
        let before = rows.len();
        for points in lists.iter().filter(|points| points.count > 0) {
            check_columns(rows.contents(), points, &self.columns).with_context(place)?;
        }
        for points in lists {
            rows.add_list(&points.list);
            rows.add(PointOrigin { topic: &self.topic, time: head.time, message }, points)?;
        }
        Ok(rows.len() - before)
    }

    /// Says how many messages of the channel are before the next one, where not all of a
    /// recording is read.
    pub fn count_from(&mut self, number: u64) {
        self.messages = number;
    }

    /// The rows by what the first message with points has, and can have by its definition.
    fn begin(&self, lists: &[Points]) -> Result<PointRows> {
        let mut contents = TableContents::default();
        let is_wanted =
            |name: &str| self.columns.is_empty() || self.columns.iter().any(|own| own == name);
        for points in lists {
            for (name, kind, unit) in self.source.defined_columns(&points.list) {
                if is_wanted(&name) {
                    // The packed field may have another type than the definition.
                    let own = points.columns.iter().find(|column| column.name == name);
                    let kind = own.map_or(kind, |column| column.values.kind());
                    contents.add_column((&name, kind, unit), &points.list);
                }
            }
            contents.add_points(&self.topic, points)?;
            // Also where the first points have no values: those of later messages may.
            if !contents.lists.contains(&points.list) {
                contents.lists.push(points.list.clone());
            }
        }
        contents.topics = vec![self.topic.clone()];
        contents.columns.retain(|column| {
            self.columns.is_empty()
                || self.columns.iter().any(|own| table_column_name(own) == column.name)
        });
        for wanted in &self.columns {
            let name = table_column_name(wanted);
            let is_there = contents.columns.iter().any(|column| column.name == name);
            ensure!(is_there, "the points have no column {wanted}");
        }
        // In the order in which they are named.
        let place = |name: &str| self.columns.iter().position(|own| table_column_name(own) == name);
        contents.columns.sort_by_key(|column| place(&column.name));
        Ok(PointRows::new(contents))
    }

    /// The rows since the last batch.
    pub fn len(&self) -> usize {
        self.rows.as_ref().map_or(0, PointRows::len)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether there are enough for a batch.
    pub fn is_full(&self) -> bool {
        self.rows.as_ref().is_some_and(PointRows::is_full)
    }

    /// The rows since the last batch, as one.
    ///
    /// # Errors
    /// When no message had points yet.
    pub fn finish(&mut self) -> Result<RecordBatch> {
        match &mut self.rows {
            Some(rows) => rows.finish(),
            None => bail!("channel {} has no points", self.topic),
        }
    }
}

/// Fails where points have a column that the first ones lack, of those that are wanted.
fn check_columns(known: &TableContents, points: &Points, wanted: &[String]) -> Result<()> {
    let is_wanted = |name: &String| wanted.is_empty() || wanted.contains(name);
    let is_cloud = points.list.is_empty();
    ensure!(!is_cloud || !points.columns.is_empty(), "it has none of the columns {wanted:?}");
    for column in points.columns.iter().filter(|column| is_wanted(&column.name)) {
        let (name, kind) = (table_column_name(&column.name), column.values.kind());
        let first = known.columns.iter().find(|known| known.name == name);
        let first = first.with_context(|| {
            format!("it has a column {name}, which those before lack; name the columns to read")
        })?;
        ensure!(
            common_type(first.kind, kind) == Some(first.kind),
            "its column {name} is {kind:?}, and {:?} in those before",
            first.kind
        );
    }
    Ok(())
}
