//! What the formats of Java runners have in common.

pub mod accumulator;
pub mod base_codec;
pub mod glue;
pub mod jackson;
pub mod message;
pub mod number;
pub mod objects;
pub mod plain_objects;
