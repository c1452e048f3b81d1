//! What makes rows of a channel's messages: of their fields, or of the points in them.

use anyhow::{ensure, Result};
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use wiregauge_columns::{TableRows, TableSelection};
use wiregauge_points::{ChannelPoints, SensorConventions};
use wiregauge_trace::channel::Channel;
use wiregauge_trace::read::MessageInfo;

/// The rows of one channel's messages so far.
pub enum RowReader {
    /// A row a message, or an element of a list in it.
    Fields(Box<TableRows>),
    /// A row a point, of a channel with this topic and type.
    Points(Box<ChannelPoints>, [String; 2]),
}

impl RowReader {
    /// Of a channel; of its points where it is said what sensors mean by their numbers, of
    /// which the fields of the selection are the columns then. `planned` are the columns of all
    /// parts of a plan.
    pub fn new(
        channel: &Channel,
        selection: &TableSelection,
        points: Option<SensorConventions>,
        planned: Option<&SchemaRef>,
    ) -> Result<RowReader> {
        let Some(conventions) = points else {
            return Ok(RowReader::Fields(Box::new(TableRows::new(channel, selection)?)));
        };
        let mut points = ChannelPoints::new(channel, &selection.fields, conventions)?;
        if let Some(schema) = planned {
            points.set_schema(schema)?;
        }
        let names = [channel.topic.clone(), channel.definition.name.clone()];
        Ok(RowReader::Points(Box::new(points), names))
    }

    /// The columns; none while no message had points.
    pub fn schema(&self) -> Option<SchemaRef> {
        match self {
            RowReader::Fields(rows) => Some(rows.schema()),
            RowReader::Points(points, _) => points.schema(),
        }
    }

    /// Fails for messages of another channel.
    pub fn check_channel(&self, other: &Channel) -> Result<()> {
        match self {
            RowReader::Fields(rows) => rows.check_channel(other),
            RowReader::Points(_, [topic, kind]) => {
                ensure!(
                    *topic == other.topic && *kind == other.definition.name,
                    "points are those of one channel, and there are {topic} and {}; choose one",
                    other.topic
                );
                Ok(())
            }
        }
    }

    /// Adds the rows of a message that has this number in its channel.
    pub fn push(&mut self, number: u64, head: &MessageInfo, data: &[u8]) -> Result<()> {
        match self {
            RowReader::Fields(rows) => {
                rows.count_from(number);
                rows.push(head, data)
            }
            RowReader::Points(points, _) => {
                points.count_from(number);
                points.push(head, data).map(drop)
            }
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        match self {
            RowReader::Fields(rows) => rows.is_empty(),
            RowReader::Points(points, _) => points.is_empty(),
        }
    }

    /// Whether there are enough for a batch.
    pub fn is_full(&self) -> bool {
        match self {
            RowReader::Fields(rows) => rows.is_full(),
            RowReader::Points(points, _) => points.is_full(),
        }
    }

    /// The rows since the last batch, as one.
    pub fn finish(&mut self) -> Result<RecordBatch> {
        match self {
            RowReader::Fields(rows) => rows.finish(),
            RowReader::Points(points, _) => points.finish(),
        }
    }
}
