//! Protobuf's wire for holders in modules beside this one. Messages are written from
//! their end on, so that the length of what is inside is known when its key is
//! written. No unsafe code, no standard library, no panic on any bytes.
#![allow(dead_code)]

extern crate alloc;

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// What is wrong with bytes, or with a message that is too large or too deep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The bytes end too early.
    EndsTooEarly,
    /// An integer or a key is none.
    NoInteger,
    /// A group does not end, or another one does.
    NoGroup,
    /// A text is not UTF-8.
    NoText,
    /// A required field is missing.
    Missing,
    /// Records are more than 100 deep in each other.
    TooDeep,
    /// The message has more bytes than Protobuf carries.
    TooLarge,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Error::EndsTooEarly => "the bytes end too early",
            Error::NoInteger => "an integer or a key is too long, or a key that cannot be",
            Error::NoGroup => "a group does not end, or another one does",
            Error::NoText => "a text is not UTF-8",
            Error::Missing => "a required field is missing",
            Error::TooDeep => "records are more than 100 deep in each other",
            Error::TooLarge => "the message has more bytes than Protobuf carries",
        })
    }
}

impl core::error::Error for Error {}

/// Most bytes of a message.
const MOST: usize = i32::MAX as usize;
/// How deep records and groups may be in each other.
const DEEPEST: usize = 100;

/// What a holder tells of itself.
pub trait Message: Default {
    /// Puts its fields, the last one first.
    fn put<S: Sink>(&self, sink: &mut S);

    /// Reads fields to the end of the bytes or the group, into what is there.
    ///
    /// # Errors
    /// When they are no fields.
    fn merge(&mut self, reader: &mut Reader<'_>) -> Result<(), Error>;

    /// Makes it what it begins as; its memory is kept.
    fn clear(&mut self);
}

/// What may be absent and contains itself.
impl<T: Message> Message for Box<T> {
    fn put<S: Sink>(&self, sink: &mut S) {
        (**self).put(sink);
    }

    fn merge(&mut self, reader: &mut Reader<'_>) -> Result<(), Error> {
        (**self).merge(reader)
    }

    fn clear(&mut self) {
        (**self).clear();
    }
}

/// How many bytes a message takes.
///
/// # Errors
/// When it is too large or too deep.
pub fn size<T: Message>(message: &T) -> Result<usize, Error> {
    let mut sizer = Sizer { size: 0, depth: 0, is_too_deep: false };
    message.put(&mut sizer);
    if sizer.is_too_deep {
        return Err(Error::TooDeep);
    }
    if sizer.size > MOST {
        return Err(Error::TooLarge);
    }
    Ok(sizer.size)
}

/// Writes a message; what `out` held is gone, and its memory used again.
///
/// # Errors
/// When it is too large or too deep.
pub fn serialize<T: Message>(message: &T, out: &mut Vec<u8>) -> Result<(), Error> {
    let size = size(message)?;
    out.clear();
    out.resize(size, 0);
    message.put(&mut Writer { out, at: size });
    Ok(())
}

/// Reads a message into one that is there; its memory is used again. What it holds
/// after an error is no message.
///
/// # Errors
/// When the bytes are no message.
pub fn deserialize_into<T: Message>(bytes: &[u8], message: &mut T) -> Result<(), Error> {
    message.clear();
    message.merge(&mut Reader { bytes, at: 0, depth: 0, end: 0 })
}

/// Reads a message.
///
/// # Errors
/// When the bytes are no message.
pub fn deserialize<T: Message>(bytes: &[u8]) -> Result<T, Error> {
    let mut message = T::default();
    message.merge(&mut Reader { bytes, at: 0, depth: 0, end: 0 })?;
    Ok(message)
}

/// A way to write a number: by itself what is written, as up to eight bytes.
pub trait Number {
    /// What holders have.
    type Value: Copy;
    /// How many bytes it takes; 0 where that depends on it.
    const SIZE: usize = 0;
    /// What is written.
    fn raw(value: Self::Value) -> u64;
    /// What was read.
    fn value(raw: u64) -> Self::Value;
}

macro_rules! numbers {
    ($($(#[$about:meta])* $name:ident $kind:ty, $size:literal, $v:ident $raw:expr, $r:ident $value:expr;)*) => {$(
        $(#[$about])*
        pub enum $name {}

        impl Number for $name {
            type Value = $kind;
            const SIZE: usize = $size;

            fn raw($v: $kind) -> u64 {
                $raw
            }

            fn value($r: u64) -> $kind {
                $value
            }
        }
    )*};
}

numbers! {
    /// Seven bits a byte.
    Int32 i32, 0, v i64::from(v) as u64, r r as i32;
    /// Seven bits a byte.
    Int64 i64, 0, v v as u64, r r as i64;
    /// Seven bits a byte.
    Uint32 u32, 0, v u64::from(v), r r as u32;
    /// Seven bits a byte.
    Uint64 u64, 0, v v, r r;
    /// Seven bits a byte, the sign last.
    Sint32 i32, 0, v u64::from((v << 1 ^ v >> 31) as u32), r (r as u32 >> 1) as i32 ^ -(r as i32 & 1);
    /// Seven bits a byte, the sign last.
    Sint64 i64, 0, v (v << 1 ^ v >> 63) as u64, r (r >> 1) as i64 ^ -(r as i64 & 1);
    /// Four bytes.
    Fixed32 u32, 4, v u64::from(v), r r as u32;
    /// Eight bytes.
    Fixed64 u64, 8, v v, r r;
    /// Four bytes.
    Sfixed32 i32, 4, v u64::from(v as u32), r r as i32;
    /// Eight bytes.
    Sfixed64 i64, 8, v v as u64, r r as i64;
    /// A byte.
    Bool bool, 0, v u64::from(v), r r != 0;
    /// Four bytes.
    Float f32, 4, v u64::from(v.to_bits()), r f32::from_bits(r as u32);
    /// Eight bytes.
    Double f64, 8, v v.to_bits(), r f64::from_bits(r);
}

/// Whether a number is one that is left out where there is no presence.
pub fn is_zero<N: Number>(value: N::Value) -> bool {
    N::raw(value) == 0
}

/// What fields are put into, the last one first.
pub trait Sink {
    /// A number without its key.
    fn raw<N: Number>(&mut self, value: N::Value);

    /// An integer by seven bits a byte.
    fn varint(&mut self, value: u64);

    /// Octets without their length.
    fn octets(&mut self, octets: &[u8]);

    /// How many bytes there are.
    fn size(&self) -> usize;

    /// Goes into a record, where it may be so deep.
    fn enter(&mut self) -> bool {
        true
    }

    /// Goes out of it.
    fn leave(&mut self) {}

    /// A number.
    fn number<N: Number>(&mut self, key: u32, value: N::Value) {
        self.raw::<N>(value);
        self.varint(key.into());
    }

    /// Numbers behind one key.
    fn packed<N: Number>(&mut self, key: u32, values: &[N::Value]) {
        if !values.is_empty() {
            let before = self.size();
            values.iter().rev().for_each(|value| self.raw::<N>(*value));
            self.behind(key, before);
        }
    }

    /// Octets or text.
    fn block(&mut self, key: u32, octets: &[u8]) {
        let before = self.size();
        self.octets(octets);
        self.behind(key, before);
    }

    /// A record.
    fn record<T: Message>(&mut self, key: u32, record: &T)
    where
        Self: Sized,
    {
        let before = self.size();
        if self.enter() {
            record.put(self);
            self.leave();
        }
        self.behind(key, before);
    }

    /// A record between two keys.
    fn group<T: Message>(&mut self, key: u32, record: &T)
    where
        Self: Sized,
    {
        self.varint((key + 1).into());
        if self.enter() {
            record.put(self);
            self.leave();
        }
        self.varint(key.into());
    }

    /// The length and the key of what was put since there were so many bytes.
    fn behind(&mut self, key: u32, before: usize) {
        self.varint((self.size() - before) as u64);
        self.varint(key.into());
    }
}

/// How many bytes an integer takes by seven bits a byte.
fn varint_size(value: u64) -> usize {
    (70 - (value | 1).leading_zeros() as usize) / 7
}

/// How many bytes a message takes so far.
struct Sizer {
    size: usize,
    depth: usize,
    is_too_deep: bool,
}

impl Sink for Sizer {
    fn enter(&mut self) -> bool {
        self.is_too_deep |= self.depth == DEEPEST;
        self.depth += usize::from(!self.is_too_deep);
        !self.is_too_deep
    }

    fn leave(&mut self) {
        self.depth -= 1;
    }

    fn raw<N: Number>(&mut self, value: N::Value) {
        self.size += match N::SIZE {
            0 => varint_size(N::raw(value)),
            size => size,
        };
    }

    fn varint(&mut self, value: u64) {
        self.size += varint_size(value);
    }

    fn octets(&mut self, octets: &[u8]) {
        self.size += octets.len();
    }

    fn size(&self) -> usize {
        self.size
    }
}

/// What a message is written with, from its end on.
struct Writer<'a> {
    out: &'a mut [u8],
    at: usize,
}

impl Sink for Writer<'_> {
    fn raw<N: Number>(&mut self, value: N::Value) {
        match N::SIZE {
            0 => self.varint(N::raw(value)),
            size => self.octets(&N::raw(value).to_le_bytes()[..size]),
        }
    }

    fn varint(&mut self, mut value: u64) {
        let size = varint_size(value);
        self.at -= size;
        for byte in &mut self.out[self.at..self.at + size] {
            *byte = value as u8 | 0x80;
            value >>= 7;
        }
        self.out[self.at + size - 1] &= 0x7f;
    }

    fn octets(&mut self, octets: &[u8]) {
        self.at -= octets.len();
        self.out[self.at..self.at + octets.len()].copy_from_slice(octets);
    }

    fn size(&self) -> usize {
        self.out.len() - self.at
    }
}

/// What a message is read with.
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    depth: usize,
    /// The key that ends the group that is read; 0 where the end of the bytes does.
    end: u32,
}

impl<'a> Reader<'a> {
    fn take(&mut self, size: usize) -> Result<&'a [u8], Error> {
        let taken = self.bytes[self.at..].get(..size).ok_or(Error::EndsTooEarly)?;
        self.at += size;
        Ok(taken)
    }

    fn varint(&mut self) -> Result<u64, Error> {
        let mut value = 0;
        for shift in (0..70).step_by(7) {
            let byte = self.take(1)?[0];
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Error::NoInteger)
    }

    /// An integer of 32 bits in at most five bytes, as keys and lengths are.
    fn short(&mut self) -> Result<u32, Error> {
        let start = self.at;
        let value = u32::try_from(self.varint()?).map_err(|_| Error::NoInteger)?;
        match self.at - start > 5 {
            true => Err(Error::NoInteger),
            false => Ok(value),
        }
    }

    /// The next key; none where the bytes or the group end.
    ///
    /// # Errors
    /// When it is none, or the bytes end before the group.
    pub fn key(&mut self) -> Result<Option<u32>, Error> {
        if self.at == self.bytes.len() && self.end == 0 {
            return Ok(None);
        }
        let key = self.any_key()?;
        Ok((key != self.end).then_some(key))
    }

    /// The next key, whatever it ends.
    fn any_key(&mut self) -> Result<u32, Error> {
        let key = self.short()?;
        match key >> 3 {
            0 => Err(Error::NoInteger),
            _ => Ok(key),
        }
    }

    /// A number.
    ///
    /// # Errors
    /// When the bytes end, or it is none.
    pub fn number<N: Number>(&mut self) -> Result<N::Value, Error> {
        Ok(N::value(match N::SIZE {
            0 => self.varint()?,
            size => {
                let mut bytes = [0; 8];
                bytes[..size].copy_from_slice(self.take(size)?);
                u64::from_le_bytes(bytes)
            }
        }))
    }

    /// What stands behind a length.
    ///
    /// # Errors
    /// When the bytes end.
    pub fn block(&mut self) -> Result<&'a [u8], Error> {
        let size = self.short()? as usize;
        if size > MOST {
            return Err(Error::TooLarge);
        }
        self.take(size)
    }

    /// Adds numbers behind a length.
    ///
    /// # Errors
    /// When they are none.
    pub fn packed<N: Number, T: From<N::Value>>(
        &mut self,
        values: &mut Vec<T>,
    ) -> Result<(), Error> {
        let bytes = self.block()?;
        if N::SIZE != 0 && bytes.len() % N::SIZE != 0 {
            return Err(Error::EndsTooEarly);
        }
        values.reserve(bytes.len().checked_div(N::SIZE).unwrap_or(0));
        let mut inner = Reader { bytes, at: 0, depth: self.depth, end: 0 };
        while inner.at < bytes.len() {
            values.push(T::from(inner.number::<N>()?));
        }
        Ok(())
    }

    /// Text, in place of what is there.
    ///
    /// # Errors
    /// When it is none.
    pub fn text(&mut self, text: &mut String) -> Result<(), Error> {
        let bytes = self.block()?;
        text.clear();
        text.push_str(core::str::from_utf8(bytes).map_err(|_| Error::NoText)?);
        Ok(())
    }

    /// Octets, in place of what is there.
    ///
    /// # Errors
    /// When the bytes end.
    pub fn octets(&mut self, octets: &mut Vec<u8>) -> Result<(), Error> {
        octets.clear();
        octets.extend_from_slice(self.block()?);
        Ok(())
    }

    /// A record, into what is there.
    ///
    /// # Errors
    /// When it is none.
    pub fn record<T: Message>(&mut self, record: &mut T) -> Result<(), Error> {
        let bytes = self.block()?;
        if self.depth == DEEPEST {
            return Err(Error::TooDeep);
        }
        record.merge(&mut Reader { bytes, at: 0, depth: self.depth + 1, end: 0 })
    }

    /// A record up to the key that ends it, into what is there.
    ///
    /// # Errors
    /// When it is none.
    pub fn group<T: Message>(&mut self, key: u32, record: &mut T) -> Result<(), Error> {
        if self.depth == DEEPEST {
            return Err(Error::TooDeep);
        }
        self.depth += 1;
        let outer = core::mem::replace(&mut self.end, key + 1);
        record.merge(self)?;
        self.end = outer;
        self.depth -= 1;
        Ok(())
    }

    /// Goes behind a field that is not known.
    ///
    /// # Errors
    /// When it does not end.
    pub fn skip(&mut self, key: u32) -> Result<(), Error> {
        let mut open = [0; DEEPEST];
        let (mut depth, mut key) = (0, key);
        loop {
            match key & 7 {
                0 => _ = self.varint()?,
                1 => _ = self.take(8)?,
                2 => _ = self.block()?,
                5 => _ = self.take(4)?,
                3 => {
                    if depth + self.depth == DEEPEST {
                        return Err(Error::NoGroup);
                    }
                    open[depth] = key >> 3;
                    depth += 1;
                }
                4 if depth > 0 && open[depth - 1] == key >> 3 => depth -= 1,
                4 => return Err(Error::NoGroup),
                _ => return Err(Error::NoInteger),
            }
            if depth == 0 {
                return Ok(());
            }
            key = self.any_key()?;
        }
    }
}
