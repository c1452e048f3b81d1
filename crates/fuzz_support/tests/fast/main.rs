//! The tests that take seconds, as one program: it compiles and links once.

mod generated_holders;
mod readers;
