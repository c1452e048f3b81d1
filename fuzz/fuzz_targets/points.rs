//! Points in a message of OSI or ROS.
#![cfg_attr(fuzzing, no_main)]

use std::sync::Arc;

use wiregauge_fuzz_support::check_error;
use wiregauge_points::{Elevation, PointSource, Rays, SensorConventions};
use wiregauge_trace::channel::{Channel, Definition};

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
    for points in check_error(source.points(message, reading)).into_iter().flatten() {
        for column in &points.columns {
            assert_eq!(column.values.len(), points.count, "{}", column.name);
            assert!(column.present.as_ref().is_none_or(|present| present.len() == points.count));
        }
    }
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| read(data));
