//! What becomes of messages that something cannot be done with.

use clap::ValueEnum;

/// As the user wants it.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ErrorPolicy {
    /// It is an error, and nothing is written.
    Stop,
    /// It is left out; how many there were is told.
    Skip,
}
