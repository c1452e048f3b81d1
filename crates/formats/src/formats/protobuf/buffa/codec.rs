//! The normalized message by the structures and views of buffa-codegen.

use buffa::{DecodeOptions, Message as _, SizeCache};
use wiregauge_runner::{Codec, Error, Hello, Tally};

use crate::glue::{self, Whole, WholeLazyView, WholeView};

/// How messages are decoded: lists of up to 1 GiB.
fn options() -> DecodeOptions {
    DecodeOptions::new().with_element_memory_limit(1 << 30)
}

#[derive(Default)]
pub struct Buffa {
    sizes: SizeCache,
}

impl Codec for Buffa {
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
        // The library writes a zero with a sign, so nothing is lost.
        glue::fill::<false>(message, object);
        Ok(())
    }
    fn write(
        &mut self,
        _: &Self::Message,
        object: &mut Whole,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        self.sizes.clear();
        let size = buffa::checked_encode_size(object.compute_size(&mut self.sizes))?;
        out.reserve(size as usize);
        object.write_to(&mut self.sizes, out);
        Ok(())
    }
    fn parse<'a>(&mut self, wire: &'a [u8], object: &mut Whole) -> Result<(), Error> {
        *object = options().decode_from_slice(wire)?;
        Ok(())
    }
    fn extract(
        &mut self,
        _: &[u8],
        object: &mut Whole,
        message: &mut Self::Message,
    ) -> Result<(), Error> {
        glue::take(object, message)
    }
    fn project<'a, T: Tally>(
        &mut self,
        wire: &'a [u8],
        _: &mut Whole,
        _: &mut Self::Message,
        tally: &mut T,
    ) -> Result<(), Error> {
        let view: WholeView = options().decode_view(wire)?;
        *tally = glue::tally(&view);
        Ok(())
    }
    fn fixed<'a, T: Tally>(
        &mut self,
        wire: &'a [u8],
        _: &mut Whole,
        _: &mut Self::Message,
        tally: &mut T,
    ) -> Result<(), Error> {
        let view: WholeLazyView = options().decode_lazy_view(wire)?;
        glue::fixed(view, tally)
    }
    fn element<'a, T: Tally>(
        &mut self,
        wire: &'a [u8],
        _: &mut Whole,
        _: &mut Self::Message,
        tally: &mut T,
    ) -> Result<(), Error> {
        let view: WholeLazyView = options().decode_lazy_view(wire)?;
        glue::element(view, tally)
    }
}
