//! MCAP files. Records are taken apart here and not by the library, which reserves memory
//! by the lengths that a file claims and knows no positions to tell; the library writes.

mod ahead;
pub(crate) mod chunk;
pub(crate) mod fields;
mod hop;
mod known;
mod reader;
mod search;
pub mod summary;
mod times;

pub use reader::Reader;
pub(crate) use reader::SeenChunk;
