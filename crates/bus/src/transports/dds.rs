//! Cyclone DDS.

use wiregauge_build_tools::Need;

use crate::catalogue::engine::Engine;
use crate::catalogue::{Provider, Reach, TransportEntry};

/// Its program.
pub static ENGINE: Engine = Engine {
    name: "dds",
    needs: &[
        Need::Program("idlc", "cyclonedds-tools"),
        Need::Header("dds/dds.h", "cyclonedds-dev"),
        Need::Program("cc", "build-essential"),
    ],
    advice: &[],
};

inventory::submit! {
    TransportEntry {
        id: "dds",
        title: "Cyclone DDS",
        about: "Reliable and KeepAll, the distributed default",
        carrier: Provider::Engine(&ENGINE),
        options: &[],
        reach: Reach::Network,
        drops: false,
        floor: false,
    }
}

inventory::submit! {
    TransportEntry {
        id: "dds-memory",
        title: "Cyclone DDS memory",
        about: "KeepLast in iceoryx's shared memory, in place; loses what a reader is too slow for",
        carrier: Provider::Engine(&ENGINE),
        options: &[("way", "memory")],
        reach: Reach::Machine,
        // History is KeepLast, and iceoryx throws away the oldest of a full queue.
        drops: true,
        floor: false,
    }
}

inventory::submit! {
    TransportEntry {
        id: "dds-security",
        title: "Cyclone DDS security",
        about: "Reliable and KeepAll, authenticated and encrypted",
        carrier: Provider::Engine(&ENGINE),
        options: &[("security", "encrypted")],
        reach: Reach::Network,
        drops: false,
        floor: false,
    }
}
