//! Recordings: the topics, schemas and messages in trace files.

mod cdr;
mod mcap;
mod protobuf;
pub mod recording;
mod ros1;
mod sequence;

pub use recording::{Recording, Sample, Topic};
