//! zenoh.

use crate::catalogue::engine::Engine;
use crate::catalogue::{Provider, Reach, TransportEntry};

/// Its program.
pub static ENGINE: Engine = Engine { name: "zenoh", needs: &[], advice: &[] };

inventory::submit! {
    TransportEntry {
        id: "zenoh",
        title: "zenoh",
        about: "over TCP; waits for a reader that is behind",
        carrier: Provider::Engine(&ENGINE),
        options: &[("congestion", "block")],
        reach: Reach::Network,
        drops: false,
        floor: false,
    }
}

inventory::submit! {
    TransportEntry {
        id: "zenoh-drop",
        title: "zenoh Drop",
        about: "over TCP; drops samples if a reader is too slow, zenoh's default",
        carrier: Provider::Engine(&ENGINE),
        options: &[("congestion", "drop")],
        reach: Reach::Network,
        drops: true,
        floor: false,
    }
}
