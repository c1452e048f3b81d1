//! A run of FMUs: the project's own as entrants and as files, the measurement that becomes a result, logs
//! that become one, and the recording of what FMUs exchange as a trace file.

pub mod fmu_entrants;
pub mod fmu_files;
pub mod fmu_setting;
pub mod host;
pub mod import;
pub mod measurement;
pub mod recorder;
