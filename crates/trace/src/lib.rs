//! Recordings and trace files: the topics, schemas and messages in them, and what is done
//! with these as they lie there.

mod bag;
mod cbor;
pub mod cdr;
pub mod channel;
pub mod check;
mod compressed_file;
mod container;
pub mod copy;
mod decoding;
pub mod extras;
mod file_range;
mod folder;
pub mod info;
mod literal;
pub mod mcap;
mod message_decompressor;
pub mod message_json;
pub mod message_sorter;
pub mod open;
pub mod osi;
pub mod parser;
pub mod play;
pub mod protobuf;
pub mod read;
mod read_log;
mod reader_adapter;
pub mod recording;
pub mod ros1;
mod scratch;
pub mod select;
mod sequence;
mod slice_reader;
pub mod split;
mod sqlite;
pub mod static_data;
pub mod topic;
mod txth;
pub mod version;
pub mod wire;
pub mod write;

pub use recording::{Lookup, Recording, Sample};
pub use topic::Topic;
