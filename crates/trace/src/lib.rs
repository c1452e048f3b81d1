//! Recordings: the topics, schemas and messages in trace files.

mod bag;
pub mod cdr;
mod container;
mod mcap;
mod osi;
pub mod protobuf;
pub mod recording;
pub mod ros1;
mod sequence;
mod sqlite;
pub mod topic;

pub use recording::{Lookup, Recording, Sample};
pub use topic::Topic;
