//! The published experiments by name: their cases and their figures.

pub mod polysync;
pub mod rsb;
