//! What a runner was built with: asked when it is built, kept beside it, and part
//! of what decides whether it has to be built again.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};
use wiregauge_build_tools::{package, Need, Toolchain};

use super::variant::Variant;
use crate::codec::{Codec, Linkage};
use crate::packaged_library;

/// What a runner was built with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildOrigin {
    /// The compiler and its version: `g++ (Debian 12.2.0-14) 12.2.0`; empty where
    /// there is none.
    pub compiler: String,
    /// Flags of the generated code and of headers.
    pub flags: String,
    /// How the library itself was built, in a sentence.
    pub library: String,
    /// What it needed from the system, by name, with versions.
    pub packages: BTreeMap<String, String>,
    /// The year of the library's version, where its package tells it.
    #[serde(default)]
    pub year: Option<u32>,
}

impl BuildOrigin {
    /// What the runner of a row would be built with now.
    pub fn probe(variant: &Variant) -> BuildOrigin {
        let toolchain = &variant.toolchain;
        let codec = variant.codec;
        let compiler = (codec.language.compiler)(toolchain);
        let flags = variant.flags();
        let found = |need: &Need| need_version(toolchain, need);
        let mut packages: BTreeMap<String, String> = codec.needs.iter().filter_map(found).collect();
        let with_the_runner = format!("compiled with the runner: {compiler}, {flags}");
        let whose = match (&variant.release, &**toolchain) {
            (Some(release), _) => format!(" {}", release.describe_source()),
            (None, Toolchain::System | Toolchain::Recompiled(..)) => String::new(),
            (None, other) => format!(" {}", other.describe_source()),
        };
        let library = match codec.linkage {
            Linkage::Without => "no library".into(),
            Linkage::Crate(_) => format!("crate{whose}, {with_the_runner}"),
            Linkage::Wheel(name) => format!("wheel of {name}, by its makers' flags; {compiler}"),
            Linkage::Jar(name) => match jar_package(codec) {
                Some(package) => {
                    let version = packages.get(package).map_or("of no known version", |v| v);
                    format!("jar of {package} {version}, by the distribution; {compiler}")
                }
                None => format!("jar of {name}, by its makers; {compiler}"),
            },
            Linkage::Module(package) => {
                let version = packages.get(package).map_or("of no known version", |v| v);
                format!("module of {package} {version}, by the distribution; {compiler}")
            }
            Linkage::Own if !codec.language.link_time.is_empty() => {
                format!("generated code, {with_the_runner}")
            }
            // In Java and Python what is generated needs the standard library alone.
            Linkage::Standard | Linkage::Own => format!("standard library of {compiler}"),
            Linkage::Headers => {
                format!("headers and generated code{whose}, {with_the_runner}")
            }
            Linkage::Archive(package) => {
                let version = packages.get(package).map_or("of no known version", |v| v);
                format!(
                    "archive of {package} {version}, by its builder's flags{whose}; generated code \
                     {with_the_runner}"
                )
            }
            Linkage::Shared(name) => match &**toolchain {
                Toolchain::System | Toolchain::Recompiled(..) => {
                    let unknown = || (name.to_owned(), "version unknown".to_owned());
                    let (package, version) = package::shared_library(name).unwrap_or_else(unknown);
                    let kind = if variant.is_footprint { "library" } else { "shared library" };
                    let sentence = format!(
                        "{kind} of {package} {version}, by the distribution's own flags; \
                         generated code {with_the_runner}"
                    );
                    packages.insert(package, version);
                    sentence
                }
                Toolchain::Root(_) | Toolchain::Cross(_) => {
                    let packages: Vec<String> = packages
                        .iter()
                        .map(|(package, version)| format!("{package} {version}"))
                        .collect();
                    format!(
                        "shared library beside {}, {}, by Debian's own flags; generated code \
                         {with_the_runner}",
                        packages.join(", "),
                        toolchain.describe_source()
                    )
                }
                Toolchain::Prefix(_) | Toolchain::Absent(..) => format!(
                    "library of {}, by its builder's flags; generated code {with_the_runner}",
                    toolchain.describe_source()
                ),
            },
        };
        let year = packaged_library::release_year(codec, &packages).or(codec
            .needs
            .iter()
            .find_map(|need| match need {
                Need::Header(_, package) | Need::Jar(_, package) | Need::Module(_, package) => {
                    toolchain.year(package)
                }
                Need::Program(..) => None,
            }));
        BuildOrigin { compiler, flags, library, packages, year }
    }
}

/// The Debian package that brings a codec's jar; none where its makers publish it.
fn jar_package(codec: &Codec) -> Option<&'static str> {
    codec.needs.iter().find_map(|need| match need {
        Need::Jar(_, package) => Some(*package),
        _ => None,
    })
}

/// A need, and what tells one version of it from another: its package's version,
/// or where no package manager knows it, the file's size and time. A prefix has
/// a stamp of its own.
fn need_version(toolchain: &Toolchain, need: &Need) -> Option<(String, String)> {
    let (name, package) = need.names();
    if let Some(version) = toolchain.version(package) {
        return Some((package.into(), version));
    }
    if matches!(toolchain, Toolchain::Prefix(_)) {
        return None;
    }
    let stamp = need.path().and_then(|path| fs::metadata(path).ok()).map(|file| {
        let changed = file.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        format!("{} bytes of {}", file.len(), changed.unwrap_or_default().as_secs())
    });
    Some((name.into(), stamp.unwrap_or_else(|| "not there".into())))
}

/// Reads what was kept beside a program.
pub fn read(path: &Path) -> Option<BuildOrigin> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}
