//! One trace in several parts.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;

use crate::channel::Channel;
use crate::extras::{skip_to_end, FileExtras};
use crate::read::{report_progress, MessageInfo, Nanoseconds, Reader};
use crate::select::Selection;
use crate::write::writer::Writer;

/// Where a part ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SplitLimit {
    /// After so many bytes of messages.
    Size(u64),
    /// After so much time.
    Duration(Nanoseconds),
    /// Nowhere: each channel is a part.
    Channel,
}

/// What makes the parts: their writers by number and topic, and how their channels are
/// described.
pub trait PartFactory {
    /// Begins a part; `topic` is that of its channel where a part has one.
    ///
    /// # Errors
    /// When it cannot be written.
    fn begin_part(&mut self, number: usize, topic: Option<&str>) -> Result<Box<dyn Writer>>;

    /// A channel as it is described in a part.
    ///
    /// # Errors
    /// When that cannot be said.
    fn describe(&mut self, channel: &Channel) -> Result<Channel>;

    /// Hears that a part is there.
    fn finished(&mut self, _number: usize) {}
}

/// A part that is written.
struct OutputPart {
    number: usize,
    writer: Box<dyn Writer>,
    channels: BTreeMap<u16, u16>,
    bytes: u64,
    start: Option<Nanoseconds>,
}

/// Splits what is wanted of a file, of which the rest was read before. Each part has what is
/// said of the whole file; the first one, which is the last to be finished, has the files in
/// it and the channels without messages, too. How many parts there are.
///
/// # Errors
/// When the file is damaged, or a part cannot be written.
pub fn split(
    reader: &mut dyn Reader,
    rest: &FileExtras,
    selection: &Selection,
    by: SplitLimit,
    maker: &mut dyn PartFactory,
    news: &mut dyn FnMut(u64, u64),
) -> Result<usize> {
    reader.verify();
    let mut selected = selection.select(reader);
    let mut parts: BTreeMap<u16, OutputPart> = BTreeMap::new();
    let mut first = None;
    let mut used = BTreeSet::new();
    let mut made = 0;
    while let Some(head) = selected.advance()? {
        let reader = selected.reader();
        let key = if by == SplitLimit::Channel { head.channel } else { 0 };
        if parts.get(&key).is_some_and(|part| part.ends_before(&head, by)) {
            match parts.remove(&key) {
                Some(part) if part.number == 0 => first = Some(part),
                ended => ended.into_iter().try_for_each(|part| part.finish(rest, maker))?,
            }
        }
        let channel = &reader.channels()[&head.channel];
        let part = match parts.entry(key) {
            Entry::Occupied(part) => part.into_mut(),
            Entry::Vacant(place) => {
                let topic = (by == SplitLimit::Channel).then_some(channel.topic.as_str());
                let part = OutputPart::begin(made, topic, head.time, rest, maker)?;
                made += 1;
                place.insert(part)
            }
        };
        let id = match part.channels.get(&head.channel) {
            Some(id) => *id,
            None => {
                let id = part.writer.add_channel(&maker.describe(channel)?)?;
                part.channels.insert(head.channel, id);
                used.insert(head.channel);
                id
            }
        };
        part.writer.write_message(id, &head, reader.data()?)?;
        part.bytes += head.size;
        report_progress(reader, news)?;
    }
    let reader = selected.reader();
    if made == 0 && !selection.is_part() {
        let part = OutputPart::begin(0, None, None, rest, maker)?;
        // Where there is no room for what else the file holds, there is no part.
        if part.writer.has_room() {
            made = 1;
            first = Some(part);
        }
    }
    parts.into_values().chain(first).try_for_each(|mut part| {
        if part.number == 0 && part.writer.has_room() {
            part.add_extras(reader, rest, selection, &used, maker)?;
        }
        part.finish(rest, maker)
    })?;
    Ok(made)
}

impl OutputPart {
    fn begin(
        number: usize,
        topic: Option<&str>,
        start: Option<Nanoseconds>,
        rest: &FileExtras,
        maker: &mut dyn PartFactory,
    ) -> Result<OutputPart> {
        let mut writer = maker.begin_part(number, topic)?;
        writer.write_header(&rest.about)?;
        Ok(OutputPart { number, writer, channels: BTreeMap::new(), bytes: 0, start })
    }

    /// Adds what is in no other part.
    fn add_extras(
        &mut self,
        reader: &mut dyn Reader,
        rest: &FileExtras,
        selection: &Selection,
        used: &BTreeSet<u16>,
        maker: &mut dyn PartFactory,
    ) -> Result<()> {
        skip_to_end(reader)?;
        let is_left = |id: &u16, topic: &str| !used.contains(id) && selection.includes_topic(topic);
        for (_, channel) in reader.channels().iter().filter(|(id, it)| is_left(id, &it.topic)) {
            self.writer.add_channel(&maker.describe(channel)?)?;
        }
        for attachment in &rest.attachments {
            self.writer.write_attachment(attachment)?;
        }
        Ok(())
    }

    fn ends_before(&self, head: &MessageInfo, by: SplitLimit) -> bool {
        match by {
            SplitLimit::Size(most) => self.bytes + head.size > most,
            SplitLimit::Duration(span) => match (self.start, head.time) {
                (Some(start), Some(time)) => time - start >= span,
                _ => false,
            },
            SplitLimit::Channel => false,
        }
    }

    /// Ends the part, with what is said of the whole file.
    fn finish(mut self, rest: &FileExtras, maker: &mut dyn PartFactory) -> Result<()> {
        for metadata in &rest.metadata {
            self.writer.write_metadata(&metadata.name, &metadata.entries)?;
        }
        self.writer.finish()?;
        maker.finished(self.number);
        Ok(())
    }
}
