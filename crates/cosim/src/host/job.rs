//! What a host is told to run: the words of the protocol between master and
//! host (docs/cosim.md).

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use wiregauge_timing::slowest::SlowSample;

/// Version of the protocol.
pub const PROTOCOL: u32 = 4;
/// First bytes of a message that the master gets to see.
pub const HEAD_SIZE: usize = 64;

/// What a host runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Job {
    /// Two FMUs, one after the other in each step.
    Fmus(Box<Chain>),
    /// One that is fed.
    Feed(Box<Feed>),
    /// So many bytes copied for the source and for the model.
    Memcpy {
        /// Size of the source's message.
        source: u64,
        /// Size of the model's.
        model: u64,
    },
}

/// Two coupled FMUs, or a source alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Chain {
    /// The FMU that makes messages.
    pub source: FmuSetup,
    /// The source's binary variable.
    pub output: String,
    /// Other outputs of the source, which are only written down.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_outputs: Vec<String>,
    /// The FMU that takes them, if any does.
    pub model: Option<ReceiverSetup>,
    /// Simulation time of the start, in seconds.
    pub start: f64,
    /// Step size, in seconds.
    pub step: f64,
    /// Whether messages may say another version of OSI than is declared.
    #[serde(default)]
    pub any_version: bool,
    /// Whether the FMUs are to talk.
    pub logging: bool,
    /// Where each step's output messages are written: `source-000000.bin` and `model-…`,
    /// those of the first output beside `source-0-000000.bin`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dump: Option<PathBuf>,
}

/// An FMU that takes messages from the master.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Feed {
    /// The FMU.
    pub model: ReceiverSetup,
    /// Where each message lies when it is asked to step.
    pub message: PathBuf,
    /// Where what comes out is put; of the outputs beside it with their numbers, from 0, as
    /// the extension.
    pub result: PathBuf,
    /// Simulation time of the start, in seconds.
    pub start: f64,
}

/// An FMU that takes messages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReceiverSetup {
    /// The FMU.
    pub setup: FmuSetup,
    /// Its binary variable that takes them.
    pub input: String,
    /// Its binary variable that comes out; a sink has none.
    pub result: Option<String>,
    /// Its other outputs, which are only written down.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_outputs: Vec<String>,
}

/// One FMU of a chain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FmuSetup {
    /// How it is called in errors.
    pub name: String,
    /// Where it is unpacked.
    pub folder: PathBuf,
    /// Variables to set before it is initialized, and their values.
    pub parameters: Vec<(String, String)>,
}

/// What one step took, in nanoseconds, and what came out, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepTimes {
    /// Its place among all steps that the host has done, from 0.
    pub number: u64,
    /// When it began, on the machine's monotonic clock.
    pub began: u64,
    /// DoStep of the source.
    pub source: u64,
    /// Reading where its message is.
    pub get: u64,
    /// Handing that to the model.
    pub set: u64,
    /// DoStep of the model.
    pub model: u64,
    /// Size of the source's message.
    pub source_size: u64,
    /// Size of the model's message.
    pub model_size: u64,
}

impl StepTimes {
    /// What a master waits for it.
    pub fn exchange(&self) -> u64 {
        self.source + self.get + self.set + self.model
    }

    /// The eight numbers of a line.
    pub fn to_line(&self) -> String {
        let StepTimes { number, began, source, get, set, model, source_size, model_size } = self;
        format!("{number} {began} {source} {get} {set} {model} {source_size} {model_size}\n")
    }

    /// Reads such a line.
    pub fn parse(line: &str) -> Option<StepTimes> {
        let mut words = line.split(' ').map(|word| word.parse().ok());
        let mut next = || words.next().flatten();
        Some(StepTimes {
            number: next()?,
            began: next()?,
            source: next()?,
            get: next()?,
            set: next()?,
            model: next()?,
            source_size: next()?,
            model_size: next()?,
        })
    }
}

/// The steps of a request that had a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimedSteps {
    /// As many as were asked for, unless the simulation ended.
    pub steps: Vec<StepTimes>,
    /// Which FMU ended it and how.
    pub end: Option<String>,
}

impl TimedSteps {
    /// As it goes over the line.
    pub fn to_text(&self) -> String {
        let mut text: String = self.steps.iter().map(StepTimes::to_line).collect();
        if let Some(end) = &self.end {
            text += &format!("end {end}\n");
        }
        text
    }

    /// Reads such a text.
    pub fn parse(text: &str) -> Option<TimedSteps> {
        let mut ran = TimedSteps::default();
        for line in text.split_terminator('\n') {
            match line.strip_prefix("end ") {
                Some(end) => ran.end = Some(end.to_owned()),
                None => ran.steps.push(StepTimes::parse(line)?),
            }
        }
        Some(ran)
    }
}

/// What steps made, those without a message included.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    /// What came out of source and model in each step.
    pub products: Vec<[MessageDigest; 2]>,
    /// Which FMU ended the simulation and how.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
}

/// What there is to say of a host's steps when all are done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostSummary {
    /// Steps that were done.
    pub steps: u64,
    /// Steps in which the source gave no message.
    pub empty: u64,
    /// Steps in which the model gave no message though the source did, after its first one.
    pub unanswered: u64,
    /// Steps of source and model that returned a warning.
    pub warnings: [u64; 2],
    /// What each logged with its first warning.
    pub complaints: [String; 2],
    /// The slowest steps that count, with what the machine did meanwhile.
    #[serde(default)]
    pub slowest: Vec<SlowSample>,
}

/// What came out of one step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageDigest {
    /// Size of the message.
    pub size: u64,
    /// Digest of its bytes.
    pub digest: u64,
    /// Its first bytes, by which it says what it is.
    pub head: Vec<u8>,
}

impl MessageDigest {
    /// Of a message.
    pub fn from_bytes(bytes: &[u8]) -> MessageDigest {
        MessageDigest {
            size: bytes.len() as u64,
            digest: digest(bytes),
            head: bytes[..bytes.len().min(HEAD_SIZE)].to_vec(),
        }
    }
}

/// A digest that differs where bytes differ: FNV-1a over words of 8 bytes.
fn digest(bytes: &[u8]) -> u64 {
    let mut digest = 0xcbf2_9ce4_8422_2325 ^ bytes.len() as u64;
    let mut mix = |word: u64| {
        digest = (digest ^ word).wrapping_mul(0x0000_0100_0000_01b3);
        digest ^= digest >> 32;
    };
    let mut words = bytes.chunks_exact(8);
    for word in &mut words {
        mix(u64::from_le_bytes(word.try_into().expect("eight bytes")));
    }
    words.remainder().iter().for_each(|&byte| mix(u64::from(byte)));
    digest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_survives_its_line() {
        let step = StepTimes {
            number: 0,
            began: 7,
            source: 1,
            get: 2,
            set: 3,
            model: 4,
            source_size: 5,
            model_size: 6,
        };
        assert_eq!(step.exchange(), 10);
        assert_eq!(StepTimes::parse(step.to_line().trim_end()), Some(step));
        for end in [None, Some("a.fmu asks for it".to_owned())] {
            let ran = TimedSteps { steps: vec![step, step], end };
            assert_eq!(TimedSteps::parse(&ran.to_text()), Some(ran));
        }
        for line in ["", "1 2 3 4 5 6 7", "1 2 3 4 5 6 7 x"] {
            assert_eq!(StepTimes::parse(line), None);
        }
    }

    #[test]
    fn digests_differ() {
        let zeros = [0u8; 32];
        let mut seen: Vec<u64> = (0..32).map(|size| digest(&zeros[..size])).collect();
        for at in 0..32 {
            let mut bytes = zeros;
            bytes[at] = 1;
            seen.push(digest(&bytes));
        }
        let count = seen.len();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), count);
    }
}
