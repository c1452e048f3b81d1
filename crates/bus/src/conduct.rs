//! The conducting of a run: its trials, and the samples that are kept.

pub mod background;
pub mod conductor;
mod pause_detector;
pub mod samples;
pub mod trial;
