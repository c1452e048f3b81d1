//! What is written of points: clouds that a reader of Protobuf reads, and tables.

use std::fs::File;
use std::path::Path;

use crate::support::*;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int32Type, TimestampNanosecondType, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::statistics::Statistics;
use prost_reflect::{DescriptorPool, DynamicMessage, Value};
use wiregauge_columns::TableFormat;
use wiregauge_points::{CloudWriter, PointTable, SensorConventions, SkipCounter, TableWriter};
use wiregauge_trace::channel::Channel;
use wiregauge_trace::open::{open, OpenHints};
use wiregauge_trace::write::{self, Writer};

/// Detections at these distances, straight ahead; an odd one has an identifier too large for
/// a double.
fn detections(distances: &[f64]) -> Vec<u8> {
    let rows = distances.iter().map(|distance| {
        let mut row = vec![spherical(*distance, 0.0, 0.0)];
        if distance % 2.0 == 1.0 {
            row.push(Message(13, vec![Number(1, u64::MAX - 1)]));
            row.push(Number(9, 4));
        }
        Message(2, row)
    });
    stamped(vec![Message(26, vec![Message(3, rows.collect())])])
}

fn write(
    mut writer: Box<dyn Writer + '_>,
    channels: &[Channel],
    messages: &[(u16, Vec<u8>)],
) -> Vec<String> {
    for channel in channels {
        writer.add_channel(channel).unwrap();
    }
    for (at, (channel, data)) in messages.iter().enumerate() {
        writer.write_message(*channel, &head(100 + at as i128, data.len()), data).unwrap();
    }
    let remarks = writer.remarks();
    writer.finish().unwrap();
    remarks
}

fn number(message: &DynamicMessage, name: &str) -> f64 {
    match message.get_field_by_name(name).unwrap().as_ref() {
        Value::F64(value) => *value,
        Value::U32(value) => f64::from(*value),
        Value::I64(value) => *value as f64,
        Value::I32(value) | Value::EnumNumber(value) => f64::from(*value),
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn a_cloud_is_what_its_definition_says() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("clouds.mcap");
    for keep in [false, true] {
        let inner = write::OutputFormat::Mcap.begin(out(&path), Default::default()).unwrap();
        let clouds = Box::new(CloudWriter::new("in", inner, keep, SensorConventions::default()));
        let remarks = write(clouds, &[sensor_data()], &[(0, detections(&[3.0, 4.0]))]);
        assert!(remarks[0].contains("--elevation up"), "{remarks:?}");
        assert_eq!(remarks[1], "1 clouds of 2 points");
        let mut reader = open(&path, &OpenHints::default()).unwrap();
        let topics: Vec<&str> =
            reader.channels().values().map(|channel| channel.topic.as_str()).collect();
        let wanted = ["data", "data/feature_data.lidar_sensor[0]"];
        assert_eq!(topics, wanted[usize::from(!keep)..]);
        let first = reader.next().unwrap().unwrap();
        if keep {
            assert_eq!(reader.channels()[&first.channel].topic, "data");
            assert_eq!(reader.data().unwrap(), detections(&[3.0, 4.0]));
            reader.next().unwrap().unwrap();
        }
    }
    let mut reader = open(&path, &OpenHints::default()).unwrap();
    reader.next().unwrap();
    let head = reader.next().unwrap().unwrap();
    assert_eq!(head.time, Some(100));
    let definition = reader.channels()[&head.channel].definition.clone();
    assert_eq!(definition.name, "foxglove.PointCloud");
    let pool = DescriptorPool::decode(&definition.data[..]).unwrap();
    let kind = pool.get_message_by_name("foxglove.PointCloud").unwrap();
    let cloud = DynamicMessage::decode(kind, reader.data().unwrap()).unwrap();
    assert_eq!(cloud.unknown_fields().count(), 0);
    let inner = |message: &DynamicMessage, name: &str| -> DynamicMessage {
        message.get_field_by_name(name).unwrap().as_message().unwrap().clone()
    };
    let time = inner(&cloud, "timestamp");
    assert_eq!((number(&time, "seconds"), number(&time, "nanos")), (2.0, 5.0));
    // Without a mounting position the frame is the sensor's own.
    let frame = cloud.get_field_by_name("frame_id").unwrap();
    assert_eq!(frame.as_str().unwrap(), "data/feature_data.lidar_sensor[0]");
    assert_eq!(number(&inner(&inner(&cloud, "pose"), "orientation"), "w"), 1.0);
    let stride = number(&cloud, "point_stride") as usize;
    let fields = cloud.get_field_by_name("fields").unwrap().into_owned();
    let fields: Vec<(String, usize, f64)> = fields
        .as_list()
        .unwrap()
        .iter()
        .map(|field| {
            let field = field.as_message().unwrap();
            let name = field.get_field_by_name("name").unwrap().as_str().unwrap().to_owned();
            (name, number(field, "offset") as usize, number(field, "type"))
        })
        .collect();
    let names: Vec<&str> = fields.iter().map(|(name, _, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "x",
            "y",
            "z",
            "position_distance",
            "position_azimuth",
            "position_elevation",
            "classification",
            "beam_id"
        ]
    );
    let data = cloud.get_field_by_name("data").unwrap().into_owned();
    let data = data.as_bytes().unwrap();
    assert_eq!(data.len(), 2 * stride);
    let double = |point: usize, name: &str| {
        let (_, offset, kind) = fields.iter().find(|(of, _, _)| of == name).unwrap();
        assert_eq!(*kind, 8.0, "FLOAT64");
        f64::from_le_bytes(data[point * stride + offset..][..8].try_into().unwrap())
    };
    assert_eq!((double(0, "x"), double(1, "x"), double(1, "y")), (3.0, 4.0, 0.0));
    assert_eq!(double(0, "beam_id"), (u64::MAX - 1) as f64);
    assert!(double(1, "beam_id").is_nan());
    let (_, offset, kind) = &fields[6];
    assert_eq!(*kind, 6.0, "INT32");
    let whole = |point: usize| data[point * stride + offset..][..4].to_vec();
    assert_eq!((whole(0), whole(1)), (vec![4, 0, 0, 0], vec![0; 4]));
}

#[test]
fn a_message_that_cannot_be_read_stops_or_is_skipped_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let channels = [sensor_data()];
    let messages = [(0, detections(&[1.0])), (0, vec![255]), (0, detections(&[2.0, 3.0]))];
    let begin = |name: &str| out(&folder.path().join(name));
    let clouds = |skipped: Option<SkipCounter>| {
        let inner =
            write::OutputFormat::Mcap.begin(begin("clouds.mcap"), Default::default()).unwrap();
        CloudWriter::new("in", inner, false, SensorConventions::default()).skip_failed(skipped)
    };
    let skipped = SkipCounter::default();
    let told = write(Box::new(clouds(Some(skipped.clone()))), &channels, &messages).join("\n");
    assert!(told.contains("data: 1 message skipped, as reading points failed"), "{told}");
    assert!(told.contains("2 clouds of 3 points"), "{told}");
    assert_eq!(skipped.count(), 1);
    let mut strict = clouds(None);
    strict.add_channel(&channels[0]).unwrap();
    let error = strict.write_message(0, &head(1, 1), &[255]).unwrap_err().to_string();
    assert!(error.contains("by --errors skip"), "{error}");
    let skipped = SkipCounter::default();
    let found = PointTable::new(Some(skipped.clone()));
    let told = write_table(&folder.path().join("a.arrow"), &channels, &messages, &found);
    assert!(told[0].contains("1 message skipped"), "{told:?}");
    assert_eq!(told.last().unwrap(), "3 points, one row each");
    assert_eq!(skipped.count(), 1);
    let mut only = Box::new(clouds(Some(SkipCounter::default())));
    only.add_channel(&channels[0]).unwrap();
    only.write_message(0, &head(1, 1), &[255]).unwrap();
    let error = only.finish().unwrap_err().to_string();
    assert!(error.contains("no cloud can be made of in: data: "), "{error}");
}

#[test]
fn without_points_there_is_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let inner = || {
        let out = out(&folder.path().join("clouds.mcap"));
        write::OutputFormat::Mcap.begin(out, Default::default()).unwrap()
    };
    let mut clouds = Box::new(CloudWriter::new("in", inner(), false, SensorConventions::default()));
    clouds.add_channel(&channel("imu", "sensor_msgs/msg/Imu", "cdr")).unwrap();
    clouds.write_message(0, &head(1, 3), b"abc").unwrap();
    let error = clouds.finish().unwrap_err().to_string();
    assert!(
        error.contains(
            "no message that was read from in has points; messages with points are osi3.SensorView"
        ),
        "{error}"
    );
    let mut clouds = Box::new(CloudWriter::new("in", inner(), false, SensorConventions::default()));
    clouds.add_channel(&sensor_data()).unwrap();
    let data = stamped(vec![Message(26, vec![Message(3, vec![Message(2, vec![Double(7, 1.0)])])])]);
    clouds.write_message(0, &head(1, data.len()), &data).unwrap();
    let remarks = clouds.remarks();
    assert!(
        remarks[0].contains("1 list of points left out: no point has a distance"),
        "{remarks:?}"
    );
    let error = clouds.finish().unwrap_err().to_string();
    assert!(
        error.contains("no cloud can be made of in: data/feature_data.lidar_sensor[0]"),
        "{error}"
    );
}

fn writer(path: &Path, table: &PointTable) -> TableWriter<Out> {
    let out = Some((out(path), TableFormat::from_path(path).unwrap(), 1));
    TableWriter::new("in", out, SensorConventions::default(), table)
}

/// Writes a table; a second time where it is not known at first what it has.
fn write_table(
    path: &Path,
    channels: &[Channel],
    messages: &[(u16, Vec<u8>)],
    table: &PointTable,
) -> Vec<String> {
    let told = write(Box::new(writer(path, table)), channels, messages);
    match table.is_written() {
        true => told,
        false => write(Box::new(writer(path, table)), channels, messages),
    }
}

fn table(path: &Path, channels: &[Channel], messages: &[(u16, Vec<u8>)]) -> Vec<String> {
    write_table(path, channels, messages, &PointTable::default())
}

fn read(path: &Path) -> Vec<RecordBatch> {
    let file = File::open(path).unwrap();
    if TableFormat::from_path(path) == Some(TableFormat::Arrow) {
        let reader = arrow_ipc::reader::FileReader::try_new(file, None).unwrap();
        return reader.map(|batch| batch.unwrap()).collect();
    }
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    let reader = reader.with_batch_size(1 << 16).build().unwrap();
    reader.map(|batch| batch.unwrap()).collect()
}

#[test]
fn a_table_has_a_row_a_point() {
    let folder = tempfile::tempdir().unwrap();
    let view = stamped(vec![Message(
        1001,
        vec![Message(2, vec![Double(2, flight(7.0)), Double(4, 0.0)])],
    )]);
    let many: Vec<f64> = (0..70_000).map(f64::from).collect();
    let messages = [(0, detections(&[3.0, 4.0])), (1, view), (0, detections(&many))];
    for name in ["points.arrow", "points.parquet"] {
        let path = folder.path().join(name);
        let remarks = table(&path, &[sensor_data(), sensor_view()], &messages);
        assert_eq!(remarks.last().unwrap(), "70003 points, one row each");
        let batches = read(&path);
        assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 70_003, "{name}");
        let schema = batches[0].schema();
        let unit = |name: &str| {
            schema.field_with_name(name).unwrap().metadata().get("unit").map(String::as_str)
        };
        assert_eq!((unit("x"), unit("log_time"), unit("beam_id")), (Some("m"), None, None));
        assert_eq!(unit("source_horizontal_angle"), Some("rad"));
        let first = &batches[0];
        let doubles = |name: &str| {
            let column = first.column_by_name(name).unwrap().as_primitive::<Float64Type>();
            (0..4).map(|row| column.is_valid(row).then(|| column.value(row))).collect::<Vec<_>>()
        };
        assert_eq!(doubles("x"), [Some(3.0), Some(4.0), Some(7.0), Some(0.0)]);
        assert_eq!(doubles("position_distance"), [Some(3.0), Some(4.0), None, Some(0.0)]);
        let ids = first.column_by_name("beam_id").unwrap().as_primitive::<UInt64Type>();
        assert_eq!((ids.value(0), ids.is_null(1), ids.is_null(2)), (u64::MAX - 1, true, true));
        let times = first.column_by_name("log_time").unwrap();
        let times = times.as_primitive::<TimestampNanosecondType>();
        let numbers = first.column_by_name("message").unwrap().as_primitive::<UInt32Type>();
        let all = |row: usize| (times.value(row), numbers.value(row));
        assert_eq!([all(0), all(1), all(2)], [(100, 0), (100, 0), (101, 0)]);
        assert_eq!((all(3), all(4)), ((102, 1), (102, 1)));
        let word = |name: &str, row: usize| {
            let column = first.column_by_name(name).unwrap().as_dictionary::<Int32Type>();
            let words = column.values().as_string::<i32>();
            words.value(column.keys().value(row) as usize).to_owned()
        };
        assert_eq!([word("channel", 1), word("channel", 2)], ["data", "view"]);
        assert_eq!(word("list", 2), "radar_sensor_view[0]");
        let last = batches.last().unwrap();
        let column = last.column_by_name("x").unwrap().as_primitive::<Float64Type>();
        assert_eq!(column.value(column.len() - 1), 69_999.0);
    }
}

/// Writes messages with the same points at these times as Parquet; what it says of its groups.
fn row_groups(data: &[u8], times: &[i128]) -> Vec<RowGroupMetaData> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("points.parquet");
    let mut table = Box::new(writer(&path, &PointTable::default()));
    table.add_channel(&sensor_data()).unwrap();
    for time in times {
        table.write_message(0, &head(*time, data.len()), data).unwrap();
    }
    table.finish().unwrap();
    let file = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
    file.metadata().row_groups().to_vec()
}

#[test]
fn row_groups_have_whole_messages_and_say_whether_they_are_sorted() {
    let list = |count: usize| {
        let row = || Message(2, vec![spherical(1.0, 0.0, 0.0)]);
        Message(3, (0..count).map(|_| row()).collect())
    };
    // Two lists a message, each more than a batch has at least.
    let data = stamped(vec![Message(26, vec![list(66_000), list(66_000)])]);
    let groups = row_groups(&data, &[5, 7, 6]);
    let found: Vec<_> = groups
        .iter()
        .map(|group| {
            let Some(Statistics::Int64(times)) = group.column(0).statistics() else { panic!() };
            assert!(group.sorting_columns().is_some());
            (group.num_rows(), *times.min_opt().unwrap(), *times.max_opt().unwrap())
        })
        .collect();
    assert_eq!(found, [(132_000, 5, 5), (132_000, 7, 7), (132_000, 6, 6)]);
    // Small messages share a group.
    let data = stamped(vec![Message(26, vec![list(2), list(1)])]);
    for (times, sorted) in [([5, 6, 6], true), ([5, 7, 6], false)] {
        let groups = row_groups(&data, &times);
        assert_eq!((groups.len(), groups[0].num_rows()), (1, 9));
        assert_eq!(groups[0].sorting_columns().is_some(), sorted);
    }
}

#[test]
fn a_column_that_cannot_hold_the_values_of_all_lists_is_refused() {
    // A beam of ROS by a float and one of OSI by 64 bits.
    let folder = tempfile::tempdir().unwrap();
    let mut table = Box::new(writer(&folder.path().join("a.arrow"), &PointTable::default()));
    table.add_channel(&sensor_data()).unwrap();
    table.add_channel(&channel("/points", "sensor_msgs/PointCloud2", "ros1")).unwrap();
    let data = detections(&[1.0]);
    table.write_message(0, &head(0, data.len()), &data).unwrap();
    let mut cloud = vec![0u8; 12];
    let text = |text: &str| [&(text.len() as u32).to_le_bytes(), text.as_bytes()].concat();
    cloud.extend(text("f"));
    cloud.extend([1u32, 1, 1].iter().flat_map(|number| number.to_le_bytes()));
    cloud.extend(text("beam_id"));
    cloud.extend([0, 0, 0, 0, 7, 1, 0, 0, 0, 0]);
    cloud.extend([4u32, 4, 4].iter().flat_map(|number| number.to_le_bytes()));
    cloud.extend([0, 0, 0, 0, 1]);
    let error = table.write_message(1, &head(0, cloud.len()), &cloud).unwrap_err().to_string();
    assert!(error.contains("beam_id is F32 in /points and U64 in data/"), "{error}");
}

/// A cloud in ROS 1's encoding: points of one field of four bytes each.
fn cloud(name: &str, datatype: u8, values: &[[u8; 4]]) -> Vec<u8> {
    let number = |number: usize| (number as u32).to_le_bytes();
    let text = |text: &str| [&number(text.len()), text.as_bytes()].concat();
    let mut out = vec![0; 12];
    out.extend(text("f"));
    out.extend([number(1), number(values.len()), number(1)].concat());
    out.extend(text(name));
    out.extend([&number(0)[..], &[datatype], &number(1), &[0]].concat());
    out.extend([number(4), number(4 * values.len()), number(4 * values.len())].concat());
    out.extend(values.concat());
    out.push(1);
    out
}

fn ros() -> Channel {
    channel("/points", "sensor_msgs/PointCloud2", "ros1")
}

#[test]
fn a_later_message_with_more_is_in_the_table_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("more.arrow");
    let x = cloud("x", 7, &[1.5f32.to_le_bytes(), 2.5f32.to_le_bytes()]);
    let same = cloud("x", 7, &[3.5f32.to_le_bytes()]);
    let y = cloud("y", 7, &[4.5f32.to_le_bytes()]);
    let whole = cloud("x", 5, &[7i32.to_le_bytes()]);
    let found = PointTable::default();
    write(Box::new(writer(&path, &found)), &[ros()], &[(0, x.clone()), (0, same.clone())]);
    assert!(found.is_written(), "at once, as all have the same columns");
    let batch = &read(&path)[0];
    let names: Vec<_> = batch.schema().fields().iter().map(|it| it.name().clone()).collect();
    assert_eq!(names, ["log_time", "message", "x"], "and nothing that is the same in all rows");
    assert_eq!(batch.schema().metadata()["channel"], "/points");
    assert_eq!(batch.column(2).as_primitive::<Float32Type>().values()[..], [1.5, 2.5, 3.5]);
    let messages = [(0, x), (0, y), (0, whole)];
    let found = PointTable::default();
    write(Box::new(writer(&path, &found)), &[ros()], &messages);
    assert!(!found.is_written() && found.is_known());
    assert_eq!(
        write(Box::new(writer(&path, &found)), &[ros()], &messages)[1],
        "4 points, one row each"
    );
    let batch = &read(&path)[0];
    let column = |name: &str| batch.column_by_name(name).unwrap().clone();
    let doubles = |name: &str| column(name).as_primitive_opt::<Float64Type>().cloned();
    let x: Vec<_> = doubles("x").expect("wide enough for all").iter().collect();
    assert_eq!(x, [Some(1.5), Some(2.5), None, Some(7.0)]);
    let y: Vec<_> = column("y").as_primitive::<Float32Type>().iter().collect();
    assert_eq!(y, [None, None, Some(4.5), None]);
}
