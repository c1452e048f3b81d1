//! What a program that carries a trace and who started it say to each other, over its
//! standard input and output. First a line of JSON, a [`Setup`]; the program answers with
//! lines, each a [`StreamReport`]. A player then takes records, and a listener gives them: a time in
//! eight bytes, a size in four, a mark in four, all little-endian, and so many bytes.

use serde::{Deserialize, Serialize};

use crate::control::Role;
use crate::transport::Topic;
use wiregauge_timing::latency::Distribution;

/// Length of what comes before the bytes of a record.
pub const RECORD_HEADER_SIZE: usize = 16;
/// The mark of a record with a frame.
pub const FRAME: u32 = 0;
/// The mark of a record that says why there will be no more.
pub const FAILURE: u32 = 1;
/// Longest line.
pub const MAX_LINE: usize = 1 << 20;

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Setup {
    /// [`crate::control::PROTOCOL_VERSION`] of who says it.
    pub version: u32,
    /// A sender plays, a receiver listens.
    pub role: Role,
    /// What carries it.
    pub transport: String,
    /// Where.
    pub topic: Topic,
    /// Where the readers are, as they said.
    pub endpoints: Vec<String>,
    /// How long a player waits for its readers, in nanoseconds.
    pub wait: u64,
    /// The number of a player's stream.
    pub stream: u64,
}

/// What the program says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum StreamReport {
    /// A listener listens, and where, if its transport tells.
    Open(String),
    /// A player has found its readers, so many.
    Ready(usize),
    /// A player is done.
    Sent(PlayResult),
    /// It cannot go on.
    Failed(String),
}

/// What was played.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlayResult {
    /// Messages.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
    /// By how much they were late when they were handed to the transport.
    pub late: Distribution,
    /// Readers that were still there at last, and may not have everything.
    pub left: usize,
}

/// What comes before the bytes of a record.
pub fn record_header(time: u64, size: usize, mark: u32) -> [u8; RECORD_HEADER_SIZE] {
    let mut head = [0; RECORD_HEADER_SIZE];
    head[..8].copy_from_slice(&time.to_le_bytes());
    head[8..12].copy_from_slice(&(size as u32).to_le_bytes());
    head[12..].copy_from_slice(&mark.to_le_bytes());
    head
}

/// The time, the size and the mark of a record.
pub fn parse_record_header(head: &[u8; RECORD_HEADER_SIZE]) -> (u64, usize, u32) {
    let word = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().expect("four bytes"));
    let time = u64::from_le_bytes(head[..8].try_into().expect("eight bytes"));
    (time, word(8) as usize, word(12))
}
