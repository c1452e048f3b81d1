//! The tests that take seconds, as one program: it compiles and links once.

#[path = "../common/mod.rs"]
mod common;

mod field;
mod points;
mod presets;
mod property;
mod reduced;
