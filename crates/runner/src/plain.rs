//! A codec in two functions: for who has a format of his own, and wants a row for it. Its
//! message is declared by [`message!`](crate::message); numbers are read by decoding whole.

use std::io;
use std::marker::PhantomData;
use std::sync::OnceLock;

use crate::codec::{Direct, Error, Hello, Message};
use crate::protocol::serve;
use crate::tally::{Number, Tally};

/// A codec that has two functions and no more to offer.
pub trait Plain: 'static {
    /// What it encodes, by [`message!`](crate::message).
    type Message: Record + Message;
    /// Library and version: `mine 1.2`.
    const LIBRARY: &'static str;

    /// The message as bytes, appended to an empty buffer.
    ///
    /// # Errors
    /// [`Error::rejected`] where the format cannot say the message.
    fn encode(message: &Self::Message, out: &mut Vec<u8>) -> Result<(), Error>;

    /// The message from bytes, whatever it held before.
    ///
    /// # Errors
    /// Where the bytes are damaged.
    fn decode(wire: &[u8], message: &mut Self::Message) -> Result<(), Error>;
}

/// Serves one gauge with a plain codec, as [`serve`] does.
///
/// # Errors
/// Of input and output.
pub fn serve_plain<P: Plain>() -> io::Result<()> {
    serve(PlainCodec::<P>(PhantomData))
}

/// Something that a message may have in a field.
pub trait Value: Default {
    /// Takes it from the head of canonical bytes.
    ///
    /// # Errors
    /// Where they end too early, or are none of it.
    fn read(&mut self, bytes: &mut &[u8]) -> Result<(), Error>;
    /// Appends its canonical bytes.
    fn write(&self, out: &mut Vec<u8>);
    /// Its numbers, as those of the field at this place.
    fn tally<T: Tally>(&self, place: u32, tally: &mut T);
    /// The number that the rest of a path leads to, where there is one.
    fn pick<T: Tally>(&self, index: Index, rest: &[Step], tally: &mut T);
}

/// A [`Value`] with fields.
pub trait Record: Value {
    /// The numbers of its fields, each at its place.
    fn tally_fields<T: Tally>(&self, tally: &mut T);
}

/// Which element of a field is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Index {
    /// The field is no list.
    Single,
    /// The one at half of the length.
    Middle,
    /// The one at this place.
    At(usize),
}

/// A step of a path: a field of a record, and which element of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The place of the field in its record, from 0.
    pub field: u32,
    /// The element.
    pub index: Index,
}

/// Octets, of which only the length counts as a number; a list of `u8` is a `Vec<u8>`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Octets(pub Vec<u8>);

/// The first so many bytes, which are then gone.
fn take<'a>(bytes: &mut &'a [u8], size: usize) -> Result<&'a [u8], Error> {
    let (head, rest) = bytes
        .split_at_checked(size)
        .ok_or_else(|| Error::new("the canonical bytes end too early"))?;
    *bytes = rest;
    Ok(head)
}

fn take_length(bytes: &mut &[u8]) -> Result<usize, Error> {
    let mut length = 0u32;
    length.read(bytes)?;
    Ok(length as usize)
}

macro_rules! numbers {
    ($($type:ty),*) => {$(
        impl Value for $type {
            fn read(&mut self, bytes: &mut &[u8]) -> Result<(), Error> {
                let head = take(bytes, size_of::<$type>())?;
                *self = <$type>::from_le_bytes(head.try_into().expect("so many were taken"));
                Ok(())
            }
            fn write(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
            fn tally<T: Tally>(&self, place: u32, tally: &mut T) {
                tally.number(place, *self);
            }
            fn pick<T: Tally>(&self, _: Index, rest: &[Step], tally: &mut T) {
                pick_number(*self, rest, tally);
            }
        }
    )*};
}

numbers!(u8, u16, u32, u64, i8, i16, i32, i64, f32, f64);

/// One number is read as if it were the first field of a record.
fn pick_number<N: Number, T: Tally>(number: N, rest: &[Step], tally: &mut T) {
    if rest.is_empty() {
        tally.number(0, number);
    }
}

impl Value for bool {
    fn read(&mut self, bytes: &mut &[u8]) -> Result<(), Error> {
        *self = take(bytes, 1)? != [0];
        Ok(())
    }
    fn write(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }
    fn tally<T: Tally>(&self, place: u32, tally: &mut T) {
        tally.number(place, *self);
    }
    fn pick<T: Tally>(&self, _: Index, rest: &[Step], tally: &mut T) {
        pick_number(*self, rest, tally);
    }
}

impl Value for Octets {
    fn read(&mut self, bytes: &mut &[u8]) -> Result<(), Error> {
        let length = take_length(bytes)?;
        self.0 = take(bytes, length)?.to_vec();
        Ok(())
    }
    fn write(&self, out: &mut Vec<u8>) {
        (self.0.len() as u32).write(out);
        out.extend_from_slice(&self.0);
    }
    fn tally<T: Tally>(&self, place: u32, tally: &mut T) {
        tally.length(place, self.0.len());
    }
    fn pick<T: Tally>(&self, _: Index, _: &[Step], _: &mut T) {}
}

impl Value for String {
    fn read(&mut self, bytes: &mut &[u8]) -> Result<(), Error> {
        let length = take_length(bytes)?;
        *self = std::str::from_utf8(take(bytes, length)?)?.to_owned();
        Ok(())
    }
    fn write(&self, out: &mut Vec<u8>) {
        (self.len() as u32).write(out);
        out.extend_from_slice(self.as_bytes());
    }
    fn tally<T: Tally>(&self, place: u32, tally: &mut T) {
        tally.length(place, self.len());
    }
    fn pick<T: Tally>(&self, _: Index, _: &[Step], _: &mut T) {}
}

impl<V: Value> Value for Option<V> {
    fn read(&mut self, bytes: &mut &[u8]) -> Result<(), Error> {
        *self = None;
        if take(bytes, 1)? != [0] {
            self.insert(V::default()).read(bytes)?;
        }
        Ok(())
    }
    fn write(&self, out: &mut Vec<u8>) {
        out.push(u8::from(self.is_some()));
        self.iter().for_each(|value| value.write(out));
    }
    fn tally<T: Tally>(&self, place: u32, tally: &mut T) {
        self.iter().for_each(|value| value.tally(place, tally));
    }
    fn pick<T: Tally>(&self, index: Index, rest: &[Step], tally: &mut T) {
        self.iter().for_each(|value| value.pick(index, rest, tally));
    }
}

impl<V: Value> Value for Vec<V> {
    fn read(&mut self, bytes: &mut &[u8]) -> Result<(), Error> {
        let length = take_length(bytes)?;
        self.clear();
        // A length is not believed before its elements are there.
        for _ in 0..length {
            let mut value = V::default();
            value.read(bytes)?;
            self.push(value);
        }
        Ok(())
    }
    fn write(&self, out: &mut Vec<u8>) {
        (self.len() as u32).write(out);
        self.iter().for_each(|value| value.write(out));
    }
    fn tally<T: Tally>(&self, place: u32, tally: &mut T) {
        self.iter().for_each(|value| value.tally(place, tally));
    }
    fn pick<T: Tally>(&self, index: Index, rest: &[Step], tally: &mut T) {
        pick_element(self, index, rest, tally);
    }
}

impl<V: Value, const N: usize> Value for [V; N]
where
    [V; N]: Default,
{
    fn read(&mut self, bytes: &mut &[u8]) -> Result<(), Error> {
        self.iter_mut().try_for_each(|value| value.read(bytes))
    }
    fn write(&self, out: &mut Vec<u8>) {
        self.iter().for_each(|value| value.write(out));
    }
    fn tally<T: Tally>(&self, place: u32, tally: &mut T) {
        self.iter().for_each(|value| value.tally(place, tally));
    }
    fn pick<T: Tally>(&self, index: Index, rest: &[Step], tally: &mut T) {
        pick_element(self, index, rest, tally);
    }
}

fn pick_element<V: Value, T: Tally>(list: &[V], index: Index, rest: &[Step], tally: &mut T) {
    let at = match index {
        Index::Single => return,
        Index::Middle => list.len() / 2,
        Index::At(at) => at,
    };
    if let Some(value) = list.get(at) {
        value.pick(Index::Single, rest, tally);
    }
}

/// The paths of `fixed` and `element`, as the gauge said them: the same for the whole process,
/// while codecs come and go where scratch is fresh.
static PATHS: OnceLock<[Option<Vec<Step>>; 2]> = OnceLock::new();

/// A plain codec as the protocol wants one.
struct PlainCodec<P>(PhantomData<P>);

impl<P> Default for PlainCodec<P> {
    fn default() -> Self {
        PlainCodec(PhantomData)
    }
}

impl<P: Plain> PlainCodec<P> {
    fn pick<T: Tally>(
        which: usize,
        wire: &[u8],
        message: &mut P::Message,
        tally: &mut T,
    ) -> Result<(), Error> {
        P::decode(wire, message)?;
        if let Some(path) = PATHS.get().and_then(|paths| paths[which].as_ref()) {
            message.pick(Index::Single, path, tally);
        }
        Ok(())
    }
}

impl<P: Plain> Direct for PlainCodec<P> {
    type Message = P::Message;

    fn hello(&self) -> Hello {
        Hello { library: P::LIBRARY, phased: false, verifies: false, unchecked: false }
    }
    fn take_schema(&mut self, schema: &[u8]) {
        let text = String::from_utf8_lossy(schema);
        PATHS.get_or_init(|| ["fixed", "element"].map(|name| path(&text, name)));
    }
    fn encode(&mut self, message: &P::Message, out: &mut Vec<u8>) -> Result<(), Error> {
        P::encode(message, out)
    }
    fn decode(&mut self, wire: &[u8], message: &mut P::Message) -> Result<(), Error> {
        P::decode(wire, message)
    }
    fn project<T: Tally>(
        &mut self,
        wire: &[u8],
        message: &mut P::Message,
        tally: &mut T,
    ) -> Result<(), Error> {
        P::decode(wire, message)?;
        message.tally_fields(tally);
        Ok(())
    }
    fn fixed<T: Tally>(
        &mut self,
        wire: &[u8],
        message: &mut P::Message,
        tally: &mut T,
    ) -> Result<(), Error> {
        Self::pick(0, wire, message, tally)
    }
    fn element<T: Tally>(
        &mut self,
        wire: &[u8],
        message: &mut P::Message,
        tally: &mut T,
    ) -> Result<(), Error> {
        Self::pick(1, wire, message, tally)
    }
}

/// A path of the schema's projection: `"fixed":[{"field":0,"index":"single"}, …]`, or null. No
/// other text there has brackets or braces, so that no parser of JSON is linked into what is
/// measured.
fn path(schema: &str, name: &str) -> Option<Vec<Step>> {
    let text: String = schema.chars().filter(|letter| !letter.is_whitespace()).collect();
    let (_, projection) = text.rsplit_once("\"projection\":")?;
    let (_, path) = projection.split_once(&format!("\"{name}\":["))?;
    let (steps, _) = path.split_once(']')?;
    let number = |text: &str| text.trim_end_matches('}').parse().ok();
    let step = |text: &str| {
        let (field, index) = text.split_once(",\"index\":")?;
        let index = match index.split_once("\"at\":") {
            Some((_, at)) => Index::At(number(at)? as usize),
            None if index.starts_with("\"middle\"") => Index::Middle,
            None => Index::Single,
        };
        Some(Step { field: number(field)?, index })
    };
    let texts = steps.split("\"field\":").skip(1);
    texts.map(|text| step(text.trim_end_matches([',', '{']))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_those_of_the_schema() {
        let schema = r#"{"schema": {"types": [{"fields": ["fixed"]}]},
            "projection": {"fixed": [{"field": 0, "index": "single"}, {"field": 2, "index": {"at": 3}}],
            "element": [{"field": 1, "index": "middle"}]}}"#;
        let step = |field, index| Step { field, index };
        let fixed = vec![step(0, Index::Single), step(2, Index::At(3))];
        assert_eq!(path(schema, "fixed"), Some(fixed));
        assert_eq!(path(schema, "element"), Some(vec![step(1, Index::Middle)]));
        assert_eq!(path(r#"{"projection":{"fixed":null,"element":[]}}"#, "fixed"), None);
        assert_eq!(path("{}", "element"), None);
    }
}
