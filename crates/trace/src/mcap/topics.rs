//! The topics of an MCAP file, by reading it from start to end.

use std::collections::HashMap;
use std::path::Path;

use anyhow::Result;

use super::reader::Reader;
use crate::channel::Channel;
use crate::read::Reader as _;
use crate::topic::{self, Definition, Topic};

/// Finds the topics, in the order of their first message; those without any
/// stand at the end.
pub fn topics(path: &Path) -> Result<Vec<(Topic, Definition)>> {
    let mut found: Vec<(Topic, Definition)> = Vec::new();
    let mut by_channel: HashMap<u16, usize> = HashMap::new();
    let mut reader = Reader::open(path)?;
    while let Some(head) = reader.next()? {
        let channel = &reader.channels()[&head.channel];
        let index = *by_channel.entry(head.channel).or_insert_with(|| add(&mut found, channel));
        found[index].0.messages += 1;
    }
    for channel in reader.channels().values() {
        add(&mut found, channel);
    }
    Ok(found)
}

/// The index of a channel's topic, which is added if it is new.
fn add(found: &mut Vec<(Topic, Definition)>, channel: &Channel) -> usize {
    let Channel { topic, message_encoding, definition, .. } = channel;
    let topic = Topic {
        name: topic.clone(),
        schema_name: definition.name.clone(),
        schema_encoding: definition.encoding.clone(),
        message_encoding: message_encoding.clone(),
        messages: 0,
    };
    topic::index(found, topic, &definition.data)
}

/// Calls a function with the content of every message of a topic, in the order
/// of the file.
pub fn each_message(
    path: &Path,
    topic: &str,
    mut visit: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let mut reader = Reader::open(path)?;
    while let Some(head) = reader.next()? {
        if reader.channels()[&head.channel].topic == topic {
            visit(reader.data()?)?;
        }
    }
    Ok(())
}
