//! The kinds of files that hold recorded messages, told apart by their first
//! bytes. What is no recording is refused with what to do about it.

use std::io::Read;
use std::path::Path;

use anyhow::{bail, Context, Result};

use crate::file_range::FileRange;
use crate::{bag, compressed_file};

/// The first bytes of an SQLite database.
const SQLITE: &[u8] = b"SQLite format 3\0";

/// How files end within their packing that hold something else than a trace of OSI.
const OTHER_EXTENSIONS: [&str; 10] =
    ["mcap", "bag", "active", "db3", "txth", "txt", "tar", "yaml", "json", "jsonl"];

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContainerKind {
    /// MCAP.
    Mcap,
    /// A bag of ROS 1.
    Bag,
    /// A bag of ROS 2 in SQLite.
    Sqlite,
    /// A trace of OSI: messages of one type, each after its length.
    Osi,
}

impl ContainerKind {
    /// The kind of a file. Fails on what is no regular file, and on a file that
    /// is of none of these kinds.
    pub fn detect(path: &Path) -> Result<ContainerKind> {
        let mut head = Vec::new();
        FileRange::open(path)?
            .take(16)
            .read_to_end(&mut head)
            .with_context(|| format!("cannot read {}", path.display()))?;
        if let Some(kind) = ContainerKind::from_magic(&head) {
            return Ok(kind);
        }
        // What is packed as a whole is told by what is in it.
        if compressed_file::is_compressed(&head) {
            return detect_compressed(path, &head);
        }
        if compressed_file::is_lzma(path) {
            return Ok(ContainerKind::Osi);
        }
        require_osi_name(path, &head)?;
        Ok(ContainerKind::Osi)
    }

    /// The kind that the first bytes tell.
    fn from_magic(head: &[u8]) -> Option<ContainerKind> {
        let kinds = [
            (::mcap::MAGIC, ContainerKind::Mcap),
            (bag::MAGIC, ContainerKind::Bag),
            (SQLITE, ContainerKind::Sqlite),
        ];
        kinds.into_iter().find(|(magic, _)| head.starts_with(magic)).map(|(_, kind)| kind)
    }
}

/// What is packed as a whole: what its first bytes tell once they are unpacked, and a trace of
/// OSI, which has none, unless its name tells something else.
fn detect_compressed(path: &Path, head: &[u8]) -> Result<ContainerKind> {
    let (mut pieces, _) = compressed_file::open_slices(path, FileRange::open(path)?)?;
    let begun = pieces.peek(16).map(ContainerKind::from_magic);
    if let Ok(Some(kind)) = begun {
        return Ok(kind);
    }
    let inner = Path::new(path.file_stem().unwrap_or_default()).extension();
    let inner = inner.unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    // What cannot be unpacked is told where it is read.
    match inner.as_str() {
        "mcap" if begun.is_err() => return Ok(ContainerKind::Mcap),
        "bag" | "active" if begun.is_err() => return Ok(ContainerKind::Bag),
        "db3" if begun.is_err() => return Ok(ContainerKind::Sqlite),
        _ => {}
    }
    if OTHER_EXTENSIONS.contains(&inner.as_str()) {
        require_osi_name(path, head)?;
    }
    Ok(ContainerKind::Osi)
}

/// Fails unless the file is called a trace of OSI, which has no first bytes of
/// its own.
fn require_osi_name(path: &Path, head: &[u8]) -> Result<()> {
    let origin = path.display();
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let unpack = |tool: &str| -> Result<()> {
        bail!("{origin} is a compressed file; unpack it first: {tool} {origin}")
    };
    match head {
        [] if extension != "osi" => bail!(
            "{origin} is empty; a recorder may not have written to it: record or copy it again"
        ),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => return unpack("zstd -d"),
        [0x1f, 0x8b, ..] => return unpack("gunzip -k"),
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => return unpack("unxz -k"),
        [b'B', b'Z', b'h', ..] => return unpack("bunzip2 -k"),
        [0x04, 0x22, 0x4d, 0x18, ..] => return unpack("lz4 -d"),
        [0xd4, 0xc3, 0xb2, 0xa1, ..]
        | [0xa1, 0xb2, 0xc3, 0xd4, ..]
        | [0x4d, 0x3c, 0xb2, 0xa1, ..]
        | [0x0a, 0x0d, 0x0d, 0x0a, ..] => bail!(
            "{origin} is a capture of network packets, not of messages; convert it to MCAP or a \
             ROS bag with the sensor maker's tool or driver"
        ),
        _ if head.starts_with(b"#ROSBAG V1") => bail!(
            "{origin} is a bag of version 1; convert it to version 2.0 with the rosbag of ROS 1"
        ),
        _ => {}
    }
    match extension.as_str() {
        "osi" => Ok(()),
        "txth" => bail!(
            "{origin} is a trace as text; give the .osi or .mcap file that it was made from, or \
             convert it: wiregauge trace convert {origin} -o drive.mcap"
        ),
        // OSI's older format has binary messages, in spite of its name.
        "txt" if head.iter().any(|byte| *byte < b'\t') => bail!(
            "{origin} is a trace in a format that OSI 3.7 has dropped; convert it to .osi: \
             python3 txt2osi.py -d {origin}, with the script in OSI 3.6, folder format"
        ),
        "txt" => {
            bail!("{origin} is a trace as text; give the .osi or .mcap file that it was made from")
        }
        "yaml" => bail!("{origin} only describes a bag; give its folder"),
        "mcap" => bail!("{origin} is not an MCAP file, although its name says so"),
        "bag" => bail!("{origin} is not a ROS 1 bag of version 2.0, although its name says so"),
        "db3" => bail!("{origin} is not an SQLite database, although its name says so"),
        _ => bail!(
            "{origin} is not a recording; give MCAP (.mcap), a ROS 1 bag (.bag), a ROS 2 bag (.db3 \
             or its folder) or an OSI trace (.osi)"
        ),
    }
}
