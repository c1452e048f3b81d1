//! Points in a message of OSI or ROS, as lists and as rows of a table.
#![cfg_attr(fuzzing, no_main)]

use std::sync::Arc;

use wiregauge_fuzz_support::check_error;
use wiregauge_points::{ChannelPoints, Elevation, PointSource, Points, Rays, SensorConventions};
use wiregauge_trace::channel::{Channel, Definition};
use wiregauge_trace::read::{MessageInfo, MessagePosition};

const KINDS: [(&str, &str); 4] = [
    ("osi3.SensorView", "protobuf"),
    ("osi3.SensorData", "protobuf"),
    ("sensor_msgs/msg/PointCloud2", "cdr"),
    ("sensor_msgs/PointCloud2", "ros1"),
];

pub fn read(data: &[u8]) {
    let Some((&which, message)) = data.split_first() else { return };
    let (name, encoding) = KINDS[usize::from(which) % KINDS.len()];
    let definition = Definition { name: name.into(), ..Definition::default() };
    let channel = Channel {
        topic: "points".into(),
        message_encoding: encoding.into(),
        definition: Arc::new(definition),
        metadata: Default::default(),
    };
    let source = PointSource::from_channel(&channel).expect("one with points");
    let reading = SensorConventions {
        elevation: (which & 4 != 0).then_some(Elevation::Up),
        rays: (which & 8 != 0).then_some(Rays::Edges),
    };
    let lists = check_error(source.points(message, reading));
    for points in lists.iter().flatten() {
        for column in &points.columns {
            assert_eq!(column.values.len(), points.count, "{}", column.name);
            assert!(column.present.as_ref().is_none_or(|present| present.len() == points.count));
        }
    }
    check_rows(&channel, message, reading, lists.as_deref());
}

/// Reads the message as rows: with columns that it tells itself, and as a part of a plan does,
/// with columns that were told before.
fn check_rows(
    channel: &Channel,
    message: &[u8],
    reading: SensorConventions,
    lists: Option<&[Points]>,
) {
    let begin = || ChannelPoints::new(channel, &[], reading).expect("one with points");
    let head = MessageInfo {
        channel: 0,
        sequence: 0,
        time: Some(1),
        publish_time: None,
        size: message.len() as u64,
        place: MessagePosition { at: 0, within: None },
    };
    let mut rows = begin();
    let Some(added) = check_error(rows.push(&head, message)) else { return };
    let with_columns = lists.expect("rows were made").iter().filter(|one| !one.columns.is_empty());
    assert_eq!(added, with_columns.map(|points| points.count).sum::<usize>());
    let Some(schema) = rows.schema() else { return };
    let mut planned = begin();
    planned.set_schema(&schema).expect("columns of points");
    assert_eq!(planned.push(&head, message).expect("it told the columns"), added);
    assert_eq!(planned.finish().expect("rows"), rows.finish().expect("rows"));
    // A message that adds rows once adds as many again, and none is left of the last batch.
    assert_eq!(rows.push(&head, message).ok(), Some(added));
    assert_eq!(rows.finish().expect("rows").num_rows(), added);
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| read(data));
