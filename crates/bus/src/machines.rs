//! Other machines: how they join the one that leads, what both say to each other,
//! and what a participant of theirs runs in.

pub mod agent;
pub mod cyclictest;
pub mod join_listener;
#[cfg(feature = "clap")]
pub mod meeting_args;
pub mod message;
pub mod party;
pub mod remote;
pub mod rendezvous;
