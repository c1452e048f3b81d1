//! What is to be told of the points in the end, once and with how often it was so.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use anyhow::{anyhow, Result};
use wiregauge_system::text::format_count;

use crate::osi::SensorConventions;
use crate::points::Points;

/// Where messages are counted whose points cannot be read, if these are left out.
pub type SkipCounter = Arc<AtomicU64>;

/// What was found so far.
#[derive(Default)]
pub struct Notices {
    unplaced: BTreeMap<(String, &'static str), u64>,
    by_elevation: bool,
    /// Messages by channel, of which the points could not be read and were left out; and why
    /// the first one could not.
    skipped: BTreeMap<String, (u64, String)>,
}

impl Notices {
    /// Looks at points.
    pub fn add_points(&mut self, topic: &str, points: &Points) {
        self.by_elevation |= points.by_elevation;
        if let Some(why) = points.unplaced {
            *self.unplaced.entry((topic.to_owned(), why)).or_default() += 1;
        }
    }

    /// The points of a message. One that cannot be read is left out where that is wanted, and
    /// counted.
    pub fn skip_failed<T>(
        &mut self,
        topic: &str,
        found: Result<T>,
        skipped: Option<&SkipCounter>,
    ) -> Result<Option<T>> {
        match found {
            Ok(found) => Ok(Some(found)),
            Err(error) => {
                let Some(skipped) = skipped else {
                    return Err(anyhow!("{error:#}; leave such messages out by --errors skip"));
                };
                skipped.fetch_add(1, Ordering::Relaxed);
                let known = self.skipped.entry(topic.to_owned());
                known.or_insert_with(|| (0, format!("{error:#}"))).0 += 1;
                Ok(None)
            }
        }
    }

    /// Why some points are nowhere; none where all are somewhere.
    pub fn reason(&self) -> Option<String> {
        let skipped = self.skipped.iter().next();
        if let Some((topic, (_, why))) = skipped {
            return Some(format!("{topic}: {why}"));
        }
        self.unplaced.keys().next().map(|(topic, why)| format!("{topic}: {why}"))
    }

    /// All of it. `then` is what became of points that are nowhere.
    pub fn list_all(&self, reading: SensorConventions, then: &str) -> Vec<String> {
        let unplaced = self.unplaced.iter();
        let unplaced = unplaced.map(|((topic, why), lists)| {
            format!("{topic}: {} of points {then}: {why}", format_count(*lists, "list"))
        });
        let sign =
            "a positive elevation points down here, as OSI defines it (Spherical3d: a rotation \
             about y by the right-hand rule); if it points up in your data, give --elevation up";
        let sign = (self.by_elevation && reading.elevation.is_none()).then(|| sign.to_owned());
        let skipped = self.skipped.iter().map(|(topic, (messages, why))| {
            let messages = format_count(*messages, "message");
            format!("{topic}: {messages} skipped, as reading points failed: {why}")
        });
        unplaced.chain(skipped).chain(sign).collect()
    }
}
