//! What carries samples: which there are, the programs that bring them, and how
//! these are built.

pub mod catalogue;
pub mod engine;
pub mod program;
