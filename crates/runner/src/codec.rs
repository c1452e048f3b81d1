//! What a runner must know of its codec.

use std::fmt;

use crate::tally::Tally;

/// Why a codec refused bytes or a message.
#[derive(Debug)]
pub struct Error {
    text: String,
    rejected: bool,
}

impl Error {
    /// An error with this text.
    pub fn new(text: impl Into<String>) -> Error {
        Error { text: text.into(), rejected: false }
    }

    /// A message that the format cannot say, and why. It is no fault of the
    /// codec, which is then shown as rejected and not as failed.
    pub fn rejected(text: impl Into<String>) -> Error {
        Error { text: text.into(), rejected: true }
    }

    /// Whether the format cannot say the message.
    pub fn is_rejection(&self) -> bool {
        self.rejected
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl<E: std::error::Error> From<E> for Error {
    fn from(error: E) -> Error {
        Error::new(error.to_string())
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
    /// Whether decoding and the reading experiments trust the bytes.
    pub unchecked: bool,
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
/// Three things live on from message to message or do not, as the settings say,
/// and alike for every codec:
///
/// - *scratch*: what a user of the library keeps that is no message: builders,
///   flyweights, transports, the blocks of arenas. It is the codec itself; where
///   scratch is fresh there is a `default()` one for each message.
/// - *objects*: the library's own form of a message, [`Codec::Object`], and the
///   normalized form.
/// - *output buffers*.
///
/// A codec whose library has no object implements [`Direct`] instead.
pub trait Codec: Default {
    /// The normalized form.
    type Message: Message;
    /// The library's own form of a message.
    type Object<'a>: Default;
    /// Whether the reading experiments need neither object nor message.
    const IN_PLACE: bool = false;

    /// What the runner says of itself.
    fn hello(&self) -> Hello;
    /// Called with the schema and the paths, as docs/runner-protocol.md has them, before any
    /// message. Most are compiled for one message, and ignore it.
    fn take_schema(&mut self, _schema: &[u8]) {}
    /// Called once with each message, before anything is timed: refuses one that
    /// the library would change in silence, so that no check has to be timed.
    fn admit(&mut self, _message: &Self::Message) -> Result<(), Error> {
        Ok(())
    }
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
    /// Shows what `write` made, piece by piece and in order: the output buffer,
    /// unless the library keeps its own bytes, from which a transport would
    /// take them (with `writev` where there are several).
    fn written(&self, _object: &Self::Object<'_>, out: &[u8], mut take: impl FnMut(&[u8])) {
        take(out);
    }
    /// Called before each encoding where buffers are fresh: lets go of output
    /// memory that the library keeps in the codec or in the object.
    fn forget_output(&mut self, _object: &mut Self::Object<'_>) {}
    /// Takes back an object that is not used again, where scratch of the codec
    /// was lent to it.
    fn recycle(&mut self, _object: Self::Object<'_>) {}
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
    /// Every number of the message, in the way that the library offers for
    /// reading without an application's own form. Where it has none but to parse
    /// whole, into `object` or `message`.
    fn project<'a, T: Tally>(
        &mut self,
        wire: &'a [u8],
        object: &mut Self::Object<'a>,
        message: &mut Self::Message,
        tally: &mut T,
    ) -> Result<(), Error>;
    /// The number of the fixed region, as `number(0, …)`; nothing where it is
    /// not there.
    fn fixed<'a, T: Tally>(
        &mut self,
        wire: &'a [u8],
        object: &mut Self::Object<'a>,
        message: &mut Self::Message,
        tally: &mut T,
    ) -> Result<(), Error>;
    /// The number of the middle element, likewise.
    fn element<'a, T: Tally>(
        &mut self,
        wire: &'a [u8],
        object: &mut Self::Object<'a>,
        message: &mut Self::Message,
        tally: &mut T,
    ) -> Result<(), Error>;
    /// Checks bytes without reading them, where the format separates the two.
    fn verify(&mut self, _wire: &[u8]) -> Result<(), Error> {
        Err(Error::new("checking is not apart from reading"))
    }
}

/// A codec that goes straight between the normalized form and bytes.
pub trait Direct: Default {
    /// The normalized form.
    type Message: Message;
    /// See [`Codec::IN_PLACE`].
    const IN_PLACE: bool = false;
    /// What the runner says of itself; `phased` is ignored.
    fn hello(&self) -> Hello;
    /// See [`Codec::take_schema`].
    fn take_schema(&mut self, _schema: &[u8]) {}
    /// See [`Codec::admit`].
    fn admit(&mut self, _message: &Self::Message) -> Result<(), Error> {
        Ok(())
    }
    /// Normalized form to bytes, appended to an empty buffer.
    fn encode(&mut self, message: &Self::Message, out: &mut Vec<u8>) -> Result<(), Error>;
    /// See [`Codec::written`].
    fn written(&self, out: &[u8], mut take: impl FnMut(&[u8])) {
        take(out);
    }
    /// See [`Codec::forget_output`].
    fn forget_output(&mut self) {}
    /// Bytes to normalized form, whatever that held before.
    fn decode(&mut self, wire: &[u8], message: &mut Self::Message) -> Result<(), Error>;
    /// See [`Codec::project`].
    fn project<T: Tally>(
        &mut self,
        wire: &[u8],
        message: &mut Self::Message,
        tally: &mut T,
    ) -> Result<(), Error>;
    /// See [`Codec::fixed`].
    fn fixed<T: Tally>(
        &mut self,
        wire: &[u8],
        message: &mut Self::Message,
        tally: &mut T,
    ) -> Result<(), Error>;
    /// See [`Codec::element`].
    fn element<T: Tally>(
        &mut self,
        wire: &[u8],
        message: &mut Self::Message,
        tally: &mut T,
    ) -> Result<(), Error>;
    /// See [`Codec::verify`].
    fn verify(&mut self, _wire: &[u8]) -> Result<(), Error> {
        Err(Error::new("checking is not apart from reading"))
    }
}

impl<D: Direct> Codec for D {
    type Message = D::Message;
    type Object<'a> = ();
    const IN_PLACE: bool = D::IN_PLACE;

    fn hello(&self) -> Hello {
        Hello { phased: false, ..Direct::hello(self) }
    }
    fn take_schema(&mut self, schema: &[u8]) {
        Direct::take_schema(self, schema);
    }
    fn admit(&mut self, message: &D::Message) -> Result<(), Error> {
        Direct::admit(self, message)
    }
    fn populate(&mut self, _: &D::Message, _: &mut ()) -> Result<(), Error> {
        Ok(())
    }
    fn write(&mut self, message: &D::Message, _: &mut (), out: &mut Vec<u8>) -> Result<(), Error> {
        self.encode(message, out)
    }
    fn written(&self, _: &(), out: &[u8], take: impl FnMut(&[u8])) {
        Direct::written(self, out, take);
    }
    fn forget_output(&mut self, _: &mut ()) {
        Direct::forget_output(self);
    }
    fn parse(&mut self, _: &[u8], _: &mut ()) -> Result<(), Error> {
        Ok(())
    }
    fn extract(&mut self, wire: &[u8], _: &mut (), message: &mut D::Message) -> Result<(), Error> {
        self.decode(wire, message)
    }
    fn project<T: Tally>(
        &mut self,
        wire: &[u8],
        _: &mut (),
        message: &mut D::Message,
        tally: &mut T,
    ) -> Result<(), Error> {
        Direct::project(self, wire, message, tally)
    }
    fn fixed<T: Tally>(
        &mut self,
        wire: &[u8],
        _: &mut (),
        message: &mut D::Message,
        tally: &mut T,
    ) -> Result<(), Error> {
        Direct::fixed(self, wire, message, tally)
    }
    fn element<T: Tally>(
        &mut self,
        wire: &[u8],
        _: &mut (),
        message: &mut D::Message,
        tally: &mut T,
    ) -> Result<(), Error> {
        Direct::element(self, wire, message, tally)
    }
    fn verify(&mut self, wire: &[u8]) -> Result<(), Error> {
        Direct::verify(self, wire)
    }
}
