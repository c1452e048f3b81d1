//! The one topic of a trace of OSI, as recordings have topics.

use std::path::Path;

use anyhow::Result;

use super::file_name::OsiFileName;
use super::reader::Reader;
use super::types::TYPES;
use crate::read::Reader as _;
use crate::topic::{Topic, TopicDefinition};

/// The one topic that the name tells, or one for each type that it may be. Fails
/// where the lengths do not lead to the file's end.
pub fn topics(path: &Path) -> Result<Vec<(Topic, TopicDefinition)>> {
    let mut reader = Reader::open(path, None)?;
    let mut messages = 0;
    while reader.next()?.is_some() {
        messages += 1;
    }
    let told = OsiFileName::parse(path).and_then(|name| name.type_name());
    let all = TYPES.iter().map(|(_, name)| *name);
    let types = all.filter(|name| told.is_none_or(|told| told == *name));
    Ok(types.map(|name| (topic(name, messages), TopicDefinition(Vec::new()))).collect())
}

/// A topic with messages of a type.
pub fn topic(name: &str, messages: u64) -> Topic {
    Topic {
        name: name.into(),
        schema_name: name.into(),
        schema_encoding: "protobuf".into(),
        message_encoding: "protobuf".into(),
        messages,
    }
}
