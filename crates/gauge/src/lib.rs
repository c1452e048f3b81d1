//! Drives runners, samples them in interleaved rounds, proves them right
//! before timing, and writes `run.json`. It knows no codec.

pub mod check;
pub mod compress;
pub mod corrupt;
pub mod doctor;
pub mod environment;
pub mod evidence;
pub mod file;
pub mod input;
pub mod interrupt;
pub mod judge;
pub mod measure;
pub mod plan;
pub mod process;
pub mod random;
pub mod reply;
pub mod requirement;
pub mod robustness;
pub mod row_file;
pub mod run;
pub mod runner;
pub mod schedule;
pub mod stats;
pub mod text;
pub mod warning;
