//! Which samples came: what is missing, out of order, or came twice.

use std::collections::BTreeMap;

/// What became of the samples so far.
#[derive(Debug, Default)]
pub struct Sequence {
    /// The one after the highest that came.
    next: u64,
    /// What did not come below it: first and one after the last of each gap.
    gaps: BTreeMap<u64, u64>,
    /// Different samples that came.
    pub received: u64,
    /// That came after a later one.
    pub reordered: u64,
    /// That came again.
    pub repeated: u64,
}

impl Sequence {
    /// A sample came. Whether it is new.
    pub fn add(&mut self, sequence: u32) -> bool {
        let at = u64::from(sequence);
        if at >= self.next {
            if at > self.next {
                self.gaps.insert(self.next, at);
            }
            self.next = at + 1;
        } else if let Some((&first, &end)) =
            self.gaps.range(..=at).next_back().filter(|g| at < *g.1)
        {
            self.gaps.remove(&first);
            if first < at {
                self.gaps.insert(first, at);
            }
            if at + 1 < end {
                self.gaps.insert(at + 1, end);
            }
            self.reordered += 1;
        } else {
            self.repeated += 1;
            return false;
        }
        self.received += 1;
        true
    }

    /// The sequence that is due next.
    pub fn next(&self) -> u64 {
        self.next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(arrivals: &[u32]) -> (u64, u64, u64) {
        let mut sequence = Sequence::default();
        for arrival in arrivals {
            sequence.add(*arrival);
        }
        (sequence.received, sequence.reordered, sequence.repeated)
    }

    #[test]
    fn counts_what_came_and_how() {
        assert_eq!(after(&[0, 1, 2]), (3, 0, 0));
        assert_eq!(after(&[0, 5, 6]), (3, 0, 0));
        assert_eq!(after(&[0, 5, 3, 1, 4, 2]), (6, 4, 0));
        assert_eq!(after(&[0, 5, 3, 3, 5, 0]), (3, 1, 3));
        assert_eq!(after(&[2, 0, 1, 1]), (3, 2, 1));
    }
}
