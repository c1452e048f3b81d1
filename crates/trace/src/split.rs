//! One trace in several parts.

use std::collections::btree_map::Entry;
use std::collections::BTreeMap;

use anyhow::Result;

use crate::channel::Channel;
use crate::read::{tell, Head, Nanoseconds, Reader};
use crate::select::Selection;
use crate::write::writer::Writer;

/// Where a part ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// After so many bytes of messages.
    Size(u64),
    /// After so much time.
    Duration(Nanoseconds),
    /// Nowhere: each channel is a part.
    Channel,
}

/// What makes the parts: their writers by number and topic, and how their channels are
/// described.
pub trait Maker {
    /// Begins a part; `topic` is that of its channel where a part has one.
    ///
    /// # Errors
    /// When it cannot be written.
    fn part(&mut self, number: usize, topic: Option<&str>) -> Result<Box<dyn Writer>>;

    /// A channel as it is described in a part.
    ///
    /// # Errors
    /// When that cannot be said.
    fn describe(&mut self, channel: &Channel) -> Result<Channel>;
}

/// A part that is written.
struct Part {
    writer: Box<dyn Writer>,
    channels: BTreeMap<u16, u16>,
    bytes: u64,
    start: Option<Nanoseconds>,
}

/// Splits what is wanted of a file. How many parts there are.
///
/// # Errors
/// When the file is damaged, or a part cannot be written.
pub fn split(
    reader: &mut dyn Reader,
    selection: &Selection,
    by: By,
    maker: &mut dyn Maker,
    news: &mut dyn FnMut(u64, u64),
) -> Result<usize> {
    reader.verify();
    let mut selected = selection.of(reader);
    let mut parts: BTreeMap<u16, Part> = BTreeMap::new();
    let mut made = 0;
    while let Some(head) = selected.advance()? {
        let reader = selected.reader();
        let key = if by == By::Channel { head.channel } else { 0 };
        if parts.get(&key).is_some_and(|part| part.ends_before(&head, by)) {
            parts.remove(&key).into_iter().try_for_each(|part| part.finish(reader))?;
        }
        let channel = &reader.channels()[&head.channel];
        let part = match parts.entry(key) {
            Entry::Occupied(part) => part.into_mut(),
            Entry::Vacant(place) => {
                let topic = (by == By::Channel).then_some(channel.topic.as_str());
                let writer = maker.part(made, topic)?;
                made += 1;
                let channels = BTreeMap::new();
                place.insert(Part { writer, channels, bytes: 0, start: head.time })
            }
        };
        let id = match part.channels.get(&head.channel) {
            Some(id) => *id,
            None => {
                let id = part.writer.channel(&maker.describe(channel)?)?;
                part.channels.insert(head.channel, id);
                id
            }
        };
        part.writer.message(id, &head, reader.data()?)?;
        part.bytes += head.size;
        tell(reader, news)?;
    }
    let reader = selected.reader();
    if made == 0 && !selection.is_part() {
        return empty(reader, maker);
    }
    parts.into_values().try_for_each(|part| part.finish(reader))?;
    Ok(made)
}

/// The one part of a file without messages, where the container has room for what else it
/// holds. How many parts there are.
fn empty(reader: &dyn Reader, maker: &mut dyn Maker) -> Result<usize> {
    let mut writer = maker.part(0, None)?;
    if !writer.has_room() {
        return Ok(0);
    }
    for channel in reader.channels().values() {
        writer.channel(&maker.describe(channel)?)?;
    }
    let (channels, bytes, start) = Default::default();
    Part { writer, channels, bytes, start }.finish(reader)?;
    Ok(1)
}

impl Part {
    fn ends_before(&self, head: &Head, by: By) -> bool {
        match by {
            By::Size(most) => self.bytes + head.size > most,
            By::Duration(span) => match (self.start, head.time) {
                (Some(start), Some(time)) => time - start >= span,
                _ => false,
            },
            By::Channel => false,
        }
    }

    /// Ends the part, with what is said of the whole file.
    fn finish(mut self, reader: &dyn Reader) -> Result<()> {
        for metadata in reader.metadata() {
            self.writer.metadata(&metadata.name, &metadata.entries)?;
        }
        self.writer.finish()
    }
}
