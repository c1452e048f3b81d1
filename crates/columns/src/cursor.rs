//! A place in a message whose fields lie one after another: CDR, and ROS 1.

use anyhow::{bail, ensure, Context, Result};
use wiregauge_trace::cdr::{split_header, MAX_PADDING};

use crate::fixed_layout::ALIGNMENT;

/// How such a message lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SequentialLayout {
    /// Numbers begin at multiples of their size.
    pub(crate) is_aligned: bool,
    /// A header says the order of bytes, text ends with a zero byte, which its length includes,
    /// and a record without fields takes a byte.
    pub(crate) is_cdr: bool,
}

impl SequentialLayout {
    /// CDR, as DDS and ROS 2 write it.
    pub const CDR: SequentialLayout = SequentialLayout { is_aligned: true, is_cdr: true };

    /// ROS 1.
    pub const ROS1: SequentialLayout = SequentialLayout { is_aligned: false, is_cdr: false };
}

/// A place in a message.
#[derive(Debug)]
pub struct Cursor<'m> {
    bytes: &'m [u8],
    pub(crate) at: usize,
    layout: SequentialLayout,
    /// Whether numbers have their most significant byte first.
    pub(crate) is_swapped: bool,
}

impl<'m> Cursor<'m> {
    /// At the first field of a message.
    ///
    /// # Errors
    /// When it has another header than that of plain CDR, where it must have one.
    pub fn begin(message: &'m [u8], layout: SequentialLayout) -> Result<Cursor<'m>> {
        let (bytes, is_swapped) = match layout.is_cdr {
            true => split_header(message)?,
            false => (message, false),
        };
        Ok(Cursor { bytes, at: 0, layout, is_swapped })
    }

    /// Fails where more is left than what fills up a message.
    ///
    /// # Errors
    /// With how much is left.
    pub fn finish(&self) -> Result<()> {
        let (left, most) = (self.left(), if self.layout.is_cdr { MAX_PADDING } else { 0 });
        ensure!(
            left <= most,
            "{left} bytes are left over; the definition does not fit this message"
        );
        Ok(())
    }

    /// How many bytes are left.
    #[inline]
    pub fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// Where alignment counts from.
    #[inline]
    pub(crate) fn phase(&self) -> usize {
        if self.layout.is_aligned {
            self.at % ALIGNMENT
        } else {
            0
        }
    }

    /// The next bytes.
    ///
    /// # Errors
    /// When there are not as many.
    #[inline]
    pub fn take(&mut self, count: usize) -> Result<&'m [u8]> {
        let left = &self.bytes[self.at..];
        let Some(bytes) = left.get(..count) else {
            bail!("needs {count} bytes, but only {} are left", left.len())
        };
        self.at += count;
        Ok(bytes)
    }

    /// Goes to where a number of so many bytes begins.
    ///
    /// # Errors
    /// When the message ends before.
    #[inline]
    pub fn align(&mut self, size: usize) -> Result<()> {
        if self.layout.is_aligned {
            self.take(self.at.next_multiple_of(size) - self.at)?;
        }
        Ok(())
    }

    /// A number of so many bytes, at most eight.
    ///
    /// # Errors
    /// When the message ends before.
    #[inline]
    pub fn number(&mut self, size: usize) -> Result<u64> {
        self.align(size)?;
        let mut word = [0; 8];
        word[..size].copy_from_slice(self.take(size)?);
        let word = u64::from_le_bytes(word);
        Ok(if self.is_swapped { word.swap_bytes() >> (64 - 8 * size) } else { word })
    }

    /// A length or a count.
    ///
    /// # Errors
    /// When the message ends before.
    #[inline]
    pub fn length(&mut self) -> Result<usize> {
        Ok(self.number(4)? as usize)
    }

    /// The bytes of a text.
    ///
    /// # Errors
    /// When the message ends before, or the text does not end as it must.
    #[inline]
    pub fn text(&mut self) -> Result<&'m [u8]> {
        self.octets(self.layout.is_cdr)
    }

    /// So many bytes as are said before them, without a final zero byte where there is one.
    #[inline]
    pub(crate) fn octets(&mut self, is_terminated: bool) -> Result<&'m [u8]> {
        let length = self.length()?;
        let bytes = self.take(length)?;
        // Some writers give an empty text the length 0.
        match is_terminated && length > 0 {
            true => bytes.strip_suffix(&[0]).context("a text has no final zero byte"),
            false => Ok(bytes),
        }
    }
}
