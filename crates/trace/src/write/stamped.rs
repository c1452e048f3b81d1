//! Writes messages of OSI with the time that they say themselves.

use std::collections::BTreeMap;

use anyhow::Result;

use super::writer::Writer;
use crate::channel::Channel;
use crate::osi::Stamp;
use crate::read::{About, Attachment, Head};

/// A writer for which messages of OSI were sent at their own time stamps, whatever the
/// file says that they are from.
pub struct Stamped {
    inner: Box<dyn Writer>,
    /// The types of the channels with messages of OSI.
    types: BTreeMap<u16, String>,
}

impl Stamped {
    /// Writes by another writer.
    pub fn new(inner: Box<dyn Writer>) -> Stamped {
        Stamped { inner, types: BTreeMap::new() }
    }
}

impl Writer for Stamped {
    fn about(&mut self, about: &About) -> Result<()> {
        self.inner.about(about)
    }

    fn channel(&mut self, channel: &Channel) -> Result<u16> {
        let id = self.inner.channel(channel)?;
        if channel.is_osi() {
            self.types.insert(id, channel.definition.name.clone());
        }
        Ok(id)
    }

    fn message(&mut self, channel: u16, head: &Head, data: &[u8]) -> Result<()> {
        let own = self.types.get(&channel).and_then(|name| Stamp::of(name, data).time);
        let head = Head { publish_time: own.or(head.publish_time), ..*head };
        self.inner.message(channel, &head, data)
    }

    fn has_room(&self) -> bool {
        self.inner.has_room()
    }

    fn metadata(&mut self, name: &str, entries: &BTreeMap<String, String>) -> Result<bool> {
        self.inner.metadata(name, entries)
    }

    fn attachment(&mut self, attachment: &Attachment) -> Result<bool> {
        self.inner.attachment(attachment)
    }

    fn remarks(&self) -> Vec<String> {
        self.inner.remarks()
    }

    fn finish(self: Box<Self>) -> Result<()> {
        self.inner.finish()
    }
}
