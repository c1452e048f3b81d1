//! How many instructions a program executes, exactly and again and again the same.
//!
//! A runner reads the clock before and after its timed loop. Valgrind's callgrind executes
//! the runner on a processor of its own and writes down what it counted whenever the runner
//! reads the clock, so the numbers are those of the loop alone. The runner needs nothing for
//! it: one in any language can be counted.
//!
//! Instructions are no times. They leave out what waits: caches, branches, memory.

mod callgrind;
mod dump;

pub use callgrind::{Callgrind, Count, Counted};
