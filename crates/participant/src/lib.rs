//! A participant of a simulation bus: a program, or a thread of one, that
//! sends or receives samples over a transport and keeps a common time
//! ([`clock_alignment`]).
//!
//! It does what the conductor tells it over the control channel ([`control`])
//! and goes through the states *loaded*, *initialized*, *running* and
//! *stopped* ([`participant`]). What it sends and counts is in [`sender`] and
//! [`receiver`]; what carries the samples is behind one narrow trait
//! ([`transport`]). Programs that bring a heavier transport link this crate
//! and call [`participant::main`].

pub mod clock_alignment;
pub mod codec_process;
pub mod connect;
pub mod control;
pub mod echo;
pub mod inbox;
pub mod lockstep;
pub mod participant;
pub mod progress;
pub mod realtime;
pub mod receiver;
pub mod run_context;
pub mod sample;
pub mod sample_times;
pub mod seal;
pub mod sender;
pub mod sequence;
pub mod stream;
pub mod token;
pub mod transport;
pub mod wake_up;
pub mod window;
