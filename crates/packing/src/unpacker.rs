//! Writes messages with reflections, detections and points in place of packed fields.

use std::collections::BTreeMap;
use std::iter;

use anyhow::{ensure, Result};
use wiregauge_packed::{find, unpack, UnpackOptions};
use wiregauge_trace::channel::Channel;
use wiregauge_trace::read::{Attachment, Head, LARGEST};
use wiregauge_trace::write::Writer;

use crate::cloud::Cloud;
use crate::definition;
use crate::passage::{Costs, Passage};
use crate::remedy::remedied;
use crate::subject::Subject;

/// A writer that unpacks what is packed and hands on to another one what is not.
pub struct Unpacker {
    passage: Passage,
    origin: String,
    options: UnpackOptions,
    /// Whether something was packed.
    found: bool,
}

impl Unpacker {
    /// Writes by another writer what comes from a file; columns that OSI has no field for are
    /// dropped where that is wanted. What came of it is complete when the writer has finished.
    pub fn new(inner: Box<dyn Writer>, origin: &str, drop_unknown: bool) -> (Unpacker, Costs) {
        let (passage, origin) = (Passage::new(inner), origin.to_owned());
        let costs = passage.costs.clone();
        let options = UnpackOptions { drop_unknown, limit: LARGEST as usize };
        (Unpacker { passage, origin, options, found: false }, costs)
    }
}

impl Writer for Unpacker {
    fn channel(&mut self, channel: &Channel) -> Result<u16> {
        match Subject::of(channel).filter(|of| !matches!(of, Subject::Cloud(_, false))) {
            Some(subject) => self.passage.channel(channel, subject, definition::unpacked),
            None => self.passage.inner.channel(channel),
        }
    }

    fn message(&mut self, channel: u16, head: &Head, data: &[u8]) -> Result<()> {
        let message = match self.passage.subject(channel) {
            None => return self.passage.inner.message(channel, head, data),
            Some(Subject::Osi(root)) => {
                self.found |= find(root, data)?.iter().any(|found| found.field.is_some());
                unpack(root, data, &self.options).map_err(remedied)?
            }
            Some(Subject::Cloud(wire, is_packed)) => {
                self.found = true;
                Cloud::of(wire, is_packed, data)?.unpack()?
            }
        };
        self.passage.message(channel, head, data.len(), &message, iter::empty())
    }

    fn has_room(&self) -> bool {
        self.passage.inner.has_room()
    }

    fn metadata(&mut self, name: &str, entries: &BTreeMap<String, String>) -> Result<bool> {
        self.passage.inner.metadata(name, entries)
    }

    fn attachment(&mut self, attachment: &Attachment) -> Result<bool> {
        self.passage.inner.attachment(attachment)
    }

    fn finish(self: Box<Self>) -> Result<()> {
        ensure!(self.found, "nothing in {} is packed", self.origin);
        self.passage.inner.finish()
    }
}
