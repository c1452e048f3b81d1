//! The transports that can be measured. Each registers itself, in a file of
//! `transports/`.

pub mod engine;
pub mod program;
mod transport_entry;
pub mod variant;

use std::cmp::Reverse;

use anyhow::{bail, Result};
use wiregauge_participant::transport::Transport;

use crate::catalogue::engine::Engine;
pub use crate::catalogue::transport_entry::{Provider, Reach, TransportEntry};
use crate::catalogue::variant::base_name;

/// All transports: the floor, those that need nothing, and among these and the
/// others first those that reach farthest.
pub fn all() -> Vec<TransportEntry> {
    let mut all: Vec<TransportEntry> = inventory::iter::<TransportEntry>().copied().collect();
    all.sort_by_key(|entry| {
        (!entry.floor, entry.engine().is_some(), Reverse(entry.reach), entry.id)
    });
    all
}

/// The transports of these names, with the floor; all for none. A name may have options behind
/// it, `dds:history=1`, and is a row of its own then.
///
/// # Errors
/// A name that there is not, or an option that is none.
pub fn select(names: &[String]) -> Result<Vec<TransportEntry>> {
    let all = all();
    for name in names.iter().map(|name| base_name(name)) {
        if !all.iter().any(|entry| entry.id == name) {
            let known: Vec<&str> = all.iter().map(|entry| entry.id).collect();
            bail!("unknown transport '{name}'; choose from {}", known.join(", "));
        }
    }
    let mut selected: Vec<TransportEntry> = Vec::new();
    for entry in all {
        let own = names.iter().filter(|name| base_name(name) == entry.id);
        let mut rows = own.map(|name| entry.variant(name)).collect::<Result<Vec<_>>>()?;
        if names.is_empty() || entry.floor {
            rows.push(entry);
        }
        // The plain one first.
        rows.sort_by_key(|row| row.id != entry.id);
        for row in rows {
            if selected.iter().all(|known| known.id != row.id) {
                selected.push(row);
            }
        }
    }
    Ok(selected)
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
