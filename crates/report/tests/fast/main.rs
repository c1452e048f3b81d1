//! The tests that take seconds, as one program: it compiles and links once.

#[path = "../common/mod.rs"]
mod common;

mod browser;
mod hostile;
mod models;
mod ranking;
mod schema;
mod text;
