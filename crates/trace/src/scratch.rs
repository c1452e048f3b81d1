//! Scratch files beside a recording. One that is packed as a whole is unpacked to such a file,
//! as its readers hop to and fro; the entries of an index wait in one. It has no name, or only
//! while a database is opened, and is gone with those who use it.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Weak};

use anyhow::{Context, Error, Result};
use tempfile::NamedTempFile;
use wiregauge_system::file::{self, folder_of};
use wiregauge_system::interrupt;

use crate::compressed_file;
use crate::file_range::FileRange;
use crate::remote_file::{is_remote, FileVersion};

/// How much is unpacked at once.
const STEP: usize = 1 << 20;

/// What a reader reads.
pub(crate) struct OpenedFile {
    /// The file, or what is in it where it is packed.
    pub part: FileRange,
    /// Why not all of it could be unpacked.
    pub fault: Option<String>,
}

/// A file that was unpacked, as long as somebody reads it.
struct UnpackedFile {
    /// None where nobody knows whether it is still the same.
    of: Option<FileIdentity>,
    file: Weak<File>,
    fault: Option<String>,
}

/// What is another one where the file is another one.
#[derive(PartialEq, Eq)]
enum FileIdentity {
    /// Its device, number, length and time.
    Here([u64; 5]),
    /// Its address, and what the archive tells of it.
    Archive(PathBuf, FileVersion),
}

/// A verb opens a recording more than once: it is unpacked once.
static UNPACKED_FILES: Mutex<Vec<UnpackedFile>> = Mutex::new(Vec::new());

/// Opens a recording that is read from all sides.
///
/// # Errors
/// When it cannot be read, or there is no room to unpack it.
pub(crate) fn open(path: &Path) -> Result<OpenedFile> {
    let part = FileRange::open(path)?;
    let Some(packed) = compressed_file::open_stream(path, part.clone())? else {
        return Ok(OpenedFile { part, fault: None });
    };
    let of = identity(path, &part)?;
    let mut known = UNPACKED_FILES.lock().unwrap_or_else(|broken| broken.into_inner());
    known.retain(|known| known.file.strong_count() > 0);
    let same = known.iter().find(|known| of.is_some() && known.of == of);
    if let Some((file, fault)) = same.and_then(|same| Some((same.file.upgrade()?, &same.fault))) {
        return Ok(OpenedFile { part: FileRange::shared(file)?, fault: fault.clone() });
    }
    let mut file = create_unnamed(path).with_context(|| no_room(path))?;
    let fault = unpack(packed.0, &mut file, path)?;
    let file = Arc::new(file);
    known.push(UnpackedFile { of, file: Arc::downgrade(&file), fault: fault.clone() });
    let part = FileRange::shared(file)?;
    Ok(OpenedFile { part, fault })
}

/// Which file it is; none where the archive tells no version.
fn identity(path: &Path, part: &FileRange) -> Result<Option<FileIdentity>> {
    if let Some(version) = part.archive_version() {
        let is_told = !version.1.is_empty();
        return Ok(is_told.then(|| FileIdentity::Archive(path.to_owned(), version)));
    }
    let about = fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?;
    let (seconds, nanos) = (about.mtime() as u64, about.mtime_nsec() as u64);
    Ok(Some(FileIdentity::Here([about.dev(), about.ino(), about.len(), seconds, nanos])))
}

/// A recording under a name that can be opened: its own, or that of a scratch file, which is
/// there as long as what comes with it.
///
/// # Errors
/// When there is no room to unpack it.
pub(crate) fn unpack_to_path(
    path: &Path,
) -> Result<(PathBuf, Option<NamedTempFile>, Option<String>)> {
    let part = FileRange::open(path)?;
    let packed: Box<dyn Read> = match compressed_file::open_stream(path, part.clone())? {
        Some((packed, _)) => packed,
        // A database is read by its library, from a file.
        None if is_remote(path) => Box::new(part),
        None => return Ok((path.to_owned(), None, None)),
    };
    let file = match is_remote(path) {
        true => NamedTempFile::new().map_err(Error::from),
        false => file::scratch_file(path).or_else(|_| Ok(NamedTempFile::new()?)),
    };
    let mut file = file.map_err(|error| error.context(no_room(path)))?;
    let fault = unpack(packed, file.as_file_mut(), path)?;
    Ok((file.path().to_owned(), Some(file), fault))
}

/// A scratch file without a name: beside a file where one can be made there, else in the
/// folder for temporary files.
///
/// # Errors
/// When it can be made in neither.
pub(crate) fn create_unnamed(path: &Path) -> io::Result<File> {
    if is_remote(path) {
        return tempfile::tempfile();
    }
    tempfile::tempfile_in(folder_of(path)).or_else(|_| tempfile::tempfile())
}

/// That a recording cannot be unpacked to such a file.
pub(crate) fn no_room(path: &Path) -> String {
    format!(
        "{} is a compressed file, and its folder has no room to unpack it; unpack it in another \
         folder first",
        path.display()
    )
}

/// Unpacks as much as can be; why that is not all.
fn unpack(mut packed: impl Read, file: &mut File, path: &Path) -> Result<Option<String>> {
    let mut piece = vec![0; STEP];
    loop {
        interrupt::check()?;
        match packed.read(&mut piece) {
            Ok(0) => return Ok(None),
            Ok(count) => file.write_all(&piece[..count]).with_context(|| no_room(path))?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Ok(Some(error.to_string())),
        }
    }
}
