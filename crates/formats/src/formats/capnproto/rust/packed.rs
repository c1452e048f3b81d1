//! The packed encoding, unpacked into memory that is kept.

use capnp::message::{Builder, ReaderOptions};
use capnp::{serialize, serialize_packed, Word};
use wiregauge_runner::Error;

use crate::allocator::KeepingAllocator;
use crate::glue::Root;
use crate::reading::options;

/// Memory for an unpacked message.
#[derive(Default)]
pub struct Unpacked(Vec<Word>);

/// Packing leaves zeros out, so a message may be larger than its bytes.
fn packed_options(wire: &[u8]) -> ReaderOptions {
    options(wire.len() / size_of::<Word>() * 16)
}

impl Unpacked {
    fn unpack(&mut self, wire: &[u8]) -> Result<(), Error> {
        let options = packed_options(wire);
        // The size is not known before: most messages pack to no less than half.
        let mut words = wire.len() / 4 + 64;
        loop {
            if self.0.len() < words {
                self.0 = Word::allocate_zeroed_vec(words);
            }
            let buffer = Word::words_to_bytes_mut(&mut self.0);
            match serialize_packed::read_message_no_alloc(&mut &wire[..], buffer, options) {
                Ok(_) => return Ok(()),
                // Found by the header alone, and only below the limit.
                Err(error) if error.kind == capnp::ErrorKind::BufferNotLargeEnough => {
                    words = self.0.len() * 2;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn message<T>(&self, f: impl FnOnce(Root<'_>) -> Result<T, Error>) -> Result<T, Error> {
        let mut bytes = Word::words_to_bytes(&self.0);
        let options = options(self.0.len() * 2);
        let reader = serialize::read_message_from_flat_slice_no_alloc(&mut bytes, options)?;
        f(reader.get_root()?)
    }

    pub fn read<T>(
        &mut self,
        wire: &[u8],
        f: impl FnOnce(Root<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.unpack(wire)?;
        self.message(f)
    }
}

/// What was read, unpacked into memory that is lent.
#[derive(Default)]
pub struct Parsed<'a> {
    unpacked: Unpacked,
    // Unlike the standard encoding's, it does not refer to the bytes.
    wire: std::marker::PhantomData<&'a [u8]>,
}

impl Parsed<'_> {
    pub fn parse(&mut self, wire: &[u8], kept: &mut Unpacked) -> Result<(), Error> {
        if self.unpacked.0.is_empty() {
            self.unpacked = std::mem::take(kept);
        }
        self.unpacked.unpack(wire)
    }

    pub fn read<T>(&self, f: impl FnOnce(Root<'_>) -> Result<T, Error>) -> Result<T, Error> {
        self.unpacked.message(f)
    }

    pub fn give_back(self, kept: &mut Unpacked) {
        if self.unpacked.0.len() > kept.0.len() {
            *kept = self.unpacked;
        }
    }
}

pub fn write(builder: &Builder<KeepingAllocator>, out: &mut Vec<u8>) -> Result<(), Error> {
    // An upper bound but for messages that hardly have a zero.
    out.reserve(serialize::compute_serialized_size_in_words(builder) * size_of::<Word>());
    Ok(serialize_packed::write_message(out, builder)?)
}

pub fn pieces(_: &Builder<KeepingAllocator>, out: &[u8], mut take: impl FnMut(&[u8])) {
    take(out);
}
