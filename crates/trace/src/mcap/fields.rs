//! The fields of a record, taken one after another. Lengths are believed as far as there
//! are bytes: the library of MCAP reserves memory by them, and reads on behind a chunk.

use std::collections::BTreeMap;

use anyhow::{Context, Result};

/// What is left of a record.
pub(crate) struct Fields<'d>(pub &'d [u8]);

impl<'d> Fields<'d> {
    pub fn bytes(&mut self, count: usize) -> Result<&'d [u8]> {
        let (bytes, rest) = self.0.split_at_checked(count).context("a record cut short")?;
        self.0 = rest;
        Ok(bytes)
    }

    pub fn short(&mut self) -> Result<u16> {
        Ok(u16::from_le_bytes(self.bytes(2)?.try_into()?))
    }

    pub fn number(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.bytes(4)?.try_into()?))
    }

    pub fn long(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.bytes(8)?.try_into()?))
    }

    /// Bytes after their length.
    pub fn block(&mut self) -> Result<&'d [u8]> {
        let length = self.number()?;
        self.bytes(length as usize)
    }

    pub fn text(&mut self) -> Result<String> {
        Ok(std::str::from_utf8(self.block()?).context("a name that is not UTF-8")?.to_owned())
    }

    /// Names with a text each.
    pub fn texts(&mut self) -> Result<BTreeMap<String, String>> {
        let mut fields = Fields(self.block()?);
        let mut texts = BTreeMap::new();
        while !fields.0.is_empty() {
            texts.insert(fields.text()?, fields.text()?);
        }
        Ok(texts)
    }

    /// Numbers of channels with a number each.
    pub fn by_channel(&mut self) -> Result<BTreeMap<u16, u64>> {
        let mut fields = Fields(self.block()?);
        let mut numbers = BTreeMap::new();
        while !fields.0.is_empty() {
            numbers.insert(fields.short()?, fields.long()?);
        }
        Ok(numbers)
    }
}
