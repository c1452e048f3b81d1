//! What the formats of Rust runners have in common.

pub mod derived;
pub mod glue;
pub mod locked_crate;
pub mod partial_struct;
