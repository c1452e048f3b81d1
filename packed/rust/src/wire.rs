//! Protobuf's wire format: the fields of a message, one after the other.

use std::ops::Range;

use crate::error::{Fault, Result};

/// Groups may nest this deep.
const DEPTH: usize = 100;

/// A field as it stands on the wire, a group as a whole.
#[derive(Clone, Debug)]
pub(crate) struct Field<'a> {
    pub number: u32,
    pub kind: u32,
    /// Of the wire types 0, 1 and 5.
    pub value: u64,
    /// Of wire type 2.
    pub content: &'a [u8],
    /// In the message, with the tag.
    pub span: Range<usize>,
}

/// The fields of a message. Ends after an error.
pub(crate) struct Fields<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Fields<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Fields { bytes, at: 0 }
    }

    fn take(&mut self, size: u64) -> Result<&'a [u8]> {
        let left = &self.bytes[self.at..];
        if size > left.len() as u64 {
            return Err(Fault::Wire.into());
        }
        self.at += size as usize;
        Ok(&left[..size as usize])
    }

    fn varint(&mut self, most: usize) -> Result<u64> {
        let mut value = 0;
        for (i, &byte) in self.bytes[self.at..].iter().take(most).enumerate() {
            value |= u64::from(byte & 0x7f) << (7 * i);
            if byte < 0x80 {
                self.at += i + 1;
                return Ok(value);
            }
        }
        Err(Fault::Wire.into())
    }

    /// Field number and wire type.
    fn tag(&mut self) -> Result<(u32, u32)> {
        let tag = u32::try_from(self.varint(5)?).map_err(|_| Fault::Wire)?;
        if tag >> 3 == 0 {
            return Err(Fault::Wire.into());
        }
        Ok((tag >> 3, tag & 7))
    }

    fn value(&mut self, kind: u32) -> Result<(u64, &'a [u8])> {
        match kind {
            0 => Ok((self.varint(10)?, &[])),
            1 => {
                let bytes = self.take(8)?;
                Ok((u64::from_le_bytes(bytes.try_into().expect("8 bytes")), &[]))
            }
            2 => {
                let size = self.varint(10)?;
                Ok((0, self.take(size)?))
            }
            5 => {
                let bytes = self.take(4)?;
                Ok((u32::from_le_bytes(bytes.try_into().expect("4 bytes")).into(), &[]))
            }
            // A group's end without its beginning, and what is no type.
            _ => Err(Fault::Wire.into()),
        }
    }

    /// Skips to behind the end of a group that has begun.
    fn group(&mut self, number: u32) -> Result<()> {
        let mut open = vec![number];
        while let Some(&innermost) = open.last() {
            match self.tag()? {
                (_, 3) if open.len() == DEPTH => return Err(Fault::Depth.into()),
                (number, 3) => open.push(number),
                (number, 4) if number == innermost => {
                    open.pop();
                }
                (_, kind) => {
                    self.value(kind)?;
                }
            }
        }
        Ok(())
    }

    fn field(&mut self) -> Result<Field<'a>> {
        let begin = self.at;
        let (number, kind) = self.tag()?;
        let (value, content) = if kind == 3 {
            self.group(number)?;
            (0, &[][..])
        } else {
            self.value(kind)?
        };
        Ok(Field { number, kind, value, content, span: begin..self.at })
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<Field<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.at == self.bytes.len() {
            return None;
        }
        let field = self.field();
        if field.is_err() {
            self.at = self.bytes.len();
        }
        Some(field)
    }
}

pub(crate) fn varint_size(value: u64) -> usize {
    (64 - (value | 1).leading_zeros() as usize).div_ceil(7)
}

pub(crate) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// A field's number and wire type as one number.
pub(crate) fn tag(number: u32, kind: u32) -> u64 {
    u64::from(number) << 3 | u64::from(kind)
}

/// The tag and the length before so many bytes.
pub(crate) fn put_head(out: &mut Vec<u8>, number: u32, size: usize) {
    put_varint(out, tag(number, 2));
    put_varint(out, size as u64);
}
