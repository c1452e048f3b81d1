//! The conducting of a run: its terms, its trials, and the record of what came of
//! it.

pub mod conductor;
pub mod record;
pub mod samples;
mod standstill;
pub mod terms;
pub mod trial;
