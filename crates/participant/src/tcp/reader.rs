//! Reads samples from one connection.

use std::io::{ErrorKind, Read};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::{bail, ensure, Context, Result};
use wiregauge_timing::allocation::{allocate_zeroed, resize};

/// Length before each sample.
pub const PREFIX: usize = 4;
/// Shortest time-out of a socket: none would be without end.
const LEAST: Duration = Duration::from_micros(1);
/// What is read at once; larger samples go straight to their place.
const BLOCK: usize = 64 << 10;

/// A reader whose writer is there.
pub struct TcpReader {
    /// The connection.
    pub stream: TcpStream,
    /// Size of a sample with its length; of the length alone, as long as that is all that
    /// is known of one whose size is its own.
    wanted: usize,
    /// The largest sample, where each has a size of its own.
    largest: Option<usize>,
    /// The time-out that the socket has now.
    set: Duration,
    /// What was read: `buffer[taken..filled]` is still to be told.
    buffer: Vec<u8>,
    taken: usize,
    filled: usize,
}

impl TcpReader {
    /// One of samples of a size, or of any up to it.
    ///
    /// # Errors
    /// When the system refuses, or there is no memory.
    pub fn new(stream: TcpStream, size: usize, varies: bool) -> Result<TcpReader> {
        stream.set_nonblocking(false)?;
        stream.set_nodelay(true)?;
        let (wanted, largest) = if varies { (PREFIX, Some(size)) } else { (PREFIX + size, None) };
        let (set, buffer) = (Duration::ZERO, allocate_zeroed(wanted.max(BLOCK))?);
        Ok(TcpReader { stream, wanted, largest, set, buffer, taken: 0, filled: 0 })
    }

    /// The next sample. The patience is that for more of a sample: whoever sends it in pieces is
    /// waited for, and no clock is read where all is there.
    ///
    /// # Errors
    /// When the writer is gone.
    pub fn next(&mut self, patience: Duration) -> Result<Option<&[u8]>> {
        if self.set != patience {
            self.stream.set_read_timeout(Some(patience.max(LEAST)))?;
            self.set = patience;
        }
        Ok(if self.gather()? { Some(self.take()?) } else { None })
    }

    /// Whether all of a sample is there, or could be read.
    ///
    /// # Errors
    /// When the writer is gone.
    pub fn gather(&mut self) -> Result<bool> {
        while !self.has_sample() {
            // What is there of the sample moves to the front when the rest has
            // no room behind it.
            if self.taken == self.filled {
                (self.taken, self.filled) = (0, 0);
            } else if self.taken > 0 && self.buffer.len() - self.taken < self.wanted {
                self.buffer.copy_within(self.taken..self.filled, 0);
                (self.taken, self.filled) = (0, self.filled - self.taken);
            }
            if self.filled == self.buffer.len() {
                // Memory grows with what arrives and not with what was announced.
                resize(&mut self.buffer, (2 * self.filled).min(self.wanted))?;
            }
            if !self.fill()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether all of a sample is there.
    pub fn has_sample(&self) -> bool {
        self.filled - self.taken >= self.wanted
    }

    /// The sample that is there.
    ///
    /// # Errors
    /// What comes behind it and is no sample.
    pub fn take(&mut self) -> Result<&[u8]> {
        let start = self.taken + PREFIX;
        self.taken += self.wanted;
        if self.largest.is_some() {
            self.wanted = PREFIX;
            self.check_length()?;
        }
        Ok(&self.buffer[start..self.taken])
    }

    /// Reads more; whether there was any.
    fn fill(&mut self) -> Result<bool> {
        match self.stream.read(&mut self.buffer[self.filled..]) {
            Ok(0) => bail!("the writer disconnected"),
            Ok(count) => {
                self.filled += count;
                self.check_length()?;
                Ok(true)
            }
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::TimedOut => Ok(false),
                ErrorKind::Interrupted => Ok(true),
                _ => Err(error).context("the writer disconnected"),
            },
        }
    }

    /// All samples of a run have one size, or none is larger than the largest.
    fn check_length(&mut self) -> Result<()> {
        let there = &self.buffer[self.taken..self.filled];
        let Some(prefix) = there.first_chunk::<PREFIX>() else { return Ok(()) };
        let size = u32::from_le_bytes(*prefix) as usize;
        match self.largest {
            None => ensure!(PREFIX + size == self.wanted, "another program writes to this port"),
            Some(largest) => {
                ensure!(
                    size <= largest,
                    "a sample has {size} bytes, more than the largest of {largest}: another \
                     program writes to this port"
                );
                self.wanted = PREFIX + size;
            }
        }
        Ok(())
    }
}
