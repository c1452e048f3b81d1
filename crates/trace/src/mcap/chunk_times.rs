//! The times of a chunk's messages: as the chunk says them, as its message indexes do, and as
//! they are.

use std::collections::BTreeMap;

use anyhow::{ensure, Result};
use wiregauge_system::text::format_count;

use super::fields::RecordFields;
use super::summary::Summary;

/// A message index: the channel of the file, and time and place of each of its messages.
pub(super) struct MessageIndex {
    pub channel: u16,
    pub entries: Vec<(u64, u64)>,
}

impl MessageIndex {
    /// Reads a record.
    pub fn read(fields: &mut RecordFields) -> Result<MessageIndex> {
        let channel = fields.read_u16()?;
        let entries = fields.read_block()?;
        ensure!(entries.len().is_multiple_of(16), "an index has another length");
        let number = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
        let entry = |entry: &[u8]| (number(&entry[..8]), number(&entry[8..]));
        Ok(MessageIndex { channel, entries: entries.chunks_exact(16).map(entry).collect() })
    }

    /// What is wrong with it, by the messages of the chunk before it.
    pub fn fault(mut self, messages: &BTreeMap<u16, Vec<(u64, u64)>>) -> Option<String> {
        let mut own = messages.get(&self.channel).cloned().unwrap_or_default();
        own.sort_unstable();
        self.entries.sort_unstable();
        if own.len() != self.entries.len() {
            let (said, there) = (self.entries.len(), own.len());
            return Some(format!(
                "it has {} of a channel, but the chunk has {there}",
                format_count(said as u64, "message")
            ));
        }
        (own != self.entries)
            .then(|| "its times or places differ from those of the messages".to_owned())
    }
}

/// Whether the times that a summary says of chunks may be right: they reach from the first
/// message to the last one.
pub(super) fn are_plausible(summary: &Summary) -> bool {
    let Some(statistics) = summary.statistics.as_ref().filter(|known| known.messages > 0) else {
        return true;
    };
    let (first, last) = statistics.times;
    let has_all = statistics.chunks == summary.chunks.len() as u64;
    let said = summary.chunks.iter().map(|chunk| chunk.times).filter(|times| *times != (0, 0));
    let span = said.reduce(|(a, b), (c, d)| (a.min(c), b.max(d)));
    span.is_none_or(|(from, to)| (first, last) == (0, 0) || !has_all || from <= first && last <= to)
}
