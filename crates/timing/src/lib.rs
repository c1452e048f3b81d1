//! What participants of the bus and hosts of FMUs share: the clock, distributions of
//! times, the longest run of misses, the slowest samples with what the machine did
//! meanwhile, what a process uses of its machine, and what a run needs of it: memory,
//! and a folder.
//!
//! It is also linked into the engines, which are built apart. What is called for each
//! sample is `#[inline]`, so that it is no slower than in the crate that calls it.

pub mod allocation;
pub mod clock;
pub mod latency;
pub mod misses;
pub mod scratch;
pub mod slowest;
pub mod threads;
pub mod usage;
