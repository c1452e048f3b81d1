//! Row groups of Parquet end between batches, which are whole messages.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use anyhow::bail;
use arrow_array::{ArrayRef, Int64Array, RecordBatch, TimestampNanosecondArray};
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::metadata::{RowGroupMetaData, SortingColumn};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::statistics::Statistics;
use wiregauge_columns::{MessageTable, TableFile, TableFormat, TableSelection};
use wiregauge_trace::channel::{Channel, Definition};
use wiregauge_trace::read::{MessageInfo, MessagePosition};
use wiregauge_trace::write::{Output, Writer};

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

/// Writes batches of so many rows with these times, and reads of each row group how many rows
/// it has, between which times, and whether it says that it is sorted by the first column.
fn row_groups(name: &str, batches: &[(usize, &[Option<i64>])]) -> Vec<(i64, i64, i64, bool)> {
    let kind = DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into()));
    let fields = [Field::new("log_time", kind, true), Field::new("x", DataType::Int64, false)];
    let schema = Arc::new(Schema::new(fields.to_vec()));
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let out = Kept(File::create(&path).unwrap());
    let mut file = TableFile::begin(out, TableFormat::Parquet, &schema).unwrap();
    for (rows, times) in batches {
        let times = (0..*rows).map(|row| times[row * times.len() / rows]);
        let times = TimestampNanosecondArray::from_iter(times).with_timezone("UTC");
        let numbers = Int64Array::from_iter_values(0..*rows as i64);
        let columns: Vec<ArrayRef> = vec![Arc::new(times), Arc::new(numbers)];
        file.write(RecordBatch::try_new(schema.clone(), columns).unwrap()).unwrap();
    }
    file.finish().unwrap();
    // Another reader reads the rows.
    let whole = ParquetRecordBatchReaderBuilder::try_new(File::open(&path).unwrap()).unwrap();
    assert_eq!(*whole.schema(), schema);
    let read = whole.build().unwrap().map(|batch| batch.unwrap().num_rows()).sum::<usize>();
    assert_eq!(read, batches.iter().map(|(rows, _)| rows).sum::<usize>());
    let file = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
    let by_time = SortingColumn { column_idx: 0, descending: false, nulls_first: false };
    let groups = file.metadata().row_groups().iter().map(|group| {
        let Some(Statistics::Int64(times)) = group.column(0).statistics() else { panic!() };
        assert!(group.column(1).statistics().is_some_and(|of| of.min_bytes_opt().is_some()));
        let has_pages = |column: usize| group.column(column).offset_index_offset().is_some();
        assert!(has_pages(0) && has_pages(1));
        let is_sorted = group.sorting_columns() == Some(&vec![by_time.clone()]);
        assert!(is_sorted || group.sorting_columns().is_none());
        (group.num_rows(), *times.min_opt().unwrap(), *times.max_opt().unwrap(), is_sorted)
    });
    groups.collect()
}

#[test]
fn row_groups_end_between_messages_and_tell_their_times() {
    let rows = [70_000, 70_000, 70_000, 70_000, 1000, 300_000, 5];
    let times: Vec<[Option<i64>; 1]> = (0..7).map(|time| [Some(time)]).collect();
    let batches: Vec<_> = rows.iter().zip(&times).map(|(rows, time)| (*rows, &time[..])).collect();
    let wanted =
        [(210_000, 0, 2, true), (71_000, 3, 4, true), (300_000, 5, 5, true), (5, 6, 6, true)];
    assert_eq!(row_groups("row_groups.parquet", &batches), wanted);
}

#[test]
fn row_groups_say_that_they_are_sorted_where_they_are() {
    let batches: [(usize, &[Option<i64>]); 9] = [
        (200_000, &[Some(1), Some(1), Some(5)]),
        (1000, &[Some(5), Some(7)]),
        // Within a batch.
        (262_000, &[Some(7), Some(9), Some(8)]),
        // A group may begin before the one before it ended.
        (262_000, &[Some(2), Some(3)]),
        // Between two batches.
        (200_000, &[Some(4), Some(6)]),
        (1000, &[Some(5), Some(9)]),
        (262_000, &[Some(10)]),
        // What has no time has no place.
        (262_000, &[Some(10), None]),
        (262_000, &[Some(11)]),
    ];
    let wanted = [
        (201_000, 1, 7, true),
        (262_000, 7, 9, false),
        (262_000, 2, 3, true),
        (201_000, 4, 9, false),
        (262_000, 10, 10, true),
        (262_000, 10, 10, false),
        (262_000, 11, 11, true),
    ];
    assert_eq!(row_groups("sorted.parquet", &batches), wanted);
}

/// A table of a channel whose messages came at these times.
fn table_of_messages(name: &str, times: &[i128]) -> Vec<RowGroupMetaData> {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let out = Kept(File::create(&path).unwrap());
    let selection = TableSelection { fields: vec!["x".into()], ..TableSelection::default() };
    let none = |_: &Channel| bail!("it has one");
    let mut table = Box::new(MessageTable::new(out, TableFormat::Parquet, selection, none));
    let definition = Definition {
        name: "a/msg/B".into(),
        encoding: "ros2msg".into(),
        data: b"int32 x\n".to_vec(),
    };
    let channel = Channel {
        topic: "/b".into(),
        message_encoding: "cdr".into(),
        definition: Arc::new(definition),
        ..Channel::default()
    };
    table.add_channel(&channel).unwrap();
    for time in times {
        let head = MessageInfo {
            channel: 0,
            sequence: 0,
            time: Some(*time),
            publish_time: Some(*time),
            size: 8,
            place: MessagePosition { at: 0, within: None },
        };
        table.write_message(0, &head, &[0, 1, 0, 0, 1, 0, 0, 0]).unwrap();
    }
    table.finish().unwrap();
    let file = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
    file.metadata().row_groups().to_vec()
}

#[test]
fn tables_of_messages_say_that_they_are_sorted() {
    for (name, times, is_sorted) in
        [("rising.parquet", [1, 2, 2], true), ("falling.parquet", [1, 3, 2], false)]
    {
        let groups = table_of_messages(name, &times);
        assert_eq!(groups.len(), 1);
        assert_eq!(groups[0].sorting_columns().is_some(), is_sorted, "{name}");
        assert!(groups[0].columns().iter().all(|column| column.statistics().is_some()));
    }
}
