//! How many instructions a program executes, exactly and again and again the same.
//!
//! A runner reads the clock before and after its timed loop. Valgrind's callgrind executes
//! the runner on a processor of its own and writes down what it counted whenever the runner
//! reads the clock, so the numbers are those of the loop alone. The runner needs nothing for
//! it: one in any language can be counted. Qemu does the same for other architectures.
//!
//! Instructions are no times. They leave out what waits: caches, branches, memory.

//!
//! What was counted is also told by function and by line ([`profile`]), and by the kind of its work ([`work`]).

mod callgrind;
mod count;
mod counter;
mod dump;
mod emulator;
mod environment;
pub mod memory;
pub mod profile;
pub mod source;
pub mod store_reads;
pub mod work;

pub use callgrind::{Callgrind, CACHES};
pub use count::{Count, Counted};
pub use counter::Counter;
pub use emulator::Emulator;
