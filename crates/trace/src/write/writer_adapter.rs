//! A writer around another one that changes messages and hands on everything else: here, so
//! that no such writer forgets a method of [`Writer`].

use std::collections::BTreeMap;

use anyhow::Result;

use super::writer::Writer;
use crate::channel::Channel;
use crate::read::{Attachment, FileHeader, MessageInfo};

/// What such a writer does itself: it changes messages and hands them to its inner writer.
pub trait WriterAdapter {
    /// The inner writer, to ask it.
    fn inner(&self) -> &dyn Writer;

    /// The inner writer, to write by it.
    fn inner_mut(&mut self) -> &mut dyn Writer;

    /// The inner writer, to finish it when this one is done.
    fn into_inner(self: Box<Self>) -> Box<dyn Writer>;

    /// See [`Writer::add_channel`].
    ///
    /// # Errors
    /// When the container cannot hold it beside those before.
    fn add_channel(&mut self, channel: &Channel) -> Result<u16>;

    /// See [`Writer::write_message`].
    ///
    /// # Errors
    /// When it cannot be written, or not be changed.
    fn write_message(&mut self, channel: u16, head: &MessageInfo, data: &[u8]) -> Result<()>;

    /// What is to be told beside what the inner writer tells.
    fn added_remarks(&self) -> Vec<String> {
        Vec::new()
    }

    /// Whether it wrote messages otherwise than they came, whatever the inner writer did.
    fn changes_messages(&self) -> bool {
        false
    }

    /// Refuses what came of it, before the inner writer finishes.
    ///
    /// # Errors
    /// When what was written is not what its user believes.
    fn check_result(&self) -> Result<()> {
        Ok(())
    }
}

impl<A: WriterAdapter> Writer for A {
    fn write_header(&mut self, about: &FileHeader) -> Result<()> {
        self.inner_mut().write_header(about)
    }

    fn add_channel(&mut self, channel: &Channel) -> Result<u16> {
        WriterAdapter::add_channel(self, channel)
    }

    fn write_message(&mut self, channel: u16, head: &MessageInfo, data: &[u8]) -> Result<()> {
        WriterAdapter::write_message(self, channel, head, data)
    }

    fn has_room(&self) -> bool {
        self.inner().has_room()
    }

    fn write_metadata(&mut self, name: &str, entries: &BTreeMap<String, String>) -> Result<bool> {
        self.inner_mut().write_metadata(name, entries)
    }

    fn write_attachment(&mut self, attachment: &Attachment) -> Result<bool> {
        self.inner_mut().write_attachment(attachment)
    }

    fn remarks(&self) -> Vec<String> {
        let mut remarks = self.inner().remarks();
        remarks.extend(self.added_remarks());
        remarks
    }

    fn has_changed(&self) -> bool {
        self.changes_messages() || self.inner().has_changed()
    }

    fn finish(self: Box<Self>) -> Result<()> {
        self.check_result()?;
        self.into_inner().finish()
    }
}
