//! Drives runners, samples them in interleaved rounds, proves them right
//! before timing, and writes `run.json`. It knows no codec.

pub mod corrupt;
pub mod doctor;
pub mod environment;
pub mod file;
pub mod interrupt;
pub mod process;
pub mod run;
pub mod stats;
pub mod warning;
