//! A FlatBuffer that is read by what its tables say of themselves; nothing is believed
//! before it is seen to lie within the bytes.
//!
//! The form: <https://flatbuffers.dev/internals/>.

use anyhow::{ensure, Context, Result};

/// The bytes of a message.
#[derive(Clone, Copy, Debug)]
pub struct Buffer<'b>(pub &'b [u8]);

/// A table: where it begins, and where its vtable does.
#[derive(Clone, Copy, Debug)]
pub struct Table<'b> {
    buffer: Buffer<'b>,
    at: usize,
    vtable: usize,
    /// Of the vtable, in bytes.
    size: usize,
}

/// The elements of a vector, without their number.
#[derive(Clone, Copy, Debug)]
pub struct Vector {
    /// Where the first one lies.
    pub at: usize,
    /// How many there are.
    pub len: usize,
}

impl<'b> Buffer<'b> {
    /// So many bytes at a position.
    ///
    /// # Errors
    /// When it lies outside of the message, or is none.
    pub fn bytes(self, at: usize, len: usize) -> Result<&'b [u8]> {
        let found = at.checked_add(len).and_then(|end| self.0.get(at..end));
        found.with_context(|| format!("byte {at}: ends after the end of the message"))
    }

    fn array<const N: usize>(self, at: usize) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        bytes.copy_from_slice(self.bytes(at, N)?);
        Ok(bytes)
    }

    fn u16(self, at: usize) -> Result<usize> {
        Ok(usize::from(u16::from_le_bytes(self.array(at)?)))
    }

    fn u32(self, at: usize) -> Result<usize> {
        Ok(u32::from_le_bytes(self.array(at)?) as usize)
    }

    /// What the offset at a position leads to.
    ///
    /// # Errors
    /// When it lies outside of the message, or is none.
    pub fn follow(self, at: usize) -> Result<usize> {
        let target = at.checked_add(self.u32(at)?).filter(|target| *target < self.0.len());
        target.with_context(|| format!("byte {at}: an offset leads beyond the end of the message"))
    }

    /// The table that the message is.
    ///
    /// # Errors
    /// When it lies outside of the message, or is none.
    pub fn root(self) -> Result<Table<'b>> {
        self.table(0)
    }

    /// The table that the offset at a position leads to.
    ///
    /// # Errors
    /// When it lies outside of the message, or is none.
    pub fn table(self, at: usize) -> Result<Table<'b>> {
        let at = self.follow(at)?;
        let back = i64::from(i32::from_le_bytes(self.array(at)?));
        let vtable = usize::try_from(at as i64 - back).ok();
        let vtable =
            vtable.with_context(|| format!("byte {at}: a vtable lies before the message"))?;
        let size = self.u16(vtable)?;
        ensure!(size >= 4 && size % 2 == 0, "byte {vtable}: a vtable of {size} bytes");
        self.bytes(vtable, size)?;
        self.bytes(at, self.u16(vtable + 2)?)?;
        Ok(Table { buffer: self, at, vtable, size })
    }

    /// The vector that the offset at a position leads to, of elements of so many bytes.
    ///
    /// # Errors
    /// When it lies outside of the message, or is none.
    pub fn vector(self, at: usize, element: usize) -> Result<Vector> {
        let at = self.follow(at)?;
        let len = self.u32(at)?;
        let size = len.checked_mul(element).context("a vector is too long")?;
        self.bytes(at + 4, size)?;
        Ok(Vector { at: at + 4, len })
    }

    /// The text that the offset at a position leads to.
    ///
    /// # Errors
    /// When it lies outside of the message, or is none.
    pub fn text(self, at: usize) -> Result<&'b str> {
        let Vector { at, len } = self.vector(at, 1)?;
        let text = std::str::from_utf8(self.bytes(at, len)?);
        text.with_context(|| format!("byte {at}: a text is not UTF-8"))
    }
}

impl<'b> Table<'b> {
    /// The bytes that it is in.
    pub fn buffer(&self) -> Buffer<'b> {
        self.buffer
    }

    /// Where a field lies, by its place in the vtable; none where it is absent.
    ///
    /// # Errors
    /// When it lies outside of the message, or is none.
    pub fn field(&self, place: usize) -> Result<Option<usize>> {
        if place + 2 > self.size {
            return Ok(None);
        }
        let offset = self.buffer.u16(self.vtable + place)?;
        Ok((offset != 0).then_some(self.at + offset))
    }

    /// The places of all fields that are there.
    pub fn places(&self) -> impl Iterator<Item = usize> + '_ {
        (4..self.size).step_by(2).filter(|place| matches!(self.field(*place), Ok(Some(_))))
    }
}
