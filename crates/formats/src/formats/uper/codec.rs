//! The normalized message by types that rasn derives its code for.

use wiregauge_runner::{Codec, Error, Hello, Message, Tally};

use crate::glue::{self, Object};

#[derive(Default)]
pub struct Uper;

fn read(wire: &[u8]) -> Result<Object, Error> {
    Ok(rasn::uper::decode(wire)?)
}

impl Codec for Uper {
    type Message = crate::message::Root;
    type Object<'a> = Object;

    fn hello(&self) -> Hello {
        Hello { library: glue::LIBRARY, phased: true, verifies: false, unchecked: false }
    }
    fn admit(&mut self, message: &Self::Message) -> Result<(), Error> {
        if !glue::HAS_CHOICES {
            return Ok(());
        }
        let (mut object, mut back) = (Object::default(), Self::Message::default());
        glue::fill(message, &mut object);
        glue::take(&mut object, &mut back);
        let [mut there, mut here] = [(); 2].map(|()| Vec::new());
        message.to_canonical(&mut there);
        back.to_canonical(&mut here);
        match there == here {
            true => Ok(()),
            false => Err(Error::rejected("two members of a union are set, where a CHOICE has one")),
        }
    }
    fn populate<'a>(
        &mut self,
        message: &'a Self::Message,
        object: &mut Object,
    ) -> Result<(), Error> {
        glue::fill(message, object);
        Ok(())
    }
    fn write(
        &mut self,
        _: &Self::Message,
        object: &mut Object,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        Ok(rasn::uper::encode_buf(object, out)?)
    }
    fn parse<'a>(&mut self, wire: &'a [u8], object: &mut Object) -> Result<(), Error> {
        *object = read(wire)?;
        Ok(())
    }
    fn extract(
        &mut self,
        _: &[u8],
        object: &mut Object,
        message: &mut Self::Message,
    ) -> Result<(), Error> {
        glue::take(object, message);
        Ok(())
    }
    fn project<'a, T: Tally>(
        &mut self,
        wire: &'a [u8],
        object: &mut Object,
        _: &mut Self::Message,
        tally: &mut T,
    ) -> Result<(), Error> {
        *object = read(wire)?;
        *tally = glue::tally(object);
        Ok(())
    }
    fn fixed<'a, T: Tally>(
        &mut self,
        wire: &'a [u8],
        object: &mut Object,
        _: &mut Self::Message,
        tally: &mut T,
    ) -> Result<(), Error> {
        *object = read(wire)?;
        glue::fixed(object, tally);
        Ok(())
    }
    fn element<'a, T: Tally>(
        &mut self,
        wire: &'a [u8],
        object: &mut Object,
        _: &mut Self::Message,
        tally: &mut T,
    ) -> Result<(), Error> {
        *object = read(wire)?;
        glue::element(object, tally);
        Ok(())
    }
}
