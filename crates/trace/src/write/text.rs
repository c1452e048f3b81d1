//! Writes messages in Protobuf's text format, one after another, for people to read.

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};

use anyhow::Result;
use prost_reflect::text_format::FormatOptions;

use super::writer::{flush_and_commit, Output, Writer};
use crate::channel::Channel;
use crate::parser::Parser;
use crate::read::MessageInfo;

/// A `.txth` file.
pub struct Text<W: Output> {
    out: BufWriter<W>,
    parsers: BTreeMap<u16, Parser>,
    /// How many messages could not be shown.
    unshown: u64,
}

impl<W: Output> Text<W> {
    /// Begins a file.
    pub fn new(out: W) -> Text<W> {
        Text { out: BufWriter::new(out), parsers: BTreeMap::new(), unshown: 0 }
    }
}

impl<W: Output> Writer for Text<W> {
    fn add_channel(&mut self, channel: &Channel) -> Result<u16> {
        let id = self.parsers.len() as u16;
        self.parsers.insert(id, Parser::from_channel(channel)?);
        Ok(id)
    }

    fn write_message(&mut self, channel: u16, head: &MessageInfo, data: &[u8]) -> Result<()> {
        let message = match self.parsers[&channel].parse(data) {
            Ok(message) => message,
            Err(error) => {
                // A remark of the text format, so that it can still be read.
                let error = format!("{error:#}").replace(['\n', '\r'], " ");
                writeln!(self.out, "# the message at {} cannot be shown: {error}", head.place)?;
                self.unshown += 1;
                return Ok(());
            }
        };
        let options = FormatOptions::new().pretty(true).print_message_fields_in_index_order(true);
        let text = message.to_text_format_with_options(&options);
        writeln!(self.out, "{text}")?;
        Ok(())
    }

    fn remarks(&self) -> Vec<String> {
        let told = || format!("messages that cannot be shown: {}", self.unshown);
        (self.unshown > 0).then(told).into_iter().collect()
    }

    fn finish(self: Box<Self>) -> Result<()> {
        flush_and_commit(self.out)
    }
}
