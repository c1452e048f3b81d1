//! The tests that take seconds, as one program: it compiles and links once.

#[path = "../support/mod.rs"]
mod support;

mod architecture;
mod codecs_points;
mod distribution;
mod inputs;
mod installed;
mod packed;
mod ranking;
mod refusals;
mod released;
mod trace;
mod trace_encodings;
mod trace_outputs;
mod tree;
mod versions;
