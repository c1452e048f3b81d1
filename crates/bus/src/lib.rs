//! Measures what reaches the other side in time: starts the participants of a
//! simulation bus, conducts them through their life cycle, notices when one is
//! lost, and makes `run.json` of what they saw.
//!
//! The participants' own side (clocks, samples, transports) is the crate
//! `wiregauge-participant`, which is also linked into the programs that bring
//! the heavier transports ([`catalogue::engine`]).

pub mod background;
pub mod catalogue;
pub mod conduct;
pub mod launcher;
pub mod link_rate;
pub mod load;
pub mod machines;
pub mod placement;
pub mod record;
pub mod relay;
pub mod result;
pub mod run_settings;
pub mod scenario;
pub mod search;
pub mod secret;
pub mod series;
pub mod toml_file;
pub mod transports;
