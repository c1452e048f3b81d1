//! Writes messages with packed fields in place of reflections, detections and points.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use anyhow::{bail, ensure, Result};
use wiregauge_packed::{pack, PackOptions};
use wiregauge_trace::channel::Channel;
use wiregauge_trace::read::{Attachment, Head};
use wiregauge_trace::write::Writer;

use crate::cloud::Cloud;
use crate::costs::{ChannelCosts, ColumnCosts};
use crate::definition;
use crate::remedy::remedied;
use crate::subject::Subject;

/// What came of it, channel by channel.
pub type Costs = Rc<RefCell<Vec<ChannelCosts>>>;

/// A writer that packs what can be packed and hands on to another one what cannot.
pub struct Packer {
    inner: Box<dyn Writer>,
    origin: String,
    options: PackOptions,
    /// The channels with what can be packed, and where each is among the costs.
    subjects: BTreeMap<u16, (Subject, usize)>,
    costs: Costs,
}

impl Packer {
    /// Writes by another writer what comes from a file. What came of it is complete when the
    /// writer has finished.
    pub fn new(inner: Box<dyn Writer>, origin: &str, options: PackOptions) -> (Packer, Costs) {
        let (origin, costs) = (origin.to_owned(), Costs::default());
        let packer =
            Packer { inner, origin, options, subjects: BTreeMap::new(), costs: costs.clone() };
        (packer, costs)
    }
}

impl Writer for Packer {
    fn channel(&mut self, channel: &Channel) -> Result<u16> {
        let subject = Subject::of(channel).filter(|of| !matches!(of, Subject::Cloud(_, true)));
        let Some(subject) = subject else { return self.inner.channel(channel) };
        let id = match subject {
            Subject::Osi(_) => self.inner.channel(channel)?,
            Subject::Cloud(..) => self.inner.channel(&definition::packed(channel)?)?,
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
        let (message, precision) = match subject {
            Subject::Osi(root) => pack(*root, data, &self.options).map_err(remedied)?,
            Subject::Cloud(wire, is_packed) => {
                Cloud::of(*wire, *is_packed, data)?.pack(&self.options.plan)?
            }
        };
        let mut costs = self.costs.borrow_mut();
        let costs = &mut costs[*at];
        costs.messages += 1;
        costs.before += data.len() as u64;
        costs.after += message.len() as u64;
        for column in &precision {
            costs.add(ColumnCosts::from(column));
        }
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

    /// Nothing is written where nothing was packed, or a rule tells of a column that there
    /// is not: its user would believe otherwise.
    fn finish(self: Box<Self>) -> Result<()> {
        {
            let costs = self.costs.borrow();
            let columns = || costs.iter().flat_map(|channel| &channel.columns);
            let mut there: Vec<&str> = columns().map(|column| column.column.as_str()).collect();
            there.sort_unstable();
            there.dedup();
            ensure!(
                !there.is_empty(),
                "nothing in {} can be packed: it has no reflections, detections or points, or \
                 they are packed already",
                self.origin
            );
            let missing = self.options.plan.rules.iter().find(|r| !there.contains(&&*r.column));
            if let Some(rule) = missing {
                bail!("{} has no column {}; it has {}", self.origin, rule.column, there.join(", "));
            }
        }
        self.inner.finish()
    }
}
