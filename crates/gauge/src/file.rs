//! Files that are whole or not there.

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};

/// Writes a file beside its place and moves it there, so that a full disk or
/// an interruption never leaves half a file where a good one was.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    let shown = path.display();
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut file = tempfile::NamedTempFile::new_in(folder)
        .with_context(|| format!("cannot write {shown}: is its folder there and writable?"))?;
    file.write_all(bytes)
        .and_then(|()| file.as_file().sync_all())
        .with_context(|| format!("cannot write {shown}: is the disk full?"))?;
    // Temporary files are private; a result is to be shared like any file.
    let mode = fs::metadata(path).map(|m| m.permissions()).ok();
    let file = file.persist(path).with_context(|| format!("cannot replace {shown}"))?;
    if let Some(mode) = mode.or_else(default_mode) {
        file.set_permissions(mode).with_context(|| format!("cannot share {shown}"))?;
    }
    Ok(())
}

fn default_mode() -> Option<fs::Permissions> {
    use std::os::unix::fs::PermissionsExt;
    Some(fs::Permissions::from_mode(0o644))
}
