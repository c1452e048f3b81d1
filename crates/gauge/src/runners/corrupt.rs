//! Damaged messages: what a decoder makes of bytes that no encoder wrote.
//!
//! The same message, seed and index give the same damage forever, so that a
//! crash that was counted can be looked at again.

use std::fmt;

use serde::{Deserialize, Serialize};

use wiregauge_child_process::child::ChildFailure;
use wiregauge_result::random::Random;
use wiregauge_result::run::Fact;

/// How bytes were damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CorruptionKind {
    /// One to eight bits are flipped.
    BitFlip,
    /// The end is missing.
    Truncate,
    /// Up to 64 bytes of garbage follow.
    Extend,
    /// Where a length may stand, there is an extreme number.
    Length,
    /// A range is copied onto another.
    Splice,
}

/// The corruptions of one seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corruptions {
    seed: u64,
}

impl Corruptions {
    /// The corruptions of a seed.
    pub fn new(seed: u64) -> Corruptions {
        Corruptions { seed }
    }

    /// Endlessly many damaged forms of a message.
    pub fn corrupted_forms<'a>(
        &self,
        bytes: &'a [u8],
    ) -> impl Iterator<Item = (CorruptionKind, Vec<u8>)> + 'a {
        let seed = self.seed;
        (0..).map(move |index| corrupt(bytes, seed, index))
    }
}

/// The damaged form of a message with this number. It always differs from the
/// message.
pub fn corrupt(bytes: &[u8], seed: u64, index: u64) -> (CorruptionKind, Vec<u8>) {
    // Neighbouring numbers must not give neighbouring streams.
    let mut random = Random::new(Random::new(seed).next() ^ Random::new(!index).next());
    // A splice of zeros onto zeros is no damage: then draw again.
    for _ in 0..16 {
        let (kind, damaged) = random_corruption(bytes, &mut random);
        if damaged != bytes {
            return (kind, damaged);
        }
    }
    let mut damaged = bytes.to_vec();
    match damaged.first_mut() {
        Some(first) => *first ^= 1,
        None => damaged.push(0),
    }
    let kind = if bytes.is_empty() { CorruptionKind::Extend } else { CorruptionKind::BitFlip };
    (kind, damaged)
}

fn random_corruption(bytes: &[u8], random: &mut Random) -> (CorruptionKind, Vec<u8>) {
    let mut damaged = bytes.to_vec();
    let length = bytes.len();
    // Of ten: three flips, two truncations, one extension, three lengths, one
    // splice. Of nothing there is only more.
    let turn = if length == 0 { 5 } else { random.below(10) };
    let kind = match turn {
        0..=2 => {
            for _ in 0..=random.below(8) {
                damaged[position(random, length)] ^= 1 << random.below(8);
            }
            CorruptionKind::BitFlip
        }
        3..=4 => {
            damaged.truncate(position(random, length));
            CorruptionKind::Truncate
        }
        5 => {
            let extra = 1 + random.below(64);
            damaged.extend((0..extra).map(|_| random.next() as u8));
            CorruptionKind::Extend
        }
        6..=8 => {
            let number = extreme(length, random);
            let mut position = position(random, length);
            // Formats without varints align what they count with.
            if random.below(2) == 0 {
                position -= position % number.len().next_power_of_two();
            }
            let end = length.min(position + number.len());
            damaged[position..end].copy_from_slice(&number[..end - position]);
            CorruptionKind::Length
        }
        _ => {
            let size = 1 + random.below(length.min(64));
            let from = position(random, length - size + 1);
            let to = position(random, length - size + 1);
            damaged.copy_within(from..from + size, to);
            CorruptionKind::Splice
        }
    };
    (kind, damaged)
}

/// An extreme number of 1, 2, 4 or 8 bytes in either byte order, or one that
/// goes on as a varint for 9 bytes.
fn extreme(length: usize, random: &mut Random) -> Vec<u8> {
    let width = 1 << random.below(4);
    let length = length as u64;
    let number = match random.below(8) {
        0 => 0,
        1 => 1,
        2 => u64::MAX >> 1 >> (64 - 8 * width),
        3 => 1 << (8 * width - 1),
        4 => u64::MAX,
        5 => length.wrapping_sub(1),
        6 => length + 1,
        _ => return vec![0xff; 9],
    };
    let bytes = number.to_le_bytes();
    let mut bytes = bytes[..width].to_vec();
    if random.below(2) == 0 {
        bytes.reverse();
    }
    bytes
}

/// A position below `length`. Half of them in the first 256 bytes, since
/// headers live there.
fn position(random: &mut Random, length: usize) -> usize {
    if random.next() & 1 == 0 {
        random.below(length.min(256))
    } else {
        random.below(length)
    }
}

/// What a decoder made of a damaged message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecodeOutcome {
    /// It refused it.
    Rejected,
    /// It accepted it and read the values of the undamaged message.
    Same,
    /// It accepted it and read other values.
    Different,
    /// It crashed.
    Crashed,
    /// It did not come to an end in time.
    Hung,
    /// It wanted memory without bound.
    Unbounded,
}

impl DecodeOutcome {
    /// All outcomes, in the order of tables.
    pub const ALL: [DecodeOutcome; 6] = [
        DecodeOutcome::Rejected,
        DecodeOutcome::Same,
        DecodeOutcome::Different,
        DecodeOutcome::Crashed,
        DecodeOutcome::Hung,
        DecodeOutcome::Unbounded,
    ];

    /// What became of a decoder whose process broke. None if that was not the
    /// decoder's doing: the user interrupted, or the system failed.
    pub fn from_failure(broken: &ChildFailure) -> Option<DecodeOutcome> {
        match broken {
            ChildFailure::Hung => Some(DecodeOutcome::Hung),
            ChildFailure::Died(death) if death.out_of_memory() => Some(DecodeOutcome::Unbounded),
            ChildFailure::Died(_) | ChildFailure::Nonsense(_) => Some(DecodeOutcome::Crashed),
            ChildFailure::Interrupted | ChildFailure::Io(_) => None,
        }
    }

    /// Whether a decoder that does this must not be given bytes of strangers.
    pub fn unsafe_to_read(self) -> bool {
        matches!(self, DecodeOutcome::Crashed | DecodeOutcome::Hung | DecodeOutcome::Unbounded)
    }

    /// Name as a fact's metric: `corrupt/rejected`.
    pub fn metric(self) -> &'static str {
        match self {
            DecodeOutcome::Rejected => "corrupt/rejected",
            DecodeOutcome::Same => "corrupt/same",
            DecodeOutcome::Different => "corrupt/different",
            DecodeOutcome::Crashed => "corrupt/crashed",
            DecodeOutcome::Hung => "corrupt/hung",
            DecodeOutcome::Unbounded => "corrupt/unbounded",
        }
    }
}

/// How often there was each outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutcomeCounts {
    /// [`DecodeOutcome::Rejected`].
    pub rejected: u64,
    /// [`DecodeOutcome::Same`].
    pub same: u64,
    /// [`DecodeOutcome::Different`].
    pub different: u64,
    /// [`DecodeOutcome::Crashed`].
    pub crashed: u64,
    /// [`DecodeOutcome::Hung`].
    pub hung: u64,
    /// [`DecodeOutcome::Unbounded`].
    pub unbounded: u64,
}

impl OutcomeCounts {
    /// Counts an outcome.
    pub fn add(&mut self, outcome: DecodeOutcome) {
        *match outcome {
            DecodeOutcome::Rejected => &mut self.rejected,
            DecodeOutcome::Same => &mut self.same,
            DecodeOutcome::Different => &mut self.different,
            DecodeOutcome::Crashed => &mut self.crashed,
            DecodeOutcome::Hung => &mut self.hung,
            DecodeOutcome::Unbounded => &mut self.unbounded,
        } += 1;
    }

    /// How often there was an outcome.
    pub fn count(&self, outcome: DecodeOutcome) -> u64 {
        match outcome {
            DecodeOutcome::Rejected => self.rejected,
            DecodeOutcome::Same => self.same,
            DecodeOutcome::Different => self.different,
            DecodeOutcome::Crashed => self.crashed,
            DecodeOutcome::Hung => self.hung,
            DecodeOutcome::Unbounded => self.unbounded,
        }
    }

    /// How many were tried.
    pub fn total(&self) -> u64 {
        DecodeOutcome::ALL.iter().map(|&outcome| self.count(outcome)).sum()
    }

    /// Whether the decoder must not be given bytes of strangers.
    pub fn unsafe_to_read(&self) -> bool {
        DecodeOutcome::ALL
            .iter()
            .any(|&outcome| outcome.unsafe_to_read() && self.count(outcome) > 0)
    }

    /// The counts as facts of a result, zeros too.
    pub fn facts(&self, case: &str, subject: &str) -> Vec<Fact> {
        let fact = |&outcome: &DecodeOutcome| Fact {
            case: case.into(),
            subject: subject.into(),
            metric: outcome.metric().into(),
            unit: "1".into(),
            value: self.count(outcome) as f64,
        };
        DecodeOutcome::ALL.iter().map(fact).collect()
    }
}

impl fmt::Display for OutcomeCounts {
    /// What there was, without what there was not: `97 rejected, 3 crashed`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for outcome in DecodeOutcome::ALL {
            let count = self.count(outcome);
            if count > 0 {
                let name = outcome.metric().trim_start_matches("corrupt/");
                write!(f, "{separator}{count} {name}")?;
                separator = ", ";
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::process::ExitStatus;

    use proptest::prelude::*;

    use super::*;
    use wiregauge_child_process::child::Death;

    fn message(length: usize) -> Vec<u8> {
        (0..length).map(|i| (i * 37 % 251) as u8).collect()
    }

    #[test]
    fn damage_is_the_same_forever() {
        let shown: Vec<String> = Corruptions::new(42)
            .corrupted_forms(b"wiregauge")
            .take(12)
            .map(|(kind, bytes)| format!("{kind:?} {}", bytes.escape_ascii()))
            .collect();
        assert_eq!(
            shown,
            [
                r"BitFlip \xf7mreomt\xe7g",
                r"Extend wiregauge\x0fEKZ\x0e\x1f",
                r"Splice wigauauge",
                r"Splice iregaauge",
                r"Splice wregaugee",
                r"Length \x00\x00\x00\x80gauge",
                r"Splice wirregaug",
                r"Length \x01\x00regauge",
                r"Length wire\x00\x00\x00\x80e",
                r"Splice wiregauga",
                r"Truncate wireg",
                r"Length wire\x80\x00uge",
            ]
        );
    }

    #[test]
    fn all_kinds_occur_in_their_shares() {
        let message = message(10_000);
        let mut counts: HashMap<CorruptionKind, u32> = HashMap::new();
        for (kind, damaged) in Corruptions::new(1).corrupted_forms(&message).take(2000) {
            *counts.entry(kind).or_default() += 1;
            let length = damaged.len();
            match kind {
                CorruptionKind::Truncate => assert!(length < message.len()),
                CorruptionKind::Extend => assert!((10_001..=10_064).contains(&length)),
                _ => assert_eq!(length, message.len()),
            }
        }
        for (kind, share) in [
            (CorruptionKind::BitFlip, 600),
            (CorruptionKind::Truncate, 400),
            (CorruptionKind::Extend, 200),
            (CorruptionKind::Length, 600),
            (CorruptionKind::Splice, 200),
        ] {
            assert!(counts[&kind].abs_diff(share) < 80, "{kind:?}: {}", counts[&kind]);
        }
    }

    #[test]
    fn half_of_the_damage_is_in_the_header() {
        let mut random = Random::new(7);
        let near = (0..10_000).filter(|_| position(&mut random, 1 << 20) < 256).count();
        assert!((4800..5200).contains(&near), "{near}");
    }

    #[test]
    fn lengths_are_extreme_in_both_byte_orders() {
        let mut random = Random::new(3);
        let drawn: Vec<_> = (0..2000).map(|_| extreme(0x1234, &mut random)).collect();
        for wanted in [
            &[0][..],
            &[0, 1],
            &[0xff; 8],
            &[0xff; 9],
            &[0x7f],
            &[0xff, 0xff, 0xff, 0x7f],
            &[0x80, 0, 0, 0],
            &[0, 0, 0, 0, 0, 0, 0, 0x80],
            &[0x33, 0x12],
            &[0, 0, 0x12, 0x35],
        ] {
            assert!(drawn.iter().any(|bytes| bytes == wanted), "{wanted:x?}");
        }
    }

    proptest! {
        #[test]
        fn damage_always_differs(bytes: Vec<u8>, seed: u64, index: u64) {
            let (kind, damaged) = corrupt(&bytes, seed, index);
            prop_assert_ne!(&damaged, &bytes);
            prop_assert_eq!(corrupt(&bytes, seed, index), (kind, damaged));
        }

        #[test]
        fn even_of_zeros(length in 0..64_usize, seed: u64) {
            let bytes = vec![0; length];
            for (_, damaged) in Corruptions::new(seed).corrupted_forms(&bytes).take(50) {
                prop_assert_ne!(&damaged, &bytes);
            }
        }
    }

    #[test]
    fn counts_become_facts() {
        let mut tally = OutcomeCounts::default();
        for outcome in DecodeOutcome::ALL {
            tally.add(outcome);
            assert_eq!(tally.count(outcome), 1);
        }
        tally.add(DecodeOutcome::Rejected);
        assert_eq!(tally.total(), 7);
        let facts = tally.facts("points=1", "lcm");
        assert_eq!(facts.len(), 6);
        assert_eq!((&*facts[0].metric, facts[0].value), ("corrupt/rejected", 2.0));
        let text = "2 rejected, 1 same, 1 different, 1 crashed, 1 hung, 1 unbounded";
        assert_eq!(tally.to_string(), text);
        assert!(tally.unsafe_to_read());
        let sound =
            OutcomeCounts { rejected: 5, same: 1, different: 2, ..OutcomeCounts::default() };
        assert!(!sound.unsafe_to_read());
        let json = serde_json::to_string(&tally).unwrap();
        assert_eq!(serde_json::from_str::<OutcomeCounts>(&json).unwrap(), tally);
    }

    #[test]
    fn a_broken_process_is_an_outcome() {
        use std::os::unix::process::ExitStatusExt;
        let died = |raw: i32, stderr: &str| {
            DecodeOutcome::from_failure(&ChildFailure::Died(Death {
                status: Some(ExitStatus::from_raw(raw)),
                stderr: stderr.into(),
                beyond: None,
            }))
        };
        assert_eq!(died(11, ""), Some(DecodeOutcome::Crashed));
        assert_eq!(died(86 << 8, ""), Some(DecodeOutcome::Unbounded));
        assert_eq!(died(6, "terminate called: std::bad_alloc\n"), Some(DecodeOutcome::Unbounded));
        assert_eq!(DecodeOutcome::from_failure(&ChildFailure::Hung), Some(DecodeOutcome::Hung));
        assert_eq!(DecodeOutcome::from_failure(&ChildFailure::Interrupted), None);
    }
}
