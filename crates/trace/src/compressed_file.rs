//! Files that are packed as a whole, told by their first bytes.

use std::io::{self, BufReader, Read};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use anyhow::Result;

use crate::file_range::FileRange;
use crate::slice_reader::SliceReader;

/// The first bytes of gzip, zstd and xz.
pub(crate) const GZIP: &[u8] = &[0x1f, 0x8b];
pub(crate) const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
pub(crate) const XZ: &[u8] = &[0xfd, b'7', b'z', b'X', b'Z', 0];

/// How much memory in KiB the old format of LZMA may ask for: 1 GiB.
const LZMA: u32 = 1 << 20;

/// How much of a packed file was read.
#[derive(Clone, Default)]
pub(crate) struct ReadProgress(Arc<AtomicU64>);

impl ReadProgress {
    pub fn read(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Whether a file that begins like this is packed as a whole in a way that is read.
pub(crate) fn is_compressed(head: &[u8]) -> bool {
    [GZIP, ZSTD, XZ].iter().any(|magic| head.starts_with(magic))
}

/// Whether a file is called a trace of OSI in the old format of LZMA, which has no first
/// bytes of its own: `drive_sv.osi.lzma`.
pub(crate) fn is_lzma(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    name.ends_with(".osi.lzma")
}

/// What is in a file, packed or not.
pub(crate) fn open_slices(
    path: &Path,
    file: FileRange,
) -> Result<(SliceReader, Option<ReadProgress>)> {
    Ok(match open_stream(path, file.clone())? {
        None => (SliceReader::from_range(file), None),
        Some((stream, progress)) => (SliceReader::from_stream(stream), Some(progress)),
    })
}

/// What unpacks a file, and how much of it was read; none where it is not packed.
pub(crate) fn open_stream(path: &Path, file: FileRange) -> Result<Option<(Stream, ReadProgress)>> {
    let mut head = Vec::new();
    file.between(0, XZ.len() as u64).read_to_end(&mut head)?;
    let is_lzma = is_lzma(path) && !is_compressed(&head);
    if !is_compressed(&head) && !is_lzma {
        return Ok(None);
    }
    let progress = ReadProgress::default();
    let counted = CountingReader { part: file, progress: progress.clone() };
    let stream: Stream = if is_lzma {
        Box::new(lzma_rust2::LzmaReader::new_mem_limit(BufReader::new(counted), LZMA, None)?)
    } else if head.starts_with(GZIP) {
        Box::new(flate2::read::MultiGzDecoder::new(counted))
    } else if head.starts_with(ZSTD) {
        Box::new(zstd::Decoder::new(counted)?)
    } else {
        Box::new(lzma_rust2::XzReader::new(counted, true))
    };
    Ok(Some((stream, progress)))
}

/// What unpacks a file.
pub(crate) type Stream = Box<dyn Read + Send>;

/// A part of which is told how much was read.
struct CountingReader {
    part: FileRange,
    progress: ReadProgress,
}

impl Read for CountingReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.part.read(buffer)?;
        self.progress.0.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}
