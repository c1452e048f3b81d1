//! Several topics in a run: who writes which of them, and what they are called.

use crate::transport::Topic;

impl Topic {
    /// How many senders there are.
    pub fn senders(&self) -> usize {
        self.several.map_or(1, |set| set.senders)
    }

    /// How many topics a sender has.
    pub fn topics_of_sender(&self) -> usize {
        self.several.map_or(1, |set| set.each)
    }

    /// Which of the senders this is, if it is one.
    pub fn sender(&self) -> usize {
        self.several.map_or(0, |set| set.sender)
    }

    /// The topics that a receiver reads: `NAME_1`, `NAME_2` and so on where there are several.
    pub fn names_to_read(&self, name: &str) -> Vec<String> {
        match self.several {
            None => vec![name.to_owned()],
            Some(set) => (1..=set.senders * set.each).map(|n| format!("{name}_{n}")).collect(),
        }
    }

    /// The topics that a sender writes. The first of them is this one of all that are read.
    pub fn names_to_write(&self, name: &str) -> Vec<String> {
        let each = self.topics_of_sender();
        let all = self.names_to_read(name).into_iter();
        all.skip(self.first_to_write()).take(each).collect()
    }

    /// Which one of the topics that are read a sender's first is.
    pub fn first_to_write(&self) -> usize {
        self.sender() * self.topics_of_sender()
    }
}

/// The seed of a sender's samples: so no sample can be taken for that of another sender. The
/// first has the run's own.
pub fn seed_of_sender(seed: u64, sender: usize) -> u64 {
    seed ^ (sender as u64).wrapping_mul(0xd1b5_4a32_d192_ed03)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::TopicSet;

    #[test]
    fn each_sender_writes_its_own_of_those_that_are_read() {
        let one = Topic::example(&[]);
        assert_eq!(
            (one.names_to_read("a"), one.names_to_write("a")),
            (vec!["a".into()], vec!["a".into()])
        );
        let numbered = |numbers: &[usize]| -> Vec<String> {
            numbers.iter().map(|number| format!("a_{number}")).collect()
        };
        let second = TopicSet { senders: 2, each: 2, sender: 1 };
        let second = Topic { several: Some(second), ..one };
        assert_eq!(second.names_to_read("a"), numbered(&[1, 2, 3, 4]));
        assert_eq!(second.names_to_write("a"), numbered(&[3, 4]));
        assert_eq!(second.first_to_write(), 2);
    }

    #[test]
    fn the_first_sender_has_the_seed_of_the_run() {
        assert_eq!(seed_of_sender(7, 0), 7);
        assert_ne!(seed_of_sender(7, 1), seed_of_sender(7, 2));
    }
}
