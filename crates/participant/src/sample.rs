//! What a sample holds.
//!
//! The smallest sample of the reference has 10 bytes, so that is the header:
//!
//! | bytes | what |
//! |---|---|
//! | 0…3 | sequence, from 0, little-endian |
//! | 4…9 | nanoseconds since the run's epoch when it was sent, little-endian: enough for 78 hours |
//! | 10… | content that follows from the run's seed and the sequence, or an encoded message |
//!
//! All of the content is compared on arrival, which finds more than a checksum
//! would and needs no room of its own.

use std::fmt;
use std::ops::Range;

/// Size of sequence and time: the smallest sample.
pub const HEADER_SIZE: usize = 10;
/// The largest sample that is sent: 1 GiB.
pub const MAX_SAMPLE_SIZE: usize = 1 << 30;
/// Most samples in a run, as the sequence has 32 bits.
pub const MAX_SAMPLES: u64 = 1 << 32;
/// Longest run in nanoseconds, as the time has 48 bits.
pub const MAX_RUN_NS: u64 = 1 << 48;

/// The slowest way that a sample is waited for, in nanoseconds a byte: a link of 100 Mbit/s that
/// carries it there and back, or a transport that loses much of a large sample and sends it again.
const SLOWEST_NS_PER_BYTE: u64 = 200;

/// How long a sample may be on its way before it counts as lost, in
/// nanoseconds: a second, and what the slowest way takes.
pub fn loss_timeout(size: usize) -> u64 {
    1_000_000_000 + SLOWEST_NS_PER_BYTE * size as u64
}

/// What the header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Which sample it is.
    pub sequence: u32,
    /// When it was sent, in nanoseconds since the epoch.
    pub time: u64,
}

/// What is wrong with a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleError {
    /// Its size, or a time or sequence that cannot be: someone else's.
    Foreign,
    /// Its content is not that of its sequence.
    Damaged,
}

impl fmt::Display for SampleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SampleError::Foreign => "not a sample of this run",
            SampleError::Damaged => "damaged on the way",
        })
    }
}

/// What the samples of a run have in common.
#[derive(Clone, Copy, Debug)]
pub struct SampleContent<'a> {
    /// Size in bytes.
    pub size: usize,
    /// Seed of the content.
    pub seed: u64,
    /// How many there will be.
    pub count: u64,
    /// An encoded message that is the content of all.
    pub message: Option<Message<'a>>,
}

/// An encoded message in a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// Its bytes.
    pub bytes: &'a [u8],
    /// Where it begins in the sample: behind the header, or where a codec has it in place.
    pub start: usize,
}

impl<'a> Message<'a> {
    /// One that follows the header.
    pub fn behind_header(bytes: &'a [u8]) -> Message<'a> {
        Message { bytes, start: HEADER_SIZE }
    }

    fn range(&self) -> Range<usize> {
        self.start..self.start + self.bytes.len()
    }
}

impl SampleContent<'_> {
    /// What is generated from a seed.
    pub fn generated(size: usize, seed: u64, count: u64) -> SampleContent<'static> {
        SampleContent { size, seed, count, message: None }
    }

    /// How many bytes of a sample are its header and its content.
    pub fn carried(&self) -> usize {
        self.message.map_or(self.size, |message| HEADER_SIZE + message.bytes.len())
    }

    /// Fills the content of a sample, all but its header.
    pub fn fill(&self, sample: &mut [u8], sequence: u32) {
        if let Some(message) = self.message {
            return sample[message.range()].copy_from_slice(message.bytes);
        }
        let start = self.first_word(sequence);
        let mut words = sample[HEADER_SIZE..].chunks_exact_mut(8);
        let mut at = start;
        for word in &mut words {
            word.copy_from_slice(&at.to_le_bytes());
            at = at.wrapping_add(WORD_STEP);
        }
        let rest = words.into_remainder();
        let length = rest.len();
        rest.copy_from_slice(&at.to_le_bytes()[..length]);
    }

    /// Looks at a sample that arrived at `now`, and compares all of it.
    ///
    /// # Errors
    /// [`SampleError`], when it is not what was sent.
    pub fn check(&self, sample: &[u8], now: u64) -> Result<Header, SampleError> {
        if sample.len() != self.size {
            return Err(SampleError::Foreign);
        }
        let header = read_header(sample);
        // A clock may be a little off, no more.
        const SLACK: u64 = 1_000_000_000;
        if u64::from(header.sequence) >= self.count || header.time > now + SLACK {
            return Err(SampleError::Foreign);
        }
        if let Some(message) = self.message {
            return (sample[message.range()] == *message.bytes)
                .then_some(header)
                .ok_or(SampleError::Damaged);
        }
        let mut at = self.first_word(header.sequence);
        let mut different = 0;
        let mut words = sample[HEADER_SIZE..].chunks_exact(8);
        for word in &mut words {
            different |= at ^ u64::from_le_bytes(word.try_into().expect("a word has 8 bytes"));
            at = at.wrapping_add(WORD_STEP);
        }
        let rest = words.remainder();
        let same = different == 0 && *rest == at.to_le_bytes()[..rest.len()];
        same.then_some(header).ok_or(SampleError::Damaged)
    }

    /// Whether it is one of these that was sent before a time. Content is compared only then.
    pub fn is_from_before(&self, begun: u64, sample: &[u8], now: u64) -> bool {
        sample.len() == self.size
            && read_header(sample).time < begun
            && self.check(sample, now).is_ok()
    }

    /// The first word of a sample's content.
    fn first_word(&self, sequence: u32) -> u64 {
        // The finalizer of SplitMix64, so that neighbours differ in all bytes.
        let mut z = self.seed ^ u64::from(sequence).wrapping_mul(WORD_STEP);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// From word to word: odd and without pattern.
const WORD_STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Writes the header, the last thing before a sample is sent.
pub fn write_header(sample: &mut [u8], header: Header) {
    sample[..4].copy_from_slice(&header.sequence.to_le_bytes());
    sample[4..HEADER_SIZE].copy_from_slice(&header.time.to_le_bytes()[..6]);
}

fn read_header(sample: &[u8]) -> Header {
    let mut time = [0; 8];
    time[..6].copy_from_slice(&sample[4..HEADER_SIZE]);
    let sequence = u32::from_le_bytes(sample[..4].try_into().expect("four bytes"));
    Header { sequence, time: u64::from_le_bytes(time) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(shape: &SampleContent, sequence: u32) -> Vec<u8> {
        let mut bytes = vec![0xaa; shape.size];
        shape.fill(&mut bytes, sequence);
        write_header(&mut bytes, Header { sequence, time: 123_456_789_012 });
        bytes
    }

    const NOW: u64 = 123_456_800_000;

    #[test]
    fn comes_back_as_it_was() {
        for size in [10, 11, 17, 18, 19, 500, 4099] {
            let shape = SampleContent { size, seed: 7, count: 100, message: None };
            let header = shape.check(&sample(&shape, 42), NOW).unwrap();
            assert_eq!(header, Header { sequence: 42, time: 123_456_789_012 });
        }
    }

    #[test]
    fn every_byte_of_the_content_counts() {
        let shape = SampleContent { size: 45, seed: 7, count: 100, message: None };
        for at in HEADER_SIZE..shape.size {
            let mut bytes = sample(&shape, 3);
            bytes[at] ^= 1;
            assert_eq!(shape.check(&bytes, NOW), Err(SampleError::Damaged), "byte {at}");
        }
        // The content of one sample under the sequence of another.
        let mut bytes = sample(&shape, 3);
        write_header(&mut bytes, Header { sequence: 4, time: 0 });
        assert_eq!(shape.check(&bytes, NOW), Err(SampleError::Damaged));
    }

    #[test]
    fn an_encoded_message_is_content_too() {
        let content = [1, 2, 3];
        for (size, start) in [(13, HEADER_SIZE), (100, 64)] {
            let message = Some(Message { bytes: &content, start });
            let shape = SampleContent { size, seed: 7, count: 100, message };
            let mut bytes = sample(&shape, 3);
            assert_eq!(bytes[start..start + 3], content);
            assert_eq!(shape.check(&bytes, NOW).unwrap().sequence, 3);
            assert_eq!(shape.carried(), 13);
            bytes[start + 2] = 4;
            assert_eq!(shape.check(&bytes, NOW), Err(SampleError::Damaged));
        }
    }

    #[test]
    fn what_others_send_is_told_apart() {
        let shape = SampleContent { size: 10, seed: 7, count: 100, message: None };
        assert_eq!(shape.check(&[], NOW), Err(SampleError::Foreign));
        assert_eq!(shape.check(&[0; 11], NOW), Err(SampleError::Foreign));
        assert_eq!(shape.check(&sample(&shape, 100), NOW), Err(SampleError::Foreign));
        assert_eq!(
            shape.check(&sample(&shape, 1), 1),
            Err(SampleError::Foreign),
            "from the future"
        );
    }
}
