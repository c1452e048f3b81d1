//! An FMU on disk: unpacked into a folder, with what it says of itself.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{bail, ensure, Context, Result};
use tempfile::TempDir;
use zip::ZipArchive;

use crate::description::{Description, Fmi};

/// The most that an FMU may hold when unpacked, in bytes.
const LARGEST: u64 = 8 << 30;

/// An unpacked FMU.
#[derive(Debug)]
pub struct Package {
    /// File name of the FMU, as errors and tables call it.
    pub name: String,
    /// What it says of itself.
    pub description: Description,
    folder: PathBuf,
    /// Keeps an unpacked FMU until it is dropped.
    _temporary: Option<TempDir>,
}

impl Package {
    /// Unpacks an FMU into a temporary folder, which lives as long as the
    /// package.
    ///
    /// # Errors
    /// Names the file and says what is wrong with it.
    pub fn open(path: &Path) -> Result<Package> {
        let name = file_name(path);
        Package::unpack(path, &name).with_context(|| path.display().to_string())
    }

    fn unpack(path: &Path, name: &str) -> Result<Package> {
        let file = File::open(path).context("cannot be opened")?;
        ensure!(file.metadata()?.is_file(), "is no file");
        let mut archive = ZipArchive::new(file)
            .map_err(anyhow::Error::from)
            .context("is no FMU: it is not a zip archive")?;
        ensure!(
            archive.index_for_name("modelDescription.xml").is_some(),
            "is no FMU: the archive holds no modelDescription.xml"
        );
        let temporary = tempfile::Builder::new().prefix("wiregauge-fmu-").tempdir()?;
        extract(&mut archive, temporary.path())?;
        let mut package = Package::folder(temporary.path(), name)?;
        package._temporary = Some(temporary);
        Ok(package)
    }

    /// Takes an FMU that is unpacked already.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub fn folder(folder: &Path, name: &str) -> Result<Package> {
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
            "modelIdentifier '{identifier}' is no file name"
        );
        let binaries = self.folder.join("binaries");
        let platforms = platforms(self.description.fmi);
        for platform in platforms {
            let path = binaries.join(platform).join(format!("{identifier}.so"));
            if path.is_file() {
                return Ok(path);
            }
        }
        let mut there: Vec<String> = fs::read_dir(&binaries)
            .map(|entries| entries.flatten().map(|e| file_name(&e.path())).collect())
            .unwrap_or_default();
        there.sort();
        let there = if there.is_empty() { "none".to_owned() } else { there.join(", ") };
        bail!(
            "has no binary for this machine: binaries/{}/{identifier}.so is missing (platforms \
             in it: {there})",
            platforms[0]
        )
    }

    /// Its resources.
    pub fn resources(&self) -> PathBuf {
        self.folder.join("resources")
    }
}

/// What this machine's folder of binaries is called.
fn platforms(fmi: Fmi) -> &'static [&'static str] {
    match (fmi, cfg!(target_arch = "aarch64")) {
        (Fmi::Two, false) => &["linux64"],
        (Fmi::Three, false) => &["x86_64-linux"],
        (_, true) => &["aarch64-linux", "linux64"],
    }
}

/// Unpacks folders and ordinary files, and nothing outside of `folder`.
fn extract(archive: &mut ZipArchive<File>, folder: &Path) -> Result<()> {
    let mut left = LARGEST;
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).context("the archive is damaged")?;
        let name = entry.name().context("the archive is damaged")?.into_owned();
        let Some(inside) = entry.enclosed_name() else {
            bail!("the archive holds '{name}', which leads out of it");
        };
        let path = folder.join(inside);
        if entry.is_dir() {
            fs::create_dir_all(&path)?;
            continue;
        }
        // A link could lead out as well.
        ensure!(!entry.is_symlink(), "the archive holds the symbolic link '{name}'");
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        let mut file = File::create(&path)?;
        let count = io::copy(&mut (&mut entry).take(left), &mut file)
            .with_context(|| format!("'{name}' cannot be unpacked"))?;
        left -= count;
        ensure!(left > 0, "it unpacks to more than {} GiB", LARGEST >> 30);
    }
    Ok(())
}

/// The last part of a path.
pub fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}
