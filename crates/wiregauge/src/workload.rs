//! Where programs are built, and where definitions and messages come from.

pub use wiregauge_build_tools::default_build_folder as build_folder;
pub use wiregauge_codec_run::workload::{definition_lookup, Workload};
