//! Another release of a measured crate: a version, or a folder with its source.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{ensure, Context, Result};
use wiregauge_build_tools::{embedded, hash};

/// Another release of a measured crate than the one that wiregauge locks.
#[derive(Clone, Debug)]
pub struct CrateRelease {
    /// What marks its rows.
    pub label: String,
    crate_name: &'static str,
    origin: ReleaseSource,
}

#[derive(Clone, Debug)]
enum ReleaseSource {
    Version(String),
    Folder(PathBuf),
}

impl CrateRelease {
    /// The release of a crate that a user names, by version or by folder.
    ///
    /// # Errors
    /// When it is neither, or the folder holds another package.
    pub fn new(
        crate_name: &'static str,
        label: Option<&str>,
        wanted: &str,
    ) -> Result<CrateRelease> {
        let is_version = wanted.starts_with(|c: char| c.is_ascii_digit())
            && wanted.chars().all(|c| c.is_ascii_alphanumeric() || ".-+".contains(c));
        let (origin, name) = match is_version {
            true => (ReleaseSource::Version(wanted.into()), wanted.to_owned()),
            false => {
                let folder = package(crate_name, Path::new(wanted))?;
                let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
                (ReleaseSource::Folder(folder), name)
            }
        };
        let release = CrateRelease { label: label.map_or(name, str::to_owned), crate_name, origin };
        let runners = embedded::runners();
        let manifest = runners.content("rust/Cargo.toml").context("runners have a manifest")?;
        release.manifest(&String::from_utf8_lossy(manifest))?;
        Ok(release)
    }

    /// Where it comes from, in words.
    pub fn describe_source(&self) -> String {
        match &self.origin {
            ReleaseSource::Version(version) => {
                format!("{} {version} of crates.io", self.crate_name)
            }
            ReleaseSource::Folder(folder) => format!("{} in {}", self.crate_name, folder.display()),
        }
    }

    /// What tells it from others.
    pub(super) fn key(&self) -> String {
        hash([self.describe_source().into_bytes()])[..8].to_owned()
    }

    /// The runners' manifest with this release in place of the one there.
    ///
    /// # Errors
    /// When the manifest does not name the crate in a line.
    pub(super) fn manifest(&self, manifest: &str) -> Result<String> {
        let start = format!("{} = ", self.crate_name);
        let line = manifest.lines().find(|line| line.starts_with(&start));
        let line = line.with_context(|| format!("no runner depends on {}", self.crate_name))?;
        ensure!(
            !line.contains("path = "),
            "the release of {} follows its generator's; install another release of the generator",
            self.crate_name
        );
        let old = line[start.len()..].trim_start_matches("{ version = ");
        let old = old.split('"').nth(1).context("a dependency has a version")?;
        let quoted = format!("\"{old}\"");
        let new = match &self.origin {
            ReleaseSource::Version(version) => {
                line.replacen(&quoted, &format!("\"={version}\""), 1)
            }
            ReleaseSource::Folder(folder) => {
                let path = format!("path = {:?}", folder.display().to_string());
                match line.contains("version = ") {
                    true => line.replacen(&format!("version = {quoted}"), &path, 1),
                    false => line.replacen(&quoted, &format!("{{ {path} }}"), 1),
                }
            }
        };
        Ok(manifest.replacen(line, &new, 1))
    }

    /// The crate and its version, by what cargo locked.
    pub(super) fn library(&self, lock: &str) -> Option<String> {
        let name = format!("name = \"{}\"", self.crate_name);
        let found = lock.split("[[package]]").filter(|package| package.lines().any(|l| l == name));
        let versions = found.filter_map(|package| {
            let (_, rest) = package.split_once("\nversion = \"")?;
            let version = rest.split('"').next()?;
            let is_it = match &self.origin {
                ReleaseSource::Version(wanted) => version.starts_with(wanted),
                ReleaseSource::Folder(_) => !package.contains("\nsource = "),
            };
            is_it.then(|| format!("{} {version}", self.crate_name))
        });
        versions.last()
    }

    /// Whether its source may change without its name changing.
    pub(super) fn folder(&self) -> Option<&Path> {
        match &self.origin {
            ReleaseSource::Version(_) => None,
            ReleaseSource::Folder(folder) => Some(folder),
        }
    }
}

/// The folder of the package of this name: the folder itself, or one in it, as in
/// a workspace.
fn package(name: &str, folder: &Path) -> Result<PathBuf> {
    let shown = folder.display();
    let there = folder.canonicalize();
    let there = there.with_context(|| format!("'{shown}' is neither a version nor a folder"))?;
    let is_it = |folder: &Path| {
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
        let wanted = format!("name = \"{name}\"");
        let (_, package) = manifest.split_once("[package]").unwrap_or_default();
        let package = package.split("\n[").next().unwrap_or_default();
        package.lines().any(|line| line.split_whitespace().collect::<Vec<_>>().join(" ") == wanted)
    };
    let found = [there.clone(), there.join(name)].into_iter().find(|folder| is_it(folder));
    ensure!(there.join("Cargo.toml").exists() || found.is_some(), "{shown} has no Cargo.toml");
    found.with_context(|| {
        format!("{shown}/Cargo.toml is not the crate {name}; give the folder of {name}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str =
        "[dependencies]\nminicbor = { version = \"=2.3.1\", features = [\"std\"] }\n\
                            prost = \"=0.14.4\"\nprost-types = \"=0.14.4\"\n";

    #[test]
    fn a_version_takes_the_place_of_the_locked_one() {
        let release = CrateRelease::new("prost", None, "0.13.5").unwrap();
        assert_eq!(release.label, "0.13.5");
        let manifest = release.manifest(MANIFEST).unwrap();
        assert_eq!(manifest, MANIFEST.replacen("=0.14.4", "=0.13.5", 1));
        let release = CrateRelease::new("minicbor", Some("old"), "2.0.0").unwrap();
        assert_eq!(release.label, "old");
        assert_eq!(release.manifest(MANIFEST).unwrap(), MANIFEST.replace("=2.3.1", "=2.0.0"));
    }

    #[test]
    fn a_folder_is_a_path_and_keeps_the_features() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("minicbor");
        fs::create_dir(&inner).unwrap();
        fs::write(folder.path().join("Cargo.toml"), "[workspace]\n").unwrap();
        fs::write(inner.join("Cargo.toml"), "[package]\nname = \"minicbor\"\n").unwrap();
        let release = CrateRelease::new("minicbor", None, folder.path().to_str().unwrap()).unwrap();
        assert_eq!(release.label, "minicbor");
        let manifest = release.manifest(MANIFEST).unwrap();
        let path = inner.canonicalize().unwrap();
        let wanted = format!("minicbor = {{ path = {path:?}, features = [\"std\"] }}");
        assert!(manifest.contains(&wanted), "{manifest}");
        assert!(CrateRelease::new("prost", None, folder.path().to_str().unwrap()).is_err());
        assert!(CrateRelease::new("prost", None, "/no/such/folder").is_err());
    }

    #[test]
    fn the_version_is_the_locked_one() {
        let package = |version: &str, source: &str| {
            format!("[[package]]\nname = \"prost\"\nversion = \"{version}\"\n{source}\n")
        };
        let remote = "source = \"registry+https://x\"";
        let lock = package("0.12.6", remote) + &package("0.13.5", remote) + &package("9.0.0", "");
        let release = CrateRelease::new("prost", None, "0.13").unwrap();
        assert_eq!(release.library(&lock).as_deref(), Some("prost 0.13.5"));
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("Cargo.toml"), "[package]\nname = \"prost\"\n").unwrap();
        let release = CrateRelease::new("prost", None, folder.path().to_str().unwrap()).unwrap();
        assert_eq!(release.library(&lock).as_deref(), Some("prost 9.0.0"));
    }

    #[test]
    fn a_crate_that_goes_by_its_generator_is_refused() {
        let error = CrateRelease::new("flatbuffers", None, "23.5.26").unwrap_err().to_string();
        assert!(error.contains("generator"), "{error}");
    }
}
