//! The conducting of a run: its terms, its trials, and the record of what came of
//! it.

pub mod conductor;
mod pause_detector;
pub mod record;
pub mod run_settings;
pub mod samples;
pub mod trial;
