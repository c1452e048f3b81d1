//! Recorded messages have the values in columns that the decoders of whole messages read,
//! which are prost-reflect for Protobuf.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use wiregauge_columns::{ColumnPlan, ColumnReader, TableSelection};
use wiregauge_schema::Value;
use wiregauge_trace::channel::Channel;
use wiregauge_trace::decoding::TopicDecoder;
use wiregauge_trace::open::{open, OpenHints};

use crate::support::{assert_same, rows};

fn recordings() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace/tests/recordings");
    let names = [
        "mcap/ros1.mcap",
        "mcap/protobuf.mcap",
        "mcap/ros2-zstd.mcap",
        "osi/zstd.mcap",
        "ros1/lz4.bag",
        "ros2/iron",
        "ros2/jazzy",
    ];
    names.map(|name| folder.join(name)).to_vec()
}

/// The messages of each channel.
fn read(path: &Path) -> Vec<(Channel, Vec<Vec<u8>>)> {
    let mut reader = open(path, &OpenHints::default()).unwrap();
    let mut found: BTreeMap<u16, (Channel, Vec<Vec<u8>>)> = BTreeMap::new();
    while let Some(head) = reader.next().unwrap() {
        let channel = reader.channels()[&head.channel].clone();
        let message = reader.data().unwrap().to_vec();
        found.entry(head.channel).or_insert((channel, Vec::new())).1.push(message);
    }
    found.into_values().collect()
}

#[test]
fn columns_have_the_values_of_the_messages() {
    let mut encodings = Vec::new();
    for path in recordings() {
        for (channel, messages) in read(&path) {
            let Ok(decoder) = TopicDecoder::from_channel(&channel) else { continue };
            let plan = ColumnPlan::from_channel(&channel, &TableSelection::default());
            let plan = match plan {
                Ok(plan) => plan,
                // What ROS calls wide text.
                Err(error) => {
                    assert!(format!("{error:#}").contains("is a wstring"), "{error:#}");
                    continue;
                }
            };
            let mut reader = ColumnReader::new(Arc::new(plan));
            let wanted: Vec<Value> =
                messages.iter().map(|message| decoder.decode(message).unwrap().0).collect();
            for message in &messages {
                assert_eq!(reader.push(message).unwrap(), 1, "{}", path.display());
            }
            assert_same(&rows(&reader.finish().unwrap()), &wanted);
            encodings.push(channel.message_encoding);
        }
    }
    for encoding in ["cdr", "ros1", "protobuf"] {
        assert!(encodings.iter().any(|found| found == encoding), "{encodings:?}");
    }
}
