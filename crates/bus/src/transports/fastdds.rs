//! Fast DDS.

use wiregauge_build_tools::Need;

use crate::catalogue::engine::Engine;
use crate::catalogue::{Provider, Reach, TransportEntry};

/// Its program.
pub static ENGINE: Engine = Engine {
    name: "fastdds",
    needs: &[
        Need::Header(
            "fastdds/dds/domain/DomainParticipant.hpp",
            "libfastdds-dev (Debian 12: libfastrtps-dev)",
        ),
        Need::Program("c++", "build-essential"),
    ],
    advice: &[(
        "SIGBUS",
        "/dev/shm is too small for its shared memory: enlarge it by 'mount -o remount,size=… \
         /dev/shm', in a container by --shm-size, or send smaller samples",
    )],
};

inventory::submit! {
    TransportEntry {
        id: "fastdds",
        title: "Fast DDS",
        about: "Reliable and KeepAll over UDP",
        carrier: Provider::Engine(&ENGINE),
        options: &[("way", "udp")],
        reach: Reach::Network,
        drops: false,
        floor: false,
    }
}

inventory::submit! {
    TransportEntry {
        id: "fastdds-memory",
        title: "Fast DDS memory",
        about: "Reliable and KeepAll over its shared memory transport",
        carrier: Provider::Engine(&ENGINE),
        options: &[("way", "memory")],
        reach: Reach::Machine,
        drops: false,
        floor: false,
    }
}

inventory::submit! {
    TransportEntry {
        id: "fastdds-sharing",
        title: "Fast DDS sharing",
        about: "Reliable and KeepAll by data sharing, written and read in place",
        carrier: Provider::Engine(&ENGINE),
        options: &[("way", "sharing")],
        reach: Reach::Machine,
        drops: false,
        floor: false,
    }
}

inventory::submit! {
    TransportEntry {
        id: "fastdds-security",
        title: "Fast DDS security",
        about: "Reliable and KeepAll over UDP, authenticated and encrypted",
        carrier: Provider::Engine(&ENGINE),
        options: &[("way", "udp"), ("security", "encrypted")],
        reach: Reach::Network,
        drops: false,
        floor: false,
    }
}
