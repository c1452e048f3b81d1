//! Messages from files to a file as they lie there: each is copied once, and none parsed.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use wiregauge_system::interrupt;

use crate::channel::Channel;
use crate::read::{Head, Nanoseconds, Reader};
use crate::select::{Selected, Selection};
use crate::write::writer::{of_output, Writer};

/// What was copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    /// Messages.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
    /// How many messages went back in time from the one before.
    pub backwards: u64,
}

/// How a channel of which source is called and described where it goes.
pub type Describe<'d> = dyn FnMut(usize, &Channel) -> Result<Channel> + 'd;

/// What is told of the way: bytes that were read, of how many.
pub type News<'n> = dyn FnMut(u64, u64) + 'n;

/// A file that is copied from, with its name and the number of each of its channels where
/// they go.
pub struct Source<'r> {
    name: String,
    selected: Selected<'r>,
    channels: BTreeMap<u16, u16>,
    head: Option<Head>,
}

impl<'r> Source<'r> {
    /// The wanted messages of a file.
    ///
    /// # Errors
    /// When the first one cannot be read.
    pub fn new(name: &str, reader: &'r mut dyn Reader, of: &'r Selection) -> Result<Source<'r>> {
        reader.verify();
        let mut selected = of.of(reader);
        let head = selected.advance()?;
        Ok(Source { name: name.to_owned(), selected, channels: BTreeMap::new(), head })
    }

    /// The channels that are known by now.
    pub fn channels(&mut self) -> impl Iterator<Item = &Channel> {
        self.selected.reader().channels().values()
    }

    /// Whether it is damaged, and nothing of it was found.
    pub fn lacks_all(&mut self) -> bool {
        let reader = self.selected.reader();
        let remarks = reader.remarks();
        let has_more = !reader.metadata().is_empty() || !reader.attachments().is_empty();
        !has_more && (!reader.losses().is_empty() || !remarks.is_empty())
    }

    /// Hands the next message on.
    fn pass_on(
        &mut self,
        to: &mut dyn Writer,
        describe: &mut dyn FnMut(&Channel) -> Result<Channel>,
    ) -> Result<Option<Head>> {
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
                let channel = to.channel(&described).with_context(place)?;
                self.channels.insert(head.channel, channel);
                channel
            }
        };
        let (name, place) = (&self.name, head.place);
        let data = reader.data()?;
        let written = to.message(channel, &head, data);
        // A full disk is no matter of what is read.
        written.map_err(|error| match of_output(&error) {
            Some(full) => full,
            None => error.context(format!("{name}: {place}")),
        })?;
        self.head = self.selected.advance()?;
        Ok(Some(head))
    }

    /// Hands on the channels that have no messages.
    fn pass_on_empty(
        &mut self,
        to: &mut dyn Writer,
        describe: &mut dyn FnMut(&Channel) -> Result<Channel>,
        lost: &mut Vec<String>,
    ) {
        let known = self.selected.reader().channels().clone();
        for (id, channel) in known {
            if self.channels.contains_key(&id) || !self.selected.takes(&channel.topic) {
                continue;
            }
            // What has no messages is no reason to lose those that there are.
            match describe(&channel).and_then(|described| to.channel(&described)) {
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
    fn pass_on_rest(
        &mut self,
        to: &mut dyn Writer,
        describe: &mut dyn FnMut(&Channel) -> Result<Channel>,
    ) -> Result<Vec<String>> {
        let mut lost = Vec::new();
        if to.has_room() {
            let reader = self.selected.reader();
            reader.narrow(Some(Nanoseconds::MAX), Some(Nanoseconds::MIN));
            while reader.next()?.is_some() {}
            self.pass_on_empty(to, describe, &mut lost);
        }
        let reader = self.selected.reader();
        for metadata in reader.metadata() {
            if !to.metadata(&metadata.name, &metadata.entries)? {
                lost.push(format!("metadata {}", metadata.name));
            }
        }
        for attachment in reader.attachments() {
            if !to.attachment(attachment)? {
                lost.push(format!("attachment {}", attachment.name));
            }
        }
        Ok(lost)
    }
}

/// Copies messages of several files by their times, those of one file in its order; with
/// what else the files hold. What was copied, and what the container could not hold.
///
/// # Errors
/// When a file is damaged, or the writer cannot go on.
pub fn copy(
    sources: &mut [Source],
    to: &mut dyn Writer,
    describe: &mut Describe,
    news: &mut News,
) -> Result<(Copied, Vec<String>)> {
    let mut copied = Copied::default();
    let mut latest = Nanoseconds::MIN;
    loop {
        let next = sources.iter_mut().enumerate().filter(|(_, source)| source.head.is_some());
        let Some((at, source)) = next.min_by_key(|(_, source)| source.time()) else { break };
        let mut describe = |channel: &Channel| describe(at, channel);
        let Some(head) = source.pass_on(to, &mut describe)? else { break };
        copied.messages += 1;
        copied.bytes += head.size;
        if let Some(time) = head.time {
            copied.backwards += u64::from(time < latest);
            latest = time;
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
    let mut lost = Vec::new();
    for (at, source) in sources.iter_mut().enumerate() {
        let mut describe = |channel: &Channel| describe(at, channel);
        lost.extend(source.pass_on_rest(to, &mut describe)?);
    }
    Ok((copied, lost))
}
