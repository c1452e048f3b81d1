//! A transport as a row of the table, and what brings it.

use std::fmt;

use wiregauge_participant::transport::Transport;

use crate::catalogue::engine::Engine;

/// A transport as a row of the table. Its file submits it with
/// [`inventory::submit!`].
#[derive(Clone, Copy)]
pub struct TransportEntry {
    /// Its key: `zenoh-drop`.
    pub id: &'static str,
    /// Name in tables.
    pub title: &'static str,
    /// What it is for, in a line.
    pub about: &'static str,
    /// What brings it.
    pub carrier: Provider,
    /// What makes it this row and not another of the same transport.
    pub options: &'static [(&'static str, &'static str)],
    /// How far it reaches.
    pub reach: Reach,
    /// Whether it drops samples by design, so that a loss is no fault.
    pub drops: bool,
    /// Whether it is the physical floor: a row in every table.
    pub floor: bool,
}

inventory::collect!(TransportEntry);

/// What brings a transport.
#[derive(Clone, Copy)]
pub enum Provider {
    /// This program.
    BuiltIn(&'static dyn Transport),
    /// A program that is built apart.
    Engine(&'static Engine),
}

/// How far a transport reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// Threads of one process.
    Process,
    /// Processes of one machine.
    Machine,
    /// Machines.
    Network,
}

impl TransportEntry {
    /// What its program calls the transport: `zenoh`.
    pub fn transport(&self) -> &'static str {
        match self.carrier {
            Provider::BuiltIn(transport) => transport.name(),
            Provider::Engine(engine) => engine.name,
        }
    }

    /// The program that brings it; none for those that wiregauge has itself.
    pub fn engine(&self) -> Option<&'static Engine> {
        match self.carrier {
            Provider::BuiltIn(_) => None,
            Provider::Engine(engine) => Some(engine),
        }
    }
}

impl fmt::Debug for TransportEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id)
    }
}
