//! Recordings and trace files: MCAP, ROS 1 bags, ROS 2 bags and OSI traces. The crate reads
//! their channels, definitions and messages, and selects, copies, checks and repairs them.
//!
//! ```
//! use wiregauge_trace::open::{open, OpenHints};
//!
//! // An OSI trace has each message after its length. The name says that these are
//! // SensorViews. This message has a time stamp of 1 s and 2 ns.
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("drive_sv.osi");
//! let message = [0x12, 4, 0x08, 1, 0x10, 2];
//! std::fs::write(&path, [&[6, 0, 0, 0], &message[..]].concat())?;
//!
//! let mut reader = open(&path, &OpenHints::default())?;
//! let info = reader.next()?.expect("one message");
//! assert_eq!(reader.channels()[&info.channel].definition.name, "osi3.SensorView");
//! assert_eq!(info.time, Some(1_000_000_002));
//! assert_eq!(reader.data()?, message);
//! # Ok::<(), anyhow::Error>(())
//! ```

mod bag;
mod cbor;
pub mod cdr;
pub mod channel;
pub mod check;
mod compressed_file;
mod container;
pub mod copy;
pub mod decoding;
pub mod extras;
mod file_range;
mod folder;
pub mod info;
pub mod input_splits;
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
mod protobuf_json;
pub mod read;
mod read_log;
mod reader_adapter;
pub mod recording;
pub mod remote_file;
mod remote_reader;
pub mod ros1;
mod scratch;
pub mod select;
mod sequence;
pub mod shared_bytes;
mod slice_reader;
pub mod split;
pub mod split_finder;
mod sqlite;
pub mod static_data;
pub mod topic;
mod txth;
pub mod version;
pub mod wire;
pub mod write;

pub use recording::{Lookup, Recording, Sample};
pub use topic::Topic;
