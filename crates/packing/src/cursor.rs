//! Goes through a message of ROS, as far as clouds need it.

use anyhow::{bail, Context, Result};

/// How the messages of a channel are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RosEncoding {
    /// Of ROS 2: numbers aligned behind a header that tells the byte order.
    Cdr,
    /// Of ROS 1: little-endian, without padding.
    Ros1,
}

/// Bytes of the header of CDR.
const HEADER: usize = 4;

/// A place in a message.
pub struct Cursor<'d> {
    bytes: &'d [u8],
    at: usize,
    wire: RosEncoding,
    big_endian: bool,
}

impl<'d> Cursor<'d> {
    /// At the first field.
    pub fn new(wire: RosEncoding, bytes: &'d [u8]) -> Result<Cursor<'d>> {
        let (at, big_endian) = match (wire, bytes) {
            (RosEncoding::Ros1, _) => (0, false),
            (RosEncoding::Cdr, [0, order @ (0 | 1), _, _, ..]) => (HEADER, *order == 0),
            (RosEncoding::Cdr, [high, low, _, _, ..]) => {
                bail!("the encapsulation {high:02x}{low:02x} is not plain CDR (0000 or 0001)")
            }
            (RosEncoding::Cdr, _) => bail!("ends within the CDR header"),
        };
        Ok(Cursor { bytes, at, wire, big_endian })
    }

    /// Where it is.
    pub fn position(&self) -> usize {
        self.at
    }

    /// So many bytes.
    pub fn read_bytes(&mut self, count: usize) -> Result<&'d [u8]> {
        let end = self.at.checked_add(count).filter(|end| *end <= self.bytes.len());
        let end = end.with_context(|| format!("ends within a field at byte {}", self.at))?;
        let bytes = &self.bytes[self.at..end];
        self.at = end;
        Ok(bytes)
    }

    /// A byte.
    pub fn read_u8(&mut self) -> Result<u8> {
        Ok(self.read_bytes(1)?[0])
    }

    /// A number of four bytes.
    pub fn read_u32(&mut self) -> Result<u32> {
        let padding = padding(self.wire, self.at);
        self.read_bytes(padding)?;
        let mut bytes = [0; 4];
        bytes.copy_from_slice(self.read_bytes(4)?);
        Ok(if self.big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }

    /// A text, without the 0 that ends it in CDR.
    pub fn read_string(&mut self) -> Result<&'d str> {
        let length = self.read_u32()? as usize;
        let text = self.read_bytes(length)?;
        let text = match (self.wire, text) {
            (RosEncoding::Cdr, [text @ .., 0]) => text,
            // Some write the empty text without its 0.
            (RosEncoding::Cdr, []) => text,
            (RosEncoding::Cdr, _) => bail!("the text at byte {} has no end", self.at),
            (RosEncoding::Ros1, _) => text,
        };
        std::str::from_utf8(text)
            .with_context(|| format!("the text before byte {} is not UTF-8", self.at))
    }

    /// What is left.
    pub fn remaining(&self) -> &'d [u8] {
        &self.bytes[self.at..]
    }

    /// Appends a number of four bytes to a message that is written in the same way.
    pub fn put_u32(&self, value: u32, out: &mut Vec<u8>) {
        out.resize(out.len() + padding(self.wire, out.len()), 0);
        let bytes = if self.big_endian { value.to_be_bytes() } else { value.to_le_bytes() };
        out.extend_from_slice(&bytes);
    }

    /// Appends a text.
    pub fn put_string(&self, text: &str, out: &mut Vec<u8>) {
        let end: &[u8] = if self.wire == RosEncoding::Cdr { &[0] } else { &[] };
        self.put_u32((text.len() + end.len()) as u32, out);
        out.extend_from_slice(text.as_bytes());
        out.extend_from_slice(end);
    }
}

/// Bytes before a number of four bytes. The header has as many, so it shifts nothing.
fn padding(wire: RosEncoding, at: usize) -> usize {
    match wire {
        RosEncoding::Cdr => at.next_multiple_of(4) - at,
        RosEncoding::Ros1 => 0,
    }
}
