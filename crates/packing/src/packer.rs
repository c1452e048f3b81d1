//! Writes messages with packed fields in place of reflections, detections and points.

use std::collections::BTreeMap;

use anyhow::{bail, ensure, Result};
use wiregauge_packed::{pack, PackOptions};
use wiregauge_trace::channel::Channel;
use wiregauge_trace::read::{Attachment, Head};
use wiregauge_trace::write::Writer;

use crate::cloud::Cloud;
use crate::costs::ColumnCosts;
use crate::definition;
use crate::passage::{Costs, Passage};
use crate::remedy::remedied;
use crate::subject::Subject;

/// A writer that packs what can be packed and hands on to another one what cannot.
pub struct Packer {
    passage: Passage,
    origin: String,
    options: PackOptions,
}

impl Packer {
    /// Writes by another writer what comes from a file. What came of it is complete when the
    /// writer has finished.
    pub fn new(inner: Box<dyn Writer>, origin: &str, options: PackOptions) -> (Packer, Costs) {
        let passage = Passage::new(inner);
        let costs = passage.costs.clone();
        (Packer { passage, origin: origin.to_owned(), options }, costs)
    }
}

impl Writer for Packer {
    fn channel(&mut self, channel: &Channel) -> Result<u16> {
        match Subject::of(channel).filter(|of| !matches!(of, Subject::Cloud(_, true))) {
            Some(subject) => self.passage.channel(channel, subject, definition::packed),
            None => self.passage.inner.channel(channel),
        }
    }

    fn message(&mut self, channel: u16, head: &Head, data: &[u8]) -> Result<()> {
        let (message, precision) = match self.passage.subject(channel) {
            None => return self.passage.inner.message(channel, head, data),
            Some(Subject::Osi(root)) => pack(root, data, &self.options).map_err(remedied)?,
            Some(Subject::Cloud(wire, is_packed)) => {
                Cloud::of(wire, is_packed, data)?.pack(&self.options.plan)?
            }
        };
        let columns = precision.iter().map(ColumnCosts::from);
        self.passage.message(channel, head, data.len(), &message, columns)
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

    /// Nothing is written where nothing was packed, or a rule tells of a column that there
    /// is not: its user would believe otherwise.
    fn finish(self: Box<Self>) -> Result<()> {
        {
            let costs = self.passage.costs.borrow();
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
        self.passage.inner.finish()
    }
}
