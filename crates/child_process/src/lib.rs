//! Child processes: a program is started, asked, and answers by a deadline,
//! whatever it does; nothing of it outlives us.
//!
//! [`child`] is any such program, [`runner`] one that speaks the runner protocol
//! (docs/runner-protocol.md).

pub mod child;
pub mod reply;
pub mod runner;
