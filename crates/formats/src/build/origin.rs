//! What a runner was built with: asked when it is built, kept beside it, and part
//! of what decides whether it has to be built again.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};
use wiregauge_workshop::Need;

use crate::codec::{Built, Codec, Language};
use crate::package;

/// What a runner was built with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The compiler and its version: `g++ (Debian 12.2.0-14) 12.2.0`; empty where
    /// there is none.
    pub compiler: String,
    /// Flags of the generated code and of headers.
    pub flags: String,
    /// How the library itself was built, in a sentence.
    pub library: String,
    /// What it needed from the system, by name, with versions.
    pub packages: BTreeMap<String, String>,
}

impl Origin {
    /// What a runner of this codec would be built with now.
    pub fn now(codec: &Codec) -> Origin {
        let (compiler, flags) = match codec.language {
            Language::Rust => (version("rustc"), "release: opt-level 3, one codegen unit"),
            Language::Cpp => (version("c++"), "CMake Release: -O3 -DNDEBUG"),
        };
        let mut packages: BTreeMap<String, String> = codec.needs.iter().map(found).collect();
        let with_the_runner = format!("compiled with the runner: {compiler}, {flags}");
        let library = match codec.built {
            Built::Without => "no library".into(),
            Built::Crate => format!("crate, {with_the_runner}"),
            Built::Headers => format!("headers and generated code, {with_the_runner}"),
            Built::Shared(name) => {
                let unknown = || (name.to_owned(), "version unknown".to_owned());
                let (package, version) = package::shared_library(name).unwrap_or_else(unknown);
                let sentence = format!(
                    "shared library of {package} {version}, by the distribution's own flags; \
                     generated code {with_the_runner}"
                );
                packages.insert(package, version);
                sentence
            }
        };
        Origin { compiler, flags: flags.into(), library, packages }
    }
}

/// A need, and what tells one version of it from another: its package's version,
/// or where no package manager knows it, the file's size and time.
fn found(need: &Need) -> (String, String) {
    let (name, package) = need.names();
    if let Some(version) = package::version(package) {
        return (package.into(), version);
    }
    let stamp = need.path().and_then(|path| fs::metadata(path).ok()).map(|file| {
        let changed = file.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        format!("{} bytes of {}", file.len(), changed.unwrap_or_default().as_secs())
    });
    (name.into(), stamp.unwrap_or_else(|| "not there".into()))
}

/// The first line that a compiler prints of its version; nothing where there is
/// no compiler.
fn version(program: &str) -> String {
    static RUST: OnceLock<String> = OnceLock::new();
    static CPP: OnceLock<String> = OnceLock::new();
    let kept = if program == "rustc" { &RUST } else { &CPP };
    kept.get_or_init(|| {
        let output = Command::new(program).arg("--version").stdin(Stdio::null()).output();
        let text = output.map(|output| output.stdout).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        text.lines().next().unwrap_or_default().trim().to_owned()
    })
    .clone()
}

/// Reads what was kept beside a program.
pub fn read(path: &Path) -> Option<Origin> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}
