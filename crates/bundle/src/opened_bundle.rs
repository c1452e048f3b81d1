//! A bundle on the machine that measures: its folder, or its file, which is unpacked for as
//! long as it is measured.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Seek};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};

use anyhow::{anyhow, bail, ensure, Context, Result};
use tempfile::TempDir;
use wiregauge_build_tools::{check_starts_programs, hash_file};
use wiregauge_system::input::open_regular;
use wiregauge_system::interrupt;

use crate::board_check::BoardFacts;
use crate::manifest::{BundledFile, Manifest, MANIFEST};

/// How a file of zstd begins.
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// The most that a manifest may have, in bytes.
const LARGEST_MANIFEST: u64 = 64 << 20;

/// A bundle whose files are there, and are those that were packed.
pub struct OpenedBundle {
    folder: PathBuf,
    /// What is in it.
    pub manifest: Manifest,
    /// Where it was unpacked; removed with it.
    unpacked: Option<TempDir>,
}

impl OpenedBundle {
    /// Opens the folder or the file of a bundle, on a machine that can measure it. A file is
    /// unpacked into a folder of the user's alone. Nothing of it has been started.
    ///
    /// # Errors
    /// When it is no whole bundle, is of another version, or this machine cannot measure it:
    /// one line, with the remedy. Nothing is left then.
    pub fn open(path: &Path) -> Result<OpenedBundle> {
        let shown = path.display().to_string();
        let about = fs::metadata(path).with_context(|| format!("cannot read {shown}"))?;
        let mut bundle = match about.is_dir() {
            true => OpenedBundle::in_folder(path, &shown)?,
            false => unpack(path, &shown)?,
        };
        let is_unpacked = bundle.unpacked.is_some();
        for (name, file) in &bundle.manifest.files {
            interrupt::check()?;
            let path = bundle.folder.join(name);
            let is_there = fs::symlink_metadata(&path).is_ok_and(|about| about.is_file());
            ensure!(is_there, "{shown}: {name} is missing; unpack the bundle again");
            if hash_file(&path)? != file.sha256 {
                let remedy = if is_unpacked { "copy" } else { "unpack" };
                bail!("{shown}: {name} is not what was packed; {remedy} the bundle again");
            }
        }
        bundle.folder = bundle.folder.canonicalize()?;
        Ok(bundle)
    }

    fn in_folder(folder: &Path, shown: &str) -> Result<OpenedBundle> {
        let text = fs::read(folder.join(MANIFEST)).map_err(|error| match error.kind() {
            ErrorKind::NotFound => anyhow!("{shown} is no bundle: it has no {MANIFEST}"),
            _ => anyhow!("cannot read {shown}/{MANIFEST}: {error}"),
        })?;
        let manifest = checked(&text, shown)?;
        Ok(OpenedBundle { folder: folder.into(), manifest, unpacked: None })
    }

    /// Where a file of it is.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// A file of it, whole.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(&self, name: &str) -> Result<Vec<u8>> {
        let path = self.path(name);
        fs::read(&path).with_context(|| format!("cannot read {}", path.display()))
    }
}

/// The manifest of a bundle that this machine can measure.
fn checked(text: &[u8], shown: &str) -> Result<Manifest> {
    let manifest = Manifest::read(text, shown)?;
    BoardFacts::of_this_machine().check(&manifest, "this machine", None)?;
    for name in manifest.files.keys() {
        ensure!(is_plain(name), "{shown} has a file '{name}' that is not inside it: not unpacked");
    }
    let rows = manifest.rows.iter();
    let mut named: Vec<&String> =
        rows.flat_map(|row| row.program.iter().chain(&row.libraries)).collect();
    named.extend(manifest.cases.iter().flat_map(|case| &case.messages));
    named.extend(manifest.allocations.iter().chain([&manifest.schema]));
    if let Some(name) = named.into_iter().find(|name| !manifest.files.contains_key(*name)) {
        bail!("{shown}: {MANIFEST} is damaged: it has no file '{name}'; copy the bundle again");
    }
    Ok(manifest)
}

/// Whether a path stays inside, and is written in one way only.
fn is_plain(name: &str) -> bool {
    let path = Path::new(name);
    let is_normal = path.components().all(|part| matches!(part, Component::Normal(_)));
    !name.is_empty()
        && is_normal
        && path.components().collect::<PathBuf>().as_os_str() == name
        && name != MANIFEST
}

/// Unpacks the file of a bundle. Its manifest is first, and nothing is unpacked that is not in
/// it.
fn unpack(path: &Path, shown: &str) -> Result<OpenedBundle> {
    let mut file = open_regular(path)?;
    let mut head = [0; 4];
    let is_whole = file.read_exact(&mut head).is_ok();
    ensure!(is_whole && head == ZSTD, "{shown} is no bundle: it is not compressed by zstd");
    let broken =
        |error: io::Error| anyhow!("{shown} is damaged or not whole; copy it again ({error})");
    file.rewind().map_err(broken)?;
    let decoder = zstd::Decoder::new(file).map_err(broken)?;
    let mut archive = tar::Archive::new(decoder);
    let mut entries = archive.entries().map_err(broken)?;
    let mut first = match entries.next() {
        Some(entry) => entry.map_err(broken)?,
        None => bail!("{shown} is no bundle: it is empty"),
    };
    let is_manifest = first.path_bytes() == MANIFEST.as_bytes();
    ensure!(is_manifest, "{shown} is no bundle: it does not begin with {MANIFEST}");
    let mut text = Vec::new();
    first.by_ref().take(LARGEST_MANIFEST).read_to_end(&mut text).map_err(broken)?;
    let manifest = checked(&text, shown)?;

    let megabytes = manifest.bytes().div_ceil(1_000_000);
    let place = std::env::temp_dir();
    let cannot = |error: io::Error| {
        let remedy = format!("set TMPDIR to a folder that you can write into, with {megabytes} MB");
        anyhow!("cannot unpack {shown} in {}: {error}; {remedy}", place.display())
    };
    // Open to the user alone, mode 0700.
    let folder = tempfile::Builder::new().prefix("wiregauge-").tempdir().map_err(cannot)?;
    check_starts_programs(folder.path(), "TMPDIR")
        .with_context(|| format!("cannot unpack {shown}"))?;
    let mut left = manifest.files.clone();
    for entry in entries {
        interrupt::check()?;
        let mut entry = entry.map_err(broken)?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let is_file = entry.header().entry_type() == tar::EntryType::Regular;
        let known = left.shift_remove(&name).filter(|known| known.bytes == entry.size() && is_file);
        let known = known.with_context(|| {
            format!("{shown} has '{name}', which {MANIFEST} does not know: it was not unpacked")
        })?;
        let target = folder.path().join(&name);
        let mut output = create(&target, &known).map_err(cannot)?;
        let mut source = ReadFaults { reader: &mut entry, fault: None };
        if let Err(error) = io::copy(&mut source, &mut output) {
            return Err(source.fault.map_or_else(|| cannot(error), broken));
        }
    }
    if let Some((name, _)) = left.first() {
        bail!("{shown} is not whole: {name} is missing; copy it again");
    }
    let unpacked = folder.path().to_owned();
    Ok(OpenedBundle { folder: unpacked, manifest, unpacked: Some(folder) })
}

/// Makes a file and the folders that it is in.
fn create(path: &Path, file: &BundledFile) -> io::Result<File> {
    if let Some(parent) = path.parent() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
    }
    let mode = if file.is_program { 0o700 } else { 0o600 };
    File::options().write(true).create_new(true).mode(mode).open(path)
}

/// Keeps the fault of a reader apart from that of a writer.
struct ReadFaults<R> {
    reader: R,
    fault: Option<io::Error>,
}

impl<R: Read> Read for ReadFaults<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reader.read(buffer).map_err(|error| {
            let kind = error.kind();
            self.fault = Some(error);
            kind.into()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_stay_inside_are_plain() {
        for name in ["runners/prost", "messages/0/1.bin", "a b"] {
            assert!(is_plain(name), "{name}");
        }
        for name in ["../x", "/etc/x", "a/../../x", "./x", "a//b", "a/", "", "bundle.json"] {
            assert!(!is_plain(name), "{name}");
        }
    }
}
