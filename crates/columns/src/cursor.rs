//! A place in a message whose fields lie one after another: CDR, and ROS 1.

use anyhow::{bail, Context, Result};

use crate::fixed_layout::ALIGNMENT;

/// How such a message lies in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SequentialLayout {
    /// Numbers begin at multiples of their size.
    pub is_aligned: bool,
    /// Text ends with a zero byte, which its length includes, and a record without fields takes
    /// a byte.
    pub is_cdr: bool,
}

/// A place in a message.
pub(crate) struct Cursor<'m> {
    bytes: &'m [u8],
    pub at: usize,
    is_aligned: bool,
    /// Whether numbers have their most significant byte first.
    pub is_swapped: bool,
}

impl<'m> Cursor<'m> {
    pub fn new(bytes: &'m [u8], layout: SequentialLayout, is_swapped: bool) -> Cursor<'m> {
        Cursor { bytes, at: 0, is_aligned: layout.is_aligned, is_swapped }
    }

    /// How many bytes are left.
    #[inline]
    pub fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// Where alignment counts from.
    #[inline]
    pub fn phase(&self) -> usize {
        if self.is_aligned {
            self.at % ALIGNMENT
        } else {
            0
        }
    }

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
    #[inline]
    pub fn align(&mut self, size: usize) -> Result<()> {
        if self.is_aligned {
            self.take(self.at.next_multiple_of(size) - self.at)?;
        }
        Ok(())
    }

    /// A number of so many bytes.
    #[inline]
    pub fn number(&mut self, size: usize) -> Result<u64> {
        self.align(size)?;
        let mut word = [0; 8];
        word[..size].copy_from_slice(self.take(size)?);
        let word = u64::from_le_bytes(word);
        Ok(if self.is_swapped { word.swap_bytes() >> (64 - 8 * size) } else { word })
    }

    /// A length or a count.
    #[inline]
    pub fn length(&mut self) -> Result<usize> {
        Ok(self.number(4)? as usize)
    }

    /// The bytes of a text.
    #[inline]
    pub fn text(&mut self, is_terminated: bool) -> Result<&'m [u8]> {
        let length = self.length()?;
        let bytes = self.take(length)?;
        // Some writers give an empty text the length 0.
        match is_terminated && length > 0 {
            true => bytes.strip_suffix(&[0]).context("a text has no final zero byte"),
            false => Ok(bytes),
        }
    }
}
