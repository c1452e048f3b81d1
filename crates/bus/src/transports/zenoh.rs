//! zenoh.

use crate::catalogue::engine::Engine;
use crate::catalogue::{Carrier, Entry, Reach};

/// Its program.
pub static ENGINE: Engine = Engine { name: "zenoh", needs: &[], advice: &[] };

inventory::submit! {
    Entry {
        id: "zenoh",
        title: "zenoh",
        about: "over TCP; waits for a reader that is behind",
        carrier: Carrier::Engine(&ENGINE),
        options: &[("congestion", "block")],
        reach: Reach::Network,
        drops: false,
        floor: false,
    }
}

inventory::submit! {
    Entry {
        id: "zenoh-drop",
        title: "zenoh Drop",
        about: "over TCP; drops what a reader that is behind would not get, zenoh's default",
        carrier: Carrier::Engine(&ENGINE),
        options: &[("congestion", "drop")],
        reach: Reach::Network,
        drops: true,
        floor: false,
    }
}
