//! What the formats of Python runners have in common.

pub mod glue;
pub mod message;
pub mod msgspec;
pub mod negative_zero;
pub mod ros_objects;
pub mod tree;
