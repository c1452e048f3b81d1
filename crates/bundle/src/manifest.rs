//! What is in a bundle, as its file `bundle.json` says it.

use anyhow::{ensure, Context, Result};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use wiregauge_result::row_pairs::RowPair;
use wiregauge_result::run::{Case, Subject};

/// The name of its file in the bundle.
pub const MANIFEST: &str = "bundle.json";
/// The program's name in the bundle.
pub const PROGRAM: &str = "wiregauge";
/// What tells the file from others.
const FORMAT: &str = "wiregauge-bundle";
/// The version of the form that this program writes and reads.
pub const VERSION: u32 = 1;

/// What is in a bundle.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// What tells the file from others.
    pub format: String,
    /// The version of the form.
    pub version: u32,
    /// The version of the program that made it.
    pub wiregauge: String,
    /// What its programs are built for, by GNU's name: `aarch64-linux-gnu`.
    pub target: String,
    /// The oldest C library that its programs run with: `2.34`.
    pub glibc: String,
    /// When it was made, in seconds of Unix time.
    pub made: u64,
    /// What is measured, in a line.
    pub title: String,
    /// The seed of values, damage and the order of turns.
    pub seed: u64,
    /// Compilers, flags and packages of the runners.
    pub tools: IndexMap<String, String>,
    /// The library of a row, where its runner would say another.
    pub libraries: IndexMap<String, String>,
    /// The file of the schema and the projection, as runners are told them.
    pub schema: String,
    /// The rows.
    pub rows: Vec<BundledRow>,
    /// Which rows are compared.
    pub pairs: Vec<RowPair>,
    /// What they are measured on.
    pub cases: Vec<BundledCase>,
    /// The file of the allocation counter; none where there is none.
    pub allocations: Option<String>,
    /// Every other file of the bundle, by its path.
    pub files: IndexMap<String, BundledFile>,
}

/// A row, and where its runner is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BundledRow {
    /// As in the result.
    pub subject: Subject,
    /// The runner's program; none where the status says why.
    pub program: Option<String>,
    /// The shared libraries that it loads, but for the C library's own.
    pub libraries: Vec<String>,
}

/// A case and its messages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BundledCase {
    /// As in the result.
    pub case: Case,
    /// The files of its messages' canonical bytes.
    pub messages: Vec<String>,
    /// What must be read from each message: all numbers, the fixed field, the element's field.
    pub readings: Vec<[BundledReading; 3]>,
}

/// What is read from a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BundledReading {
    /// The bits of the sum, which JSON would not keep.
    pub sum: u64,
    /// How many numbers.
    pub count: u64,
    /// Their hash.
    pub hash: u64,
}

/// A file of the bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BundledFile {
    /// SHA-256 of its content, in hexadecimal.
    pub sha256: String,
    /// Its size.
    pub bytes: u64,
    /// Whether it can be executed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_program: bool,
}

impl Manifest {
    /// One of the version that this program writes, with nothing in it.
    pub fn new() -> Manifest {
        let wiregauge = env!("CARGO_PKG_VERSION").into();
        Manifest { format: FORMAT.into(), version: VERSION, wiregauge, ..Manifest::default() }
    }

    /// Reads one; `shown` is the bundle as the user calls it.
    ///
    /// # Errors
    /// When it is none, or of another version.
    pub(crate) fn read(text: &[u8], shown: &str) -> Result<Manifest> {
        #[derive(Deserialize)]
        struct Head {
            #[serde(default)]
            format: String,
            #[serde(default)]
            version: u64,
            #[serde(default)]
            wiregauge: String,
        }
        let remedy = "make it again: wiregauge bundle";
        let head: Head = serde_json::from_slice(text)
            .with_context(|| format!("{shown}: {MANIFEST} is damaged; copy the bundle again"))?;
        ensure!(head.format == FORMAT, "{shown} is no bundle of wiregauge; {remedy}");
        let age = if head.version < u64::from(VERSION) { "an older" } else { "a newer" };
        ensure!(
            head.version == u64::from(VERSION),
            "{shown} was made by {age} wiregauge ({}), and this one reads bundles of version \
             {VERSION}, not {}; {remedy}",
            head.wiregauge,
            head.version
        );
        serde_json::from_slice(text)
            .with_context(|| format!("{shown}: {MANIFEST} is damaged; copy the bundle again"))
    }

    /// What all its files take unpacked, in bytes.
    pub fn bytes(&self) -> u64 {
        self.files.values().map(|file| file.bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_version_is_refused_with_the_remedy() {
        let text = |version: u32| {
            let manifest = Manifest { version, ..Manifest::new() };
            serde_json::to_vec(&manifest).unwrap()
        };
        assert_eq!(Manifest::read(&text(VERSION), "x").unwrap(), Manifest::new());
        for (version, word) in [(0, "an older wiregauge"), (2, "a newer wiregauge")] {
            let error = Manifest::read(&text(version), "b.tar.zst").unwrap_err().to_string();
            assert!(error.contains(word) && error.contains("make it again"), "{error}");
        }
        for (text, word) in [(&b"{\"a\": 1}"[..], "is no bundle"), (b"{", "is damaged")] {
            let error = Manifest::read(text, "b").unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
    }
}
