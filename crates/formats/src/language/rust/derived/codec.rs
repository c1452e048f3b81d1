//! The normalized structure itself, by the calls in the module `library`.

use crate::message::Root;
use wiregauge_runner::{Direct, Error, Hello, Tally};

use crate::{glue, library};

#[derive(Default)]
pub struct Derived;

impl Direct for Derived {
    type Message = Root;
    fn hello(&self) -> Hello {
        Hello { library: glue::LIBRARY, phased: false, verifies: false, unchecked: false }
    }
    fn encode(&mut self, message: &Root, out: &mut Vec<u8>) -> Result<(), Error> {
        library::encode(message, out)
    }
    fn decode(&mut self, wire: &[u8], message: &mut Root) -> Result<(), Error> {
        *message = library::decode(wire)?;
        Ok(())
    }
    fn project<T: Tally>(
        &mut self,
        wire: &[u8],
        message: &mut Root,
        tally: &mut T,
    ) -> Result<(), Error> {
        *message = library::decode(wire)?;
        *tally = message.tally();
        Ok(())
    }
    fn fixed<T: Tally>(
        &mut self,
        wire: &[u8],
        message: &mut Root,
        tally: &mut T,
    ) -> Result<(), Error> {
        glue::fixed(wire, message, tally)
    }
    fn element<T: Tally>(
        &mut self,
        wire: &[u8],
        message: &mut Root,
        tally: &mut T,
    ) -> Result<(), Error> {
        glue::element(wire, message, tally)
    }
}
