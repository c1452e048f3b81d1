//! The Rust side of the runner protocol (docs/runner-protocol.md).
//!
//! A runner is a small program around one codec: it implements [`Codec`] and
//! calls [`serve`]. It keeps no statistics; it does what it is told, so many
//! times, and says how long that took.

#[cfg(not(feature = "footprint"))]
mod allocations;
mod codec;
#[cfg(feature = "footprint")]
mod footprint;
mod opaque;
#[cfg(not(feature = "footprint"))]
mod protocol;
mod tally;
#[cfg(not(feature = "footprint"))]
mod timing;

#[cfg(feature = "footprint")]
pub use footprint::{serve, serve_without};

pub use codec::{Codec, Direct, Error, Hello, Message};
pub use opaque::{Memcpy, Noop, Opaque};
#[cfg(not(feature = "footprint"))]
pub use protocol::serve;
pub use tally::{Digest, Number, Sum, Tally};
