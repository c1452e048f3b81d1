//! The two bounds: no operation, which shows what the harness costs, and
//! memcpy, which shows what moving the bytes costs.

use crate::codec::{Direct, Error, Hello, Message};
use crate::tally::Tally;

/// A message whose content nobody looks at: its canonical bytes.
#[derive(Default)]
pub struct Opaque(Vec<u8>);

impl Message for Opaque {
    fn from_canonical(bytes: &[u8]) -> Result<Self, Error> {
        Ok(Opaque(bytes.to_vec()))
    }
    fn to_canonical(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0);
    }
}

/// Does nothing.
#[derive(Default)]
pub struct Noop;

impl Direct for Noop {
    type Message = Opaque;
    const IN_PLACE: bool = true;

    fn hello(&self) -> Hello {
        Hello { library: "none", phased: false, verifies: false, unchecked: false }
    }
    fn encode(&mut self, _: &Opaque, _: &mut Vec<u8>) -> Result<(), Error> {
        Ok(())
    }
    fn decode(&mut self, _: &[u8], _: &mut Opaque) -> Result<(), Error> {
        Ok(())
    }
    fn project<T: Tally>(&mut self, _: &[u8], _: &mut Opaque, _: &mut T) -> Result<(), Error> {
        Ok(())
    }
    fn fixed<T: Tally>(&mut self, _: &[u8], _: &mut Opaque, _: &mut T) -> Result<(), Error> {
        Ok(())
    }
    fn element<T: Tally>(&mut self, _: &[u8], _: &mut Opaque, _: &mut T) -> Result<(), Error> {
        Ok(())
    }
}

/// Copies the canonical bytes there and back.
#[derive(Default)]
pub struct Memcpy;

impl Direct for Memcpy {
    type Message = Opaque;
    const IN_PLACE: bool = true;

    fn hello(&self) -> Hello {
        Hello { library: "memcpy", phased: false, verifies: false, unchecked: false }
    }
    fn encode(&mut self, message: &Opaque, out: &mut Vec<u8>) -> Result<(), Error> {
        out.extend_from_slice(&message.0);
        Ok(())
    }
    fn decode(&mut self, wire: &[u8], message: &mut Opaque) -> Result<(), Error> {
        message.0.clear();
        message.0.extend_from_slice(wire);
        Ok(())
    }
    fn project<T: Tally>(
        &mut self,
        wire: &[u8],
        _: &mut Opaque,
        tally: &mut T,
    ) -> Result<(), Error> {
        // Every byte is touched, as a projection touches every number.
        let words = wire.chunks_exact(8);
        let rest: u64 = words.remainder().iter().map(|b| u64::from(*b)).sum();
        let sum = words.fold(rest, |sum, word| {
            sum.wrapping_add(u64::from_le_bytes(word.try_into().expect("chunks of eight")))
        });
        tally.number(0, sum);
        Ok(())
    }
    fn fixed<T: Tally>(&mut self, wire: &[u8], _: &mut Opaque, tally: &mut T) -> Result<(), Error> {
        tally.number(0, wire.first().copied().unwrap_or(0));
        Ok(())
    }
    fn element<T: Tally>(
        &mut self,
        wire: &[u8],
        _: &mut Opaque,
        tally: &mut T,
    ) -> Result<(), Error> {
        tally.number(0, wire.get(wire.len() / 2).copied().unwrap_or(0));
        Ok(())
    }
}
