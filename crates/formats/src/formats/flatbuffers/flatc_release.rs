//! Which crate goes with which flatc, and which jar: what a flatc generates calls the
//! library of its own version.

use std::process::{Command, Stdio};
use std::sync::OnceLock;

use anyhow::{bail, Context, Result};
use wiregauge_build_tools::maven::Jar;

/// A crate, and the oldest flatc that it goes with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlatcRelease {
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
const GENERATIONS: [FlatcRelease; 3] = [
    FlatcRelease {
        since: 2,
        version: "2.1.2",
        feature: "flatc-2",
        vectors: include_str!("rust/vectors_2.rs"),
    },
    FlatcRelease {
        since: 22,
        version: "23.5.26",
        feature: "flatc-23",
        vectors: include_str!("rust/vectors_23.rs"),
    },
    FlatcRelease {
        since: 25,
        version: "25.12.19",
        feature: "flatc-25",
        vectors: include_str!("rust/vectors_23.rs"),
    },
];

/// What the flatc on the path says of its version, which it is asked once.
fn flatc_version_text() -> Result<&'static str> {
    static SAID: OnceLock<Option<String>> = OnceLock::new();
    let said = SAID.get_or_init(|| {
        let flatc = Command::new("flatc").arg("--version").stdin(Stdio::null()).output();
        flatc.ok().map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
    });
    said.as_deref().context("cannot start flatc; is it installed?")
}

/// The version in what flatc says.
fn version(said: &str) -> &str {
    said.trim().rsplit(' ').next().unwrap_or_default()
}

/// Java's library: each flatc's classes call a method that only the jar of its own
/// release has. Each with its version.
const JARS: [(&str, &[Jar]); 3] = [
    (
        "2.0.8",
        &[Jar {
            coordinates: "com.google.flatbuffers:flatbuffers-java:2.0.8",
            sha256: "22c2fbdef014a008e441360cc827abb8ddab6f840b2637f07b3592654dc165f2",
        }],
    ),
    (
        "23.5.26",
        &[Jar {
            coordinates: "com.google.flatbuffers:flatbuffers-java:23.5.26",
            sha256: "8d10cac2ea9878896077ba437d76fdb1b9a07f55a863c560bb8a024b04103f8b",
        }],
    ),
    (
        "25.2.10",
        &[Jar {
            coordinates: "com.google.flatbuffers:flatbuffers-java:25.2.10",
            sha256: "587bd6c31cda747587493a113bec8602d3a0b0ca579b2b1b838ef71b19e6525d",
        }],
    ),
];

/// Java's library for the flatc on the path.
///
/// # Errors
/// When there is none, or its release has no jar here.
pub fn jars() -> Result<&'static [Jar]> {
    find_jars(flatc_version_text()?)
}

fn find_jars(said: &str) -> Result<&'static [Jar]> {
    let own = version(said);
    let known: Vec<&str> = JARS.iter().map(|(version, _)| *version).collect();
    let found = JARS.iter().find(|(version, _)| *version == own).map(|(_, jars)| *jars);
    found.with_context(|| {
        format!(
            "the classes of flatc {own} need the jar of its release; known are the jars of {}: \
             install one of these releases of flatc",
            known.join(", ")
        )
    })
}

impl FlatcRelease {
    /// That of the flatc on the path, which is asked once.
    pub fn installed() -> Result<FlatcRelease> {
        FlatcRelease::from_version_text(flatc_version_text()?)
    }

    /// By what flatc says: `flatc version 23.5.26`.
    fn from_version_text(said: &str) -> Result<FlatcRelease> {
        let version = version(said);
        let major = version.split('.').next().and_then(|major| major.parse::<u32>().ok());
        let major =
            major.with_context(|| format!("flatc does not say its version: {}", said.trim()))?;
        let Some(found) = GENERATIONS.iter().rev().find(|generation| generation.since <= major)
        else {
            bail!("flatc {version} is too old; install 2.0.8 or newer");
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
            let found =
                FlatcRelease::from_version_text(&format!("flatc version {flatc}\n")).unwrap();
            assert_eq!(found.version, version, "{flatc}");
        }
    }

    #[test]
    fn a_flatc_has_the_jar_of_its_release_or_none() {
        for version in ["2.0.8", "23.5.26", "25.2.10"] {
            let found = find_jars(&format!("flatc version {version}\n")).unwrap();
            assert!(found[0].coordinates.ends_with(&format!(":{version}")), "{version}");
        }
        assert_eq!(
            find_jars("flatc version 24.3.25\n").unwrap_err().to_string(),
            "the classes of flatc 24.3.25 need the jar of its release; known are the jars of \
             2.0.8, 23.5.26, 25.2.10: install one of these releases of flatc"
        );
    }

    #[test]
    fn what_is_too_old_or_says_nothing_is_refused() {
        let refusal = |said: &str| FlatcRelease::from_version_text(said).unwrap_err().to_string();
        assert_eq!(
            refusal("flatc version 1.12.0"),
            "flatc 1.12.0 is too old; install 2.0.8 or newer"
        );
        assert_eq!(refusal("flatc"), "flatc does not say its version: flatc");
    }

    #[test]
    fn the_runners_have_each_crate() {
        const LOCK: &str = include_str!("../../../../../runners/rust/Cargo.lock");
        const CRATES: &str = include_str!("../../../../../runners/flatbuffers/Cargo.toml");
        const RUNNERS: &str = include_str!("../../../../../runners/rust/Cargo.toml");
        for FlatcRelease { version, feature, .. } in GENERATIONS {
            let locked = format!("name = \"flatbuffers\"\nversion = \"{version}\"\n");
            assert!(LOCK.contains(&locked), "{version} is not locked");
            assert!(CRATES.contains(&format!("version = \"={version}\"")), "{version}");
            assert!(RUNNERS.contains(&format!("\n{feature} = [")), "{feature}");
        }
    }
}
