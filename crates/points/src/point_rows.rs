//! Points as rows of a table, until there are enough for a batch.

use std::sync::Arc;

use anyhow::{Context, Result};
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Int32Array, RecordBatch, RecordBatchOptions, StringArray,
};
use arrow_schema::SchemaRef;
use wiregauge_columns::ElementHeads;
use wiregauge_trace::read::Nanoseconds;

use crate::column_builder::ColumnBuilder;
use crate::points::Points;
use crate::table_contents::{table_column_name, TableContents};

/// Rows that are a batch.
const BATCH: usize = 1 << 16;

/// Where points come from.
#[derive(Clone, Copy, Debug)]
pub struct PointOrigin<'c> {
    /// The channel.
    pub topic: &'c str,
    /// The time of the message.
    pub time: Option<Nanoseconds>,
    /// The number of the message in the channel.
    pub message: u64,
}

/// The rows of points so far.
#[derive(Debug)]
pub struct PointRows {
    contents: TableContents,
    schema: SchemaRef,
    heads: ElementHeads,
    /// Which channel and which list a row is of, where rows say it.
    words: [Option<Vec<i32>>; 2],
    columns: Vec<ColumnBuilder>,
    rows: usize,
}

impl PointRows {
    /// No rows, of a table with these contents.
    pub fn new(contents: TableContents) -> PointRows {
        let columns = contents.columns.iter().map(|column| ColumnBuilder::new(column.kind));
        let says = [contents.has_channels(), contents.has_lists()];
        PointRows {
            schema: Arc::new(contents.schema()),
            heads: ElementHeads::default(),
            words: says.map(|says| says.then(Vec::new)),
            columns: columns.collect(),
            contents,
            rows: 0,
        }
    }

    /// The columns.
    pub fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.schema)
    }

    /// Adds a row for each point; the values of the first ones are not copied.
    ///
    /// # Errors
    /// When the table has no such channel or list, or cannot hold the time.
    pub fn add(&mut self, origin: PointOrigin, points: Points) -> Result<()> {
        // Points of which nothing is known have no columns, and no bytes that bound them.
        let count = if points.columns.is_empty() { 0 } else { points.count };
        if count == 0 {
            return Ok(());
        }
        let known = [(&self.contents.topics, origin.topic), (&self.contents.lists, &points.list)];
        for (words, (known, word)) in self.words.iter_mut().zip(known) {
            if let Some(words) = words {
                words.resize(self.rows + count, index_of_word(known, word)?);
            }
        }
        self.heads.push(origin.time, origin.message, count)?;
        let mut own: Vec<_> = points.columns.into_iter().map(Some).collect();
        for (wanted, rows) in self.contents.columns.iter().zip(&mut self.columns) {
            let is_wanted = |column: &&mut Option<_>| {
                let column: &Option<crate::column::Column> = column;
                let name = column.as_ref().map(|column| table_column_name(&column.name));
                name.is_some_and(|name| name == wanted.name)
            };
            match own.iter_mut().find(is_wanted).and_then(Option::take) {
                Some(column) => rows.add(column),
                None => rows.add_absent(count),
            }
        }
        self.rows += count;
        Ok(())
    }

    /// What the table has.
    pub fn contents(&self) -> &TableContents {
        &self.contents
    }

    /// Adds a list, where rows say theirs.
    pub fn add_list(&mut self, list: &str) {
        if self.contents.has_lists() && self.contents.lists.iter().all(|known| known != list) {
            self.contents.lists.push(list.to_owned());
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Whether there are enough for a batch.
    pub fn is_full(&self) -> bool {
        self.rows >= BATCH
    }

    /// All rows as a batch; none are left.
    ///
    /// # Errors
    /// Never, unless a column is longer than another one.
    pub fn finish(&mut self) -> Result<RecordBatch> {
        let rows = std::mem::take(&mut self.rows);
        let mut arrays = self.heads.finish();
        let known = [&self.contents.topics, &self.contents.lists];
        for (words, known) in self.words.iter_mut().zip(known) {
            let Some(words) = words else { continue };
            let keys = Int32Array::from(std::mem::take(words));
            let known: ArrayRef = Arc::new(StringArray::from(known.clone()));
            arrays.push(Arc::new(DictionaryArray::<Int32Type>::try_new(keys, known)?));
        }
        arrays.extend(self.columns.iter_mut().map(ColumnBuilder::finish));
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        Ok(RecordBatch::try_new_with_options(self.schema(), arrays, &options)?)
    }
}

fn index_of_word(known: &[String], word: &str) -> Result<i32> {
    let at = known.iter().position(|known| known == word);
    Ok(i32::try_from(at.context("the input changed while it was read")?)?)
}
