//! Which file it was that was planned or opened.

use std::path::Path;
use std::time::UNIX_EPOCH;

use anyhow::{ensure, Context, Result};
use serde::{Deserialize, Serialize};
use wiregauge_trace::remote_file::{self, is_remote};

/// What tells whether a file was changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileIdentity {
    size: u64,
    /// Of a file here.
    time: i128,
    /// Of one in an archive: what the archive tells; empty where it tells nothing.
    version: String,
}

impl FileIdentity {
    /// Of a file as it is now. An archive is asked for it.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(path: &Path) -> Result<FileIdentity> {
        if is_remote(path) {
            let (size, version) = remote_file::identify(path)?;
            return Ok(FileIdentity { size, time: 0, version });
        }
        let about = path.metadata().with_context(|| format!("cannot read {}", path.display()))?;
        let time = about.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        Ok(FileIdentity {
            // A folder has the length that its file system likes.
            size: if about.is_dir() { 0 } else { about.len() },
            time: time.map_or(0, |time| time.as_nanos() as i128),
            version: String::new(),
        })
    }

    /// Of a file in an archive that is opened; none of one that lies here, which may grow.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn of_opened(path: &Path) -> Result<Option<FileIdentity>> {
        is_remote(path).then(|| FileIdentity::read(path)).transpose()
    }

    /// Its length in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Fails where nobody could tell it from another file of its size.
    ///
    /// # Errors
    /// When the archive tells no version.
    pub fn require_version(&self, path: &Path) -> Result<()> {
        ensure!(
            !is_remote(path) || !self.version.is_empty(),
            "{} cannot be planned: its server tells neither a version (ETag) nor a time, so nobody \
             would notice that it was changed; copy the file here, or read it by wiregauge.open",
            path.display()
        );
        Ok(())
    }
}

/// Fails where the address of a file that was opened stands for another one now.
///
/// # Errors
/// When it does, or cannot be read.
pub fn require_same(opened: Option<&FileIdentity>, path: &Path) -> Result<()> {
    let Some(opened) = opened else { return Ok(()) };
    let is_same = FileIdentity::read(path)? == *opened;
    ensure!(is_same, "{} was changed since it was opened; open it again", path.display());
    Ok(())
}
