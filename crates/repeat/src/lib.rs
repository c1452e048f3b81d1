//! Published experiments, to be repeated whole beside their figures.
//!
//! One is a file in `src/experiment`. Those of codecs and of FMUs register themselves.

pub mod codec_experiment;
pub mod experiment;
pub mod fmu_experiment;
pub mod publication;
pub mod trace_player;
pub mod weighing;
