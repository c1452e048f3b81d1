//! Writes messages in Protobuf's text format, one after another, for people to read.

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};

use anyhow::Result;
use prost_reflect::text_format::FormatOptions;

use super::writer::{settle, Output, Writer};
use crate::channel::Channel;
use crate::parsed::Parser;
use crate::read::Head;

/// A `.txth` file.
pub struct Text<W: Output> {
    out: BufWriter<W>,
    parsers: BTreeMap<u16, Parser>,
}

impl<W: Output> Text<W> {
    /// Begins a file.
    pub fn new(out: W) -> Text<W> {
        Text { out: BufWriter::new(out), parsers: BTreeMap::new() }
    }
}

impl<W: Output> Writer for Text<W> {
    fn channel(&mut self, channel: &Channel) -> Result<u16> {
        let id = self.parsers.len() as u16;
        self.parsers.insert(id, Parser::of(channel)?);
        Ok(id)
    }

    fn message(&mut self, channel: u16, _: &Head, data: &[u8]) -> Result<()> {
        let message = self.parsers[&channel].parse(data)?;
        let options = FormatOptions::new().pretty(true).print_message_fields_in_index_order(true);
        let text = message.to_text_format_with_options(&options);
        writeln!(self.out, "{text}")?;
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<()> {
        settle(self.out)
    }
}
