//! ASAM OSI: its types from the official package, the FlatBuffers definitions
//! made from them, and the FMUs that exchange them.

pub mod descriptors;
pub mod flatbuffers;
pub mod fmus;
pub mod python;

/// The version of OSI that everything here is made from.
pub const VERSION: &str = "3.8.0";
