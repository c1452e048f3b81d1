//! A run of codecs: the message and its values, the codecs that take part, the libraries
//! that they are built with, and the measurement that becomes a result.
//!
//! Points that are made small are measured in the same way.

pub mod bundled_rows;
pub mod codec_selection;
pub mod compared_rows;
pub mod definitions;
pub mod effort;
pub mod explained_rows;
pub mod footprint;
pub mod format_answers;
pub mod installed_libraries;
pub mod installed_program;
pub mod libraries;
pub mod measurement;
pub mod message_selection;
pub mod older_rows;
pub mod point_entrants;
pub mod point_measurement;
pub mod row_options;
pub mod row_plan;
pub mod row_selection;
pub mod runner_copies;
pub mod tools;
pub mod workload;
