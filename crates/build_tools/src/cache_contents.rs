//! What the build folder keeps, by kind, and its removal.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{bail, ensure, Context, Result};
use serde::Serialize;

/// The folders below the build folder, and what each holds.
const KINDS: [(&str, &str); 11] = [
    ("messages", "runners, a folder for each message"),
    ("target", "what runners in Rust depend on, compiled"),
    ("common", "the fixed parts of runners"),
    ("engines", "transports of the bus"),
    ("archive", "what reads archives"),
    ("fmus", "FMUs"),
    ("osi", "OSI's definitions"),
    ("kept", "runners that were measured, for --against"),
    ("reduction", "methods that make columns of points small"),
    ("roots", "libraries of newer releases of Debian"),
    ("tools", "Java archives, Python environments, and what counts"),
];

/// One kind of what is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CacheKind {
    /// Its name, which is that of its folder.
    pub name: &'static str,
    /// What it holds.
    pub holds: &'static str,
    /// How many there are.
    pub entries: usize,
    /// What they take of the disk.
    pub bytes: u64,
}

/// What the build folder keeps, the largest first. What is empty is left out.
///
/// # Errors
/// When it cannot be read.
pub fn list_kinds(build: &Path) -> Result<Vec<CacheKind>> {
    let mut kinds = Vec::new();
    for (name, holds) in KINDS {
        let folder = build.join(name);
        let entries = match fs::read_dir(&folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            entries => entries.with_context(|| format!("cannot read {}", folder.display()))?,
        };
        let entries = entries.flatten().filter(|entry| entry.file_name() != "lock").count();
        let bytes = disk_usage(&folder, &mut HashSet::new())
            .with_context(|| format!("cannot read {}", folder.display()))?;
        if entries > 0 {
            kinds.push(CacheKind { name, holds, entries, bytes });
        }
    }
    kinds.sort_by_key(|kind| std::cmp::Reverse(kind.bytes));
    Ok(kinds)
}

/// Removes what the build folder keeps of these kinds, or of all. What else lies there stays.
/// Returns what was removed.
///
/// # Errors
/// When a kind is unknown, a build is going on, or something cannot be removed.
pub fn clear_kinds(build: &Path, names: &[String]) -> Result<Vec<CacheKind>> {
    let known = KINDS.map(|(name, _)| name);
    if let Some(unknown) = names.iter().find(|name| !known.contains(&name.as_str())) {
        bail!("the cache has no '{unknown}'; it has {}", known.join(", "));
    }
    let mut kinds = list_kinds(build)?;
    kinds.retain(|kind| names.is_empty() || names.iter().any(|name| name == kind.name));
    // All locks are held until all is removed: no build begins meanwhile.
    let mut locks = Vec::new();
    for kind in &kinds {
        lock_all(&build.join(kind.name), &mut locks)?;
    }
    for kind in &kinds {
        let folder = build.join(kind.name);
        fs::remove_dir_all(&folder)
            .with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    Ok(kinds)
}

/// Takes the locks of a folder and of the folders in it, without waiting.
fn lock_all(folder: &Path, locks: &mut Vec<File>) -> Result<()> {
    let inner = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let folders: Vec<PathBuf> = [folder.to_owned()].into_iter().chain(inner).collect();
    for folder in folders {
        let Ok(file) = File::open(folder.join("lock")) else { continue };
        ensure!(
            file.try_lock().is_ok(),
            "{} is in use by another command; try again when it has ended",
            folder.display()
        );
        locks.push(file);
    }
    Ok(())
}

/// What a folder takes of the disk; a file with several names counts once.
fn disk_usage(path: &Path, seen: &mut HashSet<(u64, u64)>) -> io::Result<u64> {
    let metadata = match path.symlink_metadata() {
        // Another command removed it meanwhile.
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(0),
        metadata => metadata?,
    };
    if !seen.insert((metadata.dev(), metadata.ino())) {
        return Ok(0);
    }
    let mut bytes = metadata.blocks() * 512;
    if metadata.is_dir() {
        for entry in fs::read_dir(path)? {
            bytes += disk_usage(&entry?.path(), seen)?;
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, bytes: usize) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, vec![1; bytes]).unwrap();
    }

    #[test]
    fn kinds_are_listed_and_removed_and_the_rest_stays() {
        let build = tempfile::tempdir().unwrap();
        let build = build.path();
        assert_eq!(list_kinds(&build.join("nowhere")).unwrap(), []);
        write(&build.join("messages/m1/prost"), 100_000);
        write(&build.join("messages/m2/prost"), 100_000);
        write(&build.join("tools/a.jar"), 10_000);
        write(&build.join("tools/lock"), 0);
        write(&build.join("notes.txt"), 10);
        fs::hard_link(build.join("messages/m1/prost"), build.join("messages/m1/again")).unwrap();
        let kinds = list_kinds(build).unwrap();
        let names: Vec<_> = kinds.iter().map(|kind| (kind.name, kind.entries)).collect();
        assert_eq!(names, [("messages", 2), ("tools", 1)]);
        assert!((200_000..260_000).contains(&kinds[0].bytes), "{kinds:?}");
        let error = clear_kinds(build, &["prost".into()]).unwrap_err().to_string();
        assert!(error.contains("no 'prost'; it has messages, target"), "{error}");
        assert_eq!(clear_kinds(build, &["tools".into()]).unwrap(), kinds[1..]);
        assert_eq!(clear_kinds(build, &[]).unwrap(), kinds[..1]);
        assert_eq!(list_kinds(build).unwrap(), []);
        assert!(build.join("notes.txt").exists());
    }

    #[test]
    fn what_is_in_use_stays_whole() {
        let build = tempfile::tempdir().unwrap();
        let build = build.path();
        write(&build.join("messages/m1/lock"), 0);
        write(&build.join("tools/a.jar"), 1);
        let held = File::open(build.join("messages/m1/lock")).unwrap();
        held.lock().unwrap();
        let error = clear_kinds(build, &[]).unwrap_err().to_string();
        assert!(error.contains("messages/m1 is in use by another command"), "{error}");
        assert_eq!(list_kinds(build).unwrap().len(), 2);
        drop(held);
        assert_eq!(clear_kinds(build, &[]).unwrap().len(), 2);
    }
}
