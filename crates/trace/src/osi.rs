//! Traces of OSI: the messages of one type, each after its length. Which type it is stands
//! in the file's name alone: `20210818T150542Z_sv_380_32112_1523_highway.osi`.

mod file_name;
pub mod index;
pub mod index_writer;
mod length_splits;
mod osi_topics;
mod reader;
mod search;
pub mod stamp;
mod types;

pub use file_name::OsiFileName;
pub(crate) use length_splits::find_splits;
pub(crate) use osi_topics::{topic, topics};
pub use reader::Reader;
pub use stamp::Stamp;
pub use types::{find_type, missing_type_message, type_code, type_from_code, TYPES};
