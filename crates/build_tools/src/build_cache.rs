//! The build folder: what is in it is told by its content, and one builds at a
//! time.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{ensure, Context, Result};
use rustix::fs::StatVfsMountFlags;
use sha2::{Digest, Sha256};

/// Writes a file unless it has this content, so that a build system that goes
/// by time stamps sees no change where there is none.
pub fn write_if_changed(path: &Path, bytes: &[u8]) -> Result<()> {
    if fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}

/// Hash of several parts, in hexadecimal.
pub fn hash(parts: impl IntoIterator<Item = Vec<u8>>) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    to_hexadecimal(&hasher.finalize())
}

/// SHA-256 of a file, in hexadecimal.
///
/// # Errors
/// When it cannot be read.
pub fn hash_file(path: &Path) -> Result<String> {
    let hashed = File::open(path).and_then(hash_reader);
    hashed.with_context(|| format!("cannot read {}", path.display()))
}

/// SHA-256 of all that a reader has, in hexadecimal.
///
/// # Errors
/// When it cannot be read.
pub fn hash_reader(mut reader: impl io::Read) -> io::Result<String> {
    let mut hasher = Sha256::new();
    io::copy(&mut reader, &mut hasher)?;
    Ok(to_hexadecimal(&hasher.finalize()))
}

fn to_hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Fills a folder beside its place, and puts it there when it is whole: half of one is
/// never taken for all of it.
///
/// # Errors
/// Those of `fill`, after which nothing is left, and those of the file system.
pub fn create_folder_atomically(
    folder: &Path,
    fill: impl FnOnce(&Path) -> Result<()>,
) -> Result<()> {
    let half = folder.with_extension("half");
    if half.exists() {
        fs::remove_dir_all(&half).with_context(|| format!("cannot remove {}", half.display()))?;
    }
    fs::create_dir_all(&half).with_context(|| format!("cannot make {}", half.display()))?;
    if let Err(error) = fill(&half) {
        let _ = fs::remove_dir_all(&half);
        return Err(error);
    }
    fs::rename(&half, folder).with_context(|| format!("cannot make {}", folder.display()))
}

/// Makes the build folder, where there is none; its real place.
///
/// # Errors
/// When it cannot be made, as on a disk that is only read.
pub fn create_build_folder(folder: &Path) -> Result<PathBuf> {
    let make = || fs::create_dir_all(folder).and_then(|()| folder.canonicalize());
    make().with_context(|| {
        let shown = folder.display();
        format!("cannot make the build folder {shown}; set WIREGAUGE_BUILD to one of your own")
    })
}

/// That programs in a folder can be started, and libraries loaded. `variable` sets another folder.
///
/// # Errors
/// When its file system is mounted with `noexec`.
pub fn check_starts_programs(folder: &Path, variable: &str) -> Result<()> {
    // Where it cannot be asked, starting one will tell.
    let mounted = rustix::fs::statvfs(folder);
    let is_refused = mounted.is_ok_and(|at| at.f_flag.contains(StatVfsMountFlags::NOEXEC));
    ensure!(
        !is_refused,
        "no program can be started in {}, which is mounted with noexec; set {variable} to another \
         folder",
        folder.display()
    );
    Ok(())
}

/// The build folder that a step's own folder is in: what has the folder of messages.
///
/// # Errors
/// When it is in none.
pub fn build_folder(step_folder: &Path) -> Result<&Path> {
    step_folder
        .ancestors()
        .find(|folder| folder.join("messages").is_dir())
        .with_context(|| format!("{} is not inside a build folder", step_folder.display()))
}

/// Where programs are built: the folder in `WIREGAUGE_BUILD`, or one in the user's cache that
/// no other version of wiregauge uses, which might take this one's programs for its own.
///
/// # Errors
/// When neither `HOME` nor `WIREGAUGE_BUILD` is set.
pub fn default_build_folder() -> Result<PathBuf> {
    // A variable that is empty, or a cache that is in no certain place, says nothing.
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(folder) = set("WIREGAUGE_BUILD") {
        return Ok(folder);
    }
    let cache = set("XDG_CACHE_HOME")
        .filter(|folder| folder.is_absolute())
        .or_else(|| Some(set("HOME")?.join(".cache")))
        .context("no cache folder: set HOME or WIREGAUGE_BUILD")?;
    Ok(cache.join("wiregauge").join(env!("CARGO_PKG_VERSION")))
}

/// Folders with the layout of a build folder that packages of this version install: below the
/// prefix of this program, and where administrators put what is no package's.
///
/// ```text
/// PREFIX/bin/wiregauge
/// PREFIX/lib/wiregauge/VERSION/ARCHITECTURE/messages/HASH/bin/
/// ```
pub fn installed_folders() -> Vec<PathBuf> {
    let program = std::env::current_exe().and_then(|program| program.canonicalize()).ok();
    let prefix = program.as_deref().and_then(|program| program.ancestors().nth(2));
    let prefixes = prefix.into_iter().chain([Path::new("/usr/local")]);
    prefixes.map(installed_below).collect()
}

/// The same folder below another prefix.
pub fn installed_below(prefix: &Path) -> PathBuf {
    let version = prefix.join("lib/wiregauge").join(env!("CARGO_PKG_VERSION"));
    version.join(std::env::consts::ARCH)
}

/// Keeps two builds out of one folder; the second waits.
pub fn lock(folder: &Path) -> Result<fs::File> {
    let path = folder.join("lock");
    let file = fs::File::create(&path).with_context(|| {
        format!(
            "cannot write into the build folder {}; set WIREGAUGE_BUILD to one of your own",
            folder.display()
        )
    })?;
    file.lock()?;
    ensure!(
        path.exists(),
        "the build folder {} was removed during the build; run the command again",
        folder.display()
    );
    Ok(file)
}
