//! Measures what reaches the other side in time: starts the participants of a
//! simulation bus, conducts them through their life cycle, notices when one is
//! lost, and makes `run.json` of what they saw.
//!
//! The participants' own side (clock, samples, transports) is the crate
//! `wiregauge-participant`, which is also linked into the programs that bring
//! the heavier transports ([`engine`]).

pub mod agent;
pub mod assembly;
pub mod catalogue;
pub mod conductor;
pub mod course;
pub mod cyclictest;
pub mod door;
pub mod emulation;
pub mod engine;
pub mod fan_out;
pub mod fep;
pub mod headroom;
pub mod load;
pub mod message;
pub mod process;
pub mod program;
pub mod quantity;
pub mod quest;
pub mod record;
pub mod remote;
pub mod result;
pub mod samples;
pub mod scenario;
pub mod secret;
pub mod site;
mod standstill;
pub mod terms;
pub mod trial;
pub mod verdict;
pub mod windows;
