//! Writes messages with reflections, detections and points in place of packed fields.

use std::iter;

use anyhow::{anyhow, ensure, Result};
use wiregauge_packed::{find, unpack, Error, Fault, Root, UnpackOptions};
use wiregauge_trace::channel::Channel;
use wiregauge_trace::read::{MessageInfo, LARGEST};
use wiregauge_trace::write::{Writer, WriterAdapter};

use crate::cloud::Cloud;
use crate::definition;
use crate::error_advice::add_advice;
use crate::packable::Packable;
use crate::packing_writer::{Costs, PackingWriter};

/// A writer that unpacks what is packed and hands on to another one what is not.
pub struct Unpacker {
    passage: PackingWriter,
    origin: String,
    options: UnpackOptions,
    /// The option by which the user has unknown columns dropped.
    dropping: &'static str,
    /// Whether clouds of ROS are unpacked, too.
    clouds: bool,
    /// Whether something must be packed.
    wants_any: bool,
    /// Whether something was packed.
    found: bool,
    /// Whether messages are told to be as large as they were before.
    keeps_sizes: bool,
    /// How many messages had columns that were dropped, and the first of these.
    dropped: Option<(u64, String)>,
}

impl Unpacker {
    /// Writes by another writer what comes from a file; columns that OSI has no field for are
    /// dropped where that is wanted. What came of it is complete when the writer has finished.
    pub fn new(inner: Box<dyn Writer>, origin: &str, drop_unknown: bool) -> (Unpacker, Costs) {
        let (passage, origin) = (PackingWriter::new(inner), origin.to_owned());
        let costs = passage.costs.clone();
        let options = UnpackOptions { drop_unknown, limit: LARGEST as usize };
        let dropping = "--lossy";
        let unpacker = Unpacker {
            passage,
            origin,
            options,
            dropping,
            clouds: true,
            wants_any: true,
            found: false,
            keeps_sizes: false,
            dropped: None,
        };
        (unpacker, costs)
    }

    /// Before a writer that shows messages of OSI: what it shows is what they say, and how
    /// large they are in their file. Columns that OSI has no field for are dropped.
    pub fn new_for_display(inner: Box<dyn Writer>) -> Unpacker {
        let (unpacker, _) = Unpacker::new(inner, "", true);
        Unpacker { clouds: false, wants_any: false, keeps_sizes: true, ..unpacker }
    }

    /// The same for messages of OSI alone, of which none need be packed. `dropping` is the
    /// option by which the user has unknown columns dropped.
    pub fn only_osi_if_any(self, dropping: &'static str) -> Unpacker {
        Unpacker { dropping, clouds: false, wants_any: false, ..self }
    }

    fn unpack(&mut self, root: Root, data: &[u8]) -> Result<Vec<u8>> {
        self.found |= find(root, data)?.iter().any(|found| found.field.is_some());
        let strict = UnpackOptions { drop_unknown: false, ..self.options };
        let mut unpacked = unpack(root, data, &strict);
        if let (Err(Error { fault: Fault::Foreign, name, .. }), true) =
            (&unpacked, self.options.drop_unknown)
        {
            self.dropped.get_or_insert_with(|| (0, name.clone())).0 += 1;
            unpacked = unpack(root, data, &self.options);
        }
        unpacked.map_err(|error| match error.fault {
            Fault::Foreign => anyhow!("{error}; leave it out by {}", self.dropping),
            _ => add_advice(error),
        })
    }
}

impl WriterAdapter for Unpacker {
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
            Packable::Cloud(_, is_packed) => self.clouds && *is_packed,
        };
        match Packable::from_channel(channel).filter(is_wanted) {
            Some(subject) => {
                self.passage.add_channel(channel, subject, definition::unpacked_channel)
            }
            None => self.passage.inner.add_channel(channel),
        }
    }

    fn write_message(&mut self, channel: u16, head: &MessageInfo, data: &[u8]) -> Result<()> {
        let message = match self.passage.subject(channel) {
            None => return self.passage.inner.write_message(channel, head, data),
            Some(Packable::Osi(root)) => match self.unpack(root, data) {
                // Who shows messages says of one that it cannot be shown.
                Err(_) if self.keeps_sizes => {
                    return self.passage.inner.write_message(channel, head, data)
                }
                unpacked => unpacked?,
            },
            Some(Packable::Cloud(wire, is_packed)) => {
                self.found = true;
                Cloud::parse(wire, is_packed, data)?.unpack()?
            }
        };
        if self.keeps_sizes {
            return self.passage.inner.write_message(channel, head, &message);
        }
        self.passage.write_message(channel, head, data.len(), &message, iter::empty())
    }

    fn added_remarks(&self) -> Vec<String> {
        let dropped = self.dropped.iter().map(|(messages, name)| {
            format!(
                "left out of {messages} messages, as OSI has no field for it: column '{name}' of \
                 packed fields, and any other such columns"
            )
        });
        dropped.collect()
    }

    fn changes_messages(&self) -> bool {
        self.found
    }

    fn check_result(&self) -> Result<()> {
        ensure!(self.found || !self.wants_any, "{} has no packed fields", self.origin);
        Ok(())
    }
}
