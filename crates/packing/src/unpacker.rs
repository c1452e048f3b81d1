//! Writes messages with reflections, detections and points in place of packed fields.

use std::collections::BTreeMap;

use anyhow::{ensure, Result};
use wiregauge_packed::{find, unpack, UnpackOptions};
use wiregauge_trace::channel::Channel;
use wiregauge_trace::read::{Attachment, Head, LARGEST};
use wiregauge_trace::write::Writer;

use crate::cloud::Cloud;
use crate::costs::ChannelCosts;
use crate::definition;
use crate::packer::Costs;
use crate::remedy::remedied;
use crate::subject::Subject;

/// A writer that unpacks what is packed and hands on to another one what is not.
pub struct Unpacker {
    inner: Box<dyn Writer>,
    origin: String,
    options: UnpackOptions,
    subjects: BTreeMap<u16, (Subject, usize)>,
    costs: Costs,
    /// Whether something was packed.
    found: bool,
}

impl Unpacker {
    /// Writes by another writer what comes from a file; columns that OSI has no field for are
    /// dropped where that is wanted. What came of it is complete when the writer has finished.
    pub fn new(inner: Box<dyn Writer>, origin: &str, drop_unknown: bool) -> (Unpacker, Costs) {
        let costs = Costs::default();
        let unpacker = Unpacker {
            inner,
            origin: origin.to_owned(),
            options: UnpackOptions { drop_unknown, limit: LARGEST as usize },
            subjects: BTreeMap::new(),
            costs: costs.clone(),
            found: false,
        };
        (unpacker, costs)
    }
}

impl Writer for Unpacker {
    fn channel(&mut self, channel: &Channel) -> Result<u16> {
        let subject = Subject::of(channel).filter(|of| !matches!(of, Subject::Cloud(_, false)));
        let Some(subject) = subject else { return self.inner.channel(channel) };
        let id = match subject {
            Subject::Osi(_) => self.inner.channel(channel)?,
            Subject::Cloud(..) => self.inner.channel(&definition::unpacked(channel)?)?,
        };
        let mut costs = self.costs.borrow_mut();
        self.subjects.insert(id, (subject, costs.len()));
        costs.push(ChannelCosts { channel: channel.topic.clone(), ..ChannelCosts::default() });
        Ok(id)
    }

    fn message(&mut self, channel: u16, head: &Head, data: &[u8]) -> Result<()> {
        let Some((subject, at)) = self.subjects.get(&channel) else {
            return self.inner.message(channel, head, data);
        };
        let message = match subject {
            Subject::Osi(root) => {
                self.found |= find(*root, data)?.iter().any(|found| found.field.is_some());
                unpack(*root, data, &self.options).map_err(remedied)?
            }
            Subject::Cloud(wire, is_packed) => {
                self.found = true;
                Cloud::of(*wire, *is_packed, data)?.unpack()?
            }
        };
        let mut costs = self.costs.borrow_mut();
        let costs = &mut costs[*at];
        costs.messages += 1;
        costs.before += data.len() as u64;
        costs.after += message.len() as u64;
        let head = Head { size: message.len() as u64, ..*head };
        self.inner.message(channel, &head, &message)
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

    fn finish(self: Box<Self>) -> Result<()> {
        ensure!(self.found, "nothing in {} is packed", self.origin);
        self.inner.finish()
    }
}
