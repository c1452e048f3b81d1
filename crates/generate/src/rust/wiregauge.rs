//! Wires that write field after field, for holders in modules beside this one:
//! sizes, writing and reading. No unsafe code, no standard library, no panic on
//! any bytes.
#![allow(dead_code)]

extern crate alloc;

use alloc::string::String;
use alloc::vec::Vec;
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
    /// A truth value is neither 0 nor 1.
    NoTruthValue,
    /// A text is not UTF-8, or has a zero where it does not end.
    NoText,
    /// The bytes do not begin with the header of little-endian CDR.
    NoHeader,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Error::EndsTooEarly => "the bytes end too early",
            Error::LeftOver => "bytes are left over behind the message",
            Error::TooMany => "a list or text is longer than its bound",
            Error::NoTruthValue => "a truth value is neither 0 nor 1",
            Error::NoText => "a text is not UTF-8, or has a zero where it does not end",
            Error::NoHeader => "the bytes do not begin with the header of little-endian CDR",
        })
    }
}

impl core::error::Error for Error {}

/// A wire that writes field after field, little-endian.
pub trait Wire {
    /// The largest alignment of a number; 1 where nothing is aligned.
    const ALIGNMENT: usize;
    /// Whether texts end in a zero.
    const ENDS_TEXTS: bool;
    /// Whether a record without fields takes a byte.
    const HAS_FILLER: bool;
    /// What stands before a message, in bytes.
    const HEADER: &'static [u8];
    /// How many bytes of the header are looked at.
    const HEADER_READ: usize;
    /// How many bytes may follow a message.
    const FILLING: usize;
}

/// ROS MSG, as ROS 1 writes it.
pub enum RosMsg {}

impl Wire for RosMsg {
    const ALIGNMENT: usize = 1;
    const ENDS_TEXTS: bool = false;
    const HAS_FILLER: bool = false;
    const HEADER: &'static [u8] = &[];
    const HEADER_READ: usize = 0;
    const FILLING: usize = 0;
}

/// XCDR version 1, as ROS 2 writes it, without the header of DDS.
pub enum Cdr {}

impl Wire for Cdr {
    const ALIGNMENT: usize = 8;
    const ENDS_TEXTS: bool = true;
    const HAS_FILLER: bool = true;
    const HEADER: &'static [u8] = &[];
    const HEADER_READ: usize = 0;
    const FILLING: usize = 0;
}

/// XCDR version 1 behind the header of DDS, as in messages and recordings of ROS 2.
pub enum CdrWithHeader {}

impl Wire for CdrWithHeader {
    const ALIGNMENT: usize = 8;
    const ENDS_TEXTS: bool = true;
    const HAS_FILLER: bool = true;
    const HEADER: &'static [u8] = &[0, 1, 0, 0];
    const HEADER_READ: usize = 2;
    // DDS fills up to a multiple of four.
    const FILLING: usize = 3;
}

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

/// Writes a message; what `out` held is gone, and its memory used again.
///
/// # Errors
/// When a bound is exceeded, or a text has a zero that would end it.
pub fn serialize<W: Wire, T: Value>(message: &T, out: &mut Vec<u8>) -> Result<(), Error> {
    out.clear();
    out.reserve(size::<W, T>(message)?);
    out.extend_from_slice(W::HEADER);
    message.write(&mut Writer::<W> { out, wire: PhantomData });
    Ok(())
}

/// Reads a message into one that is there; its memory is used again. What it holds
/// after an error is no message.
///
/// # Errors
/// When the bytes are no message.
pub fn deserialize_into<W: Wire, T: Value>(bytes: &[u8], message: &mut T) -> Result<(), Error> {
    let seen = bytes.get(..W::HEADER_READ) == Some(&W::HEADER[..W::HEADER_READ]);
    let body = bytes.get(W::HEADER.len()..).filter(|_| seen).ok_or(Error::NoHeader)?;
    let mut reader = Reader::<W> { bytes: body, at: 0, wire: PhantomData };
    message.read(&mut reader, Limits::NONE)?;
    match reader.left() > W::FILLING {
        true => Err(Error::LeftOver),
        false => Ok(()),
    }
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
fn gap<W: Wire>(at: usize, size: usize) -> usize {
    let to = size.min(W::ALIGNMENT);
    at.wrapping_neg() & (to - 1)
}

impl<W: Wire> Sizer<W> {
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

    fn length(&mut self, length: usize) {
        self.align(4);
        self.out.extend_from_slice(&(length as u32).to_le_bytes());
    }

    /// Writes the byte of a record without fields, where it has one.
    pub fn nothing(&mut self) {
        if W::HAS_FILLER {
            self.out.push(0);
        }
    }
}

impl<'a, W: Wire> Reader<'a, W> {
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
    /// Whether it is a record, which is optional as a list of none or one.
    const IS_RECORD: bool = false;
    /// Its bytes, where it is a record of numbers alone without gaps; else 0.
    const BLOCK: usize = 0;
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

    /// Writes it without gaps, where it is a record of numbers alone.
    fn write_block(&self, _out: &mut Vec<u8>) {}

    /// Reads it from so many bytes as it has without gaps.
    fn read_block(&mut self, _block: &[u8]) {}
}

/// Whether records of numbers alone are one block from there on.
fn is_block<W: Wire, T: Value>(at: usize) -> bool {
    W::ALIGNMENT == 1 || at % T::BLOCK_ALIGNMENT == 0
}

/// The numbers of Rust, and enums as the integers that represent them.
macro_rules! numbers {
    ($($kind:ty)*) => {$(
        impl Value for $kind {
            fn least<W: Wire>() -> usize {
                size_of::<$kind>()
            }

            fn measure<W: Wire>(&self, sizer: &mut Sizer<W>, _: Limits) -> Result<(), Error> {
                sizer.numbers(1, size_of::<$kind>());
                Ok(())
            }

            fn write<W: Wire>(&self, writer: &mut Writer<'_, W>) {
                writer.align(size_of::<$kind>());
                writer.out.extend_from_slice(&self.to_le_bytes());
            }

            fn read<W: Wire>(&mut self, reader: &mut Reader<'_, W>, _: Limits) -> Result<(), Error> {
                reader.align(size_of::<$kind>())?;
                self.read_block(reader.take(size_of::<$kind>())?);
                Ok(())
            }

            fn measure_all<W: Wire>(
                all: &[Self],
                sizer: &mut Sizer<W>,
                _: Limits,
            ) -> Result<(), Error> {
                if !all.is_empty() {
                    sizer.numbers(all.len(), size_of::<$kind>());
                }
                Ok(())
            }

            fn write_all<W: Wire>(all: &[Self], writer: &mut Writer<'_, W>) {
                if !all.is_empty() {
                    writer.align(size_of::<$kind>());
                    let start = writer.out.len();
                    writer.out.resize(start + size_of_val(all), 0);
                    let blocks = writer.out[start..].chunks_exact_mut(size_of::<$kind>());
                    for (one, block) in all.iter().zip(blocks) {
                        block.copy_from_slice(&one.to_le_bytes());
                    }
                }
            }

            fn read_all<W: Wire>(
                all: &mut [Self],
                reader: &mut Reader<'_, W>,
                _: Limits,
            ) -> Result<(), Error> {
                if !all.is_empty() {
                    reader.align(size_of::<$kind>())?;
                    let bytes = reader.take(size_of_val(all))?;
                    let blocks = bytes.chunks_exact(size_of::<$kind>());
                    all.iter_mut().zip(blocks).for_each(|(one, block)| one.read_block(block));
                }
                Ok(())
            }

            fn write_block(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }

            fn read_block(&mut self, block: &[u8]) {
                let mut bytes = [0; size_of::<$kind>()];
                bytes.copy_from_slice(block);
                *self = <$kind>::from_le_bytes(bytes);
            }
        }
    )*};
}

numbers!(u8 u16 u32 u64 i8 i16 i32 i64 f32 f64);

impl Value for bool {
    fn least<W: Wire>() -> usize {
        1
    }

    fn measure<W: Wire>(&self, sizer: &mut Sizer<W>, _: Limits) -> Result<(), Error> {
        sizer.numbers(1, 1);
        Ok(())
    }

    fn write<W: Wire>(&self, writer: &mut Writer<'_, W>) {
        writer.out.push(u8::from(*self));
    }

    fn read<W: Wire>(&mut self, reader: &mut Reader<'_, W>, _: Limits) -> Result<(), Error> {
        *self = match reader.take(1)? {
            [0] => false,
            [1] => true,
            _ => return Err(Error::NoTruthValue),
        };
        Ok(())
    }
}

impl Value for String {
    fn least<W: Wire>() -> usize {
        4
    }

    fn measure<W: Wire>(&self, sizer: &mut Sizer<W>, limits: Limits) -> Result<(), Error> {
        sizer.length(self.len(), limits.text)?;
        if W::ENDS_TEXTS && self.as_bytes().contains(&0) {
            return Err(Error::NoText);
        }
        sizer.size += self.len() + usize::from(W::ENDS_TEXTS);
        Ok(())
    }

    fn write<W: Wire>(&self, writer: &mut Writer<'_, W>) {
        writer.length(self.len() + usize::from(W::ENDS_TEXTS));
        writer.out.extend_from_slice(self.as_bytes());
        if W::ENDS_TEXTS {
            writer.out.push(0);
        }
    }

    fn read<W: Wire>(&mut self, reader: &mut Reader<'_, W>, limits: Limits) -> Result<(), Error> {
        let length = reader.length(1, u32::MAX as usize)?;
        let mut text = reader.take(length)?;
        if W::ENDS_TEXTS && length != 0 {
            let (end, rest) = text.split_last().ok_or(Error::NoText)?;
            if *end != 0 || rest.contains(&0) {
                return Err(Error::NoText);
            }
            text = rest;
        }
        if text.len() > limits.text {
            return Err(Error::TooMany);
        }
        self.clear();
        self.push_str(core::str::from_utf8(text).map_err(|_| Error::NoText)?);
        Ok(())
    }
}

impl<T: Value> Value for Vec<T> {
    fn least<W: Wire>() -> usize {
        4
    }

    fn measure<W: Wire>(&self, sizer: &mut Sizer<W>, limits: Limits) -> Result<(), Error> {
        sizer.length(self.len(), limits.elements)?;
        T::measure_all(self, sizer, limits.of_elements())
    }

    fn write<W: Wire>(&self, writer: &mut Writer<'_, W>) {
        writer.length(self.len());
        T::write_all(self, writer);
    }

    fn read<W: Wire>(&mut self, reader: &mut Reader<'_, W>, limits: Limits) -> Result<(), Error> {
        let length = reader.length(T::least::<W>(), limits.elements)?;
        self.resize_with(length, T::default);
        T::read_all(self, reader, limits.of_elements())
    }
}

impl<T: Value> Value for Option<T> {
    fn least<W: Wire>() -> usize {
        if T::IS_RECORD {
            4
        } else {
            1 + T::least::<W>()
        }
    }

    fn measure<W: Wire>(&self, sizer: &mut Sizer<W>, limits: Limits) -> Result<(), Error> {
        sizer.numbers(1, if T::IS_RECORD { 4 } else { 1 });
        match self {
            Some(value) => value.measure(sizer, limits),
            None if T::IS_RECORD => Ok(()),
            None => T::default().measure(sizer, limits),
        }
    }

    fn write<W: Wire>(&self, writer: &mut Writer<'_, W>) {
        match T::IS_RECORD {
            true => writer.length(usize::from(self.is_some())),
            false => writer.out.push(u8::from(self.is_some())),
        }
        match self {
            Some(value) => value.write(writer),
            None if T::IS_RECORD => {}
            None => T::default().write(writer),
        }
    }

    fn read<W: Wire>(&mut self, reader: &mut Reader<'_, W>, limits: Limits) -> Result<(), Error> {
        let mut present = false;
        match T::IS_RECORD {
            true => present = reader.length(T::least::<W>(), 1)? == 1,
            false => present.read(reader, limits)?,
        }
        if present || !T::IS_RECORD {
            self.get_or_insert_with(T::default).read(reader, limits)?;
        }
        if !present {
            *self = None;
        }
        Ok(())
    }
}
