//! Recordings: the topics, schemas and messages in trace files.

mod bag;
mod cdr;
mod container;
mod mcap;
mod osi;
mod protobuf;
pub mod recording;
mod ros1;
mod sequence;
mod sqlite;

pub use recording::{Lookup, Recording, Sample, Topic};
