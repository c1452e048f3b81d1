//! Messages from files to a file as they lie there: each is copied once, and none parsed.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use wiregauge_system::interrupt;

use crate::channel::Channel;
use crate::extras::{merge_headers, skip_to_end, UniqueExtras};
use crate::message_sorter::{MessageSorter, OwnedMessage, SortOptions};
use crate::read::{FileHeader, MessageInfo, Nanoseconds, Reader};
use crate::select::{SelectedMessages, Selection};
use crate::write::writer::{output_error, Writer};

/// What was copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CopyCounts {
    /// Messages.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
    /// How many messages went back in time from the one before.
    pub backwards: u64,
    /// How many were of a time before that of any message before them.
    pub late: u64,
}

/// How a channel of which source is called and described where it goes.
pub type DescribeChannel<'d> = dyn FnMut(usize, &Channel) -> Result<Channel> + 'd;

/// What is told of the way: bytes that were read, of how many.
pub type ProgressCallback<'n> = dyn FnMut(u64, u64) + 'n;

/// A file that is copied from, with its name and the number of each of its channels where
/// they go.
pub struct CopySource<'r> {
    name: String,
    selected: SelectedMessages<'r>,
    channels: BTreeMap<u16, u16>,
    head: Option<MessageInfo>,
    /// What puts messages in order, where that is wanted, and the bytes of the next one.
    sorted: Option<MessageSorter>,
    data: Vec<u8>,
}

impl<'r> CopySource<'r> {
    /// The wanted messages of a file.
    ///
    /// # Errors
    /// When the first one cannot be read.
    pub fn new(
        name: &str,
        reader: &'r mut dyn Reader,
        of: &'r Selection,
    ) -> Result<CopySource<'r>> {
        CopySource::new_sorted(name, reader, of, None)
    }

    /// The same, by the times of messages and not in the order of the file, as far as that is
    /// wanted.
    ///
    /// # Errors
    /// When the first messages cannot be read.
    pub fn new_sorted(
        name: &str,
        reader: &'r mut dyn Reader,
        of: &'r Selection,
        by: Option<SortOptions>,
    ) -> Result<CopySource<'r>> {
        reader.verify();
        let (selected, sorted) = (of.select(reader), by.map(MessageSorter::new));
        let (name, channels) = (name.to_owned(), BTreeMap::new());
        let mut source =
            CopySource { name, selected, channels, head: None, sorted, data: Vec::new() };
        source.advance()?;
        Ok(source)
    }

    /// Goes to the next message.
    fn advance(&mut self) -> Result<()> {
        let Some(sorted) = &mut self.sorted else {
            self.head = self.selected.advance()?;
            return Ok(());
        };
        let next = sorted.next(&self.name, &mut self.selected)?;
        (self.head, self.data) = match next {
            Some(OwnedMessage { head, data }) => (Some(head), data),
            None => (None, Vec::new()),
        };
        Ok(())
    }

    /// The channels that are known by now.
    pub fn channels(&mut self) -> impl Iterator<Item = &Channel> {
        self.selected.reader().channels().values()
    }

    /// Whether it is damaged, and nothing of it was found.
    pub fn has_nothing(&mut self) -> bool {
        let reader = self.selected.reader();
        let remarks = reader.remarks();
        let has_more = !reader.metadata().is_empty() || !reader.attachments().is_empty();
        !has_more && (!reader.losses().is_empty() || !remarks.is_empty())
    }

    /// Hands the next message on.
    fn write_next(
        &mut self,
        to: &mut dyn Writer,
        describe: &mut dyn FnMut(&Channel) -> Result<Channel>,
    ) -> Result<Option<MessageInfo>> {
        let Some(head) = self.head else { return Ok(None) };
        let reader = self.selected.reader();
        let place = || {
            let topic = &reader.channels()[&head.channel].topic;
            format!("{}: channel {topic}, {}", self.name, head.place)
        };
        let channel = match self.channels.get(&head.channel) {
            Some(channel) => *channel,
            None => {
                let described = describe(&reader.channels()[&head.channel]).with_context(place)?;
                let channel = to.add_channel(&described).with_context(place)?;
                self.channels.insert(head.channel, channel);
                channel
            }
        };
        let (name, place) = (&self.name, head.place);
        let data = if self.sorted.is_some() { &self.data } else { reader.data()? };
        let written = to.write_message(channel, &head, data);
        // A full disk is no matter of what is read.
        written.map_err(|error| match output_error(&error) {
            Some(full) => full,
            None => error.context(format!("{name}: {place}")),
        })?;
        self.advance()?;
        Ok(Some(head))
    }

    /// Hands on the channels that have no messages.
    fn write_empty_channels(
        &mut self,
        to: &mut dyn Writer,
        describe: &mut dyn FnMut(&Channel) -> Result<Channel>,
        lost: &mut Vec<String>,
    ) {
        let known = self.selected.reader().channels().clone();
        for (id, channel) in known {
            if self.channels.contains_key(&id) || !self.selected.includes_topic(&channel.topic) {
                continue;
            }
            // What has no messages is no reason to lose those that there are.
            match describe(&channel).and_then(|described| to.add_channel(&described)) {
                Ok(number) => drop(self.channels.insert(id, number)),
                Err(error) => {
                    lost.push(format!("channel {} without messages ({error:#})", channel.topic))
                }
            }
        }
    }

    /// The time of its next message. One without a time comes at once.
    fn time(&self) -> Option<Nanoseconds> {
        self.head.map(|head| head.time.unwrap_or(Nanoseconds::MIN))
    }

    /// Hands on what is no message. What else the file holds is hopped over, and where there
    /// is no room for it not even that: it may be long.
    fn write_extras(
        &mut self,
        to: &mut dyn Writer,
        describe: &mut dyn FnMut(&Channel) -> Result<Channel>,
        taken: &mut UniqueExtras,
    ) -> Result<Vec<String>> {
        let mut lost = Vec::new();
        if to.has_room() {
            skip_to_end(self.selected.reader())?;
            self.write_empty_channels(to, describe, &mut lost);
        }
        let reader = self.selected.reader();
        for metadata in taken.metadata(reader.metadata()) {
            if !to.write_metadata(&metadata.name, &metadata.entries)? {
                lost.push(format!("metadata {}", metadata.name));
            }
        }
        for attachment in taken.attachments(reader.attachments())? {
            if !to.write_attachment(attachment)? {
                lost.push(format!("attachment {}", attachment.name));
            }
        }
        Ok(lost)
    }
}

/// Copies messages of several files by their times, those of one file in its order unless it
/// is sorted, and those of one time in the order of the files; with what else the files hold.
/// What was copied, and what the container could not hold.
///
/// # Errors
/// When a file is damaged, or the writer cannot go on.
pub fn copy(
    sources: &mut [CopySource],
    to: &mut dyn Writer,
    describe: &mut DescribeChannel,
    news: &mut ProgressCallback,
) -> Result<(CopyCounts, Vec<String>)> {
    let mut copied = CopyCounts::default();
    let said: Vec<FileHeader> =
        sources.iter_mut().map(|it| it.selected.reader().file_header()).collect();
    let (about, mut lost) = merge_headers(&said);
    to.write_header(&about)?;
    let (mut before, mut latest) = (Nanoseconds::MIN, Nanoseconds::MIN);
    loop {
        let next = sources.iter_mut().enumerate().filter(|(_, source)| source.head.is_some());
        let Some((at, source)) = next.min_by_key(|(_, source)| source.time()) else { break };
        let mut describe = |channel: &Channel| describe(at, channel);
        let Some(head) = source.write_next(to, &mut describe)? else { break };
        copied.messages += 1;
        copied.bytes += head.size;
        if let Some(time) = head.time {
            copied.backwards += u64::from(time < before);
            copied.late += u64::from(time < latest);
            (before, latest) = (time, latest.max(time));
        }
        if copied.messages.is_multiple_of(64) || head.size > 1 << 20 {
            interrupt::check()?;
            let (mut done, mut total) = (0, 0);
            for source in &mut *sources {
                let (read, of) = source.selected.reader().progress();
                (done, total) = (done + read, total + of);
            }
            news(done, total);
        }
    }
    if !to.has_room() {
        lost.clear();
    }
    let mut taken = UniqueExtras::default();
    for (at, source) in sources.iter_mut().enumerate() {
        let mut describe = |channel: &Channel| describe(at, channel);
        lost.extend(source.write_extras(to, &mut describe, &mut taken)?);
    }
    Ok((copied, lost))
}
