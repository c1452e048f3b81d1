//! Traces of OSI as Protobuf's text: for people, and read where it tells for certain where a
//! message ends.

mod field_splitter;
mod reader;

pub use reader::Reader;
