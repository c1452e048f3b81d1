//! SIL Kit.

use crate::catalogue::engine::Engine;
use crate::catalogue::{Provider, Reach, TransportEntry};

/// Its program.
pub static ENGINE: Engine = Engine { name: "silkit", needs: &[], advice: &[] };

inventory::submit! {
    TransportEntry {
        id: "silkit",
        title: "SIL Kit",
        about: "over TCP; its library by --option silkit.library=PATH",
        carrier: Provider::Engine(&ENGINE),
        options: &[("way", "tcp")],
        reach: Reach::Machine,
        drops: false,
        floor: false,
    }
}

inventory::submit! {
    TransportEntry {
        id: "silkit-local",
        title: "SIL Kit local",
        about: "over domain sockets, its way within a machine",
        carrier: Provider::Engine(&ENGINE),
        options: &[("way", "local")],
        reach: Reach::Machine,
        drops: false,
        floor: false,
    }
}
