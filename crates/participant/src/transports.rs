//! The transports that need nothing. The others are programs of their own.

pub mod memory;
pub mod tcp;

use crate::transport::Transport;

/// Those that every program has.
pub fn builtin() -> Vec<&'static dyn Transport> {
    vec![&tcp::Tcp, &memory::Memory]
}
