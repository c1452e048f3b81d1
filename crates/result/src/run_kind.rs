//! The kind of a result: which command measured.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The kind of a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum RunKind {
    /// What a message costs in formats.
    Codecs,
    /// How small points become, in what time, and what is left of them.
    Points,
    /// Where a step of a co-simulation goes.
    Cosim,
    /// What reaches the other side of a bus in time.
    Bus,
    /// What a chain from sensor to actuator takes.
    Chain,
    /// One that this wiregauge does not know, shown as codecs are.
    Other(String),
}

impl RunKind {
    /// As results have it.
    pub fn name(&self) -> &str {
        match self {
            RunKind::Codecs => "codecs",
            RunKind::Points => "points",
            RunKind::Cosim => "cosim",
            RunKind::Bus => "bus",
            RunKind::Chain => "chain",
            RunKind::Other(name) => name,
        }
    }
}

impl fmt::Display for RunKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl From<String> for RunKind {
    fn from(name: String) -> RunKind {
        let known =
            [RunKind::Codecs, RunKind::Points, RunKind::Cosim, RunKind::Bus, RunKind::Chain];
        let mut known = known.into_iter().filter(|kind| kind.name() == name);
        known.next().unwrap_or(RunKind::Other(name))
    }
}

impl From<RunKind> for String {
    fn from(kind: RunKind) -> String {
        kind.name().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_comes_back() {
        for name in ["codecs", "points", "cosim", "bus", "chain", "dance"] {
            let kind = RunKind::from(name.to_owned());
            assert_eq!((kind.name(), String::from(kind.clone())), (name, name.to_owned()));
            assert_eq!(matches!(kind, RunKind::Other(_)), name == "dance");
        }
    }
}
