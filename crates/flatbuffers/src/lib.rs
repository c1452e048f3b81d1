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

pub use buffer::{Buffer, Table, Vector};
pub use definition::{Definition, Field, FieldCount, FieldKind, Object};
pub use losses::Losses;
pub use number::{Number, Scalar};
pub use pairing::Pairing;
pub use reader::{DEPTH, MAX_REPETITION};
