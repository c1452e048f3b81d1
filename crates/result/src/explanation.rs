//! Why a row takes what it takes: what was counted for a message, function by function.

use serde::{Deserialize, Serialize};

/// What a subject takes for an experiment or a phase of it, in the mean of all messages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Explanation {
    /// [`Case::id`](crate::run::Case::id).
    pub case: String,
    /// [`Subject::id`](crate::run::Subject::id).
    pub subject: String,
    /// The experiment or the phase: `encode`, `encode/write`.
    pub metric: String,
    /// What is counted, in the order of all counts here: `instructions`, `branches`.
    pub events: Vec<String>,
    /// What was counted in all, for a message.
    pub totals: Vec<f64>,
    /// What is copied and allocated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryUse>,
    /// Reads of what was written just before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store_reads: Option<StoreReads>,
    /// In which functions, the costliest first. Together they have the totals.
    pub functions: Vec<FunctionCounts>,
    /// Lines of sources that execute most, the costliest first; none where no program tells
    /// them. What they lack of the totals was executed in other lines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<LineCounts>,
}

/// What is copied and allocated for a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MemoryUse {
    /// Allocations; a block that grows is one more.
    pub allocations: f64,
    /// Bytes that are asked for by them.
    pub allocated: f64,
    /// Calls of memcpy and memmove, and blocks that are moved as they grow.
    pub copies: f64,
    /// Bytes that these copy.
    pub copied: f64,
}

/// Reads, for a message, of what the 64 instructions before have written: processors answer them
/// from their queue of writes, or let them wait until the cache has what was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StoreReads {
    /// One write holds all that is read: some cycles.
    pub forwarded: f64,
    /// The youngest write to the same bytes does not: ten cycles and more.
    pub blocked: f64,
}

/// A function, without what it calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FunctionCounts {
    /// As it is written in its language, as far as that is known; else [`UNNAMED`].
    pub name: String,
    /// The file that it is in: `libc.so.6`.
    pub object: String,
    /// What it is for: `copying`.
    pub work: String,
    /// How often it is called for a message.
    pub calls: f64,
    /// What is counted in it, for a message.
    pub counts: Vec<f64>,
}

/// A line of a source; of a function whose lines are not known, all of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LineCounts {
    /// The function that it was compiled into.
    pub function: String,
    /// What its source is called: `prost-0.14.4/src/encoding.rs`; empty where it is not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// Its number, from 1; 0 where it is not known.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub number: u32,
    /// What it says; empty where the source is not there.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// Instructions that are executed of it for a message.
    pub instructions: f64,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl Explanation {
    /// The place of an event in all counts.
    pub fn place(&self, event: &str) -> Option<usize> {
        self.events.iter().position(|name| name == event)
    }

    /// What was counted of an event in all; none where it was not counted.
    pub fn total(&self, event: &str) -> Option<f64> {
        self.totals.get(self.place(event)?).copied()
    }
}

/// What the code of a file is called that no symbol names, as in a library without its own.
pub const UNNAMED: &str = "(without a name)";

/// What instructions are called among the events.
pub const INSTRUCTIONS: &str = "instructions";
