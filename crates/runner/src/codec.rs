//! What a runner must know of its codec.

use std::fmt;

/// Why a codec refused bytes or a message.
#[derive(Debug)]
pub struct Error(String);

impl Error {
    /// An error with this text.
    pub fn new(text: impl Into<String>) -> Error {
        Error(text.into())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<E: std::error::Error> From<E> for Error {
    fn from(error: E) -> Error {
        Error(error.to_string())
    }
}

/// What a runner says of itself.
#[derive(Clone, Debug)]
pub struct Hello {
    /// Library and version: `prost 0.14.4`.
    pub library: &'static str,
    /// Whether encoding and decoding go through an object of the library.
    pub phased: bool,
    /// Whether checking is apart from reading.
    pub verifies: bool,
}

/// The normalized form of a message: a plain structure of the language.
pub trait Message: Default {
    /// From the canonical bytes.
    fn from_canonical(bytes: &[u8]) -> Result<Self, Error>;
    /// Appends the canonical bytes.
    fn to_canonical(&self, out: &mut Vec<u8>);
}

/// A codec, in the steps that are timed.
///
/// Where the library encodes from and decodes to an object of its own, that is
/// [`Codec::Object`]; the harness keeps it or makes a new one for each message
/// as the setting `objects` says, and times the two phases besides their sum.
/// A codec without one implements [`Direct`] instead.
pub trait Codec {
    /// The normalized form.
    type Message: Message;
    /// The library's own form of a message.
    type Object<'a>: Default;

    /// What the runner says of itself.
    fn hello(&self) -> Hello;
    /// Phase one of encoding: normalized form to object, whatever the object
    /// held before.
    fn populate<'a>(
        &mut self,
        message: &'a Self::Message,
        object: &mut Self::Object<'a>,
    ) -> Result<(), Error>;
    /// Phase two of encoding: object to bytes, appended to an empty buffer.
    fn write(
        &mut self,
        message: &Self::Message,
        object: &mut Self::Object<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), Error>;
    /// The bytes that `write` made: those of the output buffer, unless the
    /// library keeps its own, from which a transport could take them.
    fn written<'b>(&'b self, out: &'b [u8]) -> &'b [u8] {
        out
    }
    /// Phase one of decoding: bytes to object, whatever the object held before.
    fn parse<'a>(&mut self, wire: &'a [u8], object: &mut Self::Object<'a>) -> Result<(), Error>;
    /// Phase two of decoding: object to normalized form, whatever that held. It
    /// may move values out of the object.
    fn extract(
        &mut self,
        wire: &[u8],
        object: &mut Self::Object<'_>,
        message: &mut Self::Message,
    ) -> Result<(), Error>;
    /// Every number of the message, as `f64`, summed; strings and bytes count
    /// with their length. The cheapest way that the library offers.
    fn project(&mut self, wire: &[u8]) -> Result<f64, Error>;
    /// The number of the fixed region; 0 where it is not there.
    fn fixed(&mut self, wire: &[u8]) -> Result<f64, Error>;
    /// The number of the middle element; 0 where it is not there.
    fn element(&mut self, wire: &[u8]) -> Result<f64, Error>;
    /// Checks bytes without reading them, where the format separates the two.
    fn verify(&mut self, _wire: &[u8]) -> Result<(), Error> {
        Err(Error::new("checking is not apart from reading"))
    }
}

/// A codec that goes straight between the normalized form and bytes.
pub trait Direct {
    /// The normalized form.
    type Message: Message;
    /// What the runner says of itself; `phased` is ignored.
    fn hello(&self) -> Hello;
    /// Normalized form to bytes, appended to an empty buffer.
    fn encode(&mut self, message: &Self::Message, out: &mut Vec<u8>) -> Result<(), Error>;
    /// See [`Codec::written`].
    fn written<'b>(&'b self, out: &'b [u8]) -> &'b [u8] {
        out
    }
    /// Bytes to normalized form, whatever that held before.
    fn decode(&mut self, wire: &[u8], message: &mut Self::Message) -> Result<(), Error>;
    /// See [`Codec::project`].
    fn project(&mut self, wire: &[u8]) -> Result<f64, Error>;
    /// See [`Codec::fixed`].
    fn fixed(&mut self, wire: &[u8]) -> Result<f64, Error>;
    /// See [`Codec::element`].
    fn element(&mut self, wire: &[u8]) -> Result<f64, Error>;
    /// See [`Codec::verify`].
    fn verify(&mut self, _wire: &[u8]) -> Result<(), Error> {
        Err(Error::new("checking is not apart from reading"))
    }
}

impl<D: Direct> Codec for D {
    type Message = D::Message;
    type Object<'a> = ();

    fn hello(&self) -> Hello {
        Hello { phased: false, ..Direct::hello(self) }
    }
    fn populate(&mut self, _: &D::Message, _: &mut ()) -> Result<(), Error> {
        Ok(())
    }
    fn write(&mut self, message: &D::Message, _: &mut (), out: &mut Vec<u8>) -> Result<(), Error> {
        self.encode(message, out)
    }
    fn written<'b>(&'b self, out: &'b [u8]) -> &'b [u8] {
        Direct::written(self, out)
    }
    fn parse(&mut self, _: &[u8], _: &mut ()) -> Result<(), Error> {
        Ok(())
    }
    fn extract(&mut self, wire: &[u8], _: &mut (), message: &mut D::Message) -> Result<(), Error> {
        self.decode(wire, message)
    }
    fn project(&mut self, wire: &[u8]) -> Result<f64, Error> {
        Direct::project(self, wire)
    }
    fn fixed(&mut self, wire: &[u8]) -> Result<f64, Error> {
        Direct::fixed(self, wire)
    }
    fn element(&mut self, wire: &[u8]) -> Result<f64, Error> {
        Direct::element(self, wire)
    }
    fn verify(&mut self, wire: &[u8]) -> Result<(), Error> {
        Direct::verify(self, wire)
    }
}
