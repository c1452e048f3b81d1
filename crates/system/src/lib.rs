//! What every part asks of the operating system: files that are read within
//! bounds and written whole or not at all, Ctrl-C, words of others made safe to
//! show, sizes and times as people write them, and what the user is told and shown.

pub mod file;
pub mod group;
pub mod input;
pub mod interrupt;
pub mod memory;
pub mod notice;
pub mod output;
pub mod progress;
pub mod quantity;
pub mod text;
