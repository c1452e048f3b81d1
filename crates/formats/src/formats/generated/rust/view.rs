//! The views that wiregauge generate writes, as their user would call them.

use wiregauge_runner::{Direct, Error, Hello, Tally};

use crate::glue::{OnWire, Root, View};
use crate::{calls, glue, wiregauge};

#[derive(Default)]
pub struct Viewed;

fn view(wire: &[u8]) -> Result<View<'_>, Error> {
    Ok(wiregauge::check::<OnWire, Root>(wire)?)
}

impl Direct for Viewed {
    type Message = Root;
    const IN_PLACE: bool = true;
    fn hello(&self) -> Hello {
        Hello { library: glue::LIBRARY, phased: false, verifies: true, unchecked: false }
    }
    fn encode(&mut self, message: &Root, out: &mut Vec<u8>) -> Result<(), Error> {
        // Of a message only what the wire cannot say is wrong.
        calls::serialize(message, out).map_err(|error| Error::rejected(error.to_string()))
    }
    fn decode(&mut self, wire: &[u8], message: &mut Root) -> Result<(), Error> {
        view(wire)?.fill_holder(message);
        Ok(())
    }
    fn project<T: Tally>(&mut self, wire: &[u8], _: &mut Root, tally: &mut T) -> Result<(), Error> {
        *tally = glue::tally(&view(wire)?);
        Ok(())
    }
    fn fixed<T: Tally>(&mut self, wire: &[u8], _: &mut Root, tally: &mut T) -> Result<(), Error> {
        glue::fixed(&view(wire)?, tally);
        Ok(())
    }
    fn element<T: Tally>(&mut self, wire: &[u8], _: &mut Root, tally: &mut T) -> Result<(), Error> {
        glue::element(&view(wire)?, tally);
        Ok(())
    }
    fn verify(&mut self, wire: &[u8]) -> Result<(), Error> {
        view(wire)?;
        Ok(())
    }
}
