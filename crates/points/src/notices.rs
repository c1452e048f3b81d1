//! What is to be told of the points in the end, once and with how often it was so.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use anyhow::{anyhow, Error, Result};
use wiregauge_system::text::format_count;

use crate::osi::SensorConventions;
use crate::points::Points;

/// Counts the messages that a writer leaves out, as their points cannot be read. Its clones
/// count together, so who keeps one can ask it when the writer is done.
#[derive(Clone, Debug, Default)]
pub struct SkipCounter(Rc<RefCell<BTreeMap<String, SkippedMessages>>>);

/// The messages of a channel that were left out.
#[derive(Debug)]
struct SkippedMessages {
    count: u64,
    /// Why the first one was.
    reason: String,
}

impl SkipCounter {
    /// How many messages were left out.
    pub fn count(&self) -> u64 {
        self.0.borrow().values().map(|skipped| skipped.count).sum()
    }

    fn add(&self, topic: &str, error: &Error) {
        let mut channels = self.0.borrow_mut();
        let skipped = channels.entry(topic.to_owned());
        let new = || SkippedMessages { count: 0, reason: format!("{error:#}") };
        skipped.or_insert_with(new).count += 1;
    }
}

/// What was found so far.
#[derive(Default)]
pub struct Notices {
    unplaced: BTreeMap<(String, &'static str), u64>,
    by_elevation: bool,
    /// Counts the messages that are left out; none where such a message is an error.
    skipped: Option<SkipCounter>,
}

impl Notices {
    /// Leaves out messages whose points cannot be read and counts them here, if it is given.
    pub fn count_skipped(&mut self, skipped: Option<SkipCounter>) {
        self.skipped = skipped;
    }

    /// Whether messages are left out.
    pub fn skips(&self) -> bool {
        self.skipped.is_some()
    }

    /// Looks at points.
    pub fn add_points(&mut self, topic: &str, points: &Points) {
        self.by_elevation |= points.by_elevation;
        if let Some(why) = points.unplaced {
            *self.unplaced.entry((topic.to_owned(), why)).or_default() += 1;
        }
    }

    /// The points of a message; none of one that is left out.
    pub fn skip_failed<T>(&mut self, topic: &str, found: Result<T>) -> Result<Option<T>> {
        let error = match found {
            Ok(found) => return Ok(Some(found)),
            Err(error) => error,
        };
        let Some(skipped) = &self.skipped else {
            return Err(anyhow!("{error:#}; leave such messages out by --errors skip"));
        };
        skipped.add(topic, &error);
        Ok(None)
    }

    /// Why some points are nowhere; none where all are somewhere.
    pub fn reason(&self) -> Option<String> {
        if let Some(skipped) = &self.skipped {
            if let Some((topic, SkippedMessages { reason, .. })) = skipped.0.borrow().iter().next()
            {
                return Some(format!("{topic}: {reason}"));
            }
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
        let mut skips = Vec::new();
        if let Some(skipped) = &self.skipped {
            skips.extend(skipped.0.borrow().iter().map(|(topic, skipped)| {
                let (messages, reason) = (format_count(skipped.count, "message"), &skipped.reason);
                format!("{topic}: {messages} skipped, as reading points failed: {reason}")
            }));
        }
        unplaced.chain(skips).chain(sign).collect()
    }
}
