use core::fmt;
use core::marker::PhantomData;

/// What is wrong with a message or its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The bytes end too early.
    EndsTooEarly,
    /// Bytes are left over behind the message.
    LeftOver,
    /// A list or text is longer than its bound.
    TooMany,
    /// A list takes other bytes than its size says.
    OtherSize,
    /// A truth value is neither 0 nor 1.
    NoTruthValue,
    /// A text is not UTF-8, or has a zero where it does not end.
    NoText,
    /// The bytes do not begin with the wire's header for little-endian.
    NoHeader,
    /// The memory to write into is too small; holders that allocate never say so.
    NoRoom,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Error::EndsTooEarly => "the bytes end too early",
            Error::LeftOver => "bytes are left over behind the message",
            Error::TooMany => "a list or text is longer than its bound",
            Error::OtherSize => "a list takes other bytes than its size says",
            Error::NoTruthValue => "a truth value is neither 0 nor 1",
            Error::NoText => "a text is not UTF-8, or has a zero where it does not end",
            Error::NoHeader => "the bytes do not begin with the wire's header for little-endian",
            Error::NoRoom => "the memory to write into is too small",
        })
    }
}

impl core::error::Error for Error {}

/// What a field may have at most.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Elements of a list.
    pub elements: usize,
    /// Bytes of each text.
    pub text: usize,
}

impl Limits {
    /// What a length can say.
    pub const NONE: Limits = Limits { elements: u32::MAX as usize, text: u32::MAX as usize - 1 };

    /// Of a list's elements: octets among them have no bound.
    fn of_elements(self) -> Limits {
        Limits { elements: Limits::NONE.elements, ..self }
    }
}

/// How many bytes a message takes, or why it may not be written.
///
/// # Errors
/// When a bound is exceeded, or a text has a zero that would end it.
pub fn size<W: Wire, T: Value>(message: &T) -> Result<usize, Error> {
    let mut sizer = Sizer::<W> { size: 0, wire: PhantomData };
    message.measure(&mut sizer, Limits::NONE)?;
    Ok(W::HEADER.len() + sizer.size)
}

/// Reads a message into one that is there; its memory is used again. What it holds
/// after an error is no message.
///
/// # Errors
/// When the bytes are no message.
pub fn deserialize_into<W: Wire, T: Value>(bytes: &[u8], message: &mut T) -> Result<(), Error> {
    let mut reader = Reader::<W>::behind_header(bytes)?;
    message.read(&mut reader, Limits::NONE)?;
    reader.end()
}

/// Reads a message.
///
/// # Errors
/// When the bytes are no message.
pub fn deserialize<W: Wire, T: Value>(bytes: &[u8]) -> Result<T, Error> {
    let mut message = T::default();
    deserialize_into::<W, T>(bytes, &mut message)?;
    Ok(message)
}

/// How many bytes a message takes so far.
pub struct Sizer<W> {
    size: usize,
    wire: PhantomData<W>,
}

/// What a message is written with.
pub struct Writer<'a, W> {
    out: &'a mut Vec<u8>,
    wire: PhantomData<W>,
}

/// What a message is read with.
pub struct Reader<'a, W> {
    bytes: &'a [u8],
    at: usize,
    wire: PhantomData<W>,
}

/// How far it is to a multiple of a number's size.
const fn gap<W: Wire>(at: usize, size: usize) -> usize {
    let to = if size < W::ALIGNMENT { size } else { W::ALIGNMENT };
    at.wrapping_neg() & (to - 1)
}

/// The bytes of a number, lowest first, as the wire has them; and back.
fn ordered<W: Wire, const N: usize>(mut bytes: [u8; N]) -> [u8; N] {
    if W::IS_BIG_ENDIAN {
        bytes.reverse();
    }
    bytes
}

/// Whether the size of a list or array of these stands before it.
fn is_delimited<W: Wire, T: Value>() -> bool {
    W::DELIMITS && !T::IS_PRIMITIVE
}

impl<W: Wire> Sizer<W> {
    fn open<T: Value>(&mut self) {
        if is_delimited::<W, T>() {
            self.numbers(1, 4);
        }
    }

    /// Adds numbers of a size.
    pub fn numbers(&mut self, count: usize, size: usize) {
        self.size += gap::<W>(self.size, size) + count * size;
    }

    fn length(&mut self, length: usize, most: usize) -> Result<(), Error> {
        self.numbers(1, 4);
        if length > most {
            return Err(Error::TooMany);
        }
        Ok(())
    }

    /// Adds the byte of a record without fields, where it has one.
    pub fn nothing(&mut self) {
        self.size += usize::from(W::HAS_FILLER);
    }
}

impl<W: Wire> Writer<'_, W> {
    fn align(&mut self, size: usize) {
        let at = self.out.len() - W::HEADER.len();
        self.out.resize(self.out.len() + gap::<W>(at, size), 0);
    }

    /// Where what has its size before it begins.
    fn open<T: Value>(&mut self) -> usize {
        if is_delimited::<W, T>() {
            self.length(0);
        }
        self.out.len()
    }

    fn close<T: Value>(&mut self, start: usize) {
        if is_delimited::<W, T>() {
            let size = (self.out.len() - start) as u32;
            self.out[start - 4..start].copy_from_slice(&size.to_le_bytes());
        }
    }

    fn length(&mut self, length: usize) {
        self.align(4);
        self.out.extend_from_slice(&ordered::<W, 4>((length as u32).to_le_bytes()));
    }

    /// Where what begins whose bytes are counted.
    fn open_bytes(&mut self) -> usize {
        self.length(0);
        self.out.len()
    }

    fn close_bytes(&mut self, start: usize) {
        let size = ordered::<W, 4>(((self.out.len() - start) as u32).to_le_bytes());
        self.out[start - 4..start].copy_from_slice(&size);
    }

    /// Writes the byte of a record without fields, where it has one.
    pub fn nothing(&mut self) {
        if W::HAS_FILLER {
            self.out.push(0);
        }
    }
}

impl<'a, W: Wire> Reader<'a, W> {
    /// Of a message, whose header must be the wire's.
    fn behind_header(bytes: &'a [u8]) -> Result<Self, Error> {
        let seen = bytes.get(..W::HEADER_READ) == Some(&W::HEADER[..W::HEADER_READ]);
        let bytes = bytes.get(W::HEADER.len()..).filter(|_| seen).ok_or(Error::NoHeader)?;
        Ok(Reader { bytes, at: 0, wire: PhantomData })
    }

    /// What is behind a message must be no more than what fills it up.
    fn end(&self) -> Result<(), Error> {
        match self.left() > W::FILLING {
            true => Err(Error::LeftOver),
            false => Ok(()),
        }
    }

    fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    fn take(&mut self, size: usize) -> Result<&'a [u8], Error> {
        let rest = &self.bytes[self.at..];
        let taken = rest.get(..size).ok_or(Error::EndsTooEarly)?;
        self.at += size;
        Ok(taken)
    }

    fn align(&mut self, size: usize) -> Result<(), Error> {
        self.take(gap::<W>(self.at, size)).map(|_| ())
    }

    /// Where what has its size before it must end.
    fn open<T: Value>(&mut self) -> Result<usize, Error> {
        let size = match is_delimited::<W, T>() {
            true => self.length(1, u32::MAX as usize)?,
            false => 0,
        };
        Ok(self.at + size)
    }

    fn close<T: Value>(&mut self, end: usize) -> Result<(), Error> {
        match is_delimited::<W, T>() && self.at != end {
            true => Err(Error::OtherSize),
            false => Ok(()),
        }
    }

    /// The length of a list whose elements take so many bytes at least.
    fn length(&mut self, least: usize, most: usize) -> Result<usize, Error> {
        let mut length = 0u32;
        length.read(self, Limits::NONE)?;
        let length = length as usize;
        if length > most {
            return Err(Error::TooMany);
        }
        if length.checked_mul(least).is_none_or(|size| size > self.left()) {
            return Err(Error::EndsTooEarly);
        }
        Ok(length)
    }

    /// Where what ends whose bytes are counted.
    fn open_bytes(&mut self) -> Result<usize, Error> {
        let size = self.length(1, u32::MAX as usize)?;
        Ok(self.at + size)
    }

    fn close_bytes(&mut self, end: usize) -> Result<(), Error> {
        match self.at == end {
            true => Ok(()),
            false => Err(Error::OtherSize),
        }
    }

    /// A text where it lies, without the zero at its end.
    fn text(&mut self, limits: Limits) -> Result<&'a str, Error> {
        let length = self.length(1, u32::MAX as usize)?;
        let mut text = self.take(length)?;
        if W::TEXT_MARK.len() != 0 {
            text = text.strip_prefix(W::TEXT_MARK).ok_or(Error::NoText)?;
        }
        if W::ENDS_TEXTS && (length != 0 || W::TEXT_MARK.len() != 0) {
            let (end, rest) = text.split_last().ok_or(Error::NoText)?;
            if *end != 0 || rest.contains(&0) {
                return Err(Error::NoText);
            }
            text = rest;
        }
        if text.len() > limits.text {
            return Err(Error::TooMany);
        }
        core::str::from_utf8(text).map_err(|_| Error::NoText)
    }

    /// Reads the byte of a record without fields, where it has one.
    ///
    /// # Errors
    /// When it is not there.
    pub fn nothing(&mut self) -> Result<(), Error> {
        self.take(usize::from(W::HAS_FILLER)).map(|_| ())
    }
}

/// What a field may be.
pub trait Value: Default {
    /// Whether it is a number or truth value; enums are no primitive types in DDS.
    const IS_PRIMITIVE: bool = false;
    /// Whether it is a record, which is optional as a list of none or one.
    const IS_RECORD: bool = false;
    /// Its bytes, where it is a record of numbers alone without gaps; else 0.
    const BLOCK: usize = 0;
    /// Whether there are arrays in it whose size stands before them on some wire.
    const BLOCK_HAS_SIZES: bool = false;
    /// The alignment of its largest number, where it is such a record.
    const BLOCK_ALIGNMENT: usize = 1;
    /// The size of its first number, where it is such a record.
    const BLOCK_FIRST: usize = 1;

    /// The fewest bytes that it takes: a length is not believed that wants more
    /// bytes than there are.
    fn least<W: Wire>() -> usize;

    /// Adds what it takes.
    ///
    /// # Errors
    /// When it may not be written.
    fn measure<W: Wire>(&self, sizer: &mut Sizer<W>, limits: Limits) -> Result<(), Error>;

    /// Writes it.
    fn write<W: Wire>(&self, writer: &mut Writer<'_, W>);

    /// Reads it.
    ///
    /// # Errors
    /// When it is not what is there.
    fn read<W: Wire>(&mut self, reader: &mut Reader<'_, W>, limits: Limits) -> Result<(), Error>;

    /// Adds what several take.
    ///
    /// # Errors
    /// When one may not be written.
    fn measure_all<W: Wire>(
        all: &[Self],
        sizer: &mut Sizer<W>,
        limits: Limits,
    ) -> Result<(), Error> {
        if Self::BLOCK != 0 && !all.is_empty() {
            sizer.numbers(0, Self::BLOCK_FIRST);
            if is_block::<W, Self>(sizer.size) {
                sizer.size += all.len() * Self::BLOCK;
                return Ok(());
            }
        }
        all.iter().try_for_each(|one| one.measure(sizer, limits))
    }

    /// Writes several.
    fn write_all<W: Wire>(all: &[Self], writer: &mut Writer<'_, W>) {
        if Self::BLOCK != 0 && !all.is_empty() {
            writer.align(Self::BLOCK_FIRST);
            if is_block::<W, Self>(writer.out.len() - W::HEADER.len()) {
                return all.iter().for_each(|one| one.write_block(writer.out));
            }
        }
        all.iter().for_each(|one| one.write(writer));
    }

    /// Reads several, as many as there is room for.
    ///
    /// # Errors
    /// When they are not what is there.
    fn read_all<W: Wire>(
        all: &mut [Self],
        reader: &mut Reader<'_, W>,
        limits: Limits,
    ) -> Result<(), Error> {
        if Self::BLOCK != 0 && !all.is_empty() {
            reader.align(Self::BLOCK_FIRST)?;
            if is_block::<W, Self>(reader.at) {
                let bytes = reader.take(all.len() * Self::BLOCK)?;
                let blocks = bytes.chunks_exact(Self::BLOCK);
                all.iter_mut().zip(blocks).for_each(|(one, block)| one.read_block(block));
                return Ok(());
            }
        }
        all.iter_mut().try_for_each(|one| one.read(reader, limits))
    }

    /// The fewest bytes that so many take as a fixed array.
    fn least_array<W: Wire>(len: usize) -> usize {
        4 * usize::from(is_delimited::<W, Self>()) + len * Self::least::<W>()
    }

    /// Adds what a fixed array takes.
    ///
    /// # Errors
    /// When one may not be written.
    fn measure_array<W: Wire>(
        all: &[Self],
        sizer: &mut Sizer<W>,
        limits: Limits,
    ) -> Result<(), Error> {
        sizer.open::<Self>();
        Self::measure_all(all, sizer, limits)
    }

    /// Writes a fixed array.
    fn write_array<W: Wire>(all: &[Self], writer: &mut Writer<'_, W>) {
        let start = writer.open::<Self>();
        Self::write_all(all, writer);
        writer.close::<Self>(start);
    }

    /// Reads a fixed array.
    ///
    /// # Errors
    /// When it is not what is there.
    fn read_array<W: Wire>(
        all: &mut [Self],
        reader: &mut Reader<'_, W>,
        limits: Limits,
    ) -> Result<(), Error> {
        let end = reader.open::<Self>()?;
        Self::read_all(all, reader, limits)?;
        reader.close::<Self>(end)
    }

    /// Writes it without gaps, where it is a record of numbers alone.
    fn write_block(&self, _out: &mut Vec<u8>) {}

    /// Reads it from so many bytes as it has without gaps.
    fn read_block(&mut self, _block: &[u8]) {}
}

/// Whether records of numbers alone are one block from there on.
fn is_block<W: Wire, T: Value>(at: usize) -> bool {
    !W::IS_BIG_ENDIAN
        && !(W::DELIMITS && T::BLOCK_HAS_SIZES)
        && at % T::BLOCK_ALIGNMENT.min(W::ALIGNMENT) == 0
}
