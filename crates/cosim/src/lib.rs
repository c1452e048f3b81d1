//! Couples OSMP FMUs as a co-simulation master does, times every step, reads
//! the FMUs' performance logs, and brings it all into the form of a run.
//!
//! FMUs run in a child process ([`host`]), so that one that crashes or hangs
//! is a result. The [`master`] lets the children take turns.

pub mod fmi;
pub mod fmu_feed;
pub mod host;
pub mod logs;
pub mod master;
pub mod metric;
pub mod package;
pub mod recording;
pub mod stepping;
