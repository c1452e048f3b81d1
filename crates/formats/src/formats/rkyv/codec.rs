//! The normalized message by archives that are read in place.

use crate::message::Root;
use rkyv::ser::allocator::Arena;
use rkyv::util::AlignedVec;
use rkyv::Archived;
use wiregauge_runner::{Direct, Error, Hello, Tally};

use crate::glue;

/// What an AlignedVec is aligned to: enough for every archived type.
const ALIGNMENT: usize = 16;

#[derive(Default)]
pub struct Rkyv {
    arena: Arena,
    copy: AlignedVec<ALIGNMENT>,
}

impl Rkyv {
    /// The bytes where they are aligned, or a copy.
    fn aligned<'a>(&'a mut self, wire: &'a [u8]) -> &'a [u8] {
        if wire.as_ptr().addr() % ALIGNMENT == 0 {
            return wire;
        }
        self.copy.clear();
        self.copy.extend_from_slice(wire);
        &self.copy
    }

    /// The root of an archive, unchecked as its documentation has it for bytes
    /// from a trusted peer; only that there is room for it.
    fn read<'a>(&'a mut self, wire: &'a [u8]) -> Result<&'a Archived<Root>, Error> {
        let root = std::alloc::Layout::new::<Archived<Root>>();
        if wire.len() < root.size() || wire.len() % root.align() != 0 {
            return Err(Error::new("no archive has this length"));
        }
        // SAFETY: the root, which stands last, is inside of the bytes and aligned.
        // That its pointers are good is the peer's promise: no reader verifies here.
        Ok(unsafe { rkyv::access_unchecked(self.aligned(wire)) })
    }
}

impl Direct for Rkyv {
    type Message = Root;
    const IN_PLACE: bool = true;
    fn hello(&self) -> Hello {
        Hello { library: glue::LIBRARY, phased: false, verifies: true, unchecked: true }
    }
    fn encode(&mut self, message: &Root, out: &mut Vec<u8>) -> Result<(), Error> {
        rkyv::api::high::to_bytes_in_with_alloc::<_, _, rkyv::rancor::Error>(
            message,
            out,
            self.arena.acquire(),
        )?;
        Ok(())
    }
    fn decode(&mut self, wire: &[u8], message: &mut Root) -> Result<(), Error> {
        *message = rkyv::deserialize::<Root, rkyv::rancor::Error>(self.read(wire)?)?;
        Ok(())
    }
    fn project<T: Tally>(&mut self, wire: &[u8], _: &mut Root, tally: &mut T) -> Result<(), Error> {
        *tally = glue::tally(self.read(wire)?);
        Ok(())
    }
    fn fixed<T: Tally>(&mut self, wire: &[u8], _: &mut Root, tally: &mut T) -> Result<(), Error> {
        glue::fixed(self.read(wire)?, tally);
        Ok(())
    }
    fn element<T: Tally>(&mut self, wire: &[u8], _: &mut Root, tally: &mut T) -> Result<(), Error> {
        glue::element(self.read(wire)?, tally);
        Ok(())
    }
    fn verify(&mut self, wire: &[u8]) -> Result<(), Error> {
        rkyv::access::<Archived<Root>, rkyv::rancor::Error>(self.aligned(wire))?;
        Ok(())
    }
}
