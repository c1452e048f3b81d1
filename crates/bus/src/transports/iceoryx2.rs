//! iceoryx2.

use crate::catalogue::engine::Engine;
use crate::catalogue::{Provider, Reach, TransportEntry};

/// Its program.
pub static ENGINE: Engine = Engine {
    name: "iceoryx2",
    needs: &[],
    advice: &[(
        "SIGBUS",
        "/dev/shm is too small for its shared memory: enlarge it by 'mount -o remount,size=… \
         /dev/shm', in a container by --shm-size, or send smaller samples",
    )],
};

inventory::submit! {
    TransportEntry {
        id: "iceoryx2",
        title: "iceoryx2",
        about: "shared memory, written and read in place",
        carrier: Provider::Engine(&ENGINE),
        options: &[("copy", "none")],
        reach: Reach::Machine,
        drops: false,
        floor: false,
    }
}

inventory::submit! {
    TransportEntry {
        id: "iceoryx2-copy",
        title: "iceoryx2 copy",
        about: "shared memory, copied into and out of",
        carrier: Provider::Engine(&ENGINE),
        options: &[("copy", "both")],
        reach: Reach::Machine,
        drops: false,
        floor: false,
    }
}
