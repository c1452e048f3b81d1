//! A file of rows that grows piece by piece: Arrow's IPC file format, which
//! pandas, Polars, DuckDB and others read.

use std::io::BufWriter;
use std::sync::Arc;

use anyhow::{Context, Error, Result};
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, DictionaryArray, Int32Array, RecordBatch, StringArray};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{DataType, Field, Schema};

use wiregauge_system::file::{Draft, Target};
use wiregauge_system::notice::print_notice;

/// Most rows of a file.
pub const MOST: u64 = 100_000_000;

/// A file of rows. The first columns hold words, the others numbers.
pub struct RowFile {
    shown: String,
    schema: Arc<Schema>,
    writer: FileWriter<BufWriter<Draft>>,
    words: Vec<Arc<StringArray>>,
    rows: u64,
    /// The first thing that went wrong.
    failure: Option<Error>,
}

/// What became of a file of rows.
pub struct WrittenRows {
    /// How the user calls the file.
    pub display_name: String,
    /// How many rows it has; a file without any is not written.
    pub count: Result<u64>,
}

impl WrittenRows {
    /// Tells the user how many rows, be they samples or steps, are in which file.
    ///
    /// # Errors
    /// When it could not be written.
    pub fn announce(self, what: &str) -> Result<()> {
        let count = self.count?;
        if count > 0 {
            print_notice(&format!("{count} {what} in {}", self.display_name));
        }
        Ok(())
    }
}

impl RowFile {
    /// An empty file with these columns of words, and those of numbers. All words
    /// must be known, as a file of this form has them once.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn begin(
        target: Target,
        words: Vec<(&str, Vec<String>)>,
        numbers: Vec<Field>,
    ) -> Result<RowFile> {
        let shown = target.display_name().to_owned();
        let draft = BufWriter::new(target.start_draft()?);
        let of_words = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        let fields = words.iter().map(|(name, _)| Field::new(*name, of_words.clone(), false));
        let schema = Arc::new(Schema::new(fields.chain(numbers).collect::<Vec<Field>>()));
        let writer = FileWriter::try_new(draft, &schema).with_context(|| write_error(&shown))?;
        let words = words.into_iter().map(|(_, words)| Arc::new(StringArray::from(words)));
        let words = words.collect();
        Ok(RowFile { shown, schema, writer, words, rows: 0, failure: None })
    }

    /// Adds rows that have the same words. What goes wrong is told in the end:
    /// the result of the measurement is worth more.
    pub fn add(&mut self, words: &[&str], numbers: Vec<ArrayRef>) {
        if self.failure.is_none() {
            self.failure = self.try_to_add(words, numbers).err();
        }
    }

    fn try_to_add(&mut self, words: &[&str], numbers: Vec<ArrayRef>) -> Result<()> {
        let count = numbers.first().map_or(0, |numbers| numbers.len());
        let words = words.iter().zip(&self.words).map(|(word, known)| -> Result<ArrayRef> {
            let place = known.iter().position(|known| known == Some(*word));
            let place = place
                .with_context(|| format!("the file of samples does not know the word '{word}'"))?;
            let keys = Int32Array::from_value(i32::try_from(place)?, count);
            let known: ArrayRef = known.clone();
            Ok(Arc::new(DictionaryArray::<Int32Type>::try_new(keys, known)?))
        });
        let arrays = words.chain(numbers.into_iter().map(Ok)).collect::<Result<_>>()?;
        let batch = RecordBatch::try_new(self.schema.clone(), arrays)?;
        self.writer.write(&batch).with_context(|| write_error(&self.shown))?;
        self.rows += count as u64;
        Ok(())
    }

    /// Moves the file to its place, where there is anything in it.
    pub fn finish(self) -> WrittenRows {
        WrittenRows { display_name: self.shown.clone(), count: self.write_end() }
    }

    fn write_end(mut self) -> Result<u64> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        if self.rows == 0 {
            return Ok(0);
        }
        let rows = self.rows;
        self.writer.finish().with_context(|| write_error(&self.shown))?;
        let buffer = self.writer.into_inner().with_context(|| write_error(&self.shown))?;
        let draft = buffer.into_inner().map_err(|error| error.into_error());
        draft.with_context(|| write_error(&self.shown))?.finish()?;
        Ok(rows)
    }
}

fn write_error(shown: &str) -> String {
    format!("cannot write {shown}: is the disk full?")
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::UInt32Array;

    fn file(target: Target) -> RowFile {
        let words = vec![("case", vec!["c".to_owned()])];
        RowFile::begin(target, words, vec![Field::new("n", DataType::UInt32, false)]).unwrap()
    }

    #[test]
    fn it_is_there_when_it_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.arrow");
        let open = || file(Target::open(&path, &[]).unwrap());
        assert_eq!(open().finish().count.unwrap(), 0);
        assert!(!path.exists(), "nothing is no file");
        let mut rows = open();
        for _ in 0..2 {
            rows.add(&["c"], vec![Arc::new(UInt32Array::from(vec![1, 2, 3]))]);
        }
        assert!(!path.exists());
        assert_eq!(rows.finish().count.unwrap(), 6);
        assert!(path.exists());
    }

    #[test]
    fn what_goes_wrong_is_told_in_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.arrow");
        let mut rows = file(Target::open(&path, &[]).unwrap());
        for word in ["c", "unknown", "c"] {
            rows.add(&[word], vec![Arc::new(UInt32Array::from(vec![1]))]);
        }
        assert!(rows.finish().count.unwrap_err().to_string().contains("unknown"));
        assert!(!path.exists());
    }
}
