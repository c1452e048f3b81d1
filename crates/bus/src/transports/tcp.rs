//! Raw TCP: the physical floor.

pub use wiregauge_participant::tcp::Tcp;

use crate::catalogue::{Provider, Reach, TransportEntry};

inventory::submit! {
    TransportEntry {
        id: "tcp",
        title: "TCP",
        about: "raw sockets, the physical floor: a row in every table",
        carrier: Provider::BuiltIn(&Tcp),
        options: &[],
        reach: Reach::Network,
        drops: false,
        floor: true,
    }
}
