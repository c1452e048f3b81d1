//! The one result form, `run.json`, and what can be said of a result: its
//! statistics, what speaks against its figures, and whether it meets what is
//! required. Nothing here measures.

pub mod cautions;
pub mod doctor;
pub mod environment;
pub mod random;
pub mod requirement;
pub mod run;
pub mod run_builder;
pub mod run_kind;
pub mod stats;
pub mod verdict;
pub mod warning;
