//! Bags of ROS 2 in SQLite (`.db3`). Those of Iron and later carry the
//! definitions of their messages; older ones do not.

mod database;
mod reader;

pub use reader::Reader;
