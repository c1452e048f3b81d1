//! Writes a line of JSON a message, for scripts.

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};

use anyhow::Result;
use serde::Serialize;

use super::writer::{settle, Output, Writer};
use crate::channel::Channel;
use crate::parsed::{Parser, Show};
use crate::read::{Head, Nanoseconds};

/// What tells the messages of a channel that is in another encoding than Protobuf; none
/// where that is unknown.
pub type Others = fn(&Channel) -> Result<Option<Box<dyn Show>>>;

/// A `.jsonl` file.
pub struct Json<W: Output> {
    out: BufWriter<W>,
    others: Others,
    channels: BTreeMap<u16, (String, Box<dyn Show>)>,
    line: Vec<u8>,
}

impl<W: Output> Json<W> {
    /// Begins a file of messages in Protobuf.
    pub fn new(out: W) -> Json<W> {
        Json::with(out, |_| Ok(None))
    }

    /// Begins a file of messages in Protobuf or in what others tell.
    pub fn with(out: W, others: Others) -> Json<W> {
        Json { out: BufWriter::new(out), others, channels: BTreeMap::new(), line: Vec::new() }
    }
}

/// What a line says before its message. Times are in nanoseconds.
#[derive(Serialize)]
struct Line<'m> {
    channel: &'m str,
    #[serde(rename = "type")]
    name: &'m str,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<Nanoseconds>,
    sequence: u32,
    size: u64,
}

impl<W: Output> Writer for Json<W> {
    fn channel(&mut self, channel: &Channel) -> Result<u16> {
        let id = self.channels.len() as u16;
        let show = match (self.others)(channel)? {
            Some(other) => other,
            None => Box::new(Parser::of(channel)?),
        };
        self.channels.insert(id, (channel.topic.clone(), show));
        Ok(id)
    }

    fn message(&mut self, channel: u16, head: &Head, data: &[u8]) -> Result<()> {
        let (topic, show) = &self.channels[&channel];
        let Head { time, sequence, size, .. } = *head;
        let line = Line { channel: topic, name: show.name(), time, sequence, size };
        self.line.clear();
        serde_json::to_writer(&mut self.line, &line)?;
        // The message is the last of the line's fields.
        self.line.pop();
        self.line.extend_from_slice(b",\"message\":");
        show.show(data, &mut self.line)?;
        self.line.extend_from_slice(b"}\n");
        self.out.write_all(&self.line)?;
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<()> {
        settle(self.out)
    }
}
