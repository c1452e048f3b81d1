//! The way of messages to a writer, on which they are packed or unpacked, with what that took.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use anyhow::Result;
use wiregauge_trace::channel::Channel;
use wiregauge_trace::read::MessageInfo;
use wiregauge_trace::write::Writer;

use crate::costs::{ChannelCosts, ColumnCosts};
use crate::packable::Packable;

/// What came of it, channel by channel.
pub type Costs = Rc<RefCell<Vec<ChannelCosts>>>;

/// A writer, and the channels whose messages are changed before they come to it.
pub(crate) struct PackingWriter {
    pub inner: Box<dyn Writer>,
    /// Those channels, and where each is among the costs.
    subjects: BTreeMap<u16, (Packable, usize)>,
    pub costs: Costs,
}

impl PackingWriter {
    pub fn new(inner: Box<dyn Writer>) -> PackingWriter {
        PackingWriter { inner, subjects: BTreeMap::new(), costs: Costs::default() }
    }

    /// Adds a channel whose messages are changed; clouds are of another type then.
    pub fn add_channel(
        &mut self,
        channel: &Channel,
        subject: Packable,
        redefined: fn(&Channel) -> Result<Channel>,
    ) -> Result<u16> {
        let id = match subject {
            Packable::Osi(_) => self.inner.add_channel(channel)?,
            Packable::Cloud(..) => self.inner.add_channel(&redefined(channel)?)?,
        };
        let mut costs = self.costs.borrow_mut();
        self.subjects.insert(id, (subject, costs.len()));
        costs.push(ChannelCosts { channel: channel.topic.clone(), ..ChannelCosts::default() });
        Ok(id)
    }

    /// What a channel carries; none where its messages are handed on as they are.
    pub fn subject(&self, channel: u16) -> Option<Packable> {
        self.subjects.get(&channel).map(|(subject, _)| *subject)
    }

    /// Counts a message of a channel that is left out.
    pub fn count_skipped(&self, channel: u16) {
        let (_, at) = self.subjects[&channel];
        self.costs.borrow_mut()[at].skipped += 1;
    }

    /// Writes a message of a channel that was added, which had so many bytes before.
    pub fn write_message(
        &mut self,
        channel: u16,
        head: &MessageInfo,
        before: usize,
        message: &[u8],
        columns: impl Iterator<Item = ColumnCosts>,
    ) -> Result<()> {
        let (_, at) = self.subjects[&channel];
        let mut costs = self.costs.borrow_mut();
        let costs = &mut costs[at];
        costs.messages += 1;
        costs.before += before as u64;
        costs.after += message.len() as u64;
        columns.for_each(|column| costs.add(column));
        let head = MessageInfo { size: message.len() as u64, ..*head };
        self.inner.write_message(channel, &head, message)
    }
}
