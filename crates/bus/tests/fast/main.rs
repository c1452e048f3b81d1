//! The tests that take seconds, as one program: it compiles and links once.

mod clock;
mod door;
mod silent_machine;
