//! The way of messages to a writer, on which they are packed or unpacked, with what that took.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use anyhow::Result;
use wiregauge_trace::channel::Channel;
use wiregauge_trace::read::Head;
use wiregauge_trace::write::Writer;

use crate::costs::{ChannelCosts, ColumnCosts};
use crate::subject::Subject;

/// What came of it, channel by channel.
pub type Costs = Rc<RefCell<Vec<ChannelCosts>>>;

/// A writer, and the channels whose messages are changed before they come to it.
pub(crate) struct Passage {
    pub inner: Box<dyn Writer>,
    /// Those channels, and where each is among the costs.
    subjects: BTreeMap<u16, (Subject, usize)>,
    pub costs: Costs,
}

impl Passage {
    pub fn new(inner: Box<dyn Writer>) -> Passage {
        Passage { inner, subjects: BTreeMap::new(), costs: Costs::default() }
    }

    /// Adds a channel whose messages are changed; clouds are of another type then.
    pub fn channel(
        &mut self,
        channel: &Channel,
        subject: Subject,
        redefined: fn(&Channel) -> Result<Channel>,
    ) -> Result<u16> {
        let id = match subject {
            Subject::Osi(_) => self.inner.channel(channel)?,
            Subject::Cloud(..) => self.inner.channel(&redefined(channel)?)?,
        };
        let mut costs = self.costs.borrow_mut();
        self.subjects.insert(id, (subject, costs.len()));
        costs.push(ChannelCosts { channel: channel.topic.clone(), ..ChannelCosts::default() });
        Ok(id)
    }

    /// What a channel carries; none where its messages are handed on as they are.
    pub fn subject(&self, channel: u16) -> Option<Subject> {
        self.subjects.get(&channel).map(|(subject, _)| *subject)
    }

    /// Counts a message of a channel that is left out.
    pub fn skip(&self, channel: u16) {
        let (_, at) = self.subjects[&channel];
        self.costs.borrow_mut()[at].skipped += 1;
    }

    /// Writes a message of a channel that was added, which had so many bytes before.
    pub fn message(
        &mut self,
        channel: u16,
        head: &Head,
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
        let head = Head { size: message.len() as u64, ..*head };
        self.inner.message(channel, &head, message)
    }
}
