//! The rules for messages.

use std::collections::BTreeMap;

use anyhow::Result;

use super::findings::Findings;
use super::rules;
use crate::channel::{Channel, Definition, CHANNEL_OSI_VERSION};
use crate::osi::{self, Stamp};
use crate::parser::Parser;
use crate::read::{MessageInfo, Nanoseconds};
use crate::version::{self, VersionRange};

/// What was seen of the messages.
#[derive(Default)]
pub struct MessageStats {
    /// Messages in all.
    pub count: u64,
    /// By channel.
    pub channels: BTreeMap<u16, ChannelStats>,
    /// The last number of all, and whether they went up by one up to here.
    sequence: Option<u32>,
    skips: bool,
}

/// What was seen of the messages of a channel.
#[derive(Default)]
pub struct ChannelStats {
    /// Messages.
    pub count: u64,
    /// The versions that they say.
    pub versions: VersionRange,
    parser: Option<Parser>,
    last: Option<Nanoseconds>,
    sequence: Option<u32>,
    /// Where its numbers did not go up by one for the first time, what was there, and how
    /// often they did not.
    skipped: Option<(String, String, u64)>,
}

impl MessageStats {
    /// Holds a message against the rules.
    pub fn take(
        &mut self,
        head: &MessageInfo,
        channel: &Channel,
        data: &[u8],
        define: &dyn Fn(&str) -> Result<Definition>,
        findings: &mut Findings,
    ) -> Result<()> {
        self.count += 1;
        let is_next = |last: u32| head.sequence == last.wrapping_add(1);
        self.skips |= self.sequence.replace(head.sequence).is_some_and(|last| !is_next(last));
        let is_new = !self.channels.contains_key(&head.channel);
        let seen = self.channels.entry(head.channel).or_default();
        seen.count += 1;
        if !channel.is_osi() {
            return Ok(());
        }
        let place = || format!("channel {}, {}", channel.topic, head.place);
        let name = channel.definition.name.as_str();
        if is_new {
            seen.parser = parser(channel, define, findings)?;
        }
        if let Some(Err(error)) = seen.parser.as_ref().map(|parser| parser.check(data)) {
            findings.add(&rules::PARSES, place(), &format!("{error:#}"));
        }
        let stamp = Stamp::read(name, data);
        match stamp.version {
            None => findings.add(&rules::MESSAGE_NO_VERSION, place(), "it has no version"),
            Some(own) => {
                seen.versions.include(own);
                let said = channel.metadata.get(CHANNEL_OSI_VERSION);
                let said = said.and_then(|said| version::parse(said));
                if said.is_some_and(|said| said != own) {
                    let found = format!(
                        "it has {}, but its channel has {}",
                        version::format_version(own),
                        said.map(version::format_version).unwrap_or_default()
                    );
                    findings.add(&rules::MESSAGE_VERSION, place(), &found);
                }
            }
        }
        seen.times(head, stamp.time, name, &place, findings);
        seen.sequence(head, &place);
        Ok(())
    }

    /// Adds what only shows in the end. Some recorders number the messages of a channel, and
    /// some those of the file.
    pub fn finish(&self, findings: &mut Findings) {
        let skipped = self.channels.values().filter_map(|seen| seen.skipped.as_ref());
        for (place, found, count) in skipped.filter(|_| self.skips) {
            (0..*count).for_each(|_| findings.add(&rules::SEQUENCE, place.clone(), found));
        }
    }

    /// The least and the greatest version that messages of OSI say.
    pub fn versions(&self) -> VersionRange {
        let mut all = VersionRange::default();
        for (least, most) in self.channels.values().filter_map(|seen| seen.versions.ends()) {
            all.include(least);
            all.include(most);
        }
        all
    }
}

impl ChannelStats {
    fn times(
        &mut self,
        head: &MessageInfo,
        own: Option<Nanoseconds>,
        name: &str,
        place: &dyn Fn() -> String,
        findings: &mut Findings,
    ) {
        let has_none = name == "osi3.SensorViewConfiguration";
        if own.is_none() && !has_none {
            findings.add(&rules::MESSAGE_NO_TIME, place(), "it has no time stamp");
        }
        if let Some(own) = own.filter(|_| head.place.within.is_some()) {
            let differs = |time: Option<Nanoseconds>| time.is_some_and(|time| time != own);
            let found = |time: Option<Nanoseconds>| {
                format!("it is {} ns, but the time stamp is {own} ns", time.unwrap_or_default())
            };
            if differs(head.publish_time) {
                findings.add(&rules::PUBLISH_TIME, place(), &found(head.publish_time));
            }
            if differs(head.time) {
                findings.add(&rules::LOG_TIME, place(), &found(head.time));
            }
        }
        if let Some(time) = head.time {
            if let Some(last) = self.last.replace(time).filter(|last| time < *last) {
                let found = format!("{time} ns comes after {last} ns");
                findings.add(&rules::ORDER, place(), &found);
            }
        }
    }

    fn sequence(&mut self, head: &MessageInfo, place: &dyn Fn() -> String) {
        let Some(last) = self.sequence.replace(head.sequence) else { return };
        if head.sequence == last.wrapping_add(1) || (last, head.sequence) == (0, 0) {
            return;
        }
        match &mut self.skipped {
            Some((_, _, count)) => *count += 1,
            None => {
                let found = format!("{} comes after {last}", head.sequence);
                self.skipped = Some((place(), found, 1));
            }
        }
    }
}

/// What parses the messages of a channel; none where its definition is not right.
fn parser(
    channel: &Channel,
    define: &dyn Fn(&str) -> Result<Definition>,
    findings: &mut Findings,
) -> Result<Option<Parser>> {
    let name = channel.definition.name.as_str();
    let place = format!("channel {}", channel.topic);
    if osi::type_code(name).is_none() {
        findings.add(&rules::TOP_LEVEL, place.clone(), &format!("it has messages of type {name}"));
    }
    if !channel.definition.data.is_empty() {
        let made = Parser::from_channel(channel);
        if let Err(error) = &made {
            findings.add(&rules::SCHEMA, place, &format!("{error:#}"));
        }
        return Ok(made.ok());
    }
    // An .osi file carries no definition.
    let mut defined = channel.clone();
    defined.definition = define(name)?.into();
    Parser::from_channel(&defined).map(Some)
}
