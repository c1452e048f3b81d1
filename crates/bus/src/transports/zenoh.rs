//! zenoh.

use crate::catalogue::engine::Engine;
use crate::catalogue::{Provider, Reach, TransportEntry};

/// Its program.
pub static ENGINE: Engine = Engine {
    name: "zenoh",
    needs: &[],
    advice: &[(
        "Unable to create POSIX shm segment",
        "zenoh locks its shared memory: raise 'ulimit -l', and see that /dev/shm has room",
    )],
};

inventory::submit! {
    TransportEntry {
        id: "zenoh",
        title: "zenoh",
        about: "over TCP; waits for a reader that is behind",
        carrier: Provider::Engine(&ENGINE),
        options: &[("way", "tcp"), ("congestion", "block")],
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
        options: &[("way", "tcp"), ("congestion", "drop")],
        reach: Reach::Network,
        drops: true,
        floor: false,
    }
}

inventory::submit! {
    TransportEntry {
        id: "zenoh-memory",
        title: "zenoh memory",
        about: "over its shared memory (unstable), written and read in place",
        carrier: Provider::Engine(&ENGINE),
        options: &[("way", "memory"), ("congestion", "block")],
        reach: Reach::Machine,
        drops: false,
        floor: false,
    }
}
