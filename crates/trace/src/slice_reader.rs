//! Cuts what is read into pieces whose lengths are told on the way. A piece lies whole in
//! the buffer that it was read into: nobody copies it again.

use std::io::{self, ErrorKind, Read};
use std::ops::Range;
use std::sync::Arc;

use crate::file_range::FileRange;
use crate::shared_bytes::SharedBytes;

/// How much is read at once. The buffer grows by no more than that before the bytes are
/// there, whatever length a file claims.
const STEP: usize = 1 << 18;

/// How much is read where it was hopped to, as the next hop may follow.
const FIRST: usize = 1 << 12;

/// What is cut.
enum SliceSource {
    Part(FileRange),
    Stream(Box<dyn Read + Send>),
    /// All of it is in the buffer.
    Nothing,
}

/// Bytes that are taken one piece after another.
pub(crate) struct SliceReader {
    from: SliceSource,
    /// Of these bytes those from `start` to `end` are next.
    buffer: Arc<Vec<u8>>,
    start: usize,
    end: usize,
    /// How many were taken.
    taken: u64,
    /// How much is read next.
    step: usize,
    /// The checksum of what was taken or left out, where it is wanted.
    sum: Option<crc32fast::Hasher>,
}

impl SliceReader {
    /// Cuts a part of a file.
    pub fn from_range(part: FileRange) -> SliceReader {
        SliceReader::new(SliceSource::Part(part), Vec::new())
    }

    /// Goes on with a part of a file, whose bytes are counted from its own position on.
    pub fn continue_with(&mut self, part: FileRange) {
        (self.start, self.end, self.taken) = (0, 0, part.position());
        self.sum = None;
        self.from = SliceSource::Part(part);
    }

    /// Cuts what comes out of a reader.
    pub fn from_stream(stream: Box<dyn Read + Send>) -> SliceReader {
        SliceReader::new(SliceSource::Stream(stream), Vec::new())
    }

    /// Cuts bytes.
    pub fn from_bytes(bytes: Vec<u8>) -> SliceReader {
        SliceReader::new(SliceSource::Nothing, bytes)
    }

    fn new(from: SliceSource, buffer: Vec<u8>) -> SliceReader {
        let (end, buffer) = (buffer.len(), Arc::new(buffer));
        SliceReader { from, start: 0, end, buffer, taken: 0, step: FIRST, sum: None }
    }

    /// Sums up what is taken or left out from now on, behind what was before: all of it is
    /// read.
    pub fn begin_sum(&mut self, before: &[u8]) {
        let mut sum = crc32fast::Hasher::new();
        sum.update(before);
        self.sum = Some(sum);
    }

    /// Sums up no more, so that what is left out need not be read.
    pub fn end_sum(&mut self) {
        self.sum = None;
    }

    /// The checksum of what was taken or left out; none where that was not wanted.
    pub fn sum(&self) -> Option<u32> {
        self.sum.clone().map(crc32fast::Hasher::finalize)
    }

    /// The buffer, to be used again; a new one where somebody has a part of it.
    pub fn into_buffer(self) -> Vec<u8> {
        Arc::try_unwrap(self.buffer).unwrap_or_default()
    }

    /// How many bytes were taken or left out so far.
    pub fn position(&self) -> u64 {
        self.taken
    }

    /// How many bytes are left, where that is known.
    pub fn remaining(&self) -> Option<u64> {
        let here = (self.end - self.start) as u64;
        match &self.from {
            SliceSource::Part(part) => Some(here + part.remaining()),
            SliceSource::Nothing => Some(here),
            SliceSource::Stream(_) => None,
        }
    }

    /// The next bytes, which stay: as many as wanted, or all that are left.
    pub fn peek(&mut self, count: usize) -> io::Result<&[u8]> {
        self.fill(count)?;
        let there = count.min(self.end - self.start);
        Ok(&self.buffer[self.start..self.start + there])
    }

    /// Takes the next bytes: as many as wanted, or all that are left.
    pub fn take(&mut self, count: usize) -> io::Result<&[u8]> {
        let there = self.take_range(count)?;
        Ok(&self.buffer[there])
    }

    /// The same for who keeps them while more is taken: they stay where they are, and what
    /// comes next goes into another buffer.
    pub fn take_shared(&mut self, count: usize) -> io::Result<SharedBytes> {
        let there = self.take_range(count)?;
        Ok(SharedBytes::new(&self.buffer, there))
    }

    /// Where the bytes that are taken lie in the buffer.
    fn take_range(&mut self, count: usize) -> io::Result<Range<usize>> {
        self.fill(count)?;
        let there = self.start..self.start + count.min(self.end - self.start);
        self.start = there.end;
        self.taken += there.len() as u64;
        if let Some(sum) = &mut self.sum {
            sum.update(&self.buffer[there.clone()]);
        }
        Ok(there)
    }

    /// Leaves out the next bytes, without reading them where that can be. Whether there
    /// were as many.
    pub fn skip(&mut self, count: u64) -> io::Result<bool> {
        if self.sum.is_some() {
            return self.pass(count);
        }
        let here = count.min((self.end - self.start) as u64);
        self.start += here as usize;
        let mut left = count - here;
        match &mut self.from {
            SliceSource::Part(part) if left > 0 => {
                left -= part.skip(left);
                self.step = FIRST;
            }
            SliceSource::Stream(stream) => {
                left -= io::copy(&mut stream.take(left), &mut io::sink())?;
            }
            SliceSource::Part(_) | SliceSource::Nothing => {}
        }
        self.taken += count - left;
        Ok(left == 0)
    }

    /// Takes the next bytes, which nobody wants, piece by piece.
    fn pass(&mut self, count: u64) -> io::Result<bool> {
        let mut left = count;
        while left > 0 {
            let there = self.take(left.min(STEP as u64) as usize)?.len() as u64;
            if there == 0 {
                return Ok(false);
            }
            left -= there;
        }
        Ok(true)
    }

    /// Reads until so many bytes are in the buffer, or the end has come.
    fn fill(&mut self, count: usize) -> io::Result<()> {
        if matches!(self.from, SliceSource::Nothing) {
            return Ok(());
        }
        while self.end - self.start < count {
            let next = self.start..self.end;
            (self.start, self.end) = (0, next.len());
            match Arc::get_mut(&mut self.buffer) {
                Some(buffer) if next.start > 0 => buffer.copy_within(next, 0),
                Some(_) => {}
                // Who has a part of it keeps it: only what comes next is moved.
                None => self.buffer = Arc::new(self.buffer[next].to_vec()),
            }
            // It is nobody else's now, so nothing is copied here.
            let buffer = Arc::make_mut(&mut self.buffer);
            // Behind a large piece nothing is read ahead, as it would have to be moved.
            let step = match count > self.step {
                true => (count - self.end).min(STEP),
                false => self.step,
            };
            self.step = (2 * self.step).min(STEP);
            if buffer.len() < self.end + step {
                buffer.resize(self.end + step, 0);
            }
            let room = &mut buffer[self.end..self.end + step];
            let read = match &mut self.from {
                SliceSource::Part(part) => part.read(room),
                SliceSource::Stream(stream) => stream.read(room),
                SliceSource::Nothing => Ok(0),
            };
            match read {
                Ok(0) => break,
                Ok(count) => self.end += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn pieces_of_any_length_come_out_as_they_are() {
        let bytes: Vec<u8> = (0..3_000_000u32).map(|n| (n % 251) as u8).collect();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, &bytes).unwrap();
        let all = |bytes: &[u8]| io::Cursor::new(bytes.to_vec());
        for mut pieces in [
            SliceReader::from_range(FileRange::open(&path).unwrap()),
            SliceReader::from_stream(Box::new(all(&bytes))),
            SliceReader::from_bytes(bytes.clone()),
        ] {
            let mut at = 0;
            for length in [0, 1, 7, 1_000_000, 3, STEP, 1, STEP + 1, 100] {
                assert_eq!(pieces.peek(length.min(10)).unwrap(), &bytes[at..at + length.min(10)]);
                assert_eq!(pieces.take(length).unwrap(), &bytes[at..at + length]);
                at += length;
                assert!(pieces.skip(5).unwrap());
                at += 5;
                assert_eq!(pieces.position(), at as u64);
            }
            assert!(pieces.remaining().is_none_or(|left| left == (bytes.len() - at) as u64));
            assert_eq!(pieces.take(usize::MAX >> 1).unwrap(), &bytes[at..]);
            assert!(!pieces.skip(1).unwrap());
            assert!(pieces.take(1).unwrap().is_empty());
        }
    }

    #[test]
    fn bytes_that_are_kept_stay_where_they_are() {
        let bytes: Vec<u8> = (0..3_000_000u32).map(|n| (n % 251) as u8).collect();
        let stream = Box::new(io::Cursor::new(bytes.clone()));
        for mut pieces in [SliceReader::from_stream(stream), SliceReader::from_bytes(bytes.clone())]
        {
            let mut kept = Vec::new();
            while let Some(piece) = pieces.take_shared(70_001).ok().filter(|it| !it.is_empty()) {
                kept.push((piece.as_ptr(), piece));
            }
            let mut at = 0;
            for (address, piece) in kept {
                assert_eq!(piece.as_ptr(), address);
                assert_eq!(&piece[..], &bytes[at..at + piece.len()]);
                at += piece.len();
            }
            assert_eq!(at, bytes.len());
        }
    }

    #[test]
    fn a_buffer_that_nobody_keeps_is_used_again() {
        let mut pieces = SliceReader::from_stream(Box::new(io::repeat(7).take(8 << 20)));
        let mut buffers = std::collections::BTreeSet::new();
        for _ in 0..64 {
            buffers.insert(pieces.take_shared(1 << 17).unwrap().buffer().as_ptr());
        }
        assert!(buffers.len() < 8, "{}", buffers.len());
    }

    #[test]
    fn a_claimed_length_takes_no_memory() {
        let mut pieces = SliceReader::from_stream(Box::new(&b"four"[..]));
        assert_eq!(pieces.take(1 << 40).unwrap(), b"four");
        assert!(pieces.into_buffer().capacity() <= 2 * STEP);
    }
}
