//! The normalized message by the structures of pb-rs.

use quick_protobuf::{MessageRead, MessageWrite};
use wiregauge_runner::{Codec, Error, Hello, Tally};

use crate::glue::{self, Element, Fixed, Whole};

pub fn read<'a, M: MessageRead<'a>>(wire: &'a [u8]) -> Result<M, Error> {
    Ok(M::from_reader(&mut quick_protobuf::BytesReader::from_bytes(wire), wire)?)
}

#[derive(Default)]
pub struct Object<'a> {
    whole: Whole<'a>,
    fixed: Fixed<'a>,
    element: Element<'a>,
    wire: std::marker::PhantomData<&'a ()>,
}

#[derive(Default)]
pub struct Quick;

impl Codec for Quick {
    type Message = crate::message::Root;
    type Object<'a> = Object<'a>;

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
        object: &mut Object<'a>,
    ) -> Result<(), Error> {
        if glue::fill::<false>(message, &mut object.whole) {
            return Err(Error::rejected(glue::UNSAYABLE));
        }
        Ok(())
    }
    fn write(
        &mut self,
        _: &Self::Message,
        object: &mut Object<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        out.reserve(object.whole.get_size());
        Ok(object.whole.write_message(&mut quick_protobuf::Writer::new(out))?)
    }
    fn parse<'a>(&mut self, wire: &'a [u8], object: &mut Object<'a>) -> Result<(), Error> {
        object.whole = read(wire)?;
        Ok(())
    }
    fn extract(
        &mut self,
        _: &[u8],
        object: &mut Object<'_>,
        message: &mut Self::Message,
    ) -> Result<(), Error> {
        glue::take(&mut object.whole, message)
    }
    fn project<'a, T: Tally>(
        &mut self,
        wire: &'a [u8],
        object: &mut Object<'a>,
        _: &mut Self::Message,
        tally: &mut T,
    ) -> Result<(), Error> {
        object.whole = read(wire)?;
        *tally = glue::tally(&object.whole);
        Ok(())
    }
    fn fixed<'a, T: Tally>(
        &mut self,
        wire: &'a [u8],
        object: &mut Object<'a>,
        _: &mut Self::Message,
        tally: &mut T,
    ) -> Result<(), Error> {
        glue::read_fixed(&mut object.fixed, wire, tally)
    }
    fn element<'a, T: Tally>(
        &mut self,
        wire: &'a [u8],
        object: &mut Object<'a>,
        _: &mut Self::Message,
        tally: &mut T,
    ) -> Result<(), Error> {
        glue::read_element(&mut object.element, wire, tally)
    }
}
