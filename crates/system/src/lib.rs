//! What every part asks of the operating system: files that are read within
//! bounds and written whole or not at all, Ctrl-C, and words of others made
//! safe to show.

pub mod file;
pub mod group;
pub mod input;
pub mod interrupt;
pub mod text;
