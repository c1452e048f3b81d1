//! Recordings and trace files: the topics, schemas and messages in them, and what is done
//! with these as they lie there.

mod around;
mod bag;
mod cbor;
pub mod cdr;
pub mod channel;
pub mod check;
mod container;
pub mod copy;
mod decoding;
mod folder;
pub mod info;
mod literal;
pub mod mcap;
pub mod open;
pub mod osi;
mod packed;
pub mod parsed;
mod part;
mod pieces;
pub mod play;
pub mod protobuf;
pub mod read;
pub mod recording;
pub mod rest;
pub mod ros1;
mod scratch;
pub mod select;
mod sequence;
pub mod shown;
pub mod sorting;
pub mod split;
mod sqlite;
pub mod static_data;
mod told;
pub mod topic;
mod txth;
mod unpacking;
pub mod version;
pub mod wire;
pub mod write;

pub use recording::{Lookup, Recording, Sample};
pub use topic::Topic;
