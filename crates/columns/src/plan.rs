//! How messages of one type become rows.

use anyhow::{ensure, Context, Result};
use arrow_array::{Array, RecordBatch, RecordBatchOptions, StructArray};
use arrow_schema::{Schema as ArrowSchema, SchemaRef};
use std::sync::Arc;
use wiregauge_flatbuffers::Definition;
use wiregauge_schema::Schema;

use crate::column::Column;
use crate::cursor::SequentialLayout;
use crate::flatbuffer::{self, FlatBufferPlan};
use crate::protobuf::known_shapes::KnownShapes;
use crate::protobuf::ProtobufPlan;
use crate::selection;
use crate::sequential::SequentialPlan;

/// How messages are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// CDR, as DDS and ROS 2 write it, with its header of four bytes.
    Cdr,
    /// ROS 1.
    Ros1,
    /// Protobuf.
    Protobuf,
}

/// What is read of messages, and how: made once for a type, and then for any number of readers.
#[derive(Clone, Debug)]
pub struct ColumnPlan {
    decoder: WireDecoder,
    columns: Column,
    schema: SchemaRef,
}

#[derive(Clone, Debug)]
enum WireDecoder {
    Sequential(SequentialPlan),
    Protobuf(ProtobufPlan),
    FlatBuffer(FlatBufferPlan),
}

impl ColumnPlan {
    /// A row for each message, of the fields with these paths, such as `header.stamp`; of all
    /// by `*`, and where there is none.
    ///
    /// # Errors
    /// When a path leads nowhere, a field contains itself, there are more than 10,000 columns,
    /// or the messages cannot be written in that way.
    pub fn messages(schema: &Schema, wire: Wire, paths: &[String]) -> Result<ColumnPlan> {
        ColumnPlan::new(schema, wire, None, paths)
    }

    /// A row for each element of a list of records, such as `points` or
    /// `global_ground_truth.moving_object`; `paths` begin in the element. Lists in lists follow
    /// one another.
    ///
    /// # Errors
    /// As [`ColumnPlan::messages`], and when the path leads to no list of records.
    pub fn elements(
        schema: &Schema,
        wire: Wire,
        list: &str,
        paths: &[String],
    ) -> Result<ColumnPlan> {
        ColumnPlan::new(schema, wire, Some(list), paths)
    }

    /// The same for messages in FlatBuffers, which are tables of this name: rows are messages, or
    /// the elements of a list.
    ///
    /// # Errors
    /// As [`ColumnPlan::messages`], and when there is no such table.
    pub fn from_flatbuffers(
        definition: &Definition,
        table: &str,
        rows: Option<&str>,
        paths: &[String],
    ) -> Result<ColumnPlan> {
        let schema = flatbuffer::schema(definition, table)?;
        let selected = selection::select(&schema, rows, paths, false)?;
        let plan = FlatBufferPlan::new(definition, table, &selected.selection)?;
        let schema = Arc::new(ArrowSchema::new(selected.fields));
        let decoder = WireDecoder::FlatBuffer(plan);
        Ok(ColumnPlan { decoder, columns: selected.root, schema })
    }

    fn new(
        schema: &Schema,
        wire: Wire,
        rows: Option<&str>,
        paths: &[String],
    ) -> Result<ColumnPlan> {
        let selected = selection::select(schema, rows, paths, wire == Wire::Protobuf)?;
        let selection = &selected.selection;
        let sequential = |layout| SequentialPlan::new(schema, selection, layout);
        let decoder = match wire {
            Wire::Cdr => WireDecoder::Sequential(sequential(SequentialLayout::CDR)?),
            Wire::Ros1 => WireDecoder::Sequential(sequential(SequentialLayout::ROS1)?),
            Wire::Protobuf => WireDecoder::Protobuf(ProtobufPlan::new(schema, selection)?),
        };
        let schema = Arc::new(ArrowSchema::new(selected.fields));
        Ok(ColumnPlan { decoder, columns: selected.root, schema })
    }

    /// The columns.
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

/// Reads messages into columns.
#[derive(Debug)]
pub struct ColumnReader {
    plan: Arc<ColumnPlan>,
    rows: Column,
    /// How much memory rows take, about.
    size: usize,
    shapes: KnownShapes,
}

impl ColumnReader {
    /// By a plan.
    pub fn new(plan: Arc<ColumnPlan>) -> ColumnReader {
        let rows = plan.columns.clone();
        ColumnReader { plan, rows, size: 0, shapes: KnownShapes::default() }
    }

    /// Adds the rows of a message; how many these are. Where this fails, none is added.
    ///
    /// # Errors
    /// When the message does not fit its definition, or the rows since the last batch take more
    /// than a column can hold: texts of 2 GiB, or elements of 1 GiB.
    pub fn push(&mut self, message: &[u8]) -> Result<usize> {
        self.push_beside(message, &mut |_, _| {})
    }

    /// The same for the rows of a list in Protobuf; `others` is told the fields beside the list
    /// that have bytes, by their numbers, so that the message need not be passed through again.
    ///
    /// # Errors
    /// As [`ColumnReader::push`].
    pub fn push_beside<'m>(
        &mut self,
        message: &'m [u8],
        others: &mut dyn FnMut(u32, &'m [u8]),
    ) -> Result<usize> {
        let (before, size) = (self.rows.rows(), self.size);
        let decoded = match &self.plan.decoder {
            WireDecoder::Sequential(plan) => plan.decode(message, &mut self.rows, &mut self.size),
            WireDecoder::Protobuf(plan) => {
                let (rows, size) = (&mut self.rows, &mut self.size);
                plan.decode(message, rows, size, &mut self.shapes, others)
            }
            WireDecoder::FlatBuffer(plan) => plan.decode(message, &mut self.rows, &mut self.size),
        };
        if let Err(error) = decoded {
            self.rows.truncate(before);
            self.size = size;
            return Err(error);
        }
        self.size = self.size.saturating_add(message.len());
        Ok(self.rows.rows() - before)
    }

    /// The rows since the last batch.
    pub fn rows(&self) -> usize {
        self.rows.rows()
    }

    /// About how many bytes these take.
    pub fn size(&self) -> usize {
        self.size
    }

    /// A batch of the rows since the last one.
    ///
    /// # Errors
    /// When a time of Protobuf lies outside of the 292 years that Arrow can hold.
    pub fn finish(&mut self) -> Result<RecordBatch> {
        let rows = self.rows.rows();
        self.size = 0;
        let array = self.rows.finish()?;
        let array = array.as_any().downcast_ref::<StructArray>().context("rows are records")?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let columns = array.columns().to_vec();
        ensure!(array.len() == rows, "{rows} rows, and columns of {}", array.len());
        let schema = self.plan.schema.clone();
        Ok(RecordBatch::try_new_with_options(schema, columns, &options)?)
    }
}
