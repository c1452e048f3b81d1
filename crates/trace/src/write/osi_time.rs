//! Writes messages of OSI with the time that they say themselves.

use std::collections::BTreeMap;

use anyhow::Result;

use super::writer::Writer;
use super::writer_adapter::WriterAdapter;
use crate::channel::Channel;
use crate::osi::Stamp;
use crate::read::MessageInfo;

/// A writer for which messages of OSI were sent at their own time stamps, whatever the
/// file says that they are from.
pub struct OsiTimeWriter {
    inner: Box<dyn Writer>,
    /// The types of the channels with messages of OSI.
    types: BTreeMap<u16, String>,
}

impl OsiTimeWriter {
    /// Writes by another writer.
    pub fn new(inner: Box<dyn Writer>) -> OsiTimeWriter {
        OsiTimeWriter { inner, types: BTreeMap::new() }
    }
}

impl WriterAdapter for OsiTimeWriter {
    fn inner(&self) -> &dyn Writer {
        &*self.inner
    }

    fn inner_mut(&mut self) -> &mut dyn Writer {
        &mut *self.inner
    }

    fn into_inner(self: Box<Self>) -> Box<dyn Writer> {
        self.inner
    }

    fn add_channel(&mut self, channel: &Channel) -> Result<u16> {
        let id = self.inner.add_channel(channel)?;
        if channel.is_osi() {
            self.types.insert(id, channel.definition.name.clone());
        }
        Ok(id)
    }

    fn write_message(&mut self, channel: u16, head: &MessageInfo, data: &[u8]) -> Result<()> {
        let own = self.types.get(&channel).and_then(|name| Stamp::read(name, data).time);
        let head = MessageInfo { publish_time: own.or(head.publish_time), ..*head };
        self.inner.write_message(channel, &head, data)
    }
}
