//! An FMU on disk: unpacked into a folder, with what it says of itself.

pub mod content;
pub mod coupling;
pub mod description;
pub mod mime;

use std::ffi::CString;
use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};

use anyhow::{bail, ensure, Context, Result};
use wiregauge_system::input::open_regular;
use wiregauge_timing::scratch::Scratch;
use zip::ZipArchive;

use crate::package::description::{Description, Fmi};

/// The most that an FMU may hold when unpacked: bytes, files and folders.
const LARGEST: u64 = 8 << 30;
const MOST_FILES: usize = 100_000;

/// An unpacked FMU.
#[derive(Debug)]
pub struct Package {
    /// File name of the FMU, as errors and tables call it.
    pub name: String,
    /// What it says of itself.
    pub description: Description,
    folder: PathBuf,
    /// Keeps an unpacked FMU until it is dropped.
    _temporary: Option<Scratch>,
}

impl Package {
    /// Unpacks an FMU into a temporary folder, which lives as long as the
    /// package.
    ///
    /// # Errors
    /// Names the file and says what is wrong with it.
    pub fn open(path: &Path) -> Result<Package> {
        Package::open_as(path, &file_name(path))
    }

    /// The same with another name than its file's.
    ///
    /// # Errors
    /// Names the file and says what is wrong with it.
    pub fn open_as(path: &Path, name: &str) -> Result<Package> {
        let file = open_regular(path)?;
        Package::unpack(file, name).with_context(|| path.display().to_string())
    }

    fn unpack(file: File, name: &str) -> Result<Package> {
        let mut archive = ZipArchive::new(file)
            .map_err(anyhow::Error::from)
            .context("is not an FMU: it is not a zip archive")?;
        ensure!(
            archive.index_for_name("modelDescription.xml").is_some(),
            "is not an FMU: the archive has no modelDescription.xml"
        );
        let temporary = Scratch::new()?;
        let place = statvfs(temporary.path());
        ensure!(
            place.is_none_or(|place| place.f_flag & libc::ST_NOEXEC == 0),
            "nothing that is unpacked to {} can be loaded, as it is mounted with noexec; set TMPDIR \
             to another folder",
            std::env::temp_dir().display()
        );
        // Bytes that are left for us.
        let room = place.map_or(u64::MAX, |place| place.f_bavail.saturating_mul(place.f_frsize));
        extract(&mut archive, temporary.path(), LARGEST, room)?;
        // FMUs look for it though theirs has none.
        fs::create_dir_all(temporary.path().join("resources"))?;
        let mut package = Package::from_folder(temporary.path(), name)?;
        package._temporary = Some(temporary);
        Ok(package)
    }

    /// Takes an FMU that is unpacked already.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub fn from_folder(folder: &Path, name: &str) -> Result<Package> {
        let text = fs::read(folder.join("modelDescription.xml"))
            .context("modelDescription.xml cannot be read")?;
        let text = String::from_utf8(text).context("modelDescription.xml is not UTF-8")?;
        let description = Description::parse(text.trim_start_matches('\u{feff}'))?;
        let package = Package {
            name: name.to_owned(),
            description,
            folder: fs::canonicalize(folder)?,
            _temporary: None,
        };
        package.binary()?;
        Ok(package)
    }

    /// Where it is unpacked.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// Its shared object for this machine.
    ///
    /// # Errors
    /// Says for which machines it has one.
    pub fn binary(&self) -> Result<PathBuf> {
        let identifier = &self.description.identifier;
        ensure!(
            !identifier.is_empty() && !identifier.contains(['/', '\\']),
            "modelIdentifier '{identifier}' is not a file name"
        );
        let binaries = self.folder.join("binaries");
        let platforms = platforms(self.description.fmi);
        for platform in platforms {
            let path = binaries.join(platform).join(format!("{identifier}.so"));
            if path.is_file() {
                return Ok(path);
            }
        }
        let wanted = format!("binaries/{}/{identifier}.so is missing", platforms[0]);
        for platform in platforms {
            let libraries = names_in(&binaries.join(platform));
            if let Some(other) = libraries.iter().find(|name| name.ends_with(".so")) {
                bail!(
                    "has no library that is called as its modelIdentifier: {wanted}, there is \
                     {other}; build the FMU again"
                );
            }
        }
        let there = names_in(&binaries);
        let there = if there.is_empty() { "none".to_owned() } else { there.join(", ") };
        bail!("has no binary for this machine: {wanted} (its platforms: {there})")
    }

    /// Its resources.
    pub fn resources(&self) -> PathBuf {
        self.folder.join("resources")
    }
}

/// What is in a folder, in order; nothing where there is no folder.
fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.map(|entry| file_name(&entry.path())).collect();
    names.sort();
    names
}

/// What this machine's folder of binaries is called.
fn platforms(fmi: Fmi) -> &'static [&'static str] {
    match (fmi, cfg!(target_arch = "aarch64")) {
        (Fmi::Two, false) => &["linux64"],
        (Fmi::Three, false) => &["x86_64-linux"],
        (_, true) => &["aarch64-linux", "linux64"],
    }
}

/// What is known of the file system that a folder is on.
fn statvfs(folder: &Path) -> Option<libc::statvfs> {
    let path = CString::new(folder.as_os_str().as_encoded_bytes()).ok()?;
    // SAFETY: a record of integers, for which zero is a value.
    let mut told: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: the path ends with a zero, and `told` is what statvfs fills in.
    let asked = unsafe { libc::statvfs(path.as_ptr(), &mut told) };
    (asked == 0).then_some(told)
}

/// Unpacks folders and ordinary files, and nothing outside of `folder`; at most
/// so many bytes, for which there is so much room.
fn extract<R: Read + Seek>(
    archive: &mut ZipArchive<R>,
    folder: &Path,
    largest: u64,
    room: u64,
) -> Result<()> {
    let files = archive.len();
    ensure!(files <= MOST_FILES, "it has {files} files; {MOST_FILES} is the limit");
    let mut announced = 0u64;
    for index in 0..files {
        let entry = archive.by_index_raw(index).context("the archive is damaged")?;
        announced = announced.saturating_add(entry.size());
    }
    let mib = |bytes: u64| bytes >> 20;
    let too_large = || format!("it unpacks to more than {} MiB", mib(largest));
    ensure!(announced <= largest, too_large());
    ensure!(
        announced <= room,
        "it unpacks to {} MiB, but {} MiB are free in {}; set TMPDIR to another folder",
        mib(announced),
        mib(room),
        std::env::temp_dir().display()
    );
    let most = largest.min(room);
    let mut left = most;
    for index in 0..files {
        let mut entry = archive.by_index(index).context("the archive is damaged")?;
        let name = entry.name().context("the archive is damaged")?.into_owned();
        let Some(inside) = entry.enclosed_name() else {
            bail!("the archive has a file '{name}', which would be written outside of its folder");
        };
        let path = folder.join(inside);
        if entry.is_dir() {
            fs::create_dir_all(&path)?;
            continue;
        }
        // A link could lead out as well.
        ensure!(
            !entry.is_symlink(),
            "the archive has a symbolic link, '{name}', which is not allowed"
        );
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        let mut file = File::create(&path)?;
        // One more than there may be, to notice that there is more.
        let count = io::copy(&mut (&mut entry).take(left.saturating_add(1)), &mut file)
            .with_context(|| format!("'{name}' cannot be unpacked"))?;
        ensure!(count <= left, "it unpacks to more than {} MiB", mib(most));
        left -= count;
    }
    Ok(())
}

/// The last part of a path.
pub fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// What two FMUs are called: by their file names where these differ, else by
/// as much of their paths as tells them apart.
pub fn distinct_names(source: &Path, model: &Path) -> [String; 2] {
    let whole = [source, model].map(|path| std::path::absolute(path).unwrap_or(path.into()));
    let parts = whole.each_ref().map(|path| path.iter().collect::<Vec<_>>());
    for count in 1..=parts[0].len().max(parts[1].len()) {
        let names = parts.each_ref().map(|parts| {
            let end: PathBuf = parts[parts.len().saturating_sub(count)..].iter().collect();
            end.display().to_string()
        });
        if names[0] != names[1] {
            return names;
        }
    }
    ["source", "model"].map(|role| format!("{} ({role})", file_name(source)))
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write};

    use zip::write::SimpleFileOptions;
    use zip::ZipWriter;

    use super::*;

    #[test]
    fn what_unpacks_to_too_much_is_refused() {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        for name in ["a", "b"] {
            zip.start_file(name, SimpleFileOptions::default()).unwrap();
            zip.write_all(&vec![0; 3 << 20]).unwrap();
        }
        let bytes = zip.finish().unwrap().into_inner();
        assert!(bytes.len() < 1 << 20);
        let extract = |bytes: &[u8], largest: u64, room: u64| {
            let folder = tempfile::tempdir().unwrap();
            let mut archive = ZipArchive::new(Cursor::new(bytes.to_vec())).unwrap();
            extract(&mut archive, folder.path(), largest << 20, room << 20)
                .map_err(|error| error.to_string())
        };
        assert_eq!(extract(&bytes, 6, 6), Ok(()));
        let error = extract(&bytes, 5, 100).unwrap_err();
        assert!(error.contains("more than 5 MiB"), "{error}");
        let error = extract(&bytes, 100, 5).unwrap_err();
        assert!(error.contains("unpacks to 6 MiB, but 5"), "{error}");
        // A size that lies: the directory at the end says that there is less.
        let mut lying = bytes.clone();
        let size = (3u32 << 20).to_le_bytes();
        for at in 0..lying.len() - 4 {
            if lying[at..at + 4] == size {
                lying[at..at + 4].copy_from_slice(&1u32.to_le_bytes());
            }
        }
        assert!(extract(&lying, 5, 100).is_err());
    }

    #[test]
    fn two_of_one_name_are_told_apart() {
        let of = |a: &str, b: &str| distinct_names(Path::new(a), Path::new(b));
        assert_eq!(of("x/a.fmu", "y/b.fmu"), ["a.fmu", "b.fmu"]);
        assert_eq!(of("x/z/a.fmu", "y/z/a.fmu"), ["x/z/a.fmu", "y/z/a.fmu"]);
        assert_eq!(of("/a.fmu", "/a.fmu"), ["a.fmu (source)", "a.fmu (model)"]);
    }
}
