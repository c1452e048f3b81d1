//! Opens recordings in any container.

use std::path::{Path, PathBuf};

use anyhow::Result;
use wiregauge_schema::package;

use crate::container::ContainerKind;
use crate::message_decompressor::MessageDecompressor;
use crate::read::Reader;
use crate::remote_file::is_remote;
use crate::remote_reader::RemoteReader;
use crate::{bag, folder, mcap, osi, sqlite, txth};

/// Opens a recording: MCAP, a bag of ROS 1, a bag of ROS 2 as a file or a folder, or a trace
/// of OSI, plain or packed as a whole by gzip, xz or zstd. The address of a file in an archive
/// stands for the file where [`set_opener`](crate::remote_file::set_opener) was called.
///
/// # Errors
/// On a file of another kind, with what to do about it.
pub fn open(path: &Path, wish: &OpenHints) -> Result<Box<dyn Reader>> {
    if path.is_dir() {
        let wish = wish.clone();
        return Ok(Box::new(folder::Reader::open(
            path,
            Box::new(move |part| open_file(part, &wish)),
        )?));
    }
    let reader = open_file(path, wish);
    match is_remote(path) {
        true => RemoteReader::around(reader, path),
        false => reader,
    }
}

fn open_file(path: &Path, wish: &OpenHints) -> Result<Box<dyn Reader>> {
    Ok(match ContainerKind::detect(path)? {
        ContainerKind::Osi => Box::new(osi::Reader::open(path, wish.osi_type.as_deref())?),
        ContainerKind::Mcap => {
            Box::new(MessageDecompressor::new(Box::new(mcap::Reader::open(path)?)))
        }
        ContainerKind::Sqlite => {
            Box::new(MessageDecompressor::new(Box::new(sqlite::Reader::open(path)?)))
        }
        ContainerKind::Bag => Box::new(bag::Reader::open(path)?),
    })
}

/// The extensions of recordings.
const RECORDINGS: [&str; 5] = ["mcap", "bag", "active", "db3", "osi"];

/// The extensions of an `.osi` file that is packed as a whole.
const PACKED: [&str; 5] = ["gz", "xz", "zst", "zstd", "lzma"];

/// Whether it is a recording and no definition, by its name; of a folder, by what is in it.
pub fn is_recording(path: &Path) -> bool {
    let end =
        |path: &Path| path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let is_packed = PACKED.contains(&end(path).as_str()) && end(&path.with_extension("")) == "osi";
    let is_bag = path.is_dir() && !package::is_of_definitions(path);
    is_packed || RECORDINGS.contains(&end(path).as_str()) || is_bag
}

/// The files that are read of a recording: itself, or those of its folder.
///
/// # Errors
/// When it is a folder of no recording.
pub fn list_files(path: &Path) -> Result<Vec<PathBuf>> {
    folder::list_files(path)
}

/// What a recording is, in a word or two.
///
/// # Errors
/// On a file of another kind, with what to do about it.
pub fn container_name(path: &Path) -> Result<&'static str> {
    if path.is_dir() {
        return Ok("ROS 2 bag");
    }
    Ok(match ContainerKind::detect(path)? {
        ContainerKind::Osi => "OSI",
        ContainerKind::Mcap => "MCAP",
        ContainerKind::Sqlite => "ROS 2 bag",
        ContainerKind::Bag => "ROS 1 bag",
    })
}

/// Opens a trace file as [`open`] does, and traces as text too, for which OSI's definitions
/// are needed.
///
/// # Errors
/// On a file of another kind, and on text that does not tell where a message ends.
pub fn open_with(
    path: &Path,
    wish: &OpenHints,
    definitions: &dyn Fn() -> Result<Vec<u8>>,
) -> Result<Box<dyn Reader>> {
    match path.extension().is_some_and(|end| end.eq_ignore_ascii_case("txth")) {
        true => Ok(Box::new(txth::Reader::open(path, wish.osi_type.as_deref(), &definitions()?)?)),
        false => open(path, wish),
    }
}

/// What the user says of a file that does not tell it.
#[derive(Clone, Debug, Default)]
pub struct OpenHints {
    /// The type of the messages of an `.osi` file: `sv`, `SensorView` or
    /// `osi3.SensorView`.
    pub osi_type: Option<String>,
}
