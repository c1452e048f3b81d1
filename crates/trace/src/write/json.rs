//! Writes a line of JSON a message, for scripts. A message that cannot be shown is a line
//! that says so.

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};

use anyhow::{bail, Result};
use serde::Serialize;

use super::writer::{flush_and_commit, Output, Writer};
use crate::channel::Channel;
use crate::message_json;
use crate::parser::JsonFormatter;
use crate::read::{MessageInfo, Nanoseconds};

/// What tells the messages of a channel in an encoding that is not known here; none where it
/// is another one.
pub type FormatterLookup = fn(&Channel) -> Result<Option<Box<dyn JsonFormatter>>>;

/// A `.jsonl` file.
pub struct Json<W: Output> {
    out: BufWriter<W>,
    others: FormatterLookup,
    channels: BTreeMap<u16, JsonChannel>,
    line: Vec<u8>,
    /// How many messages were shown, and how many could not be.
    shown: u64,
    unshown: u64,
    /// Why the first one could not be.
    reason: String,
}

/// A channel, and what shows its messages, or why that cannot be.
struct JsonChannel {
    topic: String,
    name: String,
    show: Result<Box<dyn JsonFormatter>>,
}

impl<W: Output> Json<W> {
    /// Begins a file.
    pub fn new(out: W) -> Json<W> {
        Json::with_formatters(out, |_| Ok(None))
    }

    /// Begins a file of messages in what is known here or in what others tell.
    pub fn with_formatters(out: W, others: FormatterLookup) -> Json<W> {
        let (channels, line, reason) = Default::default();
        let out = BufWriter::new(out);
        Json { out, others, channels, line, shown: 0, unshown: 0, reason }
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
    fn add_channel(&mut self, channel: &Channel) -> Result<u16> {
        let id = self.channels.len() as u16;
        let show = match (self.others)(channel) {
            Ok(None) => message_json::create_formatter(channel),
            Ok(Some(other)) => Ok(other),
            Err(error) => Err(error),
        };
        let name = match &show {
            Ok(show) => show.type_name().to_owned(),
            Err(_) => channel.definition.name.clone(),
        };
        self.channels.insert(id, JsonChannel { topic: channel.topic.clone(), name, show });
        Ok(id)
    }

    fn write_message(&mut self, channel: u16, head: &MessageInfo, data: &[u8]) -> Result<()> {
        let JsonChannel { topic, name, show } = &self.channels[&channel];
        let MessageInfo { time, sequence, size, .. } = *head;
        let line = Line { channel: topic, name, time, sequence, size };
        self.line.clear();
        serde_json::to_writer(&mut self.line, &line)?;
        // The message is the last of the line's fields.
        self.line.pop();
        let before = self.line.len();
        self.line.extend_from_slice(b",\"message\":");
        let outcome = match show {
            Ok(show) => show.write_json(data, &mut self.line).map_err(|error| format!("{error:#}")),
            Err(error) => Err(format!("{error:#}")),
        };
        match outcome {
            Ok(()) => self.shown += 1,
            Err(why) => {
                self.line.truncate(before);
                self.line.extend_from_slice(b",\"error\":");
                serde_json::to_writer(&mut self.line, &why)?;
                if self.unshown == 0 {
                    self.reason = format!("channel {topic}, {}: {why}", head.place);
                }
                self.unshown += 1;
            }
        }
        self.line.extend_from_slice(b"}\n");
        self.out.write_all(&self.line)?;
        Ok(())
    }

    fn remarks(&self) -> Vec<String> {
        let Json { shown, unshown, reason, .. } = self;
        let all = shown + unshown;
        let told =
            || format!("{unshown} of {all} messages cannot be shown; the first error: {reason}");
        (*unshown > 0 && *shown > 0).then(told).into_iter().collect()
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        if self.shown == 0 && self.unshown > 0 {
            // The lines that say so were wanted, too.
            self.out.flush()?;
            bail!("no message can be shown: {}", self.reason);
        }
        flush_and_commit(self.out)
    }
}
