//! The transports that can be measured. Each registers itself, in a file of
//! `transports/`.

pub mod engine;
pub mod program;

use std::cmp::Reverse;
use std::fmt;

use anyhow::{bail, Result};
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

/// All transports: the floor, those that need nothing, and among these and the
/// others first those that reach farthest.
pub fn all() -> Vec<TransportEntry> {
    let mut all: Vec<TransportEntry> = inventory::iter::<TransportEntry>().copied().collect();
    all.sort_by_key(|entry| {
        (!entry.floor, entry.engine().is_some(), Reverse(entry.reach), entry.id)
    });
    all
}

/// The transports of these names, with the floor; all for none.
///
/// # Errors
/// A name that there is not.
pub fn select(names: &[String]) -> Result<Vec<TransportEntry>> {
    let mut all = all();
    for name in names {
        if !all.iter().any(|entry| entry.id == name) {
            let known: Vec<&str> = all.iter().map(|entry| entry.id).collect();
            bail!("unknown transport '{name}'; choose from {}", known.join(", "));
        }
    }
    all.retain(|entry| {
        names.is_empty() || entry.floor || names.iter().any(|name| name == entry.id)
    });
    Ok(all)
}

/// The transports of these names, with the floor; those that need not be built
/// for none.
///
/// # Errors
/// A name that there is not.
pub fn select_or_built_in(names: &[String]) -> Result<Vec<TransportEntry>> {
    let mut entries = select(names)?;
    if names.is_empty() {
        entries.retain(|entry| entry.engine().is_none());
    }
    Ok(entries)
}

/// The transports that this program has itself.
pub fn built_in() -> Vec<&'static dyn Transport> {
    let own = |entry: TransportEntry| match entry.carrier {
        Provider::BuiltIn(transport) => Some(transport),
        Provider::Engine(_) => None,
    };
    all().into_iter().filter_map(own).collect()
}

/// The programs that are built apart.
pub fn engines() -> Vec<&'static Engine> {
    let mut engines: Vec<&Engine> = all().iter().filter_map(TransportEntry::engine).collect();
    engines.sort_by_key(|engine| engine.name);
    engines.dedup_by_key(|engine| engine.name);
    engines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_floor_comes_first_and_then_what_needs_nothing() {
        let known = ["tcp", "memory", "dds", "zenoh", "zenoh-drop", "iceoryx2", "iceoryx2-copy"];
        let mut ids: Vec<&str> = all().iter().map(|entry| entry.id).collect();
        ids.retain(|id| known.contains(id));
        assert_eq!(ids, known);
        let floors: Vec<bool> = all().iter().map(|entry| entry.floor).collect();
        assert!(floors[0] && !floors[1..].contains(&true));
    }

    #[test]
    fn no_two_have_one_key_or_program() {
        let mut ids: Vec<&str> = all().iter().map(|entry| entry.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), all().len());
        let names: Vec<&str> = engines().iter().map(|engine| engine.name).collect();
        assert!(names.is_sorted_by(|a, b| a < b) && names.contains(&"zenoh"), "{names:?}");
    }

    #[test]
    fn the_floor_takes_part_unasked() {
        let ids =
            |entries: Vec<TransportEntry>| entries.iter().map(|entry| entry.id).collect::<Vec<_>>();
        assert!(select_or_built_in(&[]).unwrap().iter().all(|entry| entry.engine().is_none()));
        assert_eq!(ids(select_or_built_in(&["zenoh".into()]).unwrap()), ["tcp", "zenoh"]);
        let error = select(&["pigeon".into()]).err().unwrap().to_string();
        assert!(error.contains("'pigeon'; choose from tcp, memory,"), "{error}");
    }
}
