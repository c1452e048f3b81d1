//! The normalized message by the accessors of Protobuf's own compiler.

use protobuf::{Parse, Serialize};
use wiregauge_runner::{Codec, Error, Hello, Tally};

use crate::glue::{self, Whole};

#[derive(Default)]
pub struct Official;

impl Codec for Official {
    type Message = crate::message::Root;
    type Object<'a> = Whole;

    fn hello(&self) -> Hello {
        Hello { library: glue::LIBRARY, phased: true, verifies: false, unchecked: false }
    }
    fn populate<'a>(
        &mut self,
        message: &'a Self::Message,
        object: &mut Whole,
    ) -> Result<(), Error> {
        *object = Whole::new();
        glue::fill(message, object.as_mut());
        Ok(())
    }
    fn write(
        &mut self,
        _: &Self::Message,
        object: &mut Whole,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        *out = object.serialize()?;
        Ok(())
    }
    fn parse<'a>(&mut self, wire: &'a [u8], object: &mut Whole) -> Result<(), Error> {
        *object = <Whole as Parse>::parse(wire)?;
        Ok(())
    }
    fn extract(
        &mut self,
        _: &[u8],
        object: &mut Whole,
        message: &mut Self::Message,
    ) -> Result<(), Error> {
        glue::take(object.as_view(), message)
    }
    fn project<'a, T: Tally>(
        &mut self,
        wire: &'a [u8],
        object: &mut Whole,
        _: &mut Self::Message,
        tally: &mut T,
    ) -> Result<(), Error> {
        *object = <Whole as Parse>::parse(wire)?;
        *tally = glue::tally(object.as_view());
        Ok(())
    }
    fn fixed<'a, T: Tally>(
        &mut self,
        wire: &'a [u8],
        object: &mut Whole,
        _: &mut Self::Message,
        tally: &mut T,
    ) -> Result<(), Error> {
        *object = <Whole as Parse>::parse(wire)?;
        glue::fixed(&object.as_view(), tally);
        Ok(())
    }
    fn element<'a, T: Tally>(
        &mut self,
        wire: &'a [u8],
        object: &mut Whole,
        _: &mut Self::Message,
        tally: &mut T,
    ) -> Result<(), Error> {
        *object = <Whole as Parse>::parse(wire)?;
        glue::element(&object.as_view(), tally);
        Ok(())
    }
}
