//! What a program weighs: the sizes of its sections, the shared libraries that it loads,
//! and the stack and the heap that it takes.
//!
//! Programs are those of `runners/footprint`: they encode or decode one message, and say
//! what that took.

mod measured_program;
mod sections;
mod shared_libraries;

pub use measured_program::{run, Cost, Outcome};
pub use sections::Sections;
pub use shared_libraries::{SharedLibraries, SharedLibrary};
