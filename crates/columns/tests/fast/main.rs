//! The tests that take seconds, as one program: it compiles and links once.

#[path = "../support/mod.rs"]
mod support;

mod damage;
mod flatbuffers;
mod recordings;
mod row_groups;
mod values;
