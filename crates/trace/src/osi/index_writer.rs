//! Writes the index beside a trace of OSI.

use std::io::{BufWriter, IntoInnerError, Write};
use std::path::Path;

use anyhow::{bail, ensure, Context, Result};
use wiregauge_system::file::Target;

use super::index::{index_path, MAGIC, SORTED_FLAG, TIMELESS, VERSION};
use super::reader::Reader;
use crate::file_range::FileRange;
use crate::read::{report_progress, Reader as _};
use crate::scratch;

/// Writes the index of a file. How many messages it has.
///
/// # Errors
/// When the file is packed or damaged.
pub fn write(path: &Path, wished: Option<&str>, news: &mut dyn FnMut(u64, u64)) -> Result<u64> {
    let origin = path.display();
    let mut reader = Reader::open(path, wished)?;
    ensure!(
        reader.is_plain(),
        "{origin} is a compressed file, which cannot be read from the middle; unpack it first"
    );
    let target = Target::open(&index_path(path), &[path])?;
    let mut out = ChecksumWriter {
        out: BufWriter::new(target.start_draft()?),
        sum: crc32fast::Hasher::new(),
    };
    // Count and order are known at the end: the entries wait in a file of their own.
    let entries = scratch::create_unnamed(path).context("cannot make a scratch file")?;
    let mut entries = BufWriter::new(entries);
    let (mut count, mut rises, mut latest) = (0u64, true, TIMELESS);
    while let Some(head) = reader.next()? {
        let time = match head.time.map(i64::try_from) {
            Some(Ok(time)) => time,
            None => TIMELESS,
            Some(Err(_)) => bail!("{origin}: {}: the time does not fit into an index", head.place),
        };
        rises &= time >= latest && time != TIMELESS;
        latest = time;
        entries.write_all(&head.place.at.to_le_bytes())?;
        entries.write_all(&time.to_le_bytes())?;
        count += 1;
        if count.is_multiple_of(1024) {
            report_progress(&reader, news)?;
        }
    }
    out.write_all(&MAGIC)?;
    out.write_all(&VERSION.to_le_bytes())?;
    out.write_all(&(if rises { SORTED_FLAG } else { 0 }).to_le_bytes())?;
    out.write_all(&0u32.to_le_bytes())?;
    out.write_all(&count.to_le_bytes())?;
    out.write_all(&reader.progress().1.to_le_bytes())?;
    let entries = entries.into_inner().map_err(IntoInnerError::into_error)?;
    let mut entries = FileRange::from_file(entries)?;
    std::io::copy(&mut entries, &mut out)?;
    let ChecksumWriter { mut out, sum } = out;
    out.write_all(&sum.finalize().to_le_bytes())?;
    out.into_inner().map_err(IntoInnerError::into_error)?.finish()?;
    Ok(count)
}

/// Bytes that are summed up while they are written.
struct ChecksumWriter<W: Write> {
    out: W,
    sum: crc32fast::Hasher,
}

impl<W: Write> Write for ChecksumWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let count = self.out.write(bytes)?;
        self.sum.update(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}
