//! The tests that take seconds, as one program: it compiles and links once.

#[path = "../zoo/mod.rs"]
mod zoo;

mod golden;
mod origin;
mod rejections;
mod safety;
