//! What is to be told of the points in the end, once and with how often it was so.

use std::collections::BTreeMap;

use crate::osi::Reading;
use crate::points::Points;

/// What was found so far.
#[derive(Default)]
pub struct Remarks {
    unplaced: BTreeMap<(String, &'static str), u64>,
    by_elevation: bool,
}

impl Remarks {
    /// Looks at points.
    pub fn take(&mut self, topic: &str, points: &Points) {
        self.by_elevation |= points.by_elevation;
        if let Some(why) = points.unplaced {
            *self.unplaced.entry((topic.to_owned(), why)).or_default() += 1;
        }
    }

    /// Why some points are nowhere; none where all are somewhere.
    pub fn reason(&self) -> Option<String> {
        self.unplaced.keys().next().map(|(topic, why)| format!("{topic}: {why}"))
    }

    /// All of it. `then` is what became of points that are nowhere.
    pub fn told(&self, reading: Reading, then: &str) -> Vec<String> {
        let unplaced = self.unplaced.iter();
        let unplaced = unplaced.map(|((topic, why), count)| {
            let lists = if *count == 1 { "list" } else { "lists" };
            format!("{topic}: {count} {lists} of points {then}: {why}")
        });
        let sign = "a positive elevation is taken to point down, as OSI defines it (Spherical3d: \
                    a rotation about y by the right-hand rule); for data that mean up say \
                    --elevation up";
        let sign = (self.by_elevation && reading.elevation.is_none()).then(|| sign.to_owned());
        unplaced.chain(sign).collect()
    }
}
