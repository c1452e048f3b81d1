//! The normalized message by the structures of zserio-rs-build.

use wiregauge_runner::{Codec, Error, Hello, Tally};

use crate::glue::{self, Object};

#[derive(Default)]
pub struct Zserio;

fn read(wire: &[u8]) -> Result<Object, Error> {
    Ok(zserio::from_bytes(wire)?)
}

impl Codec for Zserio {
    type Message = crate::message::Root;
    type Object<'a> = Object;

    fn hello(&self) -> Hello {
        Hello { library: glue::LIBRARY, phased: true, verifies: false, unchecked: false }
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
        Ok(zserio::to_writer(out, object)?)
    }
    // Into a fresh object: the generated reader leaves an absent field as it was.
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
