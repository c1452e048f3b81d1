//! From the record of a run to the figures of a result.

pub mod cell;
pub mod course;
pub mod fan_out;
pub mod windows;
