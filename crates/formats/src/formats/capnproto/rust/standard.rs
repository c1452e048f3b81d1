//! The standard encoding, read where it is.

use capnp::message::{Builder, Reader};
use capnp::{serialize, Word};
use wiregauge_runner::Error;

use crate::allocator::KeepingAllocator;
use crate::glue::Root;
use crate::reading::options;

type Segments<'a> = serialize::NoAllocSliceSegments<'a>;

/// What reading needs besides the bytes: nothing.
#[derive(Default)]
pub struct Unpacked;

impl Unpacked {
    pub fn read<T>(
        &mut self,
        wire: &[u8],
        f: impl FnOnce(Root<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        f(open(wire)?.get_root()?)
    }
}

fn open(mut wire: &[u8]) -> Result<Reader<Segments<'_>>, Error> {
    let options = options(wire.len() / size_of::<Word>() * 2);
    Ok(serialize::read_message_from_flat_slice_no_alloc(&mut wire, options)?)
}

/// What was read: the bytes themselves.
#[derive(Default)]
pub struct Parsed<'a>(Option<Reader<Segments<'a>>>);

impl<'a> Parsed<'a> {
    pub fn parse(&mut self, wire: &'a [u8], _: &mut Unpacked) -> Result<(), Error> {
        self.0 = Some(open(wire)?);
        Ok(())
    }

    pub fn read<T>(&self, f: impl FnOnce(Root<'_>) -> Result<T, Error>) -> Result<T, Error> {
        let reader = self.0.as_ref().ok_or_else(|| Error::new("nothing was parsed"))?;
        f(reader.get_root()?)
    }

    pub fn give_back(self, _: &mut Unpacked) {}
}

/// The segment table; a transport takes the segments from where they are.
pub fn write(builder: &Builder<KeepingAllocator>, out: &mut Vec<u8>) -> Result<(), Error> {
    let segments = builder.get_segments_for_output();
    out.extend_from_slice(&(segments.len() as u32 - 1).to_le_bytes());
    for segment in segments.iter() {
        out.extend_from_slice(&((segment.len() / size_of::<Word>()) as u32).to_le_bytes());
    }
    // To a whole number of words.
    out.resize(out.len().next_multiple_of(size_of::<Word>()), 0);
    Ok(())
}

pub fn pieces(builder: &Builder<KeepingAllocator>, out: &[u8], mut take: impl FnMut(&[u8])) {
    take(out);
    for segment in builder.get_segments_for_output().iter() {
        take(segment);
    }
}
