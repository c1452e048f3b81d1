//! The Rust side of the runner protocol (docs/runner-protocol.md).
//!
//! A runner is a small program around one codec: it implements [`Codec`] and
//! calls [`serve`]. It keeps no statistics; it does what it is told, so many
//! times, and says how long that took.
//!
//! The shortest one implements [`Plain`] for a message that [`message!`] declares:
//!
//! ```
//! use wiregauge_runner::{message, serve_plain, Error, Message, Plain};
//!
//! message! {
//!     struct Reading { stamp: u64, values: Vec<f32> }
//! }
//!
//! struct Copy;
//!
//! impl Plain for Copy {
//!     type Message = Reading;
//!     const LIBRARY: &'static str = "copy 1";
//!     fn encode(reading: &Reading, out: &mut Vec<u8>) -> Result<(), Error> {
//!         Ok(reading.to_canonical(out))
//!     }
//!     fn decode(wire: &[u8], reading: &mut Reading) -> Result<(), Error> {
//!         Ok(*reading = Reading::from_canonical(wire)?)
//!     }
//! }
//!
//! fn main() -> std::io::Result<()> {
//! #   return Ok(()); // No gauge is there to serve.
//!     serve_plain::<Copy>()
//! }
//! ```

#[cfg(not(feature = "footprint"))]
mod allocations;
mod codec;
#[cfg(feature = "footprint")]
mod footprint;
#[cfg(not(feature = "footprint"))]
mod message_macro;
mod opaque;
#[cfg(not(feature = "footprint"))]
mod plain;
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
pub use plain::{serve_plain, Index, Octets, Plain, Record, Step, Value};
#[cfg(not(feature = "footprint"))]
pub use protocol::serve;
pub use tally::{Digest, Number, Sum, Tally};
