//! Traces of OSI: the messages of one type, each after its length. Which type it is stands
//! in the file's name alone: `20210818T150542Z_sv_380_32112_1523_highway.osi`.

pub mod index;
pub mod indexing;
mod name;
mod reader;
mod search;
pub mod stamp;
mod topics;
mod types;

pub use name::Name;
pub use reader::Reader;
pub use stamp::Stamp;
pub(crate) use topics::{topic, topics};
pub use types::{code_of, nameless, type_called, type_of_code, TYPES};
