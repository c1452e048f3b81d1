//! The sample log of a run, of the bus or of a co-simulation: every sample in a
//! file of rows, the longest run of misses, and the slowest with what the machine
//! did then.

pub mod row_file;
mod summary;

pub use summary::{describe_misses, miss_facts, slow_sample};
