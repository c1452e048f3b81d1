//! Writes messages with packed fields in place of reflections, detections and points.

use anyhow::{bail, ensure, Result};
use wiregauge_packed::{pack, PackOptions, Precision};
use wiregauge_system::text::format_count;
use wiregauge_trace::channel::Channel;
use wiregauge_trace::read::MessageInfo;
use wiregauge_trace::write::{Writer, WriterAdapter};

use crate::cloud::Cloud;
use crate::costs::ColumnCosts;
use crate::definition;
use crate::error_advice::add_advice;
use crate::packable::Packable;
use crate::packing_writer::{Costs, PackingWriter};

/// A writer that packs what can be packed and hands on to another one what cannot.
pub struct Packer {
    passage: PackingWriter,
    origin: String,
    options: PackOptions,
    /// Whether clouds of ROS are packed, too.
    clouds: bool,
    /// How many clouds had rows that were filled up, and by how many bytes.
    filled: (u64, u64),
    /// Whether messages that cannot be packed are left out; none where nobody was asked.
    skips: Option<bool>,
    /// Why the first one that was left out cannot be packed.
    reason: String,
}

impl Packer {
    /// Writes by another writer what comes from a file. What came of it is complete when the
    /// writer has finished.
    pub fn new(inner: Box<dyn Writer>, origin: &str, options: PackOptions) -> (Packer, Costs) {
        let (passage, origin) = (PackingWriter::new(inner), origin.to_owned());
        let (costs, filled, reason) = (passage.costs.clone(), (0, 0), String::new());
        (Packer { passage, origin, options, clouds: true, filled, skips: None, reason }, costs)
    }

    /// The same, and leaves out messages that cannot be packed where that is wanted.
    pub fn skip_failed(self, skips: bool) -> Packer {
        Packer { skips: Some(skips), ..self }
    }

    /// The same for messages of OSI alone.
    pub fn only_osi(self) -> Packer {
        Packer { clouds: false, ..self }
    }

    fn pack(&mut self, subject: Packable, data: &[u8]) -> Result<(Vec<u8>, Vec<Precision>)> {
        let (wire, is_packed) = match subject {
            Packable::Osi(root) => return pack(root, data, &self.options).map_err(add_advice),
            Packable::Cloud(wire, is_packed) => (wire, is_packed),
        };
        let cloud = Cloud::parse(wire, is_packed, data)?;
        let (message, precision, left_out) = cloud.pack(&self.options.plan)?;
        if left_out > 0 {
            self.filled = (self.filled.0 + 1, self.filled.1 + left_out);
        }
        Ok((message, precision))
    }
}

impl WriterAdapter for Packer {
    fn inner(&self) -> &dyn Writer {
        &*self.passage.inner
    }

    fn inner_mut(&mut self) -> &mut dyn Writer {
        &mut *self.passage.inner
    }

    fn into_inner(self: Box<Self>) -> Box<dyn Writer> {
        self.passage.inner
    }

    fn add_channel(&mut self, channel: &Channel) -> Result<u16> {
        let is_wanted = |of: &Packable| match of {
            Packable::Osi(_) => true,
            Packable::Cloud(_, is_packed) => self.clouds && !is_packed,
        };
        match Packable::from_channel(channel).filter(is_wanted) {
            Some(subject) => self.passage.add_channel(channel, subject, definition::packed_channel),
            None => self.passage.inner.add_channel(channel),
        }
    }

    fn write_message(&mut self, channel: u16, head: &MessageInfo, data: &[u8]) -> Result<()> {
        let packed = match self.passage.subject(channel) {
            None => return self.passage.inner.write_message(channel, head, data),
            Some(subject) => self.pack(subject, data),
        };
        let (message, precision) = match (packed, self.skips) {
            (Ok(packed), _) => packed,
            (Err(error), Some(true)) => {
                if self.reason.is_empty() {
                    self.reason = format!("{}: {error:#}", head.place);
                }
                self.passage.count_skipped(channel);
                return Ok(());
            }
            (Err(error), Some(false)) => {
                bail!("{error:#}; leave such messages out by --errors skip")
            }
            (Err(error), None) => return Err(error),
        };
        let columns = precision.iter().map(ColumnCosts::from);
        self.passage.write_message(channel, head, data.len(), &message, columns)
    }

    fn added_remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        let (clouds, bytes) = self.filled;
        if clouds > 0 {
            remarks.push(format!(
                "left out of {clouds} clouds, as they belong to no point: {bytes} bytes at the \
                 ends of rows or after the last row"
            ));
        }
        for channel in self.passage.costs.borrow().iter().filter(|channel| channel.skipped > 0) {
            let (topic, messages) = (&channel.channel, format_count(channel.skipped, "message"));
            remarks.push(format!("{topic}: {messages} skipped, as packing failed"));
        }
        if !self.reason.is_empty() {
            remarks.push(format!("the first skipped message: {}", self.reason));
        }
        remarks
    }

    fn changes_messages(&self) -> bool {
        self.passage.costs.borrow().iter().any(|channel| !channel.columns.is_empty())
    }

    /// Nothing is written where nothing was packed, or a rule tells of a column that there
    /// is not: its user would believe otherwise.
    fn check_result(&self) -> Result<()> {
        let costs = self.passage.costs.borrow();
        let columns = || costs.iter().flat_map(|channel| &channel.columns);
        let mut there: Vec<&str> = columns().map(|column| column.column.as_str()).collect();
        there.sort_unstable();
        there.dedup();
        let rows = match self.clouds {
            true => "reflections, detections or points",
            false => "reflections or detections of OSI",
        };
        ensure!(
            !there.is_empty() || self.reason.is_empty(),
            "no message of {} can be packed; the first error: {}",
            self.origin,
            self.reason
        );
        ensure!(
            !there.is_empty(),
            "{} has nothing to pack: it has no {rows}, or they are packed already",
            self.origin
        );
        let missing = self.options.plan.rules.iter().find(|r| !there.contains(&&*r.column));
        if let Some(rule) = missing {
            bail!("{} has no column {}; it has {}", self.origin, rule.column, there.join(", "));
        }
        Ok(())
    }
}
