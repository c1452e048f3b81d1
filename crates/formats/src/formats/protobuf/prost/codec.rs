//! The normalized message by the structures of prost-build.

use prost::Message as _;
use wiregauge_runner::{Codec, Error, Hello, Tally};

use crate::glue::{self, Element, Fixed, Whole};

#[derive(Default)]
pub struct Object {
    whole: Whole,
    fixed: Fixed,
    element: Element,
}

#[derive(Default)]
pub struct Prost;

impl Codec for Prost {
    type Message = crate::message::Root;
    type Object<'a> = Object;

    fn hello(&self) -> Hello {
        Hello { library: glue::LIBRARY, phased: true, verifies: false, unchecked: false }
    }
    fn admit(&mut self, message: &Self::Message) -> Result<(), Error> {
        if glue::fill::<true>(message, &mut Whole::default()) {
            return Err(Error::rejected(glue::UNSAYABLE));
        }
        Ok(())
    }
    fn populate<'a>(
        &mut self,
        message: &'a Self::Message,
        object: &mut Object,
    ) -> Result<(), Error> {
        if glue::fill::<false>(message, &mut object.whole) {
            return Err(Error::rejected(glue::UNSAYABLE));
        }
        Ok(())
    }
    fn write(
        &mut self,
        _: &Self::Message,
        object: &mut Object,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        out.reserve(object.whole.encoded_len());
        object.whole.encode_raw(out);
        Ok(())
    }
    fn parse<'a>(&mut self, wire: &'a [u8], object: &mut Object) -> Result<(), Error> {
        object.whole = decode_message(wire)?;
        Ok(())
    }
    fn extract(
        &mut self,
        _: &[u8],
        object: &mut Object,
        message: &mut Self::Message,
    ) -> Result<(), Error> {
        glue::take(&mut object.whole, message)
    }
    fn project<'a, T: Tally>(
        &mut self,
        wire: &'a [u8],
        object: &mut Object,
        _: &mut Self::Message,
        tally: &mut T,
    ) -> Result<(), Error> {
        self.parse(wire, object)?;
        glue::project(&object.whole, tally)
    }
    fn fixed<'a, T: Tally>(
        &mut self,
        wire: &'a [u8],
        object: &mut Object,
        _: &mut Self::Message,
        tally: &mut T,
    ) -> Result<(), Error> {
        glue::read_fixed(&mut object.fixed, wire, tally)
    }
    fn element<'a, T: Tally>(
        &mut self,
        wire: &'a [u8],
        object: &mut Object,
        _: &mut Self::Message,
        tally: &mut T,
    ) -> Result<(), Error> {
        glue::read_element(&mut object.element, wire, tally)
    }
}

/// The whole message, as users decode it, and in one place: `merge` into a message that
/// others hold takes a quarter more instructions (docs/by-hand.md).
#[inline(never)]
fn decode_message(wire: &[u8]) -> Result<Whole, prost::DecodeError> {
    Whole::decode(wire)
}
