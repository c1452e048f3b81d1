//! The tests that take seconds, as one program: it compiles and links once.

#[path = "../common/mod.rs"]
mod common;

mod archives;
mod containers;
mod kinds;
mod osi_index;
mod recordings;
mod repair;
mod rules;
mod splits;
mod traces;
mod txth;
mod writing;
