//! The normalized message by a serializer that is kept.

use crate::message::Root;
use flexbuffers::{FlexbufferSerializer, Reader};
use serde::Serialize;
use wiregauge_runner::{Direct, Error, Hello, Tally};

use crate::glue;

#[derive(Default)]
pub struct Flexbuffers {
    serializer: FlexbufferSerializer,
}

impl Direct for Flexbuffers {
    type Message = Root;
    fn hello(&self) -> Hello {
        Hello { library: glue::LIBRARY, phased: false, verifies: false, unchecked: false }
    }
    fn encode(&mut self, message: &Root, _: &mut Vec<u8>) -> Result<(), Error> {
        self.serializer.reset();
        message.serialize(&mut self.serializer)?;
        Ok(())
    }
    fn written(&self, _: &[u8], mut take: impl FnMut(&[u8])) {
        take(self.serializer.view());
    }
    /// Who hands the bytes over takes them out of the serializer.
    fn forget_output(&mut self) {
        drop(self.serializer.take_buffer());
    }
    fn decode(&mut self, wire: &[u8], message: &mut Root) -> Result<(), Error> {
        *message = flexbuffers::from_slice(wire)?;
        Ok(())
    }
    fn project<T: Tally>(
        &mut self,
        wire: &[u8],
        message: &mut Root,
        tally: &mut T,
    ) -> Result<(), Error> {
        *message = flexbuffers::from_slice(wire)?;
        *tally = message.tally();
        Ok(())
    }
    fn fixed<T: Tally>(&mut self, wire: &[u8], _: &mut Root, tally: &mut T) -> Result<(), Error> {
        glue::fixed(&Reader::get_root(wire)?, tally);
        Ok(())
    }
    fn element<T: Tally>(&mut self, wire: &[u8], _: &mut Root, tally: &mut T) -> Result<(), Error> {
        glue::element(&Reader::get_root(wire)?, tally);
        Ok(())
    }
}
