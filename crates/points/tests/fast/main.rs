//! The tests that take seconds, as one program: it compiles and links once.

#[path = "../support/mod.rs"]
mod support;

mod clouds;
mod files;
mod foxglove;
mod packed_columns;
mod point_files;
mod points;
