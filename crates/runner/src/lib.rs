//! The Rust side of the runner protocol (docs/runner-protocol.md).
//!
//! A runner is a small program around one codec: it implements [`Codec`] and
//! calls [`serve`]. It keeps no statistics; it does what it is told, so many
//! times, and says how long that took.

mod allocations;
mod codec;
mod opaque;
mod protocol;
mod tally;
mod timing;

pub use codec::{Codec, Direct, Error, Hello, Message};
pub use opaque::{Memcpy, Noop, Opaque};
pub use protocol::serve;
pub use tally::{Digest, Number, Sum, Tally};
