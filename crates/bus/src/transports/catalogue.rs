//! The transports that can be measured: what each is called, which program
//! brings it, and what that program needs.

use anyhow::{bail, Result};

use crate::transports::engine::{Engine, DDS, ICEORYX2, ZENOH};

/// A transport as a row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its key: `zenoh-drop`.
    pub id: &'static str,
    /// Name in tables.
    pub title: &'static str,
    /// What the program calls it: `zenoh`.
    pub transport: &'static str,
    /// What makes it this row and not another of the same transport.
    pub options: &'static [(&'static str, &'static str)],
    /// The program that brings it; none for those that wiregauge has itself.
    pub engine: Option<&'static Engine>,
    /// Whether it drops samples by design, so that a loss is no fault.
    pub drops: bool,
    /// How far it reaches.
    pub reach: Reach,
    /// What it is for, in a line.
    pub about: &'static str,
}

/// How far a transport reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Threads of one process.
    Process,
    /// Processes of one machine.
    Machine,
    /// Machines.
    Network,
}

/// All transports, the floor first.
pub const ALL: [Entry; 7] = [
    Entry {
        id: "tcp",
        title: "TCP",
        transport: "tcp",
        options: &[],
        engine: None,
        drops: false,
        reach: Reach::Network,
        about: "raw sockets, the physical floor: a row in every table",
    },
    Entry {
        id: "memory",
        title: "memory",
        transport: "memory",
        options: &[],
        engine: None,
        drops: false,
        reach: Reach::Process,
        about: "threads of one process, the embedded default",
    },
    Entry {
        id: "dds",
        title: "Cyclone DDS",
        transport: "dds",
        options: &[],
        engine: Some(&DDS),
        drops: false,
        reach: Reach::Network,
        about: "Reliable and KeepAll, the distributed default",
    },
    Entry {
        id: "zenoh",
        title: "zenoh",
        transport: "zenoh",
        options: &[("congestion", "block")],
        engine: Some(&ZENOH),
        drops: false,
        reach: Reach::Network,
        about: "over TCP; waits for a reader that is behind",
    },
    Entry {
        id: "zenoh-drop",
        title: "zenoh Drop",
        transport: "zenoh",
        options: &[("congestion", "drop")],
        engine: Some(&ZENOH),
        drops: true,
        reach: Reach::Network,
        about: "over TCP; drops what a reader that is behind would not get, zenoh's default",
    },
    Entry {
        id: "iceoryx2",
        title: "iceoryx2",
        transport: "iceoryx2",
        options: &[("copy", "none")],
        engine: Some(&ICEORYX2),
        drops: false,
        reach: Reach::Machine,
        about: "shared memory, written and read in place",
    },
    Entry {
        id: "iceoryx2-copy",
        title: "iceoryx2 copy",
        transport: "iceoryx2",
        options: &[("copy", "both")],
        engine: Some(&ICEORYX2),
        drops: false,
        reach: Reach::Machine,
        about: "shared memory, copied into and out of",
    },
];

/// The transports of these names, with the floor; all for none.
///
/// # Errors
/// A name that there is not.
pub fn select(names: &[String]) -> Result<Vec<Entry>> {
    for name in names {
        if !ALL.iter().any(|entry| entry.id == name) {
            let known: Vec<&str> = ALL.iter().map(|entry| entry.id).collect();
            bail!("there is no transport '{name}'; there are {}", known.join(", "));
        }
    }
    let wanted = |entry: &Entry| {
        names.is_empty() || entry.id == "tcp" || names.iter().any(|name| name == entry.id)
    };
    Ok(ALL.into_iter().filter(wanted).collect())
}

/// The transports of these names, with the floor; those that need not be built
/// for none.
///
/// # Errors
/// A name that there is not.
pub fn named(names: &[String]) -> Result<Vec<Entry>> {
    let mut entries = select(names)?;
    if names.is_empty() {
        entries.retain(|entry| entry.engine.is_none());
    }
    Ok(entries)
}
