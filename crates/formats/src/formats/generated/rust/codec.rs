//! The holder that wiregauge generate writes, as its user would call it.

use wiregauge_runner::{Direct, Error, Hello, Tally};

use crate::glue::Root;
use crate::{calls, glue};

#[derive(Default)]
pub struct Generated;

impl Direct for Generated {
    type Message = Root;
    fn hello(&self) -> Hello {
        Hello { library: glue::LIBRARY, phased: false, verifies: false, unchecked: false }
    }
    fn encode(&mut self, message: &Root, out: &mut Vec<u8>) -> Result<(), Error> {
        // Of a message only what the wire cannot say is wrong.
        calls::serialize(message, out).map_err(|error| Error::rejected(error.to_string()))
    }
    fn decode(&mut self, wire: &[u8], message: &mut Root) -> Result<(), Error> {
        Ok(calls::deserialize_into(wire, message)?)
    }
    fn project<T: Tally>(
        &mut self,
        wire: &[u8],
        message: &mut Root,
        tally: &mut T,
    ) -> Result<(), Error> {
        calls::deserialize_into(wire, message)?;
        *tally = message.tally();
        Ok(())
    }
    fn fixed<T: Tally>(
        &mut self,
        wire: &[u8],
        message: &mut Root,
        tally: &mut T,
    ) -> Result<(), Error> {
        calls::deserialize_into(wire, message)?;
        glue::fixed(message, tally);
        Ok(())
    }
    fn element<T: Tally>(
        &mut self,
        wire: &[u8],
        message: &mut Root,
        tally: &mut T,
    ) -> Result<(), Error> {
        calls::deserialize_into(wire, message)?;
        glue::element(message, tally);
        Ok(())
    }
}
