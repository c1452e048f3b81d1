//! The sources that this program carries, so that an installed wiregauge needs no
//! source tree.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use include_dir::{include_dir, Dir};

use crate::build_cache::{hash, write_if_changed};

static RUNNERS: Dir = include_dir!("$CARGO_MANIFEST_DIR/../../runners");
static RUNNER: Dir = include_dir!("$CARGO_MANIFEST_DIR/../runner/src");
static ENGINES: Dir = include_dir!("$CARGO_MANIFEST_DIR/../../engines");
static ARCHIVE: Dir = include_dir!("$CARGO_MANIFEST_DIR/../../archive");
static PARTICIPANT: Dir = include_dir!("$CARGO_MANIFEST_DIR/../participant");
static TIMING: Dir = include_dir!("$CARGO_MANIFEST_DIR/../timing");
static FMUS: Dir = include_dir!("$CARGO_MANIFEST_DIR/../../fmus");
static PACKED: Dir = include_dir!("$CARGO_MANIFEST_DIR/../../packed/include");
static PACKED_PYTHON: Dir = include_dir!("$CARGO_MANIFEST_DIR/../../python/wiregauge/packed");
static PACKED_RUST: Dir = include_dir!("$CARGO_MANIFEST_DIR/../../packed/rust/src");

/// Folders of what was built there.
const BUILT: [&str; 2] = ["target", "__pycache__"];

/// Files by their path below where they are written.
pub struct EmbeddedSources(Vec<(PathBuf, &'static [u8])>);

/// The fixed parts of runners: `runner/`, `flatbuffers/`, `packed/`, `rust/`, `cpp/`,
/// `python/`, `java/`, `alloc/` and `footprint/`, with the packed field's own in C++ and Python.
pub fn runners() -> EmbeddedSources {
    EmbeddedSources::from_folders(&[
        ("runner", subfolder(&RUNNERS, "runner")),
        ("runner/src", &RUNNER),
        ("flatbuffers", subfolder(&RUNNERS, "flatbuffers")),
        ("packed", subfolder(&RUNNERS, "packed")),
        ("packed/src", &PACKED_RUST),
        ("rust", subfolder(&RUNNERS, "rust")),
        ("cpp", subfolder(&RUNNERS, "cpp/include")),
        ("cpp", &PACKED),
        ("python", subfolder(&RUNNERS, "python")),
        ("python/wiregauge/packed", &PACKED_PYTHON),
        ("java", subfolder(&RUNNERS, "java")),
        ("alloc", subfolder(&RUNNERS, "alloc")),
        ("footprint", subfolder(&RUNNERS, "footprint")),
    ])
}

/// The engines of the bus, which are built apart, and what they link.
pub fn engines() -> EmbeddedSources {
    EmbeddedSources::from_folders(&[
        ("engines", &ENGINES),
        ("crates/participant", &PARTICIPANT),
        ("crates/timing", &TIMING),
    ])
}

/// The program that reads recordings in archives.
pub fn archive() -> EmbeddedSources {
    EmbeddedSources::from_folders(&[("archive", &ARCHIVE)])
}

/// The FMUs, and the packed field's header in `packed/`.
pub fn fmus() -> EmbeddedSources {
    EmbeddedSources::from_folders(&[("", &FMUS), ("packed", &PACKED)])
}

fn subfolder(of: &'static Dir, path: &str) -> &'static Dir<'static> {
    of.get_dir(path).expect("it is part of the tree")
}

impl EmbeddedSources {
    fn from_folders(folders: &[(&str, &'static Dir)]) -> EmbeddedSources {
        let mut files = Vec::new();
        for (below, folder) in folders {
            collect(folder, folder.path(), Path::new(below), &mut files);
        }
        files.sort();
        EmbeddedSources(files)
    }

    /// The files, by path.
    pub fn files(&self) -> impl Iterator<Item = (&Path, &'static [u8])> + '_ {
        self.0.iter().map(|(path, content)| (path.as_path(), *content))
    }

    /// The content of one of them.
    pub fn content(&self, path: &str) -> Option<&'static [u8]> {
        self.files().find(|(at, _)| *at == Path::new(path)).map(|(_, content)| content)
    }

    /// Hash of their paths and contents, in hexadecimal.
    pub fn hash(&self) -> String {
        let path = |path: &Path| path.to_string_lossy().into_owned().into_bytes();
        hash(self.files().flat_map(|(at, content)| [path(at), content.to_vec()]))
    }

    /// Writes them below a folder, where they are not the same already.
    ///
    /// # Errors
    /// When a file or folder cannot be written.
    pub fn write(&self, folder: &Path) -> Result<()> {
        for (path, content) in self.files() {
            let path = folder.join(path);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)
                    .with_context(|| format!("cannot make {}", parent.display()))?;
            }
            write_if_changed(&path, content)?;
        }
        Ok(())
    }
}

/// The files of a folder and its folders, but not what was built there.
fn collect(
    folder: &'static Dir,
    from: &Path,
    below: &Path,
    files: &mut Vec<(PathBuf, &'static [u8])>,
) {
    for file in folder.files() {
        let path = file.path().strip_prefix(from).expect("it is in the folder");
        files.push((below.join(path), file.contents()));
    }
    for inner in
        folder.dirs().filter(|inner| !BUILT.iter().any(|built| inner.path().ends_with(built)))
    {
        collect(inner, from, below, files);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The files below a folder of the project, but not what was built there.
    fn files_on_disk(folder: &str) -> Vec<PathBuf> {
        let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let (mut found, mut folders) = (Vec::new(), vec![project.join(folder)]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().flatten() {
                match entry.path().is_dir() {
                    true if !BUILT.iter().any(|built| entry.file_name() == *built) => {
                        folders.push(entry.path());
                    }
                    true => {}
                    false => found.push(entry.path()),
                }
            }
        }
        found
    }

    #[test]
    fn every_source_is_carried() {
        for (sources, folders) in [
            (
                runners(),
                &[
                    "runners",
                    "crates/runner/src",
                    "packed/include",
                    "python/wiregauge/packed",
                    "packed/rust/src",
                ][..],
            ),
            (engines(), &["engines", "crates/participant", "crates/timing"]),
            (archive(), &["archive"]),
            (fmus(), &["fmus", "packed/include"]),
        ] {
            let there: Vec<PathBuf> =
                folders.iter().flat_map(|folder| files_on_disk(folder)).collect();
            assert_eq!(sources.files().count(), there.len(), "{folders:?}");
            for path in there {
                let name = path.file_name().unwrap();
                let content = fs::read(&path).unwrap();
                let carried = |(at, carried): (&Path, &[u8])| {
                    at.file_name() == Some(name) && carried == content
                };
                assert!(sources.files().any(carried), "{} is not carried", path.display());
            }
        }
    }

    #[test]
    fn they_are_written_where_builds_look_for_them() {
        let folder = tempfile::tempdir().unwrap();
        runners().write(folder.path()).unwrap();
        for path in
            ["runner/src/lib.rs", "rust/Cargo.lock", "cpp/wiregauge/serve.hpp", "alloc/alloc.c"]
        {
            assert!(folder.path().join(path).exists(), "{path}");
        }
        assert!(engines().content("engines/Cargo.lock").is_some());
        assert!(fmus().content("packed/wiregauge/packed.hpp").is_some());
    }
}
