//! Temporary folders, which the next run removes where a run was killed before
//! it could.
//!
//! A folder is locked for as long as its process lives: the kernel gives the
//! lock up however that ends. What is not locked belongs to nobody.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;
use std::time::Duration;

use tempfile::TempDir;

/// How the names of all of them begin.
const PREFIX: &str = "wiregauge-";
/// What they are for, which comes next in a name.
const KINDS: [&str; 2] = ["fmu", "host"];
/// Younger ones are left alone: between its making and its locking a folder is
/// not locked.
const AGE: Duration = Duration::from_secs(30);

/// A temporary folder that is removed when it is dropped.
#[derive(Debug)]
pub struct Scratch {
    folder: TempDir,
    _lock: File,
}

impl Scratch {
    /// Makes one of a kind: `fmu`, `host`.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn new(kind: &str) -> io::Result<Scratch> {
        let folder = tempfile::Builder::new().prefix(&format!("{PREFIX}{kind}-")).tempdir()?;
        let lock = File::open(folder.path())?;
        // Where folders cannot be locked, nobody can find this one unlocked.
        let _ = lock.lock();
        Ok(Scratch { folder, _lock: lock })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Removes what killed runs left behind. Nothing that fails here matters.
pub fn sweep() {
    let Ok(entries) = fs::read_dir(std::env::temp_dir()) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str().and_then(|name| name.strip_prefix(PREFIX)) else { continue };
        let ours = name.split_once('-').is_some_and(|(kind, _)| KINDS.contains(&kind));
        if ours && entry.file_type().is_ok_and(|kind| kind.is_dir()) && is_left(&entry.path()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether nobody holds a folder.
fn is_left(folder: &Path) -> bool {
    let Ok(file) = File::open(folder) else { return false };
    let old = file
        .metadata()
        .and_then(|data| data.modified())
        .is_ok_and(|time| time.elapsed().is_ok_and(|age| age >= AGE));
    old && !matches!(file.try_lock(), Err(TryLockError::WouldBlock | TryLockError::Error(_)))
}
