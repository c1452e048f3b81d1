//! The published experiments by name: their cases and their figures.

pub mod pedestrian;
pub mod persival;
pub mod polysync;
pub mod rsb;
