//! Writes a line of JSON a message, for scripts.

use std::collections::BTreeMap;
use std::io::{BufWriter, Error, Write};

use anyhow::Result;
use serde::Serialize;

use super::writer::{settle, Output, Writer};
use crate::channel::Channel;
use crate::parsed::Parser;
use crate::read::{Head, Nanoseconds};

/// A `.jsonl` file.
pub struct Json<W: Output> {
    out: BufWriter<W>,
    channels: BTreeMap<u16, (String, Parser)>,
}

impl<W: Output> Json<W> {
    /// Begins a file.
    pub fn new(out: W) -> Json<W> {
        Json { out: BufWriter::new(out), channels: BTreeMap::new() }
    }
}

/// What a line says. Times are in nanoseconds.
#[derive(Serialize)]
struct Line<'m> {
    channel: &'m str,
    #[serde(rename = "type")]
    name: &'m str,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<Nanoseconds>,
    sequence: u32,
    size: u64,
    message: prost_reflect::DynamicMessage,
}

impl<W: Output> Writer for Json<W> {
    fn channel(&mut self, channel: &Channel) -> Result<u16> {
        let id = self.channels.len() as u16;
        self.channels.insert(id, (channel.topic.clone(), Parser::of(channel)?));
        Ok(id)
    }

    fn message(&mut self, channel: u16, head: &Head, data: &[u8]) -> Result<()> {
        let (topic, parser) = &self.channels[&channel];
        let message = parser.parse(data)?;
        let line = Line {
            channel: topic,
            name: parser.name(),
            time: head.time,
            sequence: head.sequence,
            size: head.size,
            message,
        };
        serde_json::to_writer(&mut self.out, &line).map_err(Error::from)?;
        self.out.write_all(b"\n")?;
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<()> {
        settle(self.out)
    }
}
