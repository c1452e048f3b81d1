//! Which messages of a trace are wanted.

use std::collections::BTreeMap;

use anyhow::{ensure, Result};

use crate::channel::Channel;
use crate::read::{MessageInfo, Nanoseconds, Reader};

/// Which messages are wanted; all of them unless it says otherwise.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Topics; none for all. A `*` stands for any letters.
    pub channels: Vec<String>,
    /// Topics that are left out, likewise.
    pub excluded: Vec<String>,
    /// From this time on.
    pub from: Option<Nanoseconds>,
    /// Up to this time.
    pub to: Option<Nanoseconds>,
    /// From this message on, counted from 0 over those of the channels that are wanted.
    pub first: u64,
    /// Up to the message before this one.
    pub end: Option<u64>,
    /// Every so many messages of a channel, beginning with its first.
    pub every: u64,
}

/// The wanted messages of a trace.
pub struct SelectedMessages<'r> {
    reader: &'r mut dyn Reader,
    selection: &'r Selection,
    cursor: SelectionCursor,
}

/// How far the wanted messages of a trace were read.
#[derive(Debug, Default)]
pub struct SelectionCursor {
    /// Messages of the wanted channels so far; none before it began.
    count: Option<u64>,
    /// Messages of a channel in the wanted time so far.
    of_channel: BTreeMap<u16, u64>,
    /// Whether a channel is wanted.
    known: BTreeMap<u16, bool>,
}

impl Selection {
    /// Whether a topic is wanted.
    pub fn includes_topic(&self, topic: &str) -> bool {
        let is_among = |topics: &[String]| topics.iter().any(|wanted| matches(wanted, topic));
        (self.channels.is_empty() || is_among(&self.channels)) && !is_among(&self.excluded)
    }

    /// Whether something of a file is not wanted.
    pub fn is_part(&self) -> bool {
        let Selection { channels, excluded, from, to, first, end, every } = self;
        let is_all = channels.is_empty() && excluded.is_empty() && *first == 0 && *every <= 1;
        !is_all || from.is_some() || to.is_some() || end.is_some()
    }

    /// The wanted messages of what is read.
    pub fn select<'r>(&'r self, reader: &'r mut dyn Reader) -> SelectedMessages<'r> {
        let cursor = self.begin(reader);
        SelectedMessages { reader, selection: self, cursor }
    }

    /// Lets a reader leave out what is not wanted, before its first message is read.
    pub fn begin(&self, reader: &mut dyn Reader) -> SelectionCursor {
        if !self.channels.is_empty() || !self.excluded.is_empty() {
            reader.select_channels(&|channel| self.includes_topic(&channel.topic));
        }
        // Those before the first one are counted, so they must be seen.
        if self.first == 0 && self.end.is_none() {
            reader.limit_times(self.from, self.to);
        }
        SelectionCursor::default()
    }

    /// Fails where a topic that is asked for is not among the channels.
    ///
    /// # Errors
    /// Names what there is.
    pub fn check<'c>(
        &self,
        origin: &str,
        channels: impl Iterator<Item = &'c Channel>,
    ) -> Result<()> {
        let topics: Vec<&str> = channels.map(|channel| channel.topic.as_str()).collect();
        for wanted in self.channels.iter().chain(&self.excluded) {
            ensure!(
                !topics.is_empty(),
                "{origin} has no channel {wanted}: it has no readable channel"
            );
            ensure!(
                topics.iter().any(|topic| matches(wanted, topic)),
                "{origin} has no channel {wanted}; it has {}",
                topics.join(", ")
            );
        }
        Ok(())
    }
}

impl SelectedMessages<'_> {
    /// The next wanted message.
    ///
    /// # Errors
    /// When the file is damaged.
    pub fn advance(&mut self) -> Result<Option<MessageInfo>> {
        self.cursor.advance(self.selection, self.reader)
    }

    /// Whether a topic is wanted.
    pub fn includes_topic(&self, topic: &str) -> bool {
        self.selection.includes_topic(topic)
    }

    /// What it is read from.
    pub fn reader(&mut self) -> &mut dyn Reader {
        self.reader
    }
}

impl SelectionCursor {
    /// How many messages of the wanted channels were seen, also those of other times.
    pub fn count(&self) -> u64 {
        self.count.unwrap_or(0)
    }

    /// The next wanted message of a reader, by the selection that it began with.
    ///
    /// # Errors
    /// When the file is damaged.
    pub fn advance(
        &mut self,
        selection: &Selection,
        reader: &mut dyn Reader,
    ) -> Result<Option<MessageInfo>> {
        let Selection { from, to, first, end, every, .. } = selection;
        let mut count = match self.count {
            Some(count) => count,
            None if *first == 0 => 0,
            None => {
                reader.skip_messages(&|channel| selection.includes_topic(&channel.topic), *first)?
            }
        };
        self.count = Some(count);
        while let Some(head) = reader.next()? {
            let topic = || reader.channels()[&head.channel].topic.as_str();
            let wanted = self.known.entry(head.channel);
            if !*wanted.or_insert_with(|| selection.includes_topic(topic())) {
                continue;
            }
            let at = count;
            count += 1;
            self.count = Some(count);
            if at < *first {
                continue;
            }
            if end.is_some_and(|end| at >= end) {
                return Ok(None);
            }
            // A message without a time is in no span of time.
            let is_in = |time: Nanoseconds| {
                from.is_none_or(|from| time >= from) && to.is_none_or(|to| time <= to)
            };
            if (from.is_some() || to.is_some()) && !head.time.is_some_and(is_in) {
                continue;
            }
            let number = self.of_channel.entry(head.channel).or_default();
            *number += 1;
            if *every <= 1 || (*number - 1).is_multiple_of(*every) {
                return Ok(Some(head));
            }
        }
        Ok(None)
    }
}

/// Whether a topic is one of those that a pattern stands for.
fn matches(pattern: &str, topic: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == topic };
    let Some(mut left) = topic.strip_prefix(start) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        match left.find(part) {
            Some(at) => left = &left[at + part.len()..],
            None => return false,
        }
    }
    left.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_star_stands_for_any_letters() {
        for (pattern, topic, wanted) in [
            ("/lidar", "/lidar", true),
            ("/lidar", "/lidar2", false),
            ("/lidar*", "/lidar2", true),
            ("*In[1]", "Radar.OSMPSensorViewIn[1]", true),
            ("a*b*c", "a-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("ab*ba", "aba", false),
            ("*", "", true),
        ] {
            assert_eq!(matches(pattern, topic), wanted, "{pattern} {topic}");
        }
    }
}
