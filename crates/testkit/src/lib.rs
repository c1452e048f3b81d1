//! What tests share: [`golden`] files, [`prerequisites`] that not every machine has,
//! [`seeds`] of random tests, and tests in a process of their own ([`own_process`]).

pub mod golden;
pub mod own_process;
pub mod prerequisites;
pub mod seeds;
