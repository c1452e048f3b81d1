//! MCAP files. Records are taken apart here and not by the library, which reserves memory
//! by the lengths that a file claims and knows no positions to tell; the library writes.

mod channel_table;
pub(crate) mod chunk;
mod chunk_splits;
mod chunk_times;
pub(crate) mod fields;
mod message_count;
mod prefetch;
mod reader;
mod search;
mod single_record;
pub mod summary;
mod truncated;

pub(crate) use chunk_splits::find_splits;
pub(crate) use reader::ChunkInfo;
pub use reader::Reader;
