//! The channels and schemas that a file has told so far. A file may tell one again in another
//! way, as one that was joined of two does: then both are there, under numbers of their own.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{ensure, Context, Result};

use super::fields::RecordFields;
use super::summary::{self, Summary};
use crate::channel::{Channel, Definition};

/// What becomes of a channel or schema that is told again in another way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Redefinition {
    /// It is an error.
    Refused,
    /// Messages that follow are of the new one.
    Kept,
    /// It is left out: it comes from where bytes are damaged.
    LeftOut,
}

/// Channels and schemas.
#[derive(Default)]
pub(super) struct ChannelTable {
    definitions: BTreeMap<u16, Arc<Definition>>,
    channels: BTreeMap<u16, Channel>,
    /// The number of each of the file's channels.
    numbers: BTreeMap<u16, u16>,
}

impl ChannelTable {
    /// What a summary tells.
    pub fn from_summary(summary: Option<&Summary>) -> ChannelTable {
        let Some(summary) = summary else { return ChannelTable::default() };
        let (definitions, channels) = (summary.definitions.clone(), summary.channels.clone());
        let numbers = channels.keys().map(|id| (*id, *id)).collect();
        ChannelTable { definitions, channels, numbers }
    }

    /// The channels by their numbers.
    pub fn channels(&self) -> &BTreeMap<u16, Channel> {
        &self.channels
    }

    /// The number of a channel of the file.
    pub fn number(&self, id: u16) -> Result<u16> {
        let known = self.numbers.get(&id).copied();
        known.with_context(|| format!("a message belongs to channel {id}, which does not exist"))
    }

    /// Another file begins, of which nothing is known.
    pub fn begin_file(&mut self) {
        self.numbers.clear();
        self.definitions.clear();
    }

    /// Takes a schema. Whether it was another one before.
    pub fn define(
        &mut self,
        fields: &mut RecordFields,
        again: Redefinition,
    ) -> Result<Option<String>> {
        let (id, definition) = summary::definition(fields)?;
        let is_other = self.definitions.get(&id).is_some_and(|known| **known != definition);
        let what = format!("two schemas have the id {id}");
        ensure!(!is_other || again != Redefinition::Refused, what);
        if !is_other || again == Redefinition::Kept {
            self.definitions.insert(id, Arc::new(definition));
        }
        Ok(is_other.then_some(what))
    }

    /// Takes a channel. Whether it was another one before.
    pub fn add(
        &mut self,
        fields: &mut RecordFields,
        again: Redefinition,
    ) -> Result<Option<String>> {
        let channel = summary::channel(fields, &self.definitions)?;
        let (id, channel) = channel.context("a channel names a schema that does not exist")?;
        let before = self.numbers.get(&id).map(|number| &self.channels[number]);
        if before == Some(&channel) {
            return Ok(None);
        }
        let what = format!("two channels have the id {id}");
        let is_other = before.is_some();
        ensure!(!is_other || again != Redefinition::Refused, what);
        if !is_other || again == Redefinition::Kept {
            let number = self.number_for(id, &channel)?;
            self.numbers.insert(id, number);
            self.channels.insert(number, channel);
        }
        Ok(is_other.then_some(what))
    }

    /// A number for a channel: its own where no other has it.
    fn number_for(&self, id: u16, channel: &Channel) -> Result<u16> {
        if self.channels.get(&id).is_none_or(|known| known == channel) {
            return Ok(id);
        }
        let same = self.channels.iter().find(|(_, known)| *known == channel);
        let free = || (0..=u16::MAX).rev().find(|number| !self.channels.contains_key(number));
        same.map(|(number, _)| *number).or_else(free).context("there are more than 65,536 channels")
    }
}
