//! The machines that measure something together: what they must agree on.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use anyhow::anyhow;
use serde::Deserialize;

use crate::toml_file::{ErrorChain, Words};

/// The port at which a leader waits for the others unless `listen` says another: below the
/// ports of DDS, which begin at 7400.
pub const PORT: u16 = 7300;

/// What the machines that measure something together agree on.
#[derive(Clone, Debug)]
pub struct Party {
    /// What the file is that they share, in a word.
    pub file: &'static str,
    /// All that runs on them, by name and rank. The machine of the first leads.
    pub names: Vec<String>,
    /// What is measured, by key: machines whose content differs do not measure together.
    pub content: BTreeMap<String, String>,
    /// Where the leader waits for the others.
    pub listen: SocketAddr,
    /// Longest silence of a machine that is still there.
    pub alive: Duration,
}

impl Party {
    /// The name whose machine leads.
    pub fn leader(&self) -> &str {
        self.names.first().map_or("", String::as_str)
    }

    /// Whether all of these run in it, and none is named twice.
    pub fn has_all(&self, names: &[String]) -> bool {
        let once = |(number, name): (usize, &String)| !names[..number].contains(name);
        names.iter().all(|name| self.names.contains(name)) && names.iter().enumerate().all(once)
    }
}

/// Where the leader waits, as a file says it.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "Words")]
pub struct Listen(pub SocketAddr);

impl Default for Listen {
    fn default() -> Listen {
        Listen(SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), PORT))
    }
}

impl TryFrom<Words> for Listen {
    type Error = ErrorChain;
    fn try_from(Words(text): Words) -> Result<Listen, ErrorChain> {
        let address = text.parse().map(Listen);
        address.map_err(|_| {
            ErrorChain(anyhow!("'{text}' is not ADDRESS:PORT; write it as 0.0.0.0:{PORT}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_unknown_or_named_twice_is_not_of_it() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let party = Party {
            file: "scenario",
            names: names(&["a", "b"]),
            content: BTreeMap::new(),
            listen: Listen::default().0,
            alive: Duration::from_secs(1),
        };
        assert_eq!(party.leader(), "a");
        let has = |some: &[&str]| party.has_all(&names(some));
        assert_eq!([has(&["b"]), has(&["b", "a"]), has(&["c"]), has(&["b", "b"])], {
            [true, true, false, false]
        });
    }
}
