//! A run of FMUs: the project's own as entrants, the measurement that becomes a result, and
//! the recording of what FMUs exchange as a trace file.

pub mod fmu_entrants;
pub mod host;
pub mod measurement;
pub mod recorder;
