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
    /// In which functions, the costliest first. Together they have the totals.
    pub functions: Vec<FunctionCounts>,
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
