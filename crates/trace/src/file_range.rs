//! A part of a file, read by position: several parts of one file do not disturb each
//! other, and a file that is cut meanwhile ends early instead of ending the program, as
//! one that is mapped would. The file lies here, or in an archive.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use wiregauge_schema::file;

use crate::remote_file::{self, FileVersion, RemoteFile};

/// Where the bytes are.
#[derive(Clone, Debug)]
enum RangeOrigin {
    Here(Arc<File>),
    Archive(Arc<RemoteFile>),
}

/// The bytes of a file from one position to another.
#[derive(Clone, Debug)]
pub(crate) struct FileRange {
    file: RangeOrigin,
    at: u64,
    end: u64,
}

impl FileRange {
    /// All of a regular file, or of one in an archive.
    pub fn open(path: &Path) -> Result<FileRange> {
        if remote_file::is_remote(path) {
            let file = RemoteFile::open(path)?;
            return Ok(FileRange { at: 0, end: file.size(), file: RangeOrigin::Archive(file) });
        }
        let file = file::open(path)?;
        let end = file.metadata().with_context(|| format!("cannot read {}", path.display()))?.len();
        Ok(FileRange { file: RangeOrigin::Here(Arc::new(file)), at: 0, end })
    }

    /// All of a file that is open.
    pub fn from_file(file: File) -> Result<FileRange> {
        FileRange::shared(Arc::new(file))
    }

    /// All of a file that others read, too.
    pub fn shared(file: Arc<File>) -> Result<FileRange> {
        let end = file.metadata().context("cannot read a scratch file")?.len();
        Ok(FileRange { file: RangeOrigin::Here(file), at: 0, end })
    }

    /// The bytes of the same file between two positions in it; those behind its end are
    /// not there.
    pub fn between(&self, at: u64, end: u64) -> FileRange {
        FileRange { file: self.file.clone(), at, end: end.min(self.end).max(at) }
    }

    /// Whether it lies in an archive, where each hop is a request.
    pub fn is_remote(&self) -> bool {
        matches!(self.file, RangeOrigin::Archive(_))
    }

    /// Which file in an archive it is of; none where it lies here.
    pub fn archive_version(&self) -> Option<FileVersion> {
        match &self.file {
            RangeOrigin::Here(_) => None,
            RangeOrigin::Archive(file) => Some(file.file_version()),
        }
    }

    /// The position in the file that is read next.
    pub fn position(&self) -> u64 {
        self.at
    }

    /// Where it ends in the file.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// How many bytes are left.
    pub fn remaining(&self) -> u64 {
        self.end - self.at
    }

    /// Leaves out the next bytes; how many that were.
    pub fn skip(&mut self, count: u64) -> u64 {
        let count = count.min(self.remaining());
        self.at += count;
        count
    }
}

impl Read for FileRange {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.remaining()).unwrap_or(usize::MAX).min(buffer.len());
        let count = match &self.file {
            RangeOrigin::Here(file) => file.read_at(&mut buffer[..most], self.at)?,
            RangeOrigin::Archive(file) => file.read_at(&mut buffer[..most], self.at, self.end)?,
        };
        self.at += count as u64;
        Ok(count)
    }
}
