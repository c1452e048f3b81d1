//! What tests share: [`golden`] files, [`prerequisites`] that not every machine has,
//! and [`seeds`] of random tests.

pub mod golden;
pub mod prerequisites;
pub mod seeds;
