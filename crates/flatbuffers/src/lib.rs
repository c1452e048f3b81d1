//! Messages in FlatBuffers by the definition that a recording carries (a `.bfbs`), to
//! Protobuf and back. Fields of the two belong together by their names.

mod buffer;
mod builder;
pub mod convert;
mod definition;
pub mod json;
mod losses;
mod number;
mod pairing;
mod reader;
mod writer;

pub use definition::Definition;
pub use losses::Losses;
pub use pairing::Pairing;
