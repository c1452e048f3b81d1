//! A library of the user's own build: a folder with `include`, `lib` and `bin`.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::UNIX_EPOCH;

use anyhow::{bail, ensure, Context, Result};

use crate::build_cache::hash;
use crate::need::Need;
use crate::tool::run;

/// As many files as a folder of one library may have; `/usr` has more.
const MOST_FILES: usize = 200_000;

/// A library of the user's own build.
#[derive(Debug)]
pub struct Prefix {
    label: String,
    folder: PathBuf,
}

impl Prefix {
    /// The prefix in this folder; rows are marked by `label`, or by the folder's
    /// name.
    ///
    /// # Errors
    /// When there is no such folder.
    pub fn new(label: Option<&str>, folder: &Path) -> Result<Prefix> {
        let shown = folder.display();
        let there =
            folder.canonicalize().with_context(|| format!("the folder {shown} does not exist"))?;
        ensure!(
            there.is_dir(),
            "{shown} is not a folder; give the folder that has include, lib and bin"
        );
        let name = there
            .file_name()
            .context("/ cannot be a prefix; give a folder that has only this library")?;
        let label = label.map_or_else(|| name.to_string_lossy().into_owned(), str::to_owned);
        Ok(Prefix { label, folder: there })
    }

    pub(super) fn label(&self) -> &str {
        &self.label
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The label, and what tells folders of one name apart.
    pub(super) fn key(&self) -> String {
        let hash = hash([self.folder.to_string_lossy().into_owned().into_bytes()]);
        format!("prefix-{}", &hash[..8])
    }

    /// Where headers are: `include`, and Debian's folder of an architecture.
    pub(super) fn includes(&self) -> Vec<PathBuf> {
        let multiarch = format!("include/{}-linux-gnu", env::consts::ARCH);
        let all = ["include", &multiarch].map(|name| self.folder.join(name));
        all.into_iter().filter(|folder| folder.is_dir()).collect()
    }

    /// Names, sizes and times of its files.
    pub(super) fn stamp(&self) -> Result<String> {
        let mut parts = vec![self.folder.to_string_lossy().into_owned()];
        for part in ["include", "lib", "lib64", "bin"] {
            let folder = self.folder.join(part);
            if folder.is_dir() {
                collect(&folder, &mut parts)?;
            }
        }
        parts[1..].sort();
        Ok(hash(parts.into_iter().map(String::into_bytes)))
    }

    /// What it lacks of this, and what to do about it.
    pub fn explain_missing(&self, need: &Need) -> Option<String> {
        let (name, folder) = match need {
            Need::Header(name, _) => (name, "include"),
            Need::Jar(name, _) => (name, "share/java"),
            Need::Module(name, _) => (name, "lib/python3/dist-packages"),
            Need::Program(name, _) => (name, "bin"),
        };
        let path = self.folder.join(folder).join(name);
        (!path.exists())
            .then(|| format!("{} is missing; install the whole library there", path.display()))
    }

    /// A generator of its own; what that loads and starts is its own too.
    pub(super) fn command(&self, program: &str) -> Command {
        let own = self.folder.join("bin").join(program);
        let mut command = Command::new(if own.is_file() { own } else { program.into() });
        command.env("PATH", prepend_path("PATH", vec![self.folder.join("bin")]));
        command.env("LD_LIBRARY_PATH", prepend_path("LD_LIBRARY_PATH", self.library_folders()));
        command
    }

    /// Its libraries are those that are linked and loaded, and those that they
    /// load in turn.
    pub(super) fn linking(&self) -> String {
        let folders = self.library_folders();
        let each = folders
            .iter()
            .map(|folder| format!("\"-L{0}\" -Xlinker -rpath -Xlinker \"{0}\"", folder.display()));
        each.collect::<Vec<String>>().join(" ")
    }

    pub(super) fn link(&self, library: &str) -> Result<Vec<String>> {
        let name = library.strip_prefix("-l").unwrap_or(library);
        if SYSTEM_LIBRARIES.contains(&name) {
            return Ok(vec![library.into()]);
        }
        let file = |end: &str| {
            let folders = self.library_folders();
            folders.iter().any(|folder| folder.join(format!("lib{name}{end}")).exists())
        };
        let shared = file(".so");
        if !shared && !file(".a") {
            let folder = self.folder.display();
            bail!("{folder} has no library '{name}': neither lib/lib{name}.so nor lib/lib{name}.a");
        }
        let described = |folder: &PathBuf| folder.join("pkgconfig").join(format!("{name}.pc"));
        if self.library_folders().iter().map(described).any(|path| path.exists()) {
            let folders = self.library_folders();
            let folders = folders.iter().map(|folder| folder.join("pkgconfig")).collect();
            let mut command = Command::new("pkg-config");
            command.env("PKG_CONFIG_PATH", prepend_path("PKG_CONFIG_PATH", folders));
            command.arg("--libs").args((!shared).then_some("--static")).arg(name);
            let words = run(&mut command, "pkg-config")?;
            return Ok(words.split_whitespace().map(str::to_owned).collect());
        }
        Ok(vec![format!("-l{name}")])
    }

    /// A library's file, by its name: `libz.a`.
    pub(super) fn find_library(&self, name: &str) -> Option<PathBuf> {
        let folders = self.library_folders().into_iter();
        folders.map(|folder| folder.join(name)).find(|path| path.exists())
    }

    /// Where libraries are: `lib`, `lib64` and Debian's folder of an architecture.
    fn library_folders(&self) -> Vec<PathBuf> {
        let multiarch = format!("lib/{}-linux-gnu", env::consts::ARCH);
        let all = ["lib", "lib64", &multiarch].map(|name| self.folder.join(name));
        all.into_iter().filter(|folder| folder.is_dir()).collect()
    }
}

/// Libraries that every runner may link and no prefix brings.
const SYSTEM_LIBRARIES: [&str; 3] = ["pthread", "m", "dl"];

/// A variable of search paths with these folders before the others.
fn prepend_path(variable: &str, folders: Vec<PathBuf>) -> OsString {
    let others = env::var_os(variable).unwrap_or_default();
    let others = env::split_paths(&others).filter(|folder| !folder.as_os_str().is_empty());
    env::join_paths(folders.into_iter().chain(others)).unwrap_or_default()
}

/// Name, size and time of all files below a folder.
fn collect(folder: &Path, parts: &mut Vec<String>) -> Result<()> {
    let unreadable = || format!("cannot read {}", folder.display());
    for entry in fs::read_dir(folder).with_context(unreadable)? {
        let path = entry.with_context(unreadable)?.path();
        // A link that leads nowhere is no part of the library.
        let Ok(file) = fs::metadata(&path) else { continue };
        if file.is_dir() {
            if !path.is_symlink() {
                collect(&path, parts)?;
            }
            continue;
        }
        let time = file.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let time = time.unwrap_or_default().as_nanos();
        parts.push(format!("{} {} {time}", path.display(), file.len()));
        ensure!(
            parts.len() < MOST_FILES,
            "{} has too many files for one library; install the library into a separate folder",
            folder.display()
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix() -> (tempfile::TempDir, Prefix) {
        let folder = tempfile::tempdir().unwrap();
        for part in ["include", "lib", "bin"] {
            fs::create_dir(folder.path().join(part)).unwrap();
        }
        let prefix = Prefix::new(Some("mine"), folder.path()).unwrap();
        (folder, prefix)
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let error = Prefix::new(None, Path::new("/no/such/prefix")).unwrap_err();
        assert_eq!(error.to_string(), "the folder /no/such/prefix does not exist");
        assert!(Prefix::new(None, Path::new("/")).is_err());
        assert!(Prefix::new(None, Path::new("/etc/passwd")).is_err());
    }

    #[test]
    fn what_it_lacks_is_not_taken_from_the_machine() {
        let (folder, prefix) = prefix();
        let need = Need::Header("stdio.h", "libc6-dev");
        assert!(prefix.explain_missing(&need).unwrap().contains("include/stdio.h is missing"));
        fs::write(folder.path().join("include/stdio.h"), "").unwrap();
        assert_eq!(prefix.explain_missing(&need), None);
        assert!(prefix.explain_missing(&Need::Program("sh", "dash")).unwrap().contains("bin/sh"));
        let error = prefix.link("-lprotobuf").unwrap_err().to_string();
        assert!(error.contains("lib/libprotobuf.so"), "{error}");
        fs::write(folder.path().join("lib/libprotobuf.a"), "").unwrap();
        assert_eq!(prefix.link("-lprotobuf").unwrap(), ["-lprotobuf"]);
        assert_eq!(prefix.link("pthread").unwrap(), ["pthread"]);
        assert_eq!(prefix.includes(), [folder.path().canonicalize().unwrap().join("include")]);
    }

    #[test]
    fn a_file_that_changes_is_seen() {
        let (folder, prefix) = prefix();
        let before = prefix.stamp().unwrap();
        assert_eq!(before, prefix.stamp().unwrap());
        fs::create_dir(folder.path().join("include/lib")).unwrap();
        fs::write(folder.path().join("include/lib/lib.h"), "one").unwrap();
        let with_it = prefix.stamp().unwrap();
        assert_ne!(before, with_it);
        fs::write(folder.path().join("include/lib/lib.h"), "three").unwrap();
        assert_ne!(with_it, prefix.stamp().unwrap());
    }
}
