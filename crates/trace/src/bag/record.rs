//! The records of a bag: their headers, and what unpacks a chunk.

use std::io::{BufReader, Read};

use anyhow::{bail, ensure, Context, Result};

use crate::file_range::FileRange;
use crate::read::{Nanoseconds, Unsupported};
use crate::slice_reader::SliceReader;

/// The first bytes of a bag.
pub const MAGIC: &[u8] = b"#ROSBAG V2.0\n";

/// Largest header in bytes. Real ones take a hundred.
pub const MAX_HEADER: u32 = 1 << 20;

/// Largest description of a connection in bytes: 64 MiB.
pub const MAX_CONNECTION: u32 = 1 << 26;

/// What a record is, by its field `op`.
pub const MESSAGE: u8 = 2;
pub const BAG: u8 = 3;
pub const INDEX_DATA: u8 = 4;
pub const CHUNK: u8 = 5;
pub const CHUNK_INFO: u8 = 6;
pub const CONNECTION: u8 = 7;

/// That there is less than a record tells of.
pub const TRUNCATED: &str = "it ends within a record";

/// Named fields: each a length, then `name=value`.
pub struct HeaderFields<'a>(pub &'a [u8]);

impl<'a> HeaderFields<'a> {
    pub fn find(&self, name: &str) -> Result<Option<&'a [u8]>> {
        let mut rest = self.0;
        while !rest.is_empty() {
            let (length, after) = rest.split_first_chunk::<4>().context("a field is truncated")?;
            let length = u32::from_le_bytes(*length) as usize;
            ensure!(length <= after.len(), "a field is truncated");
            let (field, after) = after.split_at(length);
            let at = field.iter().position(|byte| *byte == b'=').context("a field without '='")?;
            if &field[..at] == name.as_bytes() {
                return Ok(Some(&field[at + 1..]));
            }
            rest = after;
        }
        Ok(None)
    }

    pub fn get(&self, name: &str) -> Result<&'a [u8]> {
        self.find(name)?.with_context(|| format!("a record has no '{name}'"))
    }

    pub fn text(&self, name: &str) -> Result<String> {
        Ok(String::from_utf8_lossy(self.get(name)?).into_owned())
    }

    pub fn octet(&self, name: &str) -> Result<u8> {
        let [octet] = self.get(name)? else { bail!("'{name}' is not one byte") };
        Ok(*octet)
    }

    pub fn number(&self, name: &str) -> Result<u32> {
        let bytes = self.get(name)?.try_into();
        Ok(u32::from_le_bytes(bytes.with_context(|| format!("'{name}' is not four bytes"))?))
    }

    /// A time: seconds and nanoseconds.
    pub fn time(&self, name: &str) -> Result<Nanoseconds> {
        let both = self.long(name)?;
        Ok(Nanoseconds::from(both & 0xffff_ffff) * 1_000_000_000 + Nanoseconds::from(both >> 32))
    }

    pub fn long(&self, name: &str) -> Result<u64> {
        let bytes = self.get(name)?.try_into();
        Ok(u64::from_le_bytes(bytes.with_context(|| format!("'{name}' is not eight bytes"))?))
    }
}

/// What stands before the data of a record: its header, and how long the data are.
pub fn head(pieces: &mut SliceReader) -> Result<(Vec<u8>, u32)> {
    let length = number(pieces)?;
    ensure!(length <= MAX_HEADER, "a header has {length} bytes");
    let header = pieces.take(length as usize)?.to_vec();
    ensure!(header.len() == length as usize, TRUNCATED);
    Ok((header, number(pieces)?))
}

fn number(pieces: &mut SliceReader) -> Result<u32> {
    let bytes: [u8; 4] = pieces.take(4)?.try_into().ok().context(TRUNCATED)?;
    Ok(u32::from_le_bytes(bytes))
}

/// A chunk's records. Those of a packed chunk are unpacked as they are read, so that memory
/// does not grow with it.
pub fn records(compression: &[u8], packed: FileRange) -> Result<SliceReader> {
    let packed_size = packed.remaining();
    let stream: Box<dyn Read + Send> = match compression {
        b"none" => return Ok(SliceReader::from_range(packed)),
        // A stream that has not begun yet.
        b"bz2" | b"lz4" if packed_size == 0 => return Ok(SliceReader::from_range(packed)),
        b"bz2" => Box::new(bzip2::read::BzDecoder::new(BufReader::new(packed))),
        b"lz4" => Box::new(lz4::Decoder::new(BufReader::new(packed))?),
        other => {
            let other = String::from_utf8_lossy(other);
            bail!(Unsupported(format!(
                "a chunk has the unknown compression '{other}'; none, bz2 and lz4 can be read"
            )))
        }
    };
    Ok(SliceReader::from_stream(stream))
}
