//! Couples OSMP FMUs as a co-simulation master does, times every step, reads
//! the FMUs' performance logs, and brings it all into the form of a run.
//!
//! FMUs run in a child process ([`host`]), so that one that crashes or hangs
//! is a result. The [`master`] lets the children take turns.

pub mod content;
pub mod coupling;
pub mod description;
pub mod fmi2;
pub mod fmi3;
pub mod host;
pub mod import;
pub mod instance;
pub mod job;
pub mod library;
pub mod log;
pub mod loose;
pub mod master;
pub mod memory;
pub mod message;
pub mod mime;
pub mod osmp;
pub mod package;
pub mod pairing;
pub mod phase;
pub mod place;
pub mod plan;
pub mod record;
pub mod remote;
pub mod samples;
pub mod scratch;
pub mod status;
pub mod tally;
pub mod value;
pub mod watch;
