//! Row groups of Parquet end between batches, which are whole messages.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use arrow_array::{Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::statistics::Statistics;
use wiregauge_columns::{TableFile, TableFormat};
use wiregauge_trace::write::Output;

/// A file that is there while it is written.
struct Kept(File);

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Output for Kept {
    fn commit(self) -> anyhow::Result<()> {
        Ok(())
    }
}

#[test]
fn row_groups_end_between_messages_and_tell_their_times() {
    let schema = Arc::new(Schema::new(vec![Field::new("log_time", DataType::Int64, false)]));
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("row_groups.parquet");
    let out = Kept(File::create(&path).unwrap());
    let mut file = TableFile::begin(out, TableFormat::Parquet, &schema).unwrap();
    for (time, rows) in [70_000, 70_000, 70_000, 70_000, 1000, 300_000, 5].into_iter().enumerate() {
        let times = Int64Array::from(vec![time as i64; rows]);
        file.write(RecordBatch::try_new(schema.clone(), vec![Arc::new(times)]).unwrap()).unwrap();
    }
    file.finish().unwrap();
    let file = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
    let groups = file.metadata().row_groups().iter().map(|group| {
        let Some(Statistics::Int64(times)) = group.column(0).statistics() else { panic!() };
        (group.num_rows(), *times.min_opt().unwrap(), *times.max_opt().unwrap())
    });
    let wanted = [(210_000, 0, 2), (71_000, 3, 4), (300_000, 5, 5), (5, 6, 6)];
    assert_eq!(groups.collect::<Vec<_>>(), wanted);
}
