//! The index beside a trace of OSI, `FILE.osi.index`: where each message lies and when it was,
//! so that one is found without hopping over those before it. `docs/traces.md` has its form.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{ensure, Context, Result};

use super::stamp::Stamp;
use crate::file_range::FileRange;
use crate::read::Nanoseconds;
use crate::remote_file::is_remote;

pub(super) const MAGIC: [u8; 8] = *b"WGOSIIDX";
pub(super) const VERSION: u16 = 1;
/// The length of what stands before the entries.
const HEAD: u64 = 32;
/// The length of an entry: a position and a time.
const ENTRY: u64 = 16;
/// The length of the checksum behind the entries.
const SUM: u64 = 4;
/// The flag that times never go back and none is absent.
pub(super) const SORTED_FLAG: u16 = 1;
/// The time of a message that has none.
pub(super) const TIMELESS: i64 = i64::MIN;
/// How many messages are held against the file before an index is believed.
const SAMPLES: u64 = 16;
/// How much of a message is looked at for its time.
const FRONT: u64 = 64;

/// An index that was held against its file.
#[derive(Debug)]
pub(crate) struct OsiIndex {
    part: FileRange,
    /// How many messages there are.
    pub count: u64,
    /// Whether times never go back.
    pub rises: bool,
}

/// What it says of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OsiIndexEntry {
    /// The position of its length.
    pub at: u64,
    pub time: Option<Nanoseconds>,
}

/// Where the index of a file is.
pub fn index_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".index");
    name.into()
}

impl OsiIndex {
    /// The index beside a file; none where there is none.
    ///
    /// # Errors
    /// When it is damaged, or not of this file.
    pub fn open(path: &Path, file: &FileRange, type_name: &str) -> Result<Option<OsiIndex>> {
        let path = index_path(path);
        // To ask an archive for one that is seldom there would be a request.
        if is_remote(&path) || !path.try_exists().unwrap_or(true) {
            return Ok(None);
        }
        let part = FileRange::open(&path)?;
        let index = OsiIndex::read(part)?;
        index.check(file, type_name)?;
        Ok(Some(index))
    }

    /// Reads what it says of itself.
    fn read(part: FileRange) -> Result<OsiIndex> {
        let mut head = Vec::new();
        part.between(0, HEAD).read_to_end(&mut head)?;
        ensure!(head.starts_with(&MAGIC), "it is not an index");
        let head: [u8; HEAD as usize] = head.try_into().ok().context("it is truncated")?;
        let version = u16::from_le_bytes([head[8], head[9]]);
        ensure!(
            version == VERSION,
            "it has version {version}, but wiregauge reads version {VERSION}"
        );
        let count = u64::from_le_bytes(head[16..24].try_into()?);
        let size = count.checked_mul(ENTRY).and_then(|size| size.checked_add(HEAD + SUM));
        ensure!(size == Some(part.end()), "its length differs from the declared one");
        let rises = u16::from_le_bytes([head[10], head[11]]) & SORTED_FLAG != 0;
        Ok(OsiIndex { part, count, rises })
    }

    /// Holds it against its checksum, and samples of it against the file.
    fn check(&self, file: &FileRange, type_name: &str) -> Result<()> {
        let end = self.part.end() - SUM;
        let (mut body, mut sum) = (self.part.between(0, end), crc32fast::Hasher::new());
        let mut piece = vec![0; 1 << 16];
        loop {
            match body.read(&mut piece)? {
                0 => break,
                count => sum.update(&piece[..count]),
            }
        }
        let mut told = Vec::new();
        self.part.between(end, self.part.end()).read_to_end(&mut told)?;
        ensure!(told == sum.finalize().to_le_bytes(), "its checksum is wrong");
        let mut size = Vec::new();
        self.part.between(24, 32).read_to_end(&mut size)?;
        ensure!(size == file.end().to_le_bytes(), "the trace file has another length now");
        for sample in 0..SAMPLES.min(self.count) {
            // The first one and the last one are among them.
            let at = sample * (self.count - 1) / (SAMPLES.min(self.count) - 1).max(1);
            self.check_message(at, file, type_name)
                .with_context(|| format!("message {at} has moved or changed"))?;
        }
        Ok(())
    }

    /// Holds what it says of a message against the file.
    fn check_message(&self, at: u64, file: &FileRange, type_name: &str) -> Result<()> {
        let OsiIndexEntry { at: position, time } = self.entry(at)?;
        ensure!(at > 0 || position == 0, "it is not at the start");
        let start = position.checked_add(4).context("it lies beyond the end of the file")?;
        let mut length = Vec::new();
        file.between(position, start).read_to_end(&mut length)?;
        let length = u32::from_le_bytes(
            length[..].try_into().context("it lies beyond the end of the file")?,
        );
        let end = start + u64::from(length);
        let next = if at + 1 < self.count { self.entry(at + 1)?.at } else { file.end() };
        ensure!(end == next, "it has another length");
        let mut front = Vec::new();
        file.between(start, end.min(start + FRONT)).read_to_end(&mut front)?;
        let told = Stamp::read(type_name, &front).time;
        // A time stamp that comes later is not looked for.
        ensure!(told.is_none() || told == time, "it has another time");
        Ok(())
    }

    /// What it says of a message.
    pub fn entry(&self, at: u64) -> Result<OsiIndexEntry> {
        let from = HEAD + at * ENTRY;
        let mut bytes = Vec::with_capacity(ENTRY as usize);
        self.part.between(from, from + ENTRY).read_to_end(&mut bytes)?;
        let (position, time) = bytes.split_first_chunk::<8>().context("it is truncated")?;
        let time = i64::from_le_bytes(time.try_into().context("it is truncated")?);
        let time = (time != TIMELESS).then_some(Nanoseconds::from(time));
        Ok(OsiIndexEntry { at: u64::from_le_bytes(*position), time })
    }

    /// The first message for which something holds that holds for all behind it, too; the
    /// number of messages where it holds for none.
    pub fn first(&self, holds: impl Fn(Nanoseconds) -> bool) -> Result<u64> {
        let (mut from, mut to) = (0, self.count);
        while from < to {
            let middle = from + (to - from) / 2;
            match self.entry(middle)?.time.is_some_and(&holds) {
                true => to = middle,
                false => from = middle + 1,
            }
        }
        Ok(from)
    }
}
