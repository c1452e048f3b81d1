//! The fields of a record, taken one after another. Lengths are believed as far as there
//! are bytes: the library of MCAP reserves memory by them, and reads on behind a chunk.

use std::collections::BTreeMap;

use anyhow::{Context, Result};

/// What is left of a record.
pub(crate) struct RecordFields<'d>(pub &'d [u8]);

impl<'d> RecordFields<'d> {
    pub fn read_bytes(&mut self, count: usize) -> Result<&'d [u8]> {
        let (bytes, rest) = self.0.split_at_checked(count).context("a record is truncated")?;
        self.0 = rest;
        Ok(bytes)
    }

    pub fn read_u16(&mut self) -> Result<u16> {
        Ok(u16::from_le_bytes(self.read_bytes(2)?.try_into()?))
    }

    pub fn read_u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.read_bytes(4)?.try_into()?))
    }

    pub fn read_u64(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.read_bytes(8)?.try_into()?))
    }

    /// Bytes after their length.
    pub fn read_block(&mut self) -> Result<&'d [u8]> {
        let length = self.read_u32()?;
        self.read_bytes(length as usize)
    }

    pub fn read_text(&mut self) -> Result<String> {
        Ok(std::str::from_utf8(self.read_block()?).context("a name is not UTF-8")?.to_owned())
    }

    /// Names with a text each.
    pub fn read_text_map(&mut self) -> Result<BTreeMap<String, String>> {
        let mut fields = RecordFields(self.read_block()?);
        let mut texts = BTreeMap::new();
        while !fields.0.is_empty() {
            texts.insert(fields.read_text()?, fields.read_text()?);
        }
        Ok(texts)
    }

    /// Numbers of channels with a number each.
    pub fn read_channel_map(&mut self) -> Result<BTreeMap<u16, u64>> {
        let mut fields = RecordFields(self.read_block()?);
        let mut numbers = BTreeMap::new();
        while !fields.0.is_empty() {
            numbers.insert(fields.read_u16()?, fields.read_u64()?);
        }
        Ok(numbers)
    }
}
