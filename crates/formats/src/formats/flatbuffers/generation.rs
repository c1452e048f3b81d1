//! Which crate goes with which flatc: what a flatc generates for Rust calls the
//! crate of its own version.

use std::process::{Command, Stdio};
use std::sync::OnceLock;

use anyhow::{bail, Context, Result};

/// A crate, and the oldest flatc that it goes with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Generation {
    /// Major version of the oldest flatc; the crate's first number.
    since: u32,
    /// Version of the crate.
    pub version: &'static str,
    /// The feature that chooses it.
    pub feature: &'static str,
    /// The fixed part that knows how its vectors are read and written.
    pub vectors: &'static str,
}

/// Oldest first. Tried with flatc 2.0.8, 23.5.26 and 25.12.19; what lies between
/// takes the nearest older one, and what is newer the last.
const GENERATIONS: [Generation; 3] = [
    Generation {
        since: 2,
        version: "2.1.2",
        feature: "flatc-2",
        vectors: include_str!("rust/vectors_2.rs"),
    },
    Generation {
        since: 22,
        version: "23.5.26",
        feature: "flatc-23",
        vectors: include_str!("rust/vectors_23.rs"),
    },
    Generation {
        since: 25,
        version: "25.12.19",
        feature: "flatc-25",
        vectors: include_str!("rust/vectors_23.rs"),
    },
];

impl Generation {
    /// That of the flatc on the path, which is asked once.
    pub fn here() -> Result<Generation> {
        static SAID: OnceLock<Option<String>> = OnceLock::new();
        let said = SAID.get_or_init(|| {
            let flatc = Command::new("flatc").arg("--version").stdin(Stdio::null()).output();
            flatc.ok().map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
        });
        let said = said.as_deref().context("cannot start flatc; is it installed?")?;
        Generation::of(said)
    }

    /// By what flatc says: `flatc version 23.5.26`.
    fn of(said: &str) -> Result<Generation> {
        let version = said.trim().rsplit(' ').next().unwrap_or_default();
        let major = version.split('.').next().and_then(|major| major.parse::<u32>().ok());
        let major =
            major.with_context(|| format!("flatc does not say its version: {}", said.trim()))?;
        let Some(found) = GENERATIONS.iter().rev().find(|generation| generation.since <= major)
        else {
            bail!("flatc {version} is too old: 2.0.8 is the oldest that is known to work");
        };
        Ok(*found)
    }

    /// Whether accessors give slices where they can.
    pub fn gives_slices(&self) -> bool {
        self.since < 22
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flatc_has_its_crate() {
        for (flatc, version) in [
            ("2.0.8", "2.1.2"),
            ("23.5.26", "23.5.26"),
            ("24.3.25", "23.5.26"),
            ("25.12.19", "25.12.19"),
            ("27.1.1", "25.12.19"),
        ] {
            let found = Generation::of(&format!("flatc version {flatc}\n")).unwrap();
            assert_eq!(found.version, version, "{flatc}");
        }
    }

    #[test]
    fn what_is_too_old_or_says_nothing_is_refused() {
        let refusal = |said: &str| Generation::of(said).unwrap_err().to_string();
        assert_eq!(
            refusal("flatc version 1.12.0"),
            "flatc 1.12.0 is too old: 2.0.8 is the oldest that is known to work"
        );
        assert_eq!(refusal("flatc"), "flatc does not say its version: flatc");
    }

    #[test]
    fn the_runners_have_each_crate() {
        const LOCK: &str = include_str!("../../../../../runners/rust/Cargo.lock");
        const CRATES: &str = include_str!("../../../../../runners/flatbuffers/Cargo.toml");
        const RUNNERS: &str = include_str!("../../../../../runners/rust/Cargo.toml");
        for Generation { version, feature, .. } in GENERATIONS {
            let locked = format!("name = \"flatbuffers\"\nversion = \"{version}\"\n");
            assert!(LOCK.contains(&locked), "{version} is not locked");
            assert!(CRATES.contains(&format!("version = \"={version}\"")), "{version}");
            assert!(RUNNERS.contains(&format!("\n{feature} = [")), "{feature}");
        }
    }
}
