//! What a program with stages and who leads it say to each other, a line of JSON each: a
//! [`ProgramSetup`], then [`StageOrder`]s, which it answers with [`StageReport`]s. They do so
//! over its standard input and output, where a [`StageStart`] comes first; or over TCP, where
//! that names a leader on another machine. After [`StageReport::Done`] the records follow, stage after
//! stage: its activations and then its arrivals, each number in eight bytes, little-endian.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::codec_process::{CodecSetup, CodecTask};
use crate::transport::Topic;

/// How a program with stages begins.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum StageStart {
    /// Who started it leads it.
    Here(ProgramSetup),
    /// Another machine leads it.
    Led(StageLead),
}

/// Who leads a program with stages on this machine.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StageLead {
    /// Where it is.
    pub leader: SocketAddr,
    /// What the program says first to it.
    pub token: String,
    /// What this machine has.
    pub host: StageHost,
}

/// What a machine has for the stages that run on it and another machine leads.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct StageHost {
    /// The codecs, by the names that the leader says.
    pub codecs: BTreeMap<String, CodecSetup>,
    /// A folder for what must not stay.
    pub scratch: PathBuf,
}

/// The stages of a program.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProgramSetup {
    /// [`crate::control::PROTOCOL_VERSION`] of who says it.
    pub version: u32,
    /// Its stages.
    pub stages: Vec<StageSetup>,
}

/// A stage.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StageSetup {
    /// Its name.
    pub name: String,
    /// From activation to activation in nanoseconds; 0 where each sample that comes
    /// activates it.
    pub period: u64,
    /// How long it works on each sample, in nanoseconds of a processor.
    pub work: u64,
    /// Where its samples come from; none of the first stage.
    pub input: Option<LinkSetup>,
    /// Where they go; none of the last stage.
    pub output: Option<LinkSetup>,
}

/// One end of a hop.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LinkSetup {
    /// What carries it.
    pub transport: String,
    /// Where. Its size is set by the stage, to that of the encoded message.
    pub topic: Topic,
    /// The codec, with the message.
    pub codec: CodecSource,
    /// What the codec does at this end.
    pub task: CodecTask,
}

/// A codec with its message.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum CodecSource {
    /// As who leads says, on the same machine.
    Setup(CodecSetup),
    /// The one of this name in [`StageHost::codecs`].
    Named(String),
}

/// When stages are active. A run is some stretches; in each of them the stages have other
/// phases, the first stage takes samples for a while, and the rest is for these to come
/// through.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Schedule {
    /// When the first stretch begins, on this machine's monotonic clock.
    pub epoch: u64,
    /// Length of a stretch in nanoseconds.
    pub stretch: u64,
    /// How long in each the first stage takes samples.
    pub active: u64,
    /// How many stretches there are.
    pub count: u32,
    /// How long after the last one the other stages go on, in nanoseconds: for samples that a
    /// disturbance has held up.
    pub drain: u64,
    /// By name of the stage: from the beginning of each stretch to its first activation.
    pub phases: Vec<(String, Vec<u64>)>,
}

impl Schedule {
    /// When the last stage ends.
    pub fn end(&self) -> u64 {
        self.epoch + u64::from(self.count) * self.stretch + self.drain
    }
}

/// What stages are told.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum StageOrder {
    /// Where the reader of each stage's output is; empty where there is none.
    Connect(Vec<String>),
    /// When they are active.
    Start(Schedule),
    /// What the time of their machine is: when they are ready, and when they are done.
    TellTime,
}

/// What stages say.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum StageReport {
    /// Their readers are open.
    Opened {
        /// What tells the machine's clock from others.
        host: String,
        /// Where, for each stage; empty of the first.
        endpoints: Vec<String>,
    },
    /// Their writers have found the readers.
    Ready,
    /// The time of their machine's monotonic clock, in nanoseconds.
    Time(u64),
    /// They are done.
    Done(Vec<StageCounts>),
    /// They cannot go on.
    Failed(String),
}

/// What a stage counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageCounts {
    /// Activations that took a sample.
    pub activations: usize,
    /// Samples that arrived.
    pub arrivals: usize,
    /// Cycles that passed while it was still at the one before.
    pub missed: u64,
    /// Samples whose content was not what was sent, and samples of others.
    pub damaged: u64,
}

/// An activation that took a sample, in numbers of eight bytes. Times are on the machine's
/// monotonic clock, spans in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Activation {
    /// Sequence of the sample, which the first stage gave.
    pub sequence: u64,
    /// When it was due; 0 where a sample activated it.
    pub due: u64,
    /// When it began.
    pub began: u64,
    /// How long the codec took to decode, as it says; 0 of the first stage.
    pub decode: u64,
    /// When the codec's answer was there.
    pub decoded: u64,
    /// When the work was done.
    pub worked: u64,
    /// How long the codec took to encode, as it says; 0 of the last stage.
    pub encode: u64,
    /// Just before the call that sends; 0 of the last stage.
    pub sent: u64,
}

/// Numbers of an activation.
pub const ACTIVATION_NUMBERS: usize = 8;
/// Numbers of an arrival: sequence and time.
pub const ARRIVAL_NUMBERS: usize = 2;

impl Activation {
    /// Its numbers.
    pub fn to_numbers(self) -> [u64; ACTIVATION_NUMBERS] {
        let Activation { sequence, due, began, decode, decoded, worked, encode, sent } = self;
        [sequence, due, began, decode, decoded, worked, encode, sent]
    }

    /// One of these numbers.
    pub fn from_numbers(numbers: [u64; ACTIVATION_NUMBERS]) -> Activation {
        let [sequence, due, began, decode, decoded, worked, encode, sent] = numbers;
        Activation { sequence, due, began, decode, decoded, worked, encode, sent }
    }
}
