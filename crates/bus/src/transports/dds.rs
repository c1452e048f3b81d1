//! Cyclone DDS.

use wiregauge_workshop::Need;

use crate::catalogue::engine::Engine;
use crate::catalogue::{Carrier, Entry, Reach};

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
    Entry {
        id: "dds",
        title: "Cyclone DDS",
        about: "Reliable and KeepAll, the distributed default",
        carrier: Carrier::Engine(&ENGINE),
        options: &[],
        reach: Reach::Network,
        drops: false,
        floor: false,
    }
}
