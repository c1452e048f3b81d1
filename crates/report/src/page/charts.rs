//! The charts of the page, one a file.

pub mod course;
pub mod curves;
pub mod phases;
pub mod ranking;
pub mod samples;
