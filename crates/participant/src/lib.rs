//! A participant of a simulation bus: it sends or receives samples over a transport, keeps a
//! common time with the others ([`clock_alignment`]), and counts what is lost, damaged or late.
//! A program that adds a transport links this crate, implements [`transport::Transport`] and
//! calls [`participant::main`].
//!
//! Every sample has its own sequence number and content, so that the receiver can check it:
//!
//! ```
//! use wiregauge_participant::sample::{write_header, Header, SampleContent, SampleError};
//!
//! let content = SampleContent::generated(500, 1, 1000);
//! let mut sample = vec![0; content.size];
//! let header = Header { sequence: 7, time: 123_000 }; // ns since the run's epoch
//! content.fill(&mut sample, header.sequence);
//! write_header(&mut sample, header);
//! assert_eq!(content.check(&sample, 150_000), Ok(header));
//!
//! sample[100] ^= 1;
//! assert_eq!(content.check(&sample, 150_000), Err(SampleError::Damaged));
//! ```
//!
//! A conductor leads participants over the control channel ([`control`]) through the states
//! *loaded*, *initialized*, *running* and *stopped* ([`participant`]). [`sender`] and
//! [`receiver`] send and count the samples. A [`stage`] of a chain does both.

pub mod clock_alignment;
pub mod codec_process;
pub mod connect;
pub mod control;
pub mod daemon;
pub mod dds_certificates;
pub mod dds_options;
pub mod discovery;
pub mod echo;
pub mod greeting;
pub mod inbox;
pub mod lockstep;
pub mod participant;
pub mod progress;
pub mod realtime;
pub mod receiver;
pub mod run_context;
pub mod sample;
pub mod sample_room;
pub mod sample_taker;
pub mod sample_times;
pub mod seal;
pub mod sender;
pub mod sequence;
pub mod shared_memory;
pub mod stage;
pub mod stderr;
pub mod stream;
pub mod tcp;
pub mod token;
pub mod topics;
pub mod transport;
pub mod wake_up;
pub mod window;
