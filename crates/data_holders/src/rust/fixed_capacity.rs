// Texts and lists with room for a number of bytes or elements, in place: no allocator is needed.
use core::ops::{Deref, DerefMut};

/// A text of at most so many bytes.
#[derive(Clone, Copy)]
pub struct Text<const MOST: usize> {
    len: usize,
    bytes: [u8; MOST],
}

impl<const MOST: usize> Text<MOST> {
    /// Its letters. They are looked through for UTF-8, as safe code has no other way to them.
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(self.as_bytes()).unwrap_or_default()
    }

    /// Its bytes, which are UTF-8.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// How many bytes it has.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Puts another text in its place.
    ///
    /// # Errors
    /// When that is too long; then this one stays.
    pub fn set(&mut self, text: &str) -> Result<(), Error> {
        let room = self.bytes.get_mut(..text.len()).ok_or(Error::TooMany)?;
        room.copy_from_slice(text.as_bytes());
        self.len = text.len();
        Ok(())
    }
}

impl<const MOST: usize> Default for Text<MOST> {
    fn default() -> Self {
        Text { len: 0, bytes: [0; MOST] }
    }
}

impl<const MOST: usize> Deref for Text<MOST> {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl<const MOST: usize> PartialEq for Text<MOST> {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl<const MOST: usize> fmt::Debug for Text<MOST> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

impl<const MOST: usize> fmt::Display for Text<MOST> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl<const MOST: usize> TryFrom<&str> for Text<MOST> {
    type Error = Error;

    fn try_from(letters: &str) -> Result<Self, Error> {
        let mut text = Text::default();
        text.set(letters).map(|()| text)
    }
}

/// A list of at most so many elements. It is a slice of those that it has.
#[derive(Clone, Copy)]
pub struct Sequence<T, const MOST: usize> {
    len: usize,
    elements: [T; MOST],
}

impl<T: Default, const MOST: usize> Sequence<T, MOST> {
    /// Adds an element.
    ///
    /// # Errors
    /// When there is no room for it.
    pub fn push(&mut self, element: T) -> Result<(), Error> {
        *self.elements.get_mut(self.len).ok_or(Error::TooMany)? = element;
        self.len += 1;
        Ok(())
    }

    /// Has so many elements: the first ones of those that it had, and new ones behind them.
    ///
    /// # Errors
    /// When there is no room for them; then it stays as it is.
    pub fn resize(&mut self, len: usize) -> Result<(), Error> {
        let new = self.elements.get_mut(self.len.min(len)..len).ok_or(Error::TooMany)?;
        new.iter_mut().for_each(|element| *element = T::default());
        self.len = len;
        Ok(())
    }

    /// Removes all elements.
    pub fn clear(&mut self) {
        self.len = 0;
    }
}

impl<T: Default, const MOST: usize> Default for Sequence<T, MOST> {
    fn default() -> Self {
        Sequence { len: 0, elements: core::array::from_fn(|_| T::default()) }
    }
}

impl<T, const MOST: usize> Deref for Sequence<T, MOST> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.elements[..self.len]
    }
}

impl<T, const MOST: usize> DerefMut for Sequence<T, MOST> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.elements[..self.len]
    }
}

impl<'a, T, const MOST: usize> IntoIterator for &'a Sequence<T, MOST> {
    type Item = &'a T;
    type IntoIter = core::slice::Iter<'a, T>;

    fn into_iter(self) -> core::slice::Iter<'a, T> {
        self.iter()
    }
}

impl<T: PartialEq, const MOST: usize> PartialEq for Sequence<T, MOST> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: fmt::Debug, const MOST: usize> fmt::Debug for Sequence<T, MOST> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: Default + Clone, const MOST: usize> TryFrom<&[T]> for Sequence<T, MOST> {
    type Error = Error;

    fn try_from(elements: &[T]) -> Result<Self, Error> {
        let mut list = Sequence::default();
        list.resize(elements.len())?;
        list.clone_from_slice(elements);
        Ok(list)
    }
}

/// The memory that a message is written into, and how much of it is written.
pub struct Buffer<'a> {
    bytes: &'a mut [u8],
    at: usize,
}

impl Buffer<'_> {
    fn push(&mut self, byte: u8) {
        self.extend_from_slice(&[byte]);
    }

    fn extend_from_slice(&mut self, bytes: &[u8]) {
        let end = self.at + bytes.len();
        self.bytes[self.at..end].copy_from_slice(bytes);
        self.at = end;
    }

    fn resize(&mut self, end: usize, byte: u8) {
        self.bytes[self.at..end].fill(byte);
        self.at = end;
    }
}

impl Deref for Buffer<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.at]
    }
}

impl DerefMut for Buffer<'_> {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[..self.at]
    }
}

/// Writes a message into memory of the caller's, and says how many bytes it took.
///
/// # Errors
/// When a bound is exceeded, a text has a zero that would end it, or there is no room.
pub fn serialize<W: Wire, T: Value>(message: &T, out: &mut [u8]) -> Result<usize, Error> {
    let size = size::<W, T>(message)?;
    let mut out = Buffer { bytes: out.get_mut(..size).ok_or(Error::NoRoom)?, at: 0 };
    out.extend_from_slice(W::HEADER);
    message.write(&mut Writer::<W> { out: &mut out, wire: PhantomData });
    Ok(size)
}

impl<const MOST: usize> Value for Text<MOST> {
    fn least<W: Wire>() -> usize {
        least_text::<W>()
    }

    fn measure<W: Wire>(&self, sizer: &mut Sizer<W>, limits: Limits) -> Result<(), Error> {
        measure_text(self.as_bytes(), sizer, limits)
    }

    fn write<W: Wire>(&self, writer: &mut Writer<'_, W>) {
        write_text(self.as_bytes(), writer);
    }

    fn read<W: Wire>(&mut self, reader: &mut Reader<'_, W>, limits: Limits) -> Result<(), Error> {
        self.set(reader.text(limits)?)
    }
}

impl<T: Value, const MOST: usize> Value for Sequence<T, MOST> {
    fn least<W: Wire>() -> usize {
        least_list::<W, T>()
    }

    fn measure<W: Wire>(&self, sizer: &mut Sizer<W>, limits: Limits) -> Result<(), Error> {
        measure_list(self, sizer, limits)
    }

    fn write<W: Wire>(&self, writer: &mut Writer<'_, W>) {
        write_list(self, writer);
    }

    fn read<W: Wire>(&mut self, reader: &mut Reader<'_, W>, limits: Limits) -> Result<(), Error> {
        if W::COUNTS_BYTES {
            return self.read_counted(reader, limits);
        }
        let end = reader.open::<T>()?;
        let length = reader.length(T::least::<W>(), limits.elements)?;
        self.resize(length)?;
        T::read_all(self, reader, limits.of_elements())?;
        reader.close::<T>(end)
    }
}

impl<T: Value, const MOST: usize> Sequence<T, MOST> {
    /// Reads a list of which it is known how many bytes it takes.
    fn read_counted<W: Wire>(
        &mut self,
        reader: &mut Reader<'_, W>,
        limits: Limits,
    ) -> Result<(), Error> {
        let end = reader.open_bytes()?;
        if T::IS_PRIMITIVE {
            // All of one size.
            self.resize((end - reader.at) / size_of::<T>())?;
            T::read_all(self, reader, limits.of_elements())?;
            return reader.close_bytes(end);
        }
        let mut length = 0;
        while reader.at < end {
            let element = self.elements.get_mut(length).ok_or(Error::TooMany)?;
            element.read(reader, limits.of_elements())?;
            length += 1;
        }
        self.len = length;
        reader.close_bytes(end)
    }
}
