//! Measures in interleaved rounds over restarted processes.
//!
//! The engine is [`rounds`]: it gives each contender its turn and takes note of
//! who fails. Who they are is not its concern: [`runners`] are one kind, pairs of
//! FMUs are another. It knows no codec.

pub mod rounds;
pub mod runners;
pub mod schedule;
