//! Bags of ROS 1, version 2.0. A bag is a sequence of records, each a header of named
//! fields and data. A chunk is a record whose data are records, perhaps compressed.

mod reader;
mod record;
mod search;

pub use reader::Reader;
pub use record::MAGIC;
