//! The normalized message by capnpc's accessors.

use capnp::message::Builder;
use wiregauge_runner::{Codec, Error, Hello, Tally};

use crate::allocator::KeepingAllocator;
use crate::glue;
use crate::wire::{self, Parsed, Unpacked};

#[derive(Default)]
pub struct Object<'a> {
    /// None before the first message.
    built: Option<Builder<KeepingAllocator>>,
    parsed: Parsed<'a>,
}

impl Object<'_> {
    fn builder(&self) -> Result<&Builder<KeepingAllocator>, Error> {
        self.built.as_ref().ok_or_else(|| Error::new("nothing was built"))
    }
}

/// What is kept between messages, and lent to an object.
#[derive(Default)]
pub struct CapnProto {
    allocator: KeepingAllocator,
    unpacked: Unpacked,
}

impl CapnProto {
    /// Ends what was built, and takes its memory back.
    fn take_back(&mut self, built: Option<Builder<KeepingAllocator>>) {
        if let Some(builder) = built {
            let mut allocator = builder.into_allocator();
            allocator.fit();
            if allocator.word_count() > self.allocator.word_count() {
                self.allocator = allocator;
            }
        }
    }
}

impl Codec for CapnProto {
    type Message = crate::message::Root;
    type Object<'a> = Object<'a>;
    const IN_PLACE: bool = true;

    fn hello(&self) -> Hello {
        Hello { library: glue::LIBRARY, phased: true, verifies: true, unchecked: false }
    }
    fn recycle(&mut self, object: Object<'_>) {
        self.take_back(object.built);
        object.parsed.give_back(&mut self.unpacked);
    }
    fn forget_output(&mut self, object: &mut Object<'_>) {
        object.built = None;
        self.allocator = KeepingAllocator::default();
    }
    fn populate<'a>(
        &mut self,
        message: &'a Self::Message,
        object: &mut Object<'a>,
    ) -> Result<(), Error> {
        self.take_back(object.built.take());
        let allocator = std::mem::take(&mut self.allocator);
        glue::fill(message, object.built.insert(Builder::new(allocator)).init_root());
        Ok(())
    }
    fn write(
        &mut self,
        _: &Self::Message,
        object: &mut Object<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        wire::write(object.builder()?, out)
    }
    fn written(&self, object: &Object<'_>, out: &[u8], take: impl FnMut(&[u8])) {
        if let Some(builder) = &object.built {
            wire::pieces(builder, out, take);
        }
    }
    fn parse<'a>(&mut self, wire: &'a [u8], object: &mut Object<'a>) -> Result<(), Error> {
        object.parsed.parse(wire, &mut self.unpacked)
    }
    fn extract(
        &mut self,
        _: &[u8],
        object: &mut Object<'_>,
        message: &mut Self::Message,
    ) -> Result<(), Error> {
        object.parsed.read(|from| glue::take(from, message))
    }
    fn project<'a, T: Tally>(
        &mut self,
        wire: &'a [u8],
        _: &mut Object<'a>,
        _: &mut Self::Message,
        tally: &mut T,
    ) -> Result<(), Error> {
        *tally = self.unpacked.read(wire, glue::tally)?;
        Ok(())
    }
    fn fixed<'a, T: Tally>(
        &mut self,
        wire: &'a [u8],
        _: &mut Object<'a>,
        _: &mut Self::Message,
        tally: &mut T,
    ) -> Result<(), Error> {
        self.unpacked.read(wire, |root| glue::fixed(root, tally))
    }
    fn element<'a, T: Tally>(
        &mut self,
        wire: &'a [u8],
        _: &mut Object<'a>,
        _: &mut Self::Message,
        tally: &mut T,
    ) -> Result<(), Error> {
        self.unpacked.read(wire, |root| glue::element(root, tally))
    }
    fn verify(&mut self, wire: &[u8]) -> Result<(), Error> {
        self.unpacked.read(wire, |root| Ok(root.total_size().map(|_| ())?))
    }
}
