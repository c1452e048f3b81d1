//! What formats have in common within one language of runners.
//!
//! A format uses what is here; nothing here knows of a format.

pub mod cpp;
pub mod java;
pub mod python;
pub mod rust;
