//! Writes a trace of OSI: messages of one type, each after its length.

use std::io::{BufWriter, Write};

use anyhow::{bail, Context, Result};

use super::writer::{flush_and_commit, Output, Writer};
use crate::channel::Channel;
use crate::read::MessageInfo;

/// An `.osi` file.
pub struct Osi<W: Output> {
    out: BufWriter<W>,
    /// Whether messages may be of any kind.
    any: bool,
    /// The type of its messages.
    only: Option<Channel>,
}

impl<W: Output> Osi<W> {
    /// Begins a file.
    pub fn new(out: W) -> Osi<W> {
        Osi { out: BufWriter::with_capacity(1 << 20, out), any: false, only: None }
    }

    /// Begins a file of any messages, each after its length.
    pub fn new_untyped(out: W) -> Osi<W> {
        Osi { any: true, ..Osi::new(out) }
    }
}

impl<W: Output> Writer for Osi<W> {
    fn add_channel(&mut self, channel: &Channel) -> Result<u16> {
        if !self.any && channel.message_encoding != "protobuf" {
            bail!(
                "an .osi file can only hold messages of OSI in Protobuf, but these are in '{}'; \
                 write them to .mcap or .bin, or leave the channel out by --exclude-channel",
                channel.message_encoding
            );
        }
        if let Some(only) = &self.only {
            bail!(
                "it can hold one channel, but there are {} and {}; choose one by --channel",
                only.topic,
                channel.topic
            );
        }
        self.only = Some(channel.clone());
        Ok(0)
    }

    fn write_message(&mut self, _: u16, _: &MessageInfo, data: &[u8]) -> Result<()> {
        let length = u32::try_from(data.len()).context("a message has more than 4 GiB")?;
        self.out.write_all(&length.to_le_bytes())?;
        self.out.write_all(data)?;
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<()> {
        flush_and_commit(self.out)
    }
}
